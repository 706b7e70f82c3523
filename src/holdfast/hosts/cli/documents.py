"""Commands that import documents."""

from pathlib import Path

import click

from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.render import json_option, print_json, say, working
from holdfast.hosts.plain import plain
from holdfast.model.kinds import check_kind
from holdfast.model.record import Draft
from holdfast.surfaces.memory_mcp.memory_types import TYPES, draft_of
from holdfast.verbs.exchange.bootstrap import Seeded, bootstrap, seed_file


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
