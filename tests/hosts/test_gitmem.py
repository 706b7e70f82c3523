"""A newcomer to GitMem, walked through its guides on our server: real processes, one after the other, over stdio."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.model.ids import short
from tests.hosts.test_mcp import INITIALIZE, Peer

COMMAND = ("-m", "holdfast", "mcp", "--surface", "gitmem")
OAUTH = {
    "learning_type": "scar",
    "title": "An OAuth redirect URI is registered to the letter",
    "description": "The provider turns a login down when one letter of the redirect URI differs.",
    "severity": "medium",
    "counter_arguments": ["Test setups may be lenient", "A few providers take wildcards"],
}


class Agent:
    """An agent with GitMem's tools; each has a server process of its own."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        self.peer = Peer(environment, folder, COMMAND)
        self.peer.ask("initialize", INITIALIZE)
        self.peer.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __call__(self, tool: str, **arguments: Any) -> str:
        result = self.peer.call(tool, **arguments)
        text = str(result["content"][0]["text"])
        assert not result["isError"], text
        return text

    def fails(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.peer.call(tool, **arguments)
        assert result["isError"]
        told = json.loads(result["content"][0]["text"])
        assert set(told) == {"success", "errors", "message"}
        assert told["success"] is False
        assert isinstance(told, dict)
        return told

    def leave(self) -> None:
        out, error = self.peer.close()
        assert (self.peer.process.returncode, out, error) == (0, "", "")


@pytest.fixture
def agents(environment: dict[str, str], tmp_path: Path) -> Iterator[Any]:
    """Give a function that brings a new agent; whoever is still there leaves at the end."""
    came: list[Agent] = []

    def come() -> Agent:
        came.append(Agent(environment, tmp_path))
        return came[-1]

    yield come
    for one in came:
        if one.peer.process.poll() is None:
            one.peer.close()


def told(text: str, key: str) -> str:
    """Give what stands behind a key in a text."""
    return next(line.removeprefix(f"{key}: ") for line in text.splitlines() if line.startswith(f"{key}: "))


def test_a_first_session_from_start_to_close_and_what_the_next_one_finds(agents: Any) -> None:
    agent = agents()
    helped = agent("gitmem-help")
    assert "31 tools" in helped
    assert "session_start" in helped

    opened = agent("session_start", project="shop")
    session = told(opened, "session_id")
    assert "First session here" in opened

    assert agent("recall", plan="put a login before the API").startswith("No memory fits")
    learning = told(agent("create_learning", **OAUTH), "learning_id")
    agent("create_thread", text="The login route wants a rate limiter before the next deploy")

    # The payload of the guide on closing, word for word in shape: prose, a half-done task, plain decisions and threads.
    payload = {
        "closing_reflection": "Most of the time went into the login; comparing both addresses found the typo.",
        "task_completion": "partial",
        "scars_to_record": [],
        "open_threads": ["Session cookies still need a migration"],
        "decisions": ["Use JWT instead of cookies of our own"],
    }
    place = Path(told(opened, "gitmem_dir")) / "closing-payload.json"
    assert told(opened, "Payload path") == str(place)
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps(payload))
    closed = agent("session_close", session_id=session, close_type="standard")
    assert "session closed (standard)" in closed
    assert not place.exists()
    agent.leave()

    agent = agents()
    again = agent("session_start")
    assert told(again, "session_id") != session
    for part in (
        "Open threads (2):",
        "The login route wants a rate limiter",
        "Session cookies still need a migration",
        "Use JWT instead of cookies",
        "[EMERGING 1.00] (operational, today)",
    ):
        assert part in again
    shown = agent("recall", plan="change the OAuth redirect URI")
    assert shown.startswith("1 scar to review")
    assert short(learning) in shown
    agent.leave()


def test_scars_are_confirmed_before_work_and_judged_by_it(agents: Any) -> None:
    agent = agents()
    session = told(agent("session_start"), "session_id")
    learning = told(agent("create_learning", **OAUTH), "learning_id")
    agent("recall", plan="change the OAuth redirect URI", match_count=5, issue_id="PROJ-123")
    early = agent("create_decision", title="JWT", decision="Use JWT.", rationale="Stateless.")
    assert early.startswith("Note: 1 recalled scar not confirmed yet")

    future = agent.fails(
        "confirm_scars",
        confirmations=[
            {
                "scar_id": learning,
                "decision": "APPLYING",
                "evidence": "I will compare the redirect URI of the console with the one in our settings.",
            }
        ],
    )
    assert "past tense" in future["errors"][0]
    evidence = "Compared the redirect URI of the console with the one in our settings; both are the same."
    confirmed = agent(
        "confirm_scars", confirmations=[{"scar_id": short(learning), "decision": "APPLYING", "evidence": evidence}]
    )
    assert confirmed.startswith("valid: true")
    agent("reflect_scars", reflections=[{"scar_id": learning, "outcome": "OBEYED", "evidence": evidence}])
    batch = json.loads(
        agent(
            "record_scar_usage_batch",
            scars=[
                {
                    "scar_identifier": name,
                    "surfaced_at": "2026-01-01T10:00:00Z",
                    "reference_type": "explicit",
                    "reference_context": "Compared both.",
                    "execution_successful": True,
                }
                for name in ("An OAuth redirect URI is registered to the letter", "No such scar")
            ],
        )
    )
    assert (batch["resolved_count"], batch["failed_identifiers"]) == (1, ["No such scar"])
    agent("session_close", session_id=short(session), close_type="quick")
    spots = json.loads(agent("analyze", lens="summary", format="json"))
    assert spots["data"]["closes"] == {"quick": 1}
    agent.leave()


