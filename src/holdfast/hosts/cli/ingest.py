"""Commands of `holdfast ingest`: import documents, git history, logged output and observations; and `holdfast demo`."""

import shlex
from pathlib import Path
from typing import Any, Literal

from holdfast.compose.adapters import make_checkout
from holdfast.hosts.cli.command import Result, Words, opened
from holdfast.hosts.cli.render import page, say, working
from holdfast.hosts.cli.values import LONGEST_STDIN, json_in, text_or_stdin
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.kinds import check_kind
from holdfast.model.record import Draft
from holdfast.surfaces.memory_mcp.memory_types import TYPES, draft_of
from holdfast.verbs.capture.learn import LIMIT, learn
from holdfast.verbs.capture.mining import log_output
from holdfast.verbs.exchange import demo
from holdfast.verbs.exchange.bootstrap import Seeded, bootstrap, seed_file
from holdfast.verbs.memory import Memory, Report
from holdfast.verbs.sessions.scars import absorb, candidates

CODE = "storefront"  # the folder of the code that the demo is about


def bootstrap_command(
    memory: Memory,
    *,
    root: str = ".",
    files: Words = (),
    kind: str = "fact",
    tags: Words = (),
    promote: bool = False,
    dry_run: bool = False,
    quiet: bool = False,
) -> Result:
    like = _template(kind, tags)
    return _seeded(bootstrap(memory, like, root=root, files=files, hot=promote, dry_run=dry_run), quiet=quiet)


def seed_command(
    memory: Memory, file: Path, *, kind: str = "fact", tags: Words = (), promote: bool = False, dry_run: bool = False
) -> Result:
    return _seeded(seed_file(memory, file, _template(kind, tags), hot=promote, dry_run=dry_run))


def _template(kind: str, tags: Words) -> Draft:
    if kind in TYPES:
        return draft_of("", kind, tags=tags, source="imported")
    return Draft(body="", kind=check_kind(kind).name, tags=tags, source="imported")


def _seeded(done: Seeded, *, quiet: bool = False) -> Result:
    counts = {"files_found": done.found, "files_read": done.read, "known": done.known, "hot": done.hot}
    kept = done.kept if done.dry_run else [record.id for record in done.kept]

    def draw() -> None:
        page("seeded", done, quiet=quiet)()
        for problem in done.problems:
            say(str(problem), err=True)

    return {**counts, "kept": kept, "problems": done.problems}, draw


def learn_command(memory: Memory, *, since: str = "", limit: int = LIMIT, dry_run: bool = False) -> Report:
    from holdfast.compose.adapters import history_of

    return learn(memory, history_of(Path.cwd()), since=since, limit=limit, dry_run=dry_run)


def log_command(memory: Memory, text: Words = (), *, session: str = "") -> Result:
    stored = log_output(memory, text_or_stdin(text), session)
    done = f"Stored {stored:,} characters." if stored else "Nothing to store: the text is empty."
    return {"characters": stored}, done


def absorb_command(
    memory: Memory,
    text: Words = (),
    *,
    source: str = "",
    severity: Literal["info", "warning", "scar_candidate"] = "info",
    task: str = "",
    file: Path | None = None,
    only_candidates: bool = False,
) -> Result:
    if only_candidates:
        possible = candidates(memory)
        return possible, page("candidates", possible)
    if not file and not text:
        raise Invalid("The observation is empty.", hint="Pass what was observed, or --file with a JSON list.")
    observations: Any = [{"text": " ".join(text), "source": source, "severity": severity}]
    if file:
        content = json_in(file, LONGEST_STDIN)
        observations = content.get("observations") if isinstance(content, dict) else content
    if not isinstance(observations, list) or not all(isinstance(item, dict) for item in observations):
        hint = 'Such as [{"text": "…", "source": "reviewer"}].'
        raise Invalid(f"{file} must contain a list of observations, each with a text.", hint=hint)
    absorbed = absorb(memory, observations, task=task)
    return absorbed, page("absorbed", absorbed)


def demo_command(folder: Path = Path("holdfast-demo"), *, until: str = "") -> Result:
    place = folder.resolve()
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise Conflict(f"{place} is not empty.", hint="Name a new folder: holdfast demo FOLDER")
    with opened(home=str(place), project=demo.PROJECT, database="") as memory, working("loading the sample store"):
        end = until or memory.clock.now()
        demo.load_demo(memory, end)
        make_checkout(place / CODE, demo.PROJECT, demo.history_until(end))
        contents = demo.contents_of(memory, place)
    settings = {"HOLDFAST_HOME": contents["folder"], "HOLDFAST_PROJECT": contents["project"]}
    quoted = {name: shlex.quote(value) for name, value in settings.items()}
    return contents, page("demo", contents, quoted, shlex.quote(str(place / CODE)))
