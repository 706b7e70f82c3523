"""Commands of `holdfast store`: back up, export, import, move, tidy and repair it; and those that sync it with replicas."""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import click

from holdfast.compose import adapters, open_memory, refresh_copy, worker_lock
from holdfast.compose.settings import keep_out_of_git, make_store, store_folder, working_folder
from holdfast.compose.team import grant, move_store
from holdfast.hosts.cli.command import FOUND, Result, Words, insist, opened, settings, wants_json
from holdfast.hosts.cli.render import agreed, local, page, progress, say, working
from holdfast.hosts.cli.values import new_file
from holdfast.hosts.to_json import plain
from holdfast.model.errors import Conflict, HoldfastError, Invalid, NotFound, StoreBusy
from holdfast.model.files import FILE, lines_in, list_store, listed_stores, open_regular
from holdfast.model.kinds import Asked
from holdfast.model.ports import RemoteReplica
from holdfast.model.text import counted, escaped, visible
from holdfast.verbs.exchange.import_foreign import Report, import_items
from holdfast.verbs.exchange.jsonl import export, export_records, import_lines, records_of
from holdfast.verbs.exchange.replicas import REPLICAS, check_place, is_on, turn
from holdfast.verbs.exchange.sync import Agree, Synced, sync, sync_afar, take_from
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import keep_final
from holdfast.verbs.records.project import identity_of
from holdfast.verbs.records.quarantine import address
from holdfast.verbs.search.embed import catch_up
from holdfast.verbs.upkeep import doctor
from holdfast.verbs.upkeep.health import projects
from holdfast.verbs.upkeep.scan import look_through, redact, scan

SHOWN, EXAMPLES = 10, 5  # rows of a list, and examples for each reason
Replica = Annotated[str, Asked("", choices=tuple(REPLICAS))]
_EVENTS = {"started": "session", "used": "use", "surfaced": "impression", "touched": "touch", "linked": "link"}


def backup_command(file: Path | None = None, *, keep: int | None = None) -> dict[str, Any]:
    if file and keep:
        raise Invalid("--keep is for backups next to the store.", hint="Omit FILE.")
    store = _store(exists=True)
    keep_out_of_git(store.parent)
    made, mark, removed = doctor.back_up_store(store, file, keep=keep, now=_now())
    return {"backup": str(made), **asdict(mark), "removed": list(map(str, removed))}


def restore_command(file: Path, *, yes: bool = False) -> dict[str, Any]:
    store, file = _store(), file.expanduser()
    if file.exists() and store.exists() and file.samefile(store):
        raise Invalid("That file is the store itself.")
    mark = doctor.look_at(file)
    last = f"the last of {local(mark.last_at)}"
    insist(f"{file} has {counted(mark.events, 'event')}, {last}. Replace {store} by it?", yes=yes)
    with _exclusive(store.parent, "restoring the store"):
        mark, former = doctor.restore(file, store, now=_now())
    return {"restored": str(file), "former": str(former) if former else None, **asdict(mark)}


def recover_command(file: Path | None = None, *, output: Path | None = None, yes: bool = False) -> Result:
    if (file is None) != (output is None):
        raise Invalid("FILE and --output are needed together.", hint="holdfast store recover DAMAGED.db -o NEW.db")
    if file and output:
        with working("reading the damaged store"):
            saved, damaged = doctor.recover_file(file, output), file
    else:
        store = _store(exists=True)
        insist(f"Create a new store from what can be read of {store}? The damaged one is kept.", yes=yes)
        with _exclusive(store.parent, "reading the damaged store"):
            keep_out_of_git(store.parent)
            saved, damaged = doctor.recover_store(store, now=_now())
    return {"damaged": str(damaged), **asdict(saved)}, page("recovered", saved, damaged, most=SHOWN)


def _store(*, exists: bool = False) -> Path:
    config = settings().config
    if config.database:
        raise Invalid("The store is in PostgreSQL.", hint="Use pg_dump and pg_restore, or `holdfast store export`.")
    store = store_folder(config, Path.cwd()) / FILE
    if exists and not store.exists():
        hint = "Pass its folder with --home, or save a memory first."
        raise NotFound(f"There is no store in {store.parent}.", hint=hint)
    return store


