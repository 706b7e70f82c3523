"""The commands of Memory MCP, `memory-mcp-cli`."""

import os
import sys
from pathlib import Path

import click

from holdfast.hosts.cli.command import Inner, Result, Words, opened
from holdfast.hosts.cli.compat import run
from holdfast.hosts.cli.render import page
from holdfast.hosts.cli.values import LONGEST_STDIN
from holdfast.model.errors import Invalid
from holdfast.model.files import open_regular
from holdfast.surfaces.memory_mcp.tools import ROWS, TERMS
from holdfast.verbs.capture.mining import log_output
from holdfast.verbs.memory import Memory
from holdfast.verbs.search.embed import start_over


def memory_mcp_command() -> Result:
    raise click.exceptions.NoArgsIsHelpError(click.get_current_context())


def bootstrap_command(
    *,
    root: str = ".",
    files: Words = (),
    memory_type: str = "project",
    tags: Words = (),
    promote: bool = True,
    quiet: bool = False,
) -> Inner:
    if not Path(root).is_dir():
        raise Invalid(f"There is no folder {root}.")
    os.chdir(root)  # the documents of a project belong to that project
    asked = {"root_path": ".", "file_patterns": files, "memory_type": memory_type, "tags": tags}
    with opened() as memory:
        done = ROWS["bootstrap_project"].run(memory, asked | {"promote_to_hot": promote}, TERMS)
    return done, "" if quiet else done["message"]


def log_output_command(memory: Memory, *, content: str | None = None, file: Path | None = None) -> Inner:
    if content is None:
        with open_regular(file) if file else sys.stdin.buffer as source:
            content = source.read(LONGEST_STDIN).decode(errors="replace")
    kept = log_output(memory, content, "")
    text = f"Logged {kept:,} characters." if kept else "The text is empty; nothing was logged."
    return {"success": bool(kept), "characters": kept}, text


def run_mining_command(memory: Memory, *, hours: int = 24) -> Inner:  # noqa: ARG001
    done = ROWS["run_mining"].run(memory, {}, TERMS)
    return done, page("memory_mcp_mined", done)


def status_command(memory: Memory) -> Inner:
    counts, cache = (ROWS[name].run(memory, {}, TERMS) for name in ("memory_stats", "hot_cache_status"))
    return {**counts, "hot_cache": cache}, page("memory_mcp_status", counts, cache)


def db_rebuild_vectors_command(memory: Memory, *, batch_size: int = 100, clear_only: bool = False) -> Inner:  # noqa: ARG001
    has_vectors = memory.embedder is not None
    if has_vectors and not clear_only:
        run("store", "rebuild", "vectors")
        return None
    if has_vectors:
        start_over(memory)
    message = "Vectors deleted." if has_vectors else "There are no vectors: no embedder is set."
    return {"success": True, "message": message}, message
