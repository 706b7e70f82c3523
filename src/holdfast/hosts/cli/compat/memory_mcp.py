"""The commands of Memory MCP, `memory-mcp-cli`."""

import os
import sys
from pathlib import Path

import click

from holdfast.hosts.cli.compat.running import run, version_option
from holdfast.hosts.cli.options import LONGEST_STDIN, opened
from holdfast.hosts.cli.render import print_json
from holdfast.model.errors import Invalid
from holdfast.model.fence import visible
from holdfast.model.files import open_file
from holdfast.model.query import Query
from holdfast.surfaces.memory_mcp import reports, upkeep_reports
from holdfast.surfaces.memory_mcp.memory_types import type_of_kind
from holdfast.verbs.capture.mining import log_output, mine_outputs
from holdfast.verbs.records.browse import census
from holdfast.verbs.records.hot import heat_counts, hot_set
from holdfast.verbs.records.vitals import vitals_by_id
from holdfast.verbs.search.embed import start_over


@click.group("memory-mcp", params=[version_option()])
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def group(ctx: click.Context, as_json: bool) -> None:
    """The commands of Memory MCP."""
    ctx.obj = {**ctx.obj, "json": as_json}


def _json(ctx: click.Context) -> bool:
    return bool(ctx.parent and ctx.parent.obj.get("json"))


def _words(ctx: click.Context) -> list[str]:
    return ["--json"] if _json(ctx) else []


@group.command("bootstrap")
@click.option("-r", "--root", default=".", help="Folder of the project.")
@click.option("-f", "--file", "files", multiple=True, help="Only this file; repeatable.")
@click.option("-t", "--type", "memory_type", default="project", help="Type of the memories.")
@click.option("--tags", multiple=True, help="Tag for all of them; repeatable.")
@click.option("--promote/--no-promote", default=True, help="Add them to the hot cache.")
@click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
@click.pass_context
def bootstrap(
    ctx: click.Context,
    root: str,
    files: tuple[str, ...],
    memory_type: str,
    tags: tuple[str, ...],
    promote: bool,
    quiet: bool,
) -> None:
    """Import the documents of a project."""
    if not Path(root).is_dir():
        raise Invalid(f"There is no folder {root}.")
    os.chdir(root)  # the documents of a project belong to that project
    chosen = [word for file in files for word in ("-f", file)] + [word for tag in tags for word in ("--tag", tag)]
    more = [*(["-q"] if quiet else []), *_words(ctx), "--promote" if promote else "--no-promote"]
    run("ingest", "bootstrap", "-t", memory_type, *chosen, *more)


@group.command("log-output")
@click.option("-c", "--content", help="The output; default: stdin.")
@click.option(
    "-f", "--file", "file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A file with it."
)
@click.pass_context
def log(ctx: click.Context, content: str | None, file: Path | None) -> None:
    """Store output for mining."""
    if content is None:
        with open_file(file) if file else sys.stdin.buffer as source:
            content = source.read(LONGEST_STDIN).decode(errors="replace")
    with opened() as memory:
        kept = log_output(memory, content, "")
    if _json(ctx):
        print_json({"success": bool(kept), "characters": kept})
    else:
        click.echo(f"Logged {kept:,} characters." if kept else "Too short to be worth mining; nothing was logged.")


@group.command("run-mining")
@click.option("--hours", default=24, show_default=True, help="Accepted: every output is mined once, however old.")
@click.pass_context
def mining(ctx: click.Context, hours: int) -> None:  # noqa: ARG001
    """Find patterns in logged output."""
    with opened() as memory:
        done = upkeep_reports.mining_run(mine_outputs(memory))
    if _json(ctx):
        print_json(done)
        return
    for name in ("outputs_processed", "patterns_found", "new_patterns", "updated_patterns", "auto_approved"):
        click.echo(f"{name.replace('_', ' ').capitalize()}: {done[name]}")


@group.command("seed")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("-t", "--type", "memory_type", default="project", help="Type of the memories.")
@click.option("--promote", is_flag=True, help="Add them to the hot cache.")
@click.pass_context
def seed(ctx: click.Context, file: str, memory_type: str, promote: bool) -> None:
    """Import a file."""
    run("ingest", "seed", file, "-t", memory_type, *(["--promote"] if promote else []), *_words(ctx))


@group.command("consolidate")
@click.pass_context
def consolidate(ctx: click.Context) -> None:
    """Show near-duplicates that could be merged."""
    run("review", "duplicates", *_words(ctx))


@group.command("status")
@click.pass_context
def status(ctx: click.Context) -> None:
    """Count memories, and list the hot cache."""
    with opened() as memory:
        members = hot_set(memory)
        counts = reports.stats(census(memory, Query(text="")), len(members), type_of_kind)
        vitals = vitals_by_id(memory, [member.record.id for member in members])
        ordered = [vitals[member.record.id] for member in members]
        cache = reports.hot_status(ordered, heat_counts(memory), memory.config.hot_capacity)
    if _json(ctx):
        print_json({**counts, "hot_cache": cache})
        return
    click.echo(f"Memories: {counts['total_memories']}")
    for name, count in counts["by_type"].items():
        click.echo(f"  {name}: {count}")
    click.echo(f"Hot cache: {cache['current_count']} of {cache['max_items']}, {cache['pinned_count']} pinned")
    for item in cache["items"]:
        click.echo(visible(f"  {'*' if item['is_pinned'] else '-'} [{item['id']}] {item['content'][:100]}"))


@group.command("db-rebuild-vectors")
@click.option("--batch-size", default=100, help="Accepted: batches are chosen automatically.")
@click.option("--clear-only", is_flag=True, help="Delete the vectors; they are made again with use.")
@click.pass_context
def rebuild(ctx: click.Context, batch_size: int, clear_only: bool) -> None:  # noqa: ARG001
    """Make all vectors again."""
    with opened() as memory:
        has_vectors = memory.embedder is not None
        if clear_only and has_vectors:
            start_over(memory)
    if clear_only or not has_vectors:
        message = "Vectors deleted." if has_vectors else "There are no vectors: no embedder is set."
        print_json({"success": True, "message": message}) if _json(ctx) else click.echo(message)
        return
    run("store", "rebuild", "vectors", *_words(ctx))
