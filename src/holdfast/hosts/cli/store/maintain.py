"""Commands of `holdfast store` that tidy it: maintain, rebuild, scan for secrets, rename scopes, list and move projects."""

import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

from holdfast.compose.adapters import markdown_folder
from holdfast.compose.settings import make_store
from holdfast.hosts.cli.command import Result, declined, opened
from holdfast.hosts.cli.render import agreed, page, progress, say, working
from holdfast.model.errors import Conflict, Invalid, NotFound
from holdfast.model.files import list_store, listed_stores
from holdfast.model.text import counted
from holdfast.verbs.exchange.sync import take_from
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import rename_scope
from holdfast.verbs.records.project import move
from holdfast.verbs.search.embed import catch_up
from holdfast.verbs.upkeep.doctor import rebuild_vectors, rebuild_views, status
from holdfast.verbs.upkeep.health import projects
from holdfast.verbs.upkeep.scan import Leak, look_through, redact, scan

SHOWN, FOUND = 10, 1


def rebuild_command(
    memory: Memory,
    what: Literal["views", "vectors"] = "views",
    *,
    missing: bool = False,
    from_markdown: Path | None = None,
    as_json: bool = False,
) -> Result:
    if from_markdown:
        return _filled(memory, from_markdown)
    if what == "views":
        with progress("replaying the journal", None, quiet=as_json) as moved:
            done = rebuild_views(memory, moved)
    else:
        if memory.embedder is None:
            raise Invalid("No embedder is set.", hint='Set embedder to "local" or "http".')
        now = status(memory)
        total = now.lagging if missing else now.everywhere + now.retired + now.pending
        with progress("embedding", total, quiet=as_json) as moved:
            done = catch_up(memory, progress=moved) if missing else rebuild_vectors(memory, moved)
    return {"rebuilt": what, "records": done}, f"Rebuilt the {what} of {counted(done, 'memory')}."


def _filled(memory: Memory, folder: Path) -> Result:
    """Fill an empty store from a folder of markdown files."""
    if memory.store.last_seq():
        hint = (
            "Use an empty one: holdfast --home FOLDER store rebuild --from-markdown …; or merge with `holdfast sync`."
        )
        raise Conflict("This store is not empty.", hint=hint)
    with tempfile.TemporaryDirectory() as states, working("reading the files"):
        replica, sharing = markdown_folder(folder, Path(states), memory)
        with closing(replica):
            done = take_from(memory, replica, sharing)
    return {"records": done.came, "left_alone": done.remarks}, page("filled", done, folder, most=SHOWN)


def rename_scope_command(memory: Memory, old: str, new: str) -> Result:
    renamed = [record.id for record in rename_scope(memory, old, new)]
    return {"renamed": renamed}, f"{counted(len(renamed), 'memory')} moved from {old} to {new}."


def project_command(memory: Memory) -> Result:
    known = projects(memory)
    return known, page("projects", known, here=memory.project)


def move_command(memory: Memory, source: str, target: str, *, scope: str = "", dry_run: bool = False) -> Result:
    moved = move(memory, source, target, scope=scope, dry_run=dry_run)
    what = f"{counted(len(moved.records), 'memory')} and {counted(moved.sessions, 'session')}"
    ids = [record.id for record in moved.records]
    return (
        {"from": moved.source, "to": moved.target, "records": ids, "sessions": moved.sessions},
        f"{what} {'would move' if dry_run else 'moved'} from {moved.source or 'every project'} to {moved.target or 'every project'}.",
    )


def separate_command(folder: Path = Path(), *, at: Path | None = None) -> Result:
    store, place = make_store(folder, at), folder.resolve()
    text = f"{place} and everything in it uses the store in {store} from now on."
    return {"folder": str(place), "store": str(store)}, text


def detach_command(folder: Path = Path()) -> Result:
    store = listed_stores().get(str(folder.resolve()))
    if store is None:
        raise NotFound(f"{folder} has no store of its own.", hint="`holdfast status` shows which one is used.")
    list_store(str(folder), "")
    value = {"folder": str(folder.resolve()), "store": store}
    return value, f"{folder} uses the usual store again; its own stays in {store}."


def scan_command(*, path: Path | None = None, masking: bool = False, yes: bool = False) -> Result:
    if path:
        if masking:
            raise Invalid("Your own files are not changed.", hint="--redact is for the store; edit the files yourself.")
        looked = look_through(path)
        left = f", {len(looked.skipped)} not read (binary, too large, or unreadable)" if looked.skipped else ""
        footer = f"{looked.files} files read{left}."
        return looked, _leaks(looked.leaks, footer, always=True), FOUND if looked.leaks else 0
    with opened() as memory:
        with working("searching for secrets"):
            leaks = scan(memory)
        if not masking:
            footer = "`holdfast store scan --redact` masks them."
            return {"leaks": leaks}, _leaks(leaks, footer), FOUND if leaks else 0
        if leaks and not yes:
            _leaks(leaks, error=True)()
            if not agreed("Mask them in the store, history included? This cannot be undone."):
                declined()
        done = redact(memory)
    if not done.clean:
        reading = "Another process is reading the store, so its log still contains old pages."
        say(f"{reading} Close it and run this again.", err=True)
    text = (
        f"Masked: {done.events} events of {len(done.records)} memories and their sessions, {sum(done.rows.values())} rows "
        f"outside the journal, {done.files} files.\nThe secret may be stored elsewhere too: rotate it."
    )
    return {"leaks": leaks, "redacted": done}, text if leaks else "No secrets found."


def _leaks(leaks: Sequence[Leak], footer: str = "", *, error: bool = False, always: bool = False) -> Callable[[], None]:
    places = len({(leak.where, leak.id) for leak in leaks})
    return page("leaks", leaks, places, footer, always=always, error=error)