def _now() -> str:
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}"


@contextmanager
def _exclusive(home: Path, label: str) -> Iterator[None]:
    """Keep the worker out; afterwards the next sync reads replicas from the beginning: they may contain what the store no longer does."""
    with worker_lock(home) as is_ours, working(label):
        if not is_ours:
            raise StoreBusy("The worker is using the store; nothing was changed.", hint="Try again when it has ended.")
        yield
        shutil.rmtree(home / "replicas", ignore_errors=True)


def migrate_command(*, to: str = "", from_: str = "", grant_: str = "") -> Result:
    if grant_ and not (to or from_):
        with open_memory(settings()) as memory:
            grant(memory, grant_)
        return {"granted": grant_}, page("granted", grant_)
    if bool(to) == bool(from_):
        raise Invalid("Pass either --to or --from.", hint="Each takes a postgresql:// URL or a folder.")
    config = settings().config
    with progress("opening", None) as shown:
        home, ends = store_folder(config, Path.cwd()), {"target": to, "source": from_}
        moved = move_store(config, home, **ends, progress=lambda what, done, total: shown(done, total, what))
    return moved, page("migrated", moved, to)


def rebuild_command(
    memory: Memory,
    what: Literal["views", "vectors"] = "views",
    *,
    missing: bool = False,
    from_markdown: Path | None = None,
) -> Result:
    if from_markdown:
        if memory.store.last_seq():
            hint = "Use an empty one: holdfast --home FOLDER store rebuild --from-markdown …; or merge with `holdfast sync`."
            raise Conflict("This store is not empty.", hint=hint)
        with tempfile.TemporaryDirectory() as states, working("reading the files"):
            replica, sharing = adapters.markdown_folder(from_markdown, Path(states), memory)
            with closing(replica):
                filled = take_from(memory, replica, sharing)
        value = {"records": filled.came, "left_alone": filled.remarks}
        return value, page("filled", filled, from_markdown, most=SHOWN)
    if what == "views":
        with progress("replaying the journal", None) as moved:
            done = memory.store.rebuild(progress=moved)
    else:
        if memory.embedder is None:
            raise Invalid("No embedder is set.", hint='Set embedder to "local" or "http".')
        now = doctor.status(memory)
        total = now["lagging"] if missing else now["everywhere"] + now["retired"] + now["pending"]
        with progress("embedding", total) as moved:
            done = catch_up(memory, progress=moved) if missing else doctor.rebuild_vectors(memory, moved)
    return {"rebuilt": what, "records": done}, f"Rebuilt the {what} of {counted(done, 'memory')}."


def project_command(memory: Memory) -> Result:
    known = projects(memory)
    return known, page("projects", known, here=memory.project)


def separate_command(folder: Path = Path(), *, at: Path | None = None) -> Result:
    current, folder = settings(), folder.resolve()
    if setting := next((name for name in ("home", "database") if getattr(current.config, name)), ""):
        why = f"{setting} is set ({current.sources[setting]}), and counts in every folder: a separate store would not be used."
        raise Conflict(why, hint="Remove that setting first.")
    place, store = str(folder), str(make_store(folder, at))
    text = f"{place} and everything in it uses the store in {store} from now on."
    return {"folder": place, "store": store}, text


def detach_command(folder: Path = Path()) -> Result:
    folder = working_folder() / folder
    store = listed_stores().get(str(folder.resolve()))
    if store is None:
        raise NotFound(f"{folder} has no store of its own.", hint="`holdfast status` shows which one is used.")
    list_store(str(folder), "")
    text = f"{folder} uses the usual store again; its own stays in {store}."
    return {"folder": str(folder.resolve()), "store": store}, text


