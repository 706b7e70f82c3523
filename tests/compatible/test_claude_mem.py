"""claude-mem's reference, tried literally."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.compatible.conftest import Place, Tools
from tests.compatible.scripts import scripts_in
from tests.hosts.running import Terminal

promise = pytest.mark.promise
globals().update(scripts_in(__file__))
FIXED = {
    "content": "The gateway dropped requests over 1 MB; the limit is 10 MB now.",
    "title": "Gateway limit raised",
    "kind": "bugfix",
}


@promise("filters narrow before they cut: obs_type with a small limit finds what there is, totals are true")
def test_filters_come_first(ask: Tools) -> None:
    things = "retries caching logging routing billing search uploads sessions tracing quotas webhooks pages".split()
    for place, thing in enumerate(things):
        content = (
            f"Reading the gateway: {thing} live in their own module, {place + 2} files owned by team {thing[::-1]}."
        )
        assert "deduplicated" not in ask("observation_add", content=content, title=f"Gateway {thing}", kind="discovery")
    fixed = ask("observation_add", **FIXED)["id"]
    rows = ask("search", query="gateway", obs_type="bugfix", limit=2, format="json")
    assert ([row["id"] for row in rows["observations"]], rows["totalResults"]) == ([fixed], 1)
    assert ask("search", query="gateway", obs_type="discovery", limit=2, format="json")["totalResults"] == len(things)


def _database(file: Path) -> None:
    with sqlite3.connect(file) as db:
        db.executescript(Path(__file__).with_name("claude_mem.sql").read_text())


def imported(place: Place) -> None:
    """Import a database of claude-mem."""
    _database(place.home / "claude-mem.db")
    place.run(f"store import --from claude-mem {place.home / 'claude-mem.db'}")


@promise("import in a terminal asks for the project of each name it does not know")
def test_import_asks_for_the_project(place: Place, tmp_path: Path) -> None:
    file, elsewhere = tmp_path / "claude-mem.db", tmp_path / "elsewhere"
    _database(file)
    elsewhere.mkdir()
    terminal = Terminal(["store", "import", "--from", "claude-mem", str(file)], elsewhere, place.environment)
    terminal.press("foo (2 memories): project here", "git@github.com:me/foo.git\n")
    assert terminal.ended() == 0
    [row] = place.tools("claude-mem")("search", query="gateway limit", format="json")["observations"]
    assert row["project"] == "github.com/me/foo"


@promise("worker HTTP: search, timeline, observation by id, summaries, prompts, batch, by-file, memory/save, version")
def test_http(place: Place) -> None:
    imported(place)
    command = [sys.executable, "-m", "holdfast", "web", "--port", "0", "--no-open"]
    served = subprocess.Popen(
        command, cwd=place.folder, env=place.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert served.stdout is not None
        line = served.stdout.readline()
        base = line[line.index("http://") :].split("/?")[0].split()[0].rstrip("/.")
        token = (Path(place.environment["HOLDFAST_HOME"]) / "http-token").read_text().strip()

        def text(path: str, body: Any = None) -> str:
            headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
            data = None if body is None else json.dumps(body).encode()
            return str(urlopen(Request(base + path, data=data, headers=headers)).read().decode())

        def get(path: str, body: Any = None) -> Any:
            return json.loads(text(path, body))

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
        served.terminate()
        served.communicate(timeout=120)
