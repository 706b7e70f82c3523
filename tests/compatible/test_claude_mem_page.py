"""What docs/compatibility.md says about claude-mem's tools and worker, tried literally."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.compatible.conftest import Place, Tools, git
from tests.compatible.scripts import scripts_in
from tests.compatible.test_claude_mem import FIXED

promise = pytest.mark.promise
globals().update(scripts_in(__file__))


@promise("ids are small numbers within the project, the same in every session; other projects have long ones")
def test_numbers(ask: Tools, place: Place, tmp_path: Path) -> None:
    bar = tmp_path / "bar"
    bar.mkdir()
    git(bar, "init", "-q"), git(bar, "remote", "add", "origin", "git@github.com:me/bar.git")
    assert ask("observation_add", **FIXED)["id"] == 1
    ask.restart()
    assert ask("get_observations", ids=[1])[0]["title"] == FIXED["title"]
    there = place.tools("claude-mem", bar)
    [far] = there("search", query="gateway requests", format="json")["observations"]
    assert far["id"] > 2_000_000_000
    assert there("get_observations", ids=[far["id"]])[0]["title"] == FIXED["title"]
    assert ask("get_observations", ids=[far["id"]])[0]["id"] == 1


@promise("every memory is an observation with a type; prompts are reported as not kept; offsets and orders work")
def test_all_kinds(ask: Tools, place: Place) -> None:
    place.run(
        'remember "PostgreSQL is the database of the gateway, for its row locks." --kind decision --title "Use PostgreSQL"'
    )
    place.run('remember "The gateway forwards requests in order."')
    ask("observation_add", **FIXED)
    types = [row["type"] for row in ask("search", query="gateway", format="json")["observations"]]
    assert sorted(types) == ["bugfix", "decision", "discovery"]
    assert "type=sessions" in ask.text("search", type="prompts")
    assert ask.text("search", query="gateway").count("| ID |") == 1
    pages = [
        ask("search", limit=1, offset=n, orderBy="date_asc", format="json")["observations"][0]["id"] for n in range(3)
    ]
    assert pages == sorted(pages)
    assert ask.text("search", limit=1, orderBy="date_asc").splitlines()[-1] == "2 more: offset=1"
    assert "date_desc" in ask.refused("search", orderBy="wild")


@promise("get_observations: facts, concepts and files are lists; the rationale of a decision is among the facts")
def test_rows(ask: Tools, place: Place) -> None:
    kept = place.json(
        'remember "PostgreSQL is the database." --kind decision --title "Use PostgreSQL" --field rationale="It has row locks." --json'
    )
    assert kept
    [row] = ask("search", query="PostgreSQL", format="json")["observations"]
    assert all(isinstance(row[name], list) for name in ("facts", "concepts", "files_read", "files_modified"))
    assert any("row locks" in fact for fact in row["facts"])


@promise("worker-service hook lines of every event: session-init, user-message, observation, summarize")
def test_hook_lines(place: Place, ask: Tools) -> None:
    ask("observation_add", **FIXED)
    common = {"session_id": "s-9", "cwd": str(place.folder)}
    lines: dict[str, dict[str, Any]] = {
        "user-message": {"hook_event_name": "SessionStart", "source": "startup"},
        "session-init": {"hook_event_name": "UserPromptSubmit", "prompt": "Raise the limit of the gateway to 10 MB."},
        "observation": {
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": "pytest"},
            "tool_response": {"stdout": "1 passed"},
        },
        "summarize": {"hook_event_name": "Stop", "last_assistant_message": "Raised the limit of the gateway to 10 MB."},
    }
    for name, event in lines.items():
        said = place.run(f"compat claude-mem hook claude-code {name}", stdin=json.dumps(common | event)).stdout
        assert said == "" or json.loads(said)["hookSpecificOutput"]["hookEventName"] == event["hook_event_name"], name
    place.work()
    assert "limit of the gateway" in ask.text("search", query="raise the limit of the gateway")
