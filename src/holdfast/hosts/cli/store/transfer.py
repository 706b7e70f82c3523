"""`holdfast store export` and `import`: JSON lines, and the formats of other systems."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import click

from holdfast.compose.adapters import IMPORTERS, checkout_of, foreign_items, write_foreign
from holdfast.hosts.cli.command import Result
from holdfast.hosts.cli.render import page, progress, working
from holdfast.hosts.cli.setup import say_next
from holdfast.hosts.to_json import plain
from holdfast.model.errors import Invalid
from holdfast.model.fence import escaped, visible
from holdfast.model.files import lines_in, open_regular
from holdfast.model.request import Asked
from holdfast.model.text import counted
from holdfast.verbs.exchange.import_foreign import Report, import_items
from holdfast.verbs.exchange.jsonl import export, export_records, import_lines, records_of
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.project import identity_of
from holdfast.verbs.upkeep.doctor import status

SHOWN = 5  # examples for each reason
_EVENTS = {"started": "session", "used": "use", "surfaced": "impression", "touched": "touch", "linked": "link"}


def export_command(
    memory: Memory,
    place: Path | None = None,
    *,
    as_: Literal["events", "json", "gitmem", "memory-mcp", "bettermemory", "claude-mem", "git-notes"] = "events",
    output: Path | None = None,
) -> Result:
    target = place or output
    if as_ in ("gitmem", "memory-mcp", "bettermemory", "claude-mem"):
        if target is None:
            raise Invalid(f"--as {as_} needs a folder or database.", hint=f"holdfast store export --as {as_} PLACE")
        done = write_foreign(as_, records_of(memory), target)
        text = f"{counted(done.written, 'file' if as_ == 'bettermemory' else 'memory')} written to {target}."
        if done.known:
            text += f" {done.known} were there already."
        if done.left_out:
            which = "those of sessions" if as_ == "gitmem" else "retired ones"
            text += f"\n{counted(done.left_out, 'memory')} left out: {as_} has no place for {which}."
        return {"output": str(target), "memories": done.written, "known": done.known, "left_out": done.left_out}, text
    if as_ == "git-notes":
        project = checkout_of(target).project() if target else memory.project
        own = (record for record in records_of(memory) if record.project == project)
        done = write_foreign(as_, own, target or Path.cwd())
        text = (
            f"{counted(done.written, 'entry')} added to refs/notes/mem of {project}; {done.known} were there already."
        )
        if done.left_out:
            text += (
                f"\n{done.left_out} private memories were left out, since notes are pushed: holdfast share ID first."
            )
        return {"project": project, "added": done.written, "known": done.known, "private": done.left_out}, text
    lines = export_records(memory) if as_ == "json" else export(memory)
    if target is None:
        for line in lines:
            print(escaped(line))
        return None
    try:
        descriptor = os.open(target, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    except OSError as problem:
        hint = "Choose another file with -o."
        raise Invalid(f"{target} cannot be written ({problem.strerror}).", hint=hint) from problem
    with os.fdopen(descriptor, "w", encoding="utf-8") as file, working("exporting"):
        written = sum(1 for line in lines if file.write(line + "\n"))
    # Neither the header nor the brackets of the array count.
    what, word, count = ("memories", "memory", written - 2) if as_ == "json" else ("events", "event", written - 1)
    return {"output": str(target), what: count}, f"{counted(count, word)} written to {target}."


def import_command(
    memory: Memory,
    path: Path,
    *,
    from_: Annotated[str | None, Asked("", choices=tuple(IMPORTERS))] = None,
    dry_run: bool = False,
    project: str | None = None,
    pairs: tuple[str, ...] = (),
    quarantine: bool = False,
    as_json: bool = False,
) -> Result:
    quarantine_as = f"import of {path.name}" if quarantine else ""
    if from_ is None:
        if dry_run or project or pairs:
            hint = "An export contains the project of each memory."
            raise Invalid("--dry-run, --project and --map need --from.", hint=hint)
        before = memory.store.last_seq()
        with _lines(path) as lines, progress("importing", None, quiet=as_json) as moved:
            taken = import_lines(memory, lines, moved, quarantine_as=quarantine_as)
        if fresh := memory.store.last_seq() - before:
            return taken, f"{counted(fresh, 'event')} imported; {counted(taken.records, 'memory')} new or changed."
        return taken, f"Nothing new: {counted(taken.events, 'event')} read, and all were here already."
    take = partial(import_items, memory, from_, project=identity_of(memory, project) if project else "")
    mapped = {}
    for old, sign, new in (pair.partition("=") for pair in pairs):
        if not sign or not new.strip():
            hint = "--map foo=github.com/me/foo, or --map foo=. for this project"
            raise Invalid(f"{old + sign!r} is not OLD=NEW.", hint=hint)
        mapped[old] = identity_of(memory, new)
    if not dry_run and not as_json and sys.stdin.isatty() and sys.stdout.isatty():
        mapped |= _asked_homes(memory, take(foreign_items(from_, path), mapped=mapped, dry_run=True))
    with progress(f"reading {from_}", None, quiet=as_json) as moved:
        items = foreign_items(from_, path)
        report = take(items, mapped=mapped, dry_run=dry_run, quarantine_as=quarantine_as, progress=moved)
    lagging = status(memory).lagging if memory.embedder and not dry_run else 0

    events = [counted(report.events[verb], name) for verb, name in _EVENTS.items() if verb in report.events]
    events += [counted(report.transcripts, "transcript")] if report.transcripts else []
    homes = [(there, here, count) for there, ways in report.projects.items() for here, count in ways.items()]
    shown: dict[str, Any] = {"events": events, "homes": homes, "dry_run": dry_run, "most": SHOWN}
    shown["unknown"] = sorted({here for _, here, _ in homes if here and "/" not in here})
    shown |= {"quarantine": quarantine_as if not dry_run else "", "lagging": lagging if report.taken else 0}

    def draw() -> None:
        page("imported", report, **shown)()
        if report.taken and memory.store.folder:
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


@contextmanager
def _lines(path: Path) -> Iterator[Iterator[str]]:
    try:
        with sys.stdin.buffer if str(path) == "-" else open_regular(path) as file:
            yield (line.decode(errors="surrogateescape") for line in lines_in(file))
    except OSError as problem:
        hint = "To import from another system use --from."
        raise Invalid(f"{path} cannot be read ({problem.strerror}).", hint=hint) from problem