def scan_command(*, path: Path | None = None, masking: bool = False, yes: bool = False) -> Result:
    if path:
        if masking:
            raise Invalid("Your own files are not changed.", hint="--redact is for the store; edit the files yourself.")
        looked = look_through(path)
        left = f", {len(looked['skipped'])} not read (binary, too large, or unreadable)" if looked["skipped"] else ""
        footer = f"{looked['files']} files read{left}."
        return looked, _leaks(looked["leaks"], footer, always=True), FOUND if looked["leaks"] else 0
    with opened() as memory:
        with working("searching for secrets"):
            leaks = scan(memory)
        if not masking:
            shown = _leaks(leaks, "`holdfast store scan --redact` masks them.")
            return {"leaks": leaks}, shown, FOUND if leaks else 0
        if leaks and not yes:
            _leaks(leaks, error=True)()
            insist("Mask them in the store, history included? This cannot be undone.", yes=False)
        done = redact(memory)
    if not done["clean"]:
        reading = "Another process is reading the store, so its log still contains old pages."
        say(f"{reading} Close it and run this again.", err=True)
    return {"leaks": leaks, "redacted": done}, page("masked", done, leaks)


def _leaks(leaks: Sequence[Any], footer: str = "", *, error: bool = False, always: bool = False) -> Callable[[], None]:
    places = len({(leak["where"], leak["id"]) for leak in leaks})
    return page("leaks", leaks, places, footer, always=always, error=error)


def export_command(
    memory: Memory,
    place: Path | None = None,
    *,
    as_: Literal["events", "json", "gitmem", "memory-mcp", "bettermemory", "claude-mem", "git-notes"] = "events",
    output: Path | None = None,
) -> Result:
    target = place or output
    if as_ == "git-notes":
        project = adapters.checkout_of(target).project() if target else memory.project
        own = (record for record in records_of(memory) if record.project == project)
        done = adapters.write_foreign(as_, own, target or Path.cwd())
        counts = {"added": done["written"], "known": done["known"], "private": done["left_out"]}
        return {"project": project, **counts}, page("exported_notes", done, project)
    if as_ not in ("events", "json"):
        if target is None:
            raise Invalid(f"--as {as_} needs a folder or database.", hint=f"holdfast store export --as {as_} PLACE")
        done = adapters.write_foreign(as_, records_of(memory, as_), target)
        counts = {"memories": done["written"], "known": done["known"], "left_out": done["left_out"]}
        return {"output": str(target), **counts}, page("exported", done, as_, target)
    lines = export_records(memory) if as_ == "json" else export(memory)
    if target is None:
        for line in lines:
            print(escaped(line))
        return None
    with new_file(target) as file, working("exporting"):
        written = sum(1 for line in lines if file.write(line + "\n"))
    # Neither the header nor the brackets of the array count.
    what, word, count = ("memories", "memory", written - 2) if as_ == "json" else ("events", "event", written - 1)
    return {"output": str(target), what: count}, f"{counted(count, word)} written to {target}."


def import_command(
    memory: Memory,
    path: Path,
    *,
    from_: Annotated[str | None, Asked("", choices=tuple(adapters.IMPORTERS))] = None,
    dry_run: bool = False,
    project: str | None = None,
    pairs: Words = (),
    quarantine: bool = False,
) -> Result:
    quarantine_as = f"import of {path.name}" if quarantine else ""
    if from_ is None:
        if dry_run or project or pairs:
            hint = "An export contains the project of each memory."
            raise Invalid("--dry-run, --project and --map need --from.", hint=hint)
        return _import_export(memory, path, quarantine_as)
    take = partial(import_items, memory, from_, project=identity_of(memory, project) if project else "")
    mapped = {}
    for old, sign, new in (pair.partition("=") for pair in pairs):
        if not sign or not new.strip():
            hint = "--map foo=github.com/me/foo, or --map foo=. for this project"
            raise Invalid(f"{old + sign!r} is not OLD=NEW.", hint=hint)
        mapped[old] = identity_of(memory, new)
    if not dry_run and not wants_json() and sys.stdin.isatty() and sys.stdout.isatty():
        mapped |= _asked_homes(memory, take(adapters.foreign_items(from_, path), mapped=mapped, dry_run=True))
    with progress(f"reading {from_}", None) as moved:
        items = adapters.foreign_items(from_, path)
        report = take(items, mapped=mapped, dry_run=dry_run, quarantine_as=quarantine_as, progress=moved)
    lagging = doctor.status(memory)["lagging"] if memory.embedder and not dry_run else 0

    events = [counted(report.events[verb], name) for verb, name in _EVENTS.items() if verb in report.events]
    events += [counted(report.transcripts, "transcript")] if report.transcripts else []
    homes = [(there, here, count) for there, ways in report.projects.items() for here, count in ways.items()]
    shown: dict[str, Any] = {"events": events, "homes": homes, "dry_run": dry_run, "most": EXAMPLES}
    shown["unknown"] = sorted({here for _, here, _ in homes if here and "/" not in here})
    shown |= {"quarantine": quarantine_as if not dry_run else "", "lagging": lagging if report.taken else 0}

    def draw() -> None:
        page("imported", report, **shown)()
        if report.taken and memory.store.folder and not dry_run:
            from holdfast.hosts.cli.setup import say_next  # only after an import

            say_next(memory.store.folder)

    return {"dry_run": dry_run, **plain(report)}, draw


