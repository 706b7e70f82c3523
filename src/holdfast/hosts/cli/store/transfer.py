"""`holdfast store export` and `import`: JSON lines, and the formats of other systems."""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click
from rich.text import Text

from holdfast.compose.adapters import IMPORTERS, checkout_of, foreign_items, write_git_notes, write_markdown
from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.render import console, json_option, print_json, progress, say, working
from holdfast.model.errors import Invalid
from holdfast.model.fence import escaped, visible
from holdfast.model.files import lines_in, open_file
from holdfast.model.foreign import Remark
from holdfast.model.ids import short
from holdfast.model.text import counted, shorten
from holdfast.verbs.exchange.import_foreign import ImportedRecord, Report, import_items
from holdfast.verbs.exchange.jsonl import export, export_records, import_lines, records_of
from holdfast.verbs.records.project import identity_of
from holdfast.verbs.upkeep.doctor import status

if TYPE_CHECKING:
    from holdfast.verbs.memory import Memory


SHOWN = 5  # examples for each reason


_EVENTS = {
    "started": "session",
    "used": "use",
    "surfaced": "impression",
    "touched": "touch",
    "linked": "link",
}


@click.command("export")
@click.argument("place", required=False, type=click.Path(path_type=Path))
@click.option(
    "--as",
    "form",
    type=click.Choice(["events", "json", "bettermemory", "git-notes"]),
    default="events",
    help="The format.",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write; default: stdout.")
@json_option
def export_command(place: Path | None, form: str, output: Path | None, as_json: bool) -> None:
    """Export the store as JSON lines: a header, then an event on each line, nothing left out.

    --as json writes the current memories as an array; --as bettermemory writes a folder of markdown files; --as git-notes
    appends the memories of a repository (PLACE, or the current one) to its notes as git-notes-memory reads them.
    """
    target = place or output
    with opened() as memory:
        if form == "bettermemory":
            _export_folder(memory, target, as_json)
            return
        if form == "git-notes":
            _export_notes(memory, target, as_json)
            return
        lines = export_records(memory) if form == "json" else export(memory)
        if target is None:
            for line in lines:
                print(escaped(line))
            return
        with _private_file(target) as file, working("exporting"):
            written = sum(1 for line in lines if file.write(line + "\n"))
    # Neither the header nor the brackets of the array count.
    count = written - 2 if form == "json" else written - 1
    what, word = ("memories", "memory") if form == "json" else ("events", "event")
    if as_json:
        print_json({"output": str(target), what: count})
    else:
        say(f"{counted(count, word)} written to {target}.")


def _export_folder(memory: "Memory", folder: Path | None, as_json: bool) -> None:
    if folder is None:
        raise Invalid("Which folder?", hint="holdfast store export --as bettermemory FOLDER")
    count = write_markdown(records_of(memory), folder)
    print_json({"output": str(folder), "memories": count}) if as_json else print(
        f"{counted(count, 'file')} written to {folder}."
    )


def _export_notes(memory: "Memory", folder: Path | None, as_json: bool) -> None:
    project = checkout_of(folder).project() if folder else memory.project
    own = (record for record in records_of(memory) if record.project == project)
    added, known, private = write_git_notes(own, folder or Path.cwd())
    if as_json:
        print_json({"project": project, "added": added, "known": known, "private": private})
        return
    say(f"{counted(added, 'entry')} added to refs/notes/mem of {project}; {known} were there already.")
    if private:
        say(f"{private} private memories were left out, since notes are pushed: holdfast share ID first.")


@click.command("import")
@click.argument("path", type=click.Path(allow_dash=True, path_type=Path))
@click.option("--from", "system", type=click.Choice(list(IMPORTERS)), help="The system to import from.")
@click.option("--dry-run", is_flag=True, help="Preview the import; write nothing.")
@click.option("--project", help="Project of memories that name none; default: the current one.")
@click.option("--map", "pairs", multiple=True, metavar="OLD=NEW", help="Project here for a project there; repeatable.")
@click.option("--quarantine", is_flag=True, help="It is someone else's: quarantine its memories until you accept them.")
@json_option
def import_command(
    path: Path,
    system: str | None,
    dry_run: bool,
    project: str | None,
    pairs: tuple[str, ...],
    quarantine: bool,
    as_json: bool,
) -> None:
    """Import an export of Holdfast (- reads stdin), or with --from the data of another system.

    Importing twice changes nothing; memories that changed there since the last import are revised. The report shows which
    project each memory went to; --map changes that, also for those imported before. NEW is a remote, a project here, or .
    for the current one. In a terminal, the project is asked for where only a name is known.
    """
    quarantine_as = f"import of {path.name}" if quarantine else ""
    if system is None:
        if dry_run or project or pairs:
            raise Invalid(
                "--dry-run, --project and --map need --from.", hint="An export contains the project of each memory."
            )
        _import_events(path, as_json, quarantine_as)
        return
    with opened() as memory:
        take = partial(import_items, memory, system, project=identity_of(memory, project) if project else "")
        mapped = {old: identity_of(memory, new) for old, new in map(_pair, pairs)}
        if not dry_run and not as_json and sys.stdin.isatty() and sys.stdout.isatty():
            mapped |= _asked_homes(memory, take(foreign_items(system, path), mapped=mapped, dry_run=True))
        with progress(f"reading {system}", None, quiet=as_json) as moved:
            items = foreign_items(system, path)
            report = take(items, mapped=mapped, dry_run=dry_run, quarantine_as=quarantine_as, progress=moved)
        lagging = status(memory).lagging if memory.embedder and not dry_run else 0
    if as_json:
        print_json({"dry_run": dry_run, **asdict(report)})
        return
    show_report(report, dry_run=dry_run)
    _show_what_is_left(report, lagging, quarantine_as if not dry_run else "")


def _show_what_is_left(report: Report, lagging: int, quarantine_as: str) -> None:
    """Print what an import leaves to do: memories in quarantine, and memories without vectors."""
    if quarantine_as:
        say(
            visible(
                f'They are in quarantine: holdfast review list --sort quarantined, holdfast review approve "{quarantine_as}".'
            )
        )
    if report.taken and lagging:
        say(
            f"{lagging} have no vectors yet; they are computed with use, or now with `holdfast store rebuild vectors --missing`."
        )


def _import_events(path: Path, as_json: bool, quarantine_as: str) -> None:
    with opened() as memory, _lines(path) as lines, progress("importing", None, quiet=as_json) as moved:
        before = memory.store.last_seq()
        taken = import_lines(memory, lines, moved, quarantine_as=quarantine_as)
        new = memory.store.last_seq() - before
    if as_json:
        print_json(asdict(taken))
    elif new:
        say(f"{counted(new, 'event')} imported; {counted(taken.records, 'memory')} new or changed.")
    else:
        say(f"Nothing new: {counted(taken.events, 'event')} read, and all were here already.")


def show_report(report: Report, *, dry_run: bool) -> None:
    """Print what an import did, or would do."""
    out = console()
    kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(item.kind for item in report.taken).most_common())
    word = "would be imported" if dry_run else "imported"
    out.print(Text.assemble((f"{len(report.taken)} {word}", "bold"), f" ({kinds})" if kinds else ""))
    for line in _destinations(report):
        out.print(Text(f"  {line}"))
    for count, what in (
        (report.known, "already known, unchanged"),
        (report.moved, "of them moved to another project"),
        (len(report.revised), "revised, because they changed there"),
        (len(report.merged), "merged into duplicates here"),
        (report.masked, "with credentials masked or private text dropped"),
    ):
        if count:
            out.print(f"{count} {what}")
    others = [counted(report.events[verb], name) for verb, name in _EVENTS.items() if verb in report.events]
    others += [counted(report.transcripts, "transcript")] if report.transcripts else []
    if others:
        out.print(f"with {', '.join(others)}")
    _show_merged(report.merged)
    _show_remarks("stored with the memory, not searched", report.asides)
    _show_remarks("skipped", report.skipped)


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