def test_a_lead_agent_briefs_sub_agents_and_takes_in_what_they_saw(agents: Any) -> None:
    agent = agents()
    agent("session_start")
    agent("create_learning", **OAUTH)
    compact = agent("prepare_context", plan="review OAuth redirect handling", format="compact")
    assert "An OAuth redirect URI is registered to the letter" in compact
    assert agent("prepare_context", plan="review OAuth redirect handling", format="gate").startswith("PASS")
    seen = [
        {
            "source": "Sub-Agent: code review",
            "text": "Expired tokens still pass the check of the gateway",
            "severity": "scar_candidate",
        },
        {
            "source": "Sub-Agent: code review",
            "text": "Requests are validated in one place",
            "severity": "info",
        },
    ]
    absorbed = agent("absorb_observations", observations=seen)
    assert (told(absorbed, "absorbed"), told(absorbed, "scar_candidates")) == ("2", "1")
    agent.leave()


def test_threads_outlive_sessions_until_they_are_resolved(agents: Any) -> None:
    agent = agents()
    agent("session_start")
    first = told(agent("create_thread", text="Publish the package under its new name"), "thread_id")
    again = agent("create_thread", text="Publish the package under its new name!", linear_issue="PROJ-7")
    assert (told(again, "thread_id"), told(again, "deduplicated")) == (first, "true")
    agent("create_thread", text="Rotate the signing keys")
    agent.leave()

    agent = agents()
    agent("session_start")
    listed = agent("gm-threads")
    assert [line.split(" | ")[0] for line in listed.splitlines()[3:]] == ["| #1", "| #2"]
    assert first in listed
    assert "[RESOLVED] renamed" in agent("resolve_thread", text_match="package", resolution_note="renamed")
    assert "Rotate" in agent("gitmem-rt", thread_id="#1")
    assert "total_open: 0" in agent("list_threads")
    assert agent("list_threads", status="resolved").count("| – |") == 2
    assert "total_open: 0" in agent("cleanup_threads", auto_archive=True)
    agent.leave()


def test_errors_are_listed_and_say_how_to_go_on(agents: Any) -> None:
    agent = agents()
    agent("session_start")
    bad = {name: value for name, value in OAUTH.items() if name not in ("severity", "counter_arguments")}
    missing = agent.fails("create_learning", **bad)
    assert missing["errors"] == [
        "Missing required field: severity (must be critical, high, medium, or low)",
        "Scars require at least 2 counter_arguments",
    ]
    one = agent.fails("create_learning", **{**OAUTH, "counter_arguments": ["Only one"]})
    assert one["errors"] == ["Scars require at least 2 counter_arguments"]
    placeholder = agent.fails("session_close", session_id="SESSION_AUTO", close_type="standard")
    assert placeholder["errors"][0].startswith("Invalid session_id format")
    assert "session_start" in placeholder["message"]
    assert agent.fails("recall")["errors"] == ["Missing required field: plan (a string)"]
    assert "0 with a problem" in agent("health", failure_limit=10)
    secret = agent.fails("create_learning", **{**OAUTH, "description": "The key is AKIA" + "IOSFODNN7EXAMPLQ"})
    assert "credentials" in secret["errors"][0]
    agent.leave()


def test_only_tools_are_offered_and_short_names_are_listed_on_request(
    environment: dict[str, str], tmp_path: Path
) -> None:
    peer = Peer(environment, tmp_path, COMMAND)
    assert peer.ask("initialize", INITIALIZE)["result"]["capabilities"] == {"tools": {"listChanged": False}}
    assert len(peer.ask("tools/list")["result"]["tools"]) == 31
    assert not (tmp_path / "store").exists()
    for method in ("resources/list", "prompts/list"):
        assert peer.ask(method)["error"]["code"] == -32601
    peer.close()
    peer = Peer({**environment, "HOLDFAST_LIST_ALIASES": "1"}, tmp_path, COMMAND)
    peer.ask("initialize", INITIALIZE)
    names = {tool["name"] for tool in peer.ask("tools/list")["result"]["tools"]}
    assert {"session_start", "gitmem-ss", "gm-open", "gitmem-cache-status", "gm-cache-s"} <= names
    assert len(names) == 85
    peer.close()


def test_two_surfaces_with_the_same_tool_are_refused(environment: dict[str, str], tmp_path: Path) -> None:
    peer = Peer(environment, tmp_path, (*COMMAND, "--surface", "claude-mem"))
    _, error = peer.close()
    assert peer.process.returncode == 64
    assert "gitmem and claude-mem both have a tool search" in error
    assert "two servers" in error
