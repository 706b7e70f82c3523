"""claude-mem's reference, tried literally."""

import sqlite3
from pathlib import Path

import pytest

from tests.compatible.conftest import Place
from tests.compatible.scripts import scripts_in
from tests.hosts.running import Terminal

globals().update(scripts_in(__file__))


@pytest.mark.promise("import in a terminal asks for the project of each name it does not know")
def test_import_asks_for_the_project(place: Place, tmp_path: Path) -> None:
    database = tmp_path / "claude-mem.db"
    with sqlite3.connect(database) as db:
        db.executescript(Path(__file__).with_name("claude_mem.sql").read_text())
    terminal = Terminal(["store", "import", "--from", "claude-mem", str(database)], tmp_path, place.environment)
    terminal.press("foo (2 memories): project here", "git@github.com:me/foo.git\n")
    assert terminal.ended() == 0
    [row] = place.tools("claude-mem")("search", query="gateway limit", format="json")["observations"]
    assert row["project"] == "github.com/me/foo"