def _destinations(report: Report) -> Iterable[str]:
    """Yield where memories went, and what to do about projects that are only a name."""
    for there, homes in report.projects.items():
        for here, count in homes.items():
            way = (
                f"{there or 'without a project'} → {here or 'every project'}"
                if there != here
                else there or "every project"
            )
            yield f"{way} ({count})"
    lonely = {here for homes in report.projects.values() for here in homes if here and "/" not in here}
    for name in sorted(lonely):
        yield f"{name} is no repository known here. To put it into one: holdfast store project move {name} github.com/OWNER/{name}"


def _pair(text: str) -> tuple[str, str]:
    old, sign, new = text.partition("=")
    if not sign or not new.strip():
        raise Invalid(f"{text!r} is not OLD=NEW.", hint="--map foo=github.com/me/foo, or --map foo=. for this project")
    return old, new


def _show_merged(merged: tuple[ImportedRecord, ...]) -> None:
    for item in merged[:SHOWN]:
        console().print(Text(f"  {item.key} → {short(item.id)} {shorten(item.title, 80)}", style="dim"))
    if len(merged) > SHOWN:
        console().print(f"[dim]  and {len(merged) - SHOWN} more; --json lists them[/]")


def _show_remarks(what: str, remarks: Iterable[Remark]) -> None:
    reasons: dict[str, list[str]] = {}
    for remark in remarks:
        reasons.setdefault(remark.why, []).append(remark.where)
    for why, places in reasons.items():
        examples = ", ".join(places[:SHOWN]) + (f" and {len(places) - SHOWN} more" if len(places) > SHOWN else "")
        console().print(Text.assemble((f"{what}: ", "yellow"), f"{examples}: {why}"))


def _private_file(path: Path) -> IO[str]:
    try:
        return os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8")
    except OSError as problem:
        raise Invalid(
            f"{path} cannot be written ({problem.strerror}).", hint="Choose another file with -o."
        ) from problem


@contextmanager
def _lines(path: Path) -> Iterator[Iterator[str]]:
    try:
        with sys.stdin.buffer if str(path) == "-" else open_file(path) as file:
            yield (line.decode(errors="surrogateescape") for line in lines_in(file))
    except OSError as problem:
        hint = "To import from another system use --from."
        raise Invalid(f"{path} cannot be read ({problem.strerror}).", hint=hint) from problem
