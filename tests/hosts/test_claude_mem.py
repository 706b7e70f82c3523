"""A newcomer to claude-mem: the three steps of its search, and that an id means the same tomorrow."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.test_mcp import INITIALIZE, Peer

COMMAND = ("-m", "holdfast", "mcp", "--surface", "claude-mem")


@pytest.fixture
def peer(environment: dict[str, str], tmp_path: Path) -> Iterator[Peer]:
    one = Peer(environment, tmp_path, COMMAND)
    one.ask("initialize", INITIALIZE)
    yield one
    if one.process.poll() is None:
        one.close()


def call(peer: Peer, tool: str, **arguments: Any) -> str:
    result = peer.call(tool, **arguments)
    text = str(result["content"][0]["text"])
    assert not result["isError"], text
    return text


def first_id(table: str) -> int:
    row = next(line for line in table.splitlines() if line.startswith("| #"))
    return int(row.split("|")[1].strip().lstrip("#"))


def test_what_one_session_kept_is_found_in_three_steps_in_the_next(
    peer: Peer, environment: dict[str, str], tmp_path: Path
) -> None:
    assert "get_observations" in call(peer, "__IMPORTANT")
    call(peer, "observation_add", content="Tokens are validated with RS256.", kind="discovery")
    fixed = "Fixed the redirect loop in src/middleware/auth.ts. <private>The customer is Acme.</private>"
    kept = json.loads(call(peer, "observation_add", content=fixed, kind="bugfix"))
    call(peer, "observation_add", content="The worker was renamed to runner.", kind="refactor")
    peer.close()

    later = Peer(environment, tmp_path, COMMAND)
    later.ask("initialize", INITIALIZE)
    table = call(later, "search", query="redirect loop in the auth middleware", limit=5, project="shop")
    assert "| ID | Time | T | Title | Read |" in table
    assert first_id(table) == kept["id"]
    around = call(later, "timeline", anchor=kept["id"], depth_before=1, depth_after=1)
    assert [title in around for title in ("RS256", "→ Fixed the redirect loop", "renamed to runner")] == [True] * 3
    rows = json.loads(call(later, "get_observations", ids=[kept["id"]]))
    assert (rows[0]["id"], rows[0]["type"]) == (kept["id"], "bugfix")
    assert "Acme" not in json.dumps(rows)
    context = call(later, "session_start_context", project="shop")
    assert f"{kept['id']} " in context
    assert "Stats: 3 obs" in context
    out, error = later.close()
    assert (later.process.returncode, out, error) == (0, "", "")


def test_filters_narrow_what_is_listed(peer: Peer) -> None:
    for text, kind in (
        ("Fixed the seed.", "bugfix"),
        ("Chose JWT over cookies.", "decision"),
        ("Saw tests.", "change"),
    ):
        call(peer, "observation_add", content=text, kind=kind)
    assert call(peer, "search", obs_type="bugfix,decision").startswith("Found 2 result(s)")
    assert call(peer, "search", type="decision").startswith("Found 1 result(s)")
    assert call(peer, "search", type="sessions").startswith("No results found")
    assert call(peer, "search", dateEnd="2020-01-01").startswith("No results found")
    assert call(peer, "search", limit=1, orderBy="date_asc").splitlines()[-1] == "2 more: offset=1"
    rows = json.loads(call(peer, "search", format="json", platformSource="test"))
    assert (rows["totalResults"], len(rows["observations"]), rows["prompts"]) == (3, 3, [])
    assert call(peer, "search", platformSource="codex").startswith("No results found")
