"""The commands of Memory MCP, `memory-mcp-cli`."""

import os
import sys
from pathlib import Path
from typing import Annotated

import click

from holdfast.hosts.cli.command import AS_JSON, Result, command
from holdfast.hosts.cli.compat import run, version_option
from holdfast.hosts.cli.values import LONGEST_STDIN
from holdfast.model.errors import Invalid
from holdfast.model.files import open_regular
from holdfast.model.request import Asked
from holdfast.surfaces.memory_mcp.tools import ROWS, TERMS
from holdfast.verbs.capture.mining import log_output
from holdfast.verbs.memory import Memory
from holdfast.verbs.search.embed import start_over

MemoryType = Annotated[str, Asked("Type of the memories.", flag="-t --type")]


@click.group("memory-mcp", params=[version_option()])
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def group(ctx: click.Context, as_json: bool) -> None:
    """The commands of Memory MCP."""
    ctx.meta[AS_JSON] = as_json


@command(under=group, json=False)
def bootstrap(
    *,
    root: Annotated[str, Asked("Folder of the project.", flag="-r --root")] = ".",
    files: Annotated[tuple[str, ...], Asked("Only this file.", flag="-f --file")] = (),
    memory_type: MemoryType = "project",
    tags: Annotated[tuple[str, ...], Asked("Tag for all of them.", flag="--tags")] = (),
    promote: Annotated[bool, Asked("Add them to the hot cache.")] = True,
    quiet: Annotated[bool, Asked("Print errors only.", flag="-q --quiet")] = False,
) -> None:
    """Import the documents of a project."""
    if not Path(root).is_dir():
        raise Invalid(f"There is no folder {root}.")
    os.chdir(root)  # the documents of a project belong to that project
    run("ingest", "bootstrap", "-t", memory_type, file=files, tag=tags, quiet=quiet, promote=promote)


@command("log-output", under=group, json=False)
def log(
    memory: Memory,
    *,
    content: Annotated[str | None, Asked("The output; default: stdin.", flag="-c --content")] = None,
    file: Annotated[Path | None, Asked("A file with it.", flag="-f --file", form="existing file")] = None,
) -> Result:
    """Store output for mining."""
    if content is None:
        with open_regular(file) if file else sys.stdin.buffer as source:
            content = source.read(LONGEST_STDIN).decode(errors="replace")
    kept = log_output(memory, content, "")
    text = f"Logged {kept:,} characters." if kept else "Too short to be worth mining; nothing was logged."
    return {"success": bool(kept), "characters": kept}, text


@command("run-mining", under=group, json=False)
def mining(
    memory: Memory,
    *,
    hours: Annotated[int, Asked("Accepted: every output is mined once, however old.")] = 24,  # noqa: ARG001
) -> Result:
    """Find patterns in logged output."""
    done = ROWS["run_mining"].run(memory, {}, TERMS)
    names = ("outputs_processed", "patterns_found", "new_patterns", "updated_patterns", "auto_approved")
    return done, "\n".join(f"{name.replace('_', ' ').capitalize()}: {done[name]}" for name in names)


@command(under=group, json=False)
def seed(
    file: Annotated[Path, Asked("", form="existing file")],
    *,
    memory_type: MemoryType = "project",
    promote: Annotated[bool, Asked("Add them to the hot cache.")] = False,
) -> None:
    """Import a file."""
    run("ingest", "seed", str(file), "-t", memory_type, promote=promote)


@command(under=group, json=False)
def consolidate() -> None:
    """Show near-duplicates that could be merged."""
    run("review", "duplicates")


@command(under=group, json=False)
def status(memory: Memory) -> Result:
    """Count memories, and list the hot cache."""
    counts, cache = (ROWS[name].run(memory, {}, TERMS) for name in ("memory_stats", "hot_cache_status"))
    lines = [
        f"Memories: {counts['total_memories']}",
        *(f"  {name}: {count}" for name, count in counts["by_type"].items()),
        f"Hot cache: {cache['current_count']} of {cache['max_items']}, {cache['pinned_count']} pinned",
        *(f"  {'*' if one['is_pinned'] else '-'} [{one['id']}] {one['content'][:100]}" for one in cache["items"]),
    ]
    return {**counts, "hot_cache": cache}, "\n".join(lines)


@command("db-rebuild-vectors", under=group, json=False)
def rebuild(
    memory: Memory,
    *,
    batch_size: Annotated[int, Asked("Accepted: batches are chosen automatically.")] = 100,  # noqa: ARG001
    clear_only: Annotated[bool, Asked("Delete the vectors; they are made again with use.")] = False,
) -> Result:
    """Make all vectors again."""
    has_vectors = memory.embedder is not None
    if has_vectors and not clear_only:
        run("store", "rebuild", "vectors")
        return None
    if has_vectors:
        start_over(memory)
    message = "Vectors deleted." if has_vectors else "There are no vectors: no embedder is set."
    return {"success": True, "message": message}, message
