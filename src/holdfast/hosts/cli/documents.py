"""Commands that import documents, and commands of other systems under their original names."""

from pathlib import Path
from typing import Any

import click

from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.render import json_option, print_json
from holdfast.model.fence import visible
from holdfast.model.kinds import check_kind
from holdfast.model.record import Draft
from holdfast.surfaces.memory_mcp.memory_types import TYPES, draft_of
from holdfast.verbs.exchange.bootstrap import Seeded, bootstrap, seed_file

# Commands of other systems, and ours that do the same.
COMPATIBLE: dict[str, dict[str, tuple[str, ...]]] = {
    "memory-mcp": {
        "bootstrap": ("bootstrap",),
        "seed": ("seed",),
        "log-output": ("mine", "log"),
        "run-mining": ("mine", "run"),
        "consolidate": ("duplicates",),
        "status": ("status",),
        "db-rebuild-vectors": ("rebuild", "vectors"),
    },
    "bettermemory": {
        "doctor": ("doctor",),
        "health": ("health",),
        "export": ("export",),
    },
}


@click.command("bootstrap")
@click.option("-r", "--root", default=".", show_default=True, help="Folder to search, inside the project.")
@click.option("-f", "--file", "files", multiple=True, help="Only this file or pattern; repeatable.")
@click.option("-t", "--kind", default="fact", show_default=True, help="Kind of the memories, or a type of Memory MCP.")
@click.option("--tag", "--tags", "tags", multiple=True, help="Tag for all of them; repeatable.")
@click.option(
    "--promote/--no-promote", default=True, show_default=True, help="Add them to the hot set if there is room."
)
@click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
@json_option
def bootstrap_command(
    root: str, files: tuple[str, ...], kind: str, tags: tuple[str, ...], promote: bool, quiet: bool, as_json: bool
) -> None:
    """Import the project's documents: CLAUDE.md, README and the like. Running it again changes nothing."""
    with opened() as memory:
        done = bootstrap(memory, _template(kind, tags), root=root, files=files, hot=promote)
    _show_seeded(done, as_json=as_json, quiet=quiet)


@click.command("seed")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-t", "--kind", default="fact", show_default=True, help="Kind of the memories, or a type of Memory MCP.")
@click.option("--tag", "--tags", "tags", multiple=True, help="Tag for all of them; repeatable.")
@click.option("--promote", is_flag=True, help="Add them to the hot set if there is room.")
@json_option
def seed_command(file: Path, kind: str, tags: tuple[str, ...], promote: bool, as_json: bool) -> None:
    """Import each item and paragraph of a file as a separate memory."""
    with opened() as memory:
        done = seed_file(memory, file, _template(kind, tags), hot=promote)
    _show_seeded(done, as_json=as_json)


@click.command("compat", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("system", type=click.Choice(list(COMPATIBLE)))
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def compat_command(ctx: click.Context, system: str, words: tuple[str, ...]) -> Any:
    """Run a command of another system: `holdfast compat memory-mcp run-mining` is `holdfast mine run`."""
    known = COMPATIBLE[system]
    if not words or words[0] not in known:
        listed = ", ".join(f"{name} ({' '.join(ours)})" for name, ours in known.items())
        ctx.fail(f"Commands of {system} are {listed}.")
    root = ctx.find_root()
    arguments = [*known[words[0]], *words[1:]]
    assert isinstance(root.command, click.Group)
    command = root.command.get_command(root, arguments[0])
    assert command is not None
    with command.make_context(arguments[0], arguments[1:], parent=root) as own:
        return command.invoke(own)


def _template(kind: str, tags: tuple[str, ...]) -> Draft:
    if kind in TYPES:
        return draft_of("", kind, tags=tags, source="imported")
    return Draft(body="", kind=check_kind(kind).name, tags=tags, source="imported")


def _show_seeded(done: Seeded, *, as_json: bool, quiet: bool = False) -> None:
    if as_json:
        counts = {"files_found": done.found, "files_read": done.read, "known": done.known, "hot": done.hot}
        print_json({**counts, "kept": [record.id for record in done.kept], "problems": list(done.problems)})
        return
    if not quiet:
        click.echo(visible(str(done)))
    for problem in done.problems:
        click.echo(visible(str(problem)), err=True)
