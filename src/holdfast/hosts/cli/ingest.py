"""Commands of `holdfast ingest`: import documents, git history, logged output and observations."""

from pathlib import Path
from typing import Any

import click
from rich.text import Text

from holdfast.hosts.cli.options import opened, stdin_text, text_or_stdin
from holdfast.hosts.cli.person import PERSON
from holdfast.hosts.cli.render import console, json_option, print_json, say, show, working
from holdfast.hosts.cli.values import DATE
from holdfast.hosts.to_json import plain
from holdfast.model.errors import Invalid
from holdfast.model.files import read_file
from holdfast.model.foreign_json import parse_json
from holdfast.model.ids import parse_instant, short
from holdfast.model.kinds import check_kind
from holdfast.model.record import Draft
from holdfast.model.text import counted
from holdfast.surfaces.core import review_text, session_text
from holdfast.surfaces.memory_mcp.memory_types import TYPES, draft_of
from holdfast.verbs.capture.learn import LIMIT, MOST, Learned, learn
from holdfast.verbs.capture.mining import drop_outputs, log_output, mine_outputs, output_status
from holdfast.verbs.exchange.bootstrap import Seeded, bootstrap, seed_file
from holdfast.verbs.sessions.absorb import absorb, candidates


@click.command("bootstrap")
@click.option("-r", "--root", default=".", show_default=True, help="Folder to search, inside the project.")
@click.option("-f", "--file", "files", multiple=True, help="Only this file or pattern; repeatable.")
@click.option("-t", "--kind", default="fact", show_default=True, help="Kind of the memories, or a type of Memory MCP.")
@click.option("--tag", "--tags", "tags", multiple=True, help="Tag for all of them; repeatable.")
@click.option(
    "--promote/--no-promote", default=False, show_default=True, help="Add them to the hot set if there is room."
)
@click.option("--dry-run", is_flag=True, help="Print what would be saved.")
@click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
@json_option
def bootstrap_command(
    root: str,
    files: tuple[str, ...],
    kind: str,
    tags: tuple[str, ...],
    promote: bool,
    dry_run: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Import the project's documents, section by section, and how it is built, run and tested.

    It reads CLAUDE.md, AGENTS.md, GEMINI.md, README, CONTRIBUTING and docs/, and the commands in justfile, Makefile, package.json,
    pyproject.toml and CI workflows. Running it again changes nothing.
    """
    with opened() as memory, working("reading documents"):
        done = bootstrap(memory, _template(kind, tags), root=root, files=files, hot=promote, dry_run=dry_run)
    _show_seeded(done, as_json=as_json, quiet=quiet)


@click.command("seed")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-t", "--kind", default="fact", show_default=True, help="Kind of the memories, or a type of Memory MCP.")
@click.option("--tag", "--tags", "tags", multiple=True, help="Tag for all of them; repeatable.")
@click.option("--promote", is_flag=True, help="Add them to the hot set if there is room.")
@click.option("--dry-run", is_flag=True, help="Print what would be saved.")
@json_option
def seed_command(file: Path, kind: str, tags: tuple[str, ...], promote: bool, dry_run: bool, as_json: bool) -> None:
    """Import a file: each section as a memory, or each item and paragraph if it has no headings.

    Of a changelog only the latest ten releases are imported.
    """
    with opened() as memory, working("reading the file"):
        done = seed_file(memory, file, _template(kind, tags), hot=promote, dry_run=dry_run)
    _show_seeded(done, as_json=as_json)


def _template(kind: str, tags: tuple[str, ...]) -> Draft:
    if kind in TYPES:
        return draft_of("", kind, tags=tags, source="imported")
    return Draft(body="", kind=check_kind(kind).name, tags=tags, source="imported")


def _show_seeded(done: Seeded, *, as_json: bool, quiet: bool = False) -> None:
    if as_json:
        counts = {"files_found": done.found, "files_read": done.read, "known": done.known, "hot": done.hot}
        kept = [plain(record) if done.dry_run else record.id for record in done.kept]
        print_json({**counts, "kept": kept, "problems": list(done.problems)})
        return
    if done.dry_run:
        for record in done.kept:
            say(f"{record.title}  ({len(record.body):,} characters)")
    if not quiet:
        say(
            str(done)
            if done.found
            else "No documents were found here (README, CONTRIBUTING, CLAUDE.md, AGENTS.md, docs/)."
        )
    for problem in done.problems:
        say(str(problem), err=True)


@click.command("learn")
@click.option("--since", type=DATE, default="", help="Only commits made on or after this date, read already or not.")
@click.option(
    "--limit", default=LIMIT, show_default=True, type=click.IntRange(1, MOST), help="Maximum number of commits to read."
)
@click.option("--dry-run", is_flag=True, help="Preview what would be saved.")
@json_option
def learn_command(since: str, limit: int, dry_run: bool, as_json: bool) -> None:
    """Learn from git history: decisions and their reasons, reverts, changes that broke something, repeated fixes, regressions.

    Decisions, and reverts that are not marked as such, are pending until approved (`holdfast review approve`); the rest is saved as
    observations that may become scars. A reverted change that came back is left out, and a patch on two branches counts once.
    The next run reads only new commits.
    """
    from holdfast.compose.adapters import history_of

    with opened() as memory, working("reading the git history"):
        learned = learn(
            memory,
            history_of(Path.cwd()),
            since=parse_instant(since) if since else "",
            limit=limit,
            dry_run=dry_run,
        )
    if as_json:
        print_json(plain(learned))
        return
    _show_learned(learned)


def _show_learned(learned: Learned) -> None:
    out = console()
    word = "would be saved" if learned.dry_run else "saved"
    for record in learned.kept:
        state = "pending approval" if record.state == "pending" else "may become a scar"
        out.print(Text.assemble((short(record.id), "cyan"), f"  {record.title}  ", (state, "dim")))
    out.print(
        f"{counted(learned.commits, 'new commit')} read: {len(learned.kept)} {word}, {learned.known} already known."
    )
    if learned.left_out:
        out.print(
            Text(
                f"{learned.left_out} more were left out: approve or reject some, then run `holdfast ingest learn --since …`.",
                style="yellow",
            )
        )


@click.group("mine")
def mine_command() -> None:
    """Find recurring patterns in logged output.

    Output is stored for some days with credentials masked. Each line counts once. Plain statements, and lines that
    recur three times, are offered; nothing is used before it is approved.

    \b
    holdfast ingest mine log < session.log
    holdfast ingest mine run
    holdfast review list --sort mined
    """


@mine_command.command("log")
@click.argument("text", nargs=-1)
@click.option("--session", default="", help="Session that wrote it.")
@json_option
def mine_log_command(text: tuple[str, ...], session: str, as_json: bool) -> None:
    """Store output for mining; without words, or with -, it is read from stdin."""
    with opened() as memory:
        stored = log_output(memory, text_or_stdin(text), session)
    show({"characters": stored}, f"Stored {stored:,} characters." if stored else "Too short to store.", as_json=as_json)


@mine_command.command("run")
@json_option
def mine_run_command(as_json: bool) -> None:
    """Mine what was logged since the last run."""
    with opened() as memory, working("mining"):
        run = mine_outputs(memory)
    show(run, review_text.run_of(run, PERSON), as_json=as_json)


@mine_command.command("status")
@json_option
def mine_status_command(as_json: bool) -> None:
    """Show how much output is stored, its limits, and how much was mined."""
    with opened() as memory:
        status = output_status(memory)
    show(status, review_text.outputs_of(status, PERSON), as_json=as_json)


@mine_command.command("drop")
@click.option("--session", default="", help="Only what this session wrote.")
@json_option
def mine_drop_command(session: str, as_json: bool) -> None:
    """Delete logged output of this project permanently."""
    with opened() as memory:
        dropped = drop_outputs(memory, session=session)
    show({"dropped": dropped}, f"Dropped {counted(dropped, 'output')}.", as_json=as_json)


@click.command("absorb")
@click.argument("text", nargs=-1)
@click.option("--source", default="", help="Who observed it.")
@click.option(
    "--severity",
    type=click.Choice(["info", "warning", "scar_candidate"]),
    default="info",
    show_default=True,
    help="How important it is; a candidate may become a scar.",
)
@click.option("--task", default="", help="What it was part of.")
@click.option(
    "--file", type=click.Path(path_type=Path, allow_dash=True), help="JSON list of observations; - reads stdin."
)
@click.option("--candidates", "only_candidates", is_flag=True, help="List possible lessons instead.")
@json_option
def absorb_command(
    text: tuple[str, ...],
    source: str,
    severity: str,
    task: str,
    file: Path | None,
    only_candidates: bool,
    as_json: bool,
) -> None:
    """Save what a sub-agent observed, and point out possible lessons."""
    with opened() as memory:
        if only_candidates:
            possible = candidates(memory)
            show(possible, session_text.candidates_of(possible, PERSON), as_json=as_json)
            return
        if not file and not text:
            raise Invalid("The observation is empty.", hint="Pass what was observed, or --file with a JSON list.")
        observations = (
            _observations(file) if file else [{"text": " ".join(text), "source": source, "severity": severity}]
        )
        absorbed = absorb(memory, observations, task=task)
    show(absorbed, session_text.absorbed_of(absorbed, PERSON), as_json=as_json)


def _observations(file: Path) -> list[Any]:
    try:
        content = parse_json(stdin_text() if str(file) == "-" else read_file(file))
    except (OSError, ValueError) as problem:
        raise Invalid(
            f"{file} cannot be read as JSON: {problem}.", hint="Fix it and try again; nothing was written."
        ) from problem
    observations = content.get("observations") if isinstance(content, dict) else content
    if not isinstance(observations, list) or not all(isinstance(item, dict) for item in observations):
        raise Invalid(
            f"{file} must contain a list of observations, each with a text.",
            hint='Such as [{"text": "…", "source": "reviewer"}].',
        )
    return observations
