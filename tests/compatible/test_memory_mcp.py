"""Memory MCP's API reference, tried literally: the scripts beside this."""

import re
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.compatible.conftest import Place, original
from tests.compatible.scripts import scripts_in

scripts_in(globals())

VARYING = re.compile(r'"(\w*score\w*|similarity|vectors_cleared)":[^,}]+|"metrics":{.*?}')


@pytest.mark.xdist_group("Memory MCP itself")
def test_the_original_answers_as_before(place: Place, tmp_path: Path) -> None:
    """Memory MCP 0.8.0 writes, Holdfast imports and exports. Its model is a download of gigabytes: the embedding of its own tests takes its place."""
    server, writes, kinds, tables, reads = Path(__file__).with_name("memory_mcp_calls.txt").read_text().split("\n\n")
    program = [original("memory-mcp") / "bin" / "python", "-c", server]
    checkout = replace(place, folder=Path(place.repository("checkout")))
    checkout.git("remote", "set-url", "origin", "git@github.com:me/foo.git")
    before, after = tmp_path / "before.db", tmp_path / "after.db"

    def calls(database: Path, lines: str) -> list[str]:
        variables = {"MEMORY_MCP_DB_PATH": database, "MEMORY_MCP_LOG_LEVEL": "ERROR"}
        answers = checkout.replay(lines, "Memory MCP", program, r"(?<=memory_id\":)\d+", **variables)
        return [VARYING.sub("", answer) for answer in answers]

    def stored(database: Path) -> list[list[Any]]:
        with closing(sqlite3.connect(database)) as db:
            return [db.execute(query).fetchall() for query in tables.splitlines()]

    calls(before, writes)
    place.run(f"store import --from memory-mcp {before}")
    assert place.arrived() == Counter(kinds.splitlines())
    assert [session["project"] for session in place.json("session list --json")] == ["github.com/me/foo"]
    calls(after, "memory_stats {}")  # it makes its database
    place.run(f"store export --as memory-mcp {after}")
    assert stored(after) == stored(before)
    assert calls(after, reads) == calls(before, reads)
