"""claude-mem's reference, tried literally."""

import json
import sqlite3
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.compatible.conftest import Place
from tests.compatible.scripts import scripts_in
from tests.hosts.running import Terminal
from tests.web.running import Viewer

promise = pytest.mark.promise
globals().update(scripts_in(__file__))


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Give a database that claude-mem wrote."""
    with sqlite3.connect(tmp_path / "claude-mem.db") as db:
        db.executescript(Path(__file__).with_name("claude_mem.sql").read_text())
    return tmp_path / "claude-mem.db"


@promise("import in a terminal asks for the project of each name it does not know")
def test_import_asks_for_the_project(place: Place, tmp_path: Path, database: Path) -> None:
    terminal = Terminal(["store", "import", "--from", "claude-mem", str(database)], tmp_path, place.environment)
    terminal.press("foo (2 memories): project here", "git@github.com:me/foo.git\n")
    assert terminal.ended() == 0
    [row] = place.tools("claude-mem")("search", query="gateway limit", format="json")["observations"]
    assert row["project"] == "github.com/me/foo"


@promise("worker HTTP: search, timeline, observation by id, summaries, prompts, batch, by-file, memory/save, version")
def test_http(place: Place, database: Path) -> None:
    place.run(f"store import --from claude-mem {database}")
    served = Viewer(Path(place.environment["HOLDFAST_HOME"]), place.folder, **place.environment)

    def text(path: str, body: Any = None) -> str:
        headers = {"authorization": f"Bearer {served.token}", "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        return str(urlopen(Request(served.base + path, data=data, headers=headers)).read().decode())

    def get(path: str, body: Any = None) -> Any:
        return json.loads(text(path, body))

    try:
        assert get("/api/search?query=gateway")["totalResults"] >= 1
        assert get("/api/timeline?anchor=7")["items"]
        assert get("/api/observation/7")["prompt_number"] == 3
        assert get("/api/summaries")["items"][0]["completed"] == "Raised it"
        assert get("/api/prompts")["items"][0]["prompt_text"] == "Fix the gateway"
        assert get("/api/observations/batch", {"ids": [7]})["observations"][0]["title"] == "Gateway limit raised"
        for path in ("by-file?filePath=gateway.py", "by-type?type=bugfix", "by-concept?concept=gotcha"):
            assert get(f"/api/search/{path}")["totalResults"] == 1, path
        assert get("/api/observations")["items"][0]["id"] == get("/api/observation/7")["id"]
        assert "Gateway limit raised" in text("/api/context/inject")
        assert get("/api/stats")
        assert "github.com/me/foo" in str(get("/api/projects"))
        assert get("/api/memory/save", {"text": "The gateway is written in Go.", "title": "Language"})["success"]
        assert get("/api/version")["version"]
        with pytest.raises(HTTPError, match="404"):
            get("/api/hook/claude-code/context", {})
    finally:
        served.close()
