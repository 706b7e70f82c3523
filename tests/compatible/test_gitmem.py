"""GitMem's documentation, tried literally."""

import json
import os
import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from holdfast.adapters.importers.maps import EMPTY
from holdfast.model.ids import instant
from tests.compatible.conftest import Place
from tests.compatible.scripts import scripts_in

scripts_in(globals())
TABLE = Path(__file__).with_name("gitmem_names.txt").read_text().splitlines()[1:]
ID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|t-[0-9a-f]{8}"
NAMES = {tool: aliases for tool, _, aliases in (line.partition(" ") for line in TABLE)}


def test_every_tool_and_alias(place: Place) -> None:
    place.environment["HOLDFAST_LIST_ALIASES"] = "1"
    names = place.tools("gitmem").names
    assert {name for tool, aliases in NAMES.items() for name in (tool, *aliases.split())} <= names


def test_gm_commands() -> None:
    folder = Path(__file__).parent.parent.parent / "plugin-memory" / "commands"
    aliases = {alias: tool for tool, names in NAMES.items() for alias in names.split() if alias.startswith("gm-")}
    assert len(aliases) == 23
    texts = {alias: (folder / f"{alias}.md").read_text() for alias in aliases}
    assert [alias for alias, tool in aliases.items() if f"`{tool}`" not in texts[alias] and "cache" not in tool] == []


STORED = ("learnings", "decisions", "threads", "suggested-threads")


@pytest.mark.xdist_group("GitMem itself")
def test_the_original_answers_as_before(place: Place, tmp_path: Path) -> None:
    """GitMem 1.8.0 writes, Holdfast imports and exports. Suggestions come from GitMem's server for paying users: theirs is written by hand."""
    if not (program := os.environ.get("GITMEM_PROGRAM")):
        pytest.skip("GitMem is in no registry; GITMEM_PROGRAM names the bin/gitmem.js of one that was built")
    before, after = (tmp_path / name / ".gitmem" for name in ("before", "after"))
    writes, suggested, kinds, reads = Path(__file__).with_name("gitmem_calls.txt").read_text().split("\n\n")

    def calls(folder: Path, lines: str) -> list[str]:
        answers = place.replay(lines, "GitMem", ["node", program], ID, GITMEM_DIR=folder, GITMEM_TIER="free")
        return [re.sub(rf"{ID}|\d+ms|\bnow\b|\b\d+[smh](?= )", "…", answer) for answer in answers]

    calls(before, writes)
    (before / "suggested-threads.json").write_text(f"[{suggested.replace('NOW', instant(time.time()))}]")
    place.run(f"store import --from gitmem {before}")
    assert place.arrived() == Counter(kinds.splitlines())
    place.run(f"store export --as gitmem {after}")
    assert _rows(after) == _rows(before)
    assert calls(after, reads) == calls(before, reads)


def _rows(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what a folder contains, without empty columns and the two that an export adds."""
    rows = [row for name in STORED for row in json.loads((folder / f"{name}.json").read_text())]
    added = ("holdfast", "updated_at")
    return {
        row["id"]: {name: row[name] for name in row if row[name] not in EMPTY and name not in added} for row in rows
    }