def _asked_homes(memory: "Memory", preview: Report) -> dict[str, str]:
    """Ask for the project of each name that fits no project here; an empty answer keeps the name."""
    homes: dict[str, str] = {}
    for there, counts in preview.projects.items():
        for here, count in counts.items():
            if here and "/" not in here:
                question = f"{visible(there)} ({counted(count, 'memory')}): project here (a remote, . for this one)"
                answer = click.prompt(question, default=here, err=True)
                homes |= {there: identity_of(memory, answer)} if answer != here else {}
    return homes


def _import_export(memory: Memory, path: Path, quarantine_as: str) -> Result:
    before = memory.store.last_seq()
    try:
        with sys.stdin.buffer if str(path) == "-" else open_regular(path) as file, progress("importing", None) as moved:
            lines = (line.decode(errors="surrogateescape") for line in lines_in(file))
            taken = import_lines(memory, lines, moved, quarantine_as=quarantine_as)
    except OSError as problem:
        hint = "To import from another system use --from."
        raise Invalid(f"{path} cannot be read ({problem.strerror}).", hint=hint) from problem
    if fresh := memory.store.last_seq() - before:
        return taken, f"{counted(fresh, 'event')} imported; {counted(taken['records'], 'memory')} new or changed."
    return taken, f"Nothing new: {counted(taken['events'], 'event')} read, and all were here already."


def sync_command(
    memory: Memory,
    *,
    remote: str = "",
    offline: bool = False,
    no_push: bool = False,
    dry_run: bool = False,
    yes: bool = False,
    put_back: bool = False,
    rewrite: bool = False,
) -> Result:
    chosen, copied = [name for name in REPLICAS if is_on(memory, name)], refresh_copy(memory)
    if memory.config.database and not chosen:
        text = memory.apart or f"{counted(copied, 'event')} copied from the team's database to this machine."
        return {"copied": copied}, text
    if not chosen:
        hint = "`holdfast replica` lists them, `holdfast replica on notes` turns git notes on."
        raise Invalid("No replica is turned on.", hint=hint)
    if rewrite and dry_run:
        raise Invalid("--rewrite and --dry-run exclude each other.", hint="Rewriting cannot be previewed.")
    notes = adapters.open_notes(memory) if "notes" in chosen else None
    target = "" if offline or notes is None else _remote(notes.remotes(), remote)
    for name in chosen:
        check_place(memory, name, notes.addresses(target) if notes and target and name == "notes" else ())
    files = [name for name in chosen if name != "notes"]

    def agree(question: str) -> bool:
        return yes or (sys.stdin.isatty() and agreed(question))

    if rewrite:
        stored = notes or adapters.open_notes(memory)  # they stay when they are turned off
        _rewrite(stored, "" if offline or no_push else _remote(stored.remotes(), remote), agree)
    # Files first, so that what was edited in them leaves with the notes; again if the notes brought something.
    results = [_sync_files(memory, name, agree, put_back, dry_run) for name in files]
    if notes:
        sharing = adapters.open_replica("notes", memory)[1]
        with working(f"exchanging notes{f' with {target}' if target else ''}"):
            results.append(sync_afar(memory, notes, sharing, target, push=not no_push, dry_run=dry_run))
        if results[-1].came and not dry_run:
            results += [_sync_files(memory, name, agree, put_back, dry_run) for name in files]
    return results, page("synced", results, dry_run=dry_run, most=SHOWN, address=address)


def _sync_files(memory: Memory, name: str, agree: Agree, put_back: bool, dry_run: bool) -> Synced:
    replica, sharing = adapters.open_replica(name, memory)
    with closing(replica):
        return sync(memory, replica, sharing, agree=agree, put_back=put_back, dry_run=dry_run)


def replica_command(memory: Memory) -> list[dict[str, object]]:
    def waiting(name: str) -> str:
        try:
            preview = _sync_files(memory, name, lambda _: False, False, True)
        except HoldfastError as problem:
            return str(problem)
        return f"{counted(preview.put.records, 'memory')} to export, {preview.came} to import"

    on = {name: is_on(memory, name) for name in REPLICAS}
    rows = ({"name": name, "on": on[name], "what": what} for name, what in REPLICAS.items())
    return [row | ({"waiting": waiting(str(row["name"]))} if row["on"] else {}) for row in rows]


def on_command(memory: Memory, name: Replica, *, remote: str = "", git_config: bool | None = None) -> Result:
    with closing(adapters.open_replica(name, memory)[0]) as replica:
        replica.cursor  # noqa: B018  an unusable replica is reported now, not at the next sync
    notes = adapters.open_notes(memory) if name == "notes" else None
    target = _remote(notes.remotes(), remote) if notes else ""
    turn(memory, name, on=True, addresses=notes.addresses(target) if notes and target else [])
    keep_final(memory, f"turned on the replica {name}")
    remarks = []
    if notes and not notes.follows_rewrites():
        question = "Amended and rebased commits lose their notes unless git copies them.\nSet notes.rewriteRef in this repository's settings?"
        if git_config is None and sys.stdin.isatty():
            git_config = agreed(question)
        if git_config:
            notes.follows_rewrites(set_it=True)
        remarks = [
            "Set notes.rewriteRef to refs/notes/holdfast/*: notes follow amended and rebased commits."
            if git_config
            else "Git's settings were not changed. `holdfast replica on notes --git-config` lets notes follow amended commits."
        ]
    head = f"{name} is on: {REPLICAS[name]}. `holdfast sync` brings it up to date."
    return {"replica": name, "on": True, "notes": remarks}, "\n".join([head, *remarks])


def off_command(memory: Memory, name: Replica) -> Result:
    turn(memory, name, on=False)
    keep_final(memory, f"turned off the replica {name}")
    return {"replica": name, "on": False}, f"{name} is off; its content stays where it is."


def _rewrite(notes: RemoteReplica, target: str, agree: Agree) -> None:
    where = f"here and at {target}" if target else "here"
    if not agree(f"Remove the history of the notes, {where}? Their current content stays."):
        raise Invalid("Nothing was rewritten.", hint="Use --yes to do it without asking.")
    if target and (problem := notes.fetch(target).problem):
        raise Invalid(f"{target} cannot be reached: {problem}", hint="Nothing was rewritten.")
    if problem := notes.rewrite(target).problem:
        raise Invalid(f"{target} rejected the push: {problem}", hint="Local notes are rewritten; sync and try again.")
    after = "`git gc --prune=now` removes the old objects here; other clones are updated at their next sync."
    say(f"Rewritten. {after}", err=True)


def _remote(known: list[str], wanted: str) -> str:
    if wanted and wanted not in known:
        raise Invalid(f"There is no remote {wanted}.", hint=f"There is {', '.join(known) or 'none'}.")
    return wanted or (known[0] if "origin" in known or len(known) == 1 else "")
