"""A newcomer's first days with the tools of another system, on a real server over stdio."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.test_mcp import INITIALIZE, Peer, text_of

MEMORY_MCP = ("-m", "holdfast", "mcp", "--surface", "memory-mcp")
BETTERMEMORY = ("-m", "holdfast", "mcp", "--surface", "bettermemory")


class Client:
    """Calls tools by name, session after session."""

    def __init__(self, environment: dict[str, str], folder: Path, command: tuple[str, ...]) -> None:
        self.given = (environment, folder, command)
        self.peer = Peer(*self.given)
        self.greeting = self.peer.ask("initialize", INITIALIZE)["result"]

    def __call__(self, name: str, **arguments: Any) -> Any:
        result = self.peer.call(name, **arguments)
        assert not result["isError"], text_of(result)
        return json.loads(text_of(result))

    def refused(self, name: str, **arguments: Any) -> str:
        result = self.peer.call(name, **arguments)
        assert result["isError"]
        return text_of(result)

    def read(self, uri: str) -> str:
        return str(self.peer.ask("resources/read", {"uri": uri})["result"]["contents"][0]["text"])

    def restart(self) -> None:
        self.peer.close()
        self.peer = Peer(*self.given)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "CLAUDE.md").write_text("# Shop\n\n## Testing\n\n- Run the tests with just test before each push.\n")
    (folder / "README.md").write_text("# Shop\n\nThe shop sells shoes to everybody.\n")
    return folder


@pytest.fixture
def memory_mcp(environment: dict[str, str], project: Path) -> Iterator[Client]:
    client = Client(environment, project, MEMORY_MCP)
    yield client
    client.peer.close()


@pytest.fixture
def bettermemory(environment: dict[str, str], project: Path) -> Iterator[Client]:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    client = Client(environment, project, BETTERMEMORY)
    yield client
    client.peer.close()


def test_the_first_days_with_memory_mcp(memory_mcp: Client) -> None:
    ask = memory_mcp
    kept = ask("remember", content="This project uses PostgreSQL with pgvector", tags=["database"])
    assert kept["success"]
    assert ask("remember", content="This project uses PostgreSQL with pgvector", tags=["sql"])["was_duplicate"]
    found = ask("recall", query="which database does this project use")
    assert (found["confidence"], [one["id"] for one in found["memories"]]) == ("high", [kept["memory_id"]])
    assert found["memories"][0]["tags"] == ["database", "sql"]
    assert ask("recall", query="kubernetes ingress")["memories"] == []

    learned = ask("bootstrap_project")
    assert (learned["files_found"], learned["memories_created"], learned["hot_cache_promoted"]) == (2, 2, 2)
    assert ask("bootstrap_project")["memories_created"] == 0
    cache = ask.read("memory://hot-cache").splitlines()
    assert cache[0] == "[MEMORY: Hot Cache - High-confidence patterns]"
    assert "- [CLAUDE.md > Shop > Testing] Run the tests with just test before each push." in cache
    status = ask("hot_cache_status")
    assert (status["current_count"], status["max_items"], status["pinned_count"]) == (2, 20, 0)

    ask.restart()  # the ids it gave stay good
    ask("mark_memory_used", memory_id=kept["memory_id"], feedback="It named the extension.")
    assert ask("validate_memory", memory_id=kept["memory_id"], reason="used_correctly")["new_trust"] == 1.0
    lower = ask("invalidate_memory", memory_id=kept["memory_id"], penalty=0.2)
    assert (lower["old_trust"], lower["new_trust"]) == (1.0, 0.8)
    assert [one["reason"] for one in ask("get_trust_history", memory_id=kept["memory_id"])["entries"]] == [
        "outdated",
        "used_correctly",
    ]
    assert ask("forget", memory_id=kept["memory_id"])["success"]
    assert json.loads(ask.refused("promote", memory_id=kept["memory_id"]))["success"] is False
    assert ask("audit_history")["entries"][0]["operation"] == "delete_memory"


def test_what_sessions_say_is_mined_by_memory_mcp(memory_mcp: Client) -> None:
    ask = memory_mcp
    said = "We decided to use Valkey instead of Memcached because it persists its data."
    ask("log_output", content=said, session_id="monday")
    assert ask("run_mining")["new_patterns"] == 1
    assert ask("run_mining")["outputs_processed"] == 0
    assert (ask("get_session", session_id="monday")["log_count"], ask("mining_status")["outputs_last_24h"]) == (1, 1)
    [candidate] = ask("review_candidates")
    assert (candidate["pattern"], candidate["type"]) == (said, "decision")
    approved = ask("approve_candidate", pattern_id=candidate["id"], tags=["cache"])
    assert ask("mining_status")["candidates_ready"] == 0
    [memory] = ask("recall_by_tag", tag="cache")
    assert (memory["id"], memory["memory_type"], memory["source"], memory["is_hot"]) == (
        approved["memory_id"],
        "pattern",
        "mined",
        True,
    )


def test_knowledge_hangs_together_in_memory_mcp(memory_mcp: Client) -> None:
    ask = memory_mcp
    old = ask("remember", content="The API listens on port 8080.")["memory_id"]
    new = ask("remember", content="The API listens on port 9090.")["memory_id"]
    [clash] = ask("find_contradictions", memory_id=new)
    assert (clash["memory_b"]["id"], clash["already_linked"]) == (old, True)
    ask("mark_contradiction", memory_id_a=old, memory_id_b=new)
    [pair] = ask("get_contradictions")
    assert {pair["memory_a"]["id"], pair["memory_b"]["id"]} == {old, new}
    ask("resolve_contradiction", memory_id_a=old, memory_id_b=new, keep_id=new)
    assert ask("get_contradictions") == []
    assert [one["id"] for one in ask("recall", query="which port does the API listen on")["memories"]] == [new]
    [link] = ask("get_related_memories", memory_id=new, direction="outgoing")
    assert (link["relationship"]["relation_type"], link["memory"]["id"]) == ("supersedes", old)
    assert ask("relationship_stats")["by_type"] == {"supersedes": 1}
    assert ask("unlink_memories", from_memory_id=new, to_memory_id=old)["removed_count"] == 1


def test_sessions_of_memory_mcp_end_with_what_lasts(memory_mcp: Client) -> None:
    ask = memory_mcp
    for number in range(3):
        ask("remember", content=f"Import number {number} failed at night.", memory_type="episodic", session_id="monday")
    kept = ask("remember", content="Chose JWT over sessions.", category="decision", session_id="monday")["memory_id"]
    ask("set_session_topic", session_id="monday", topic="Nightly imports")
    told = ask("get_session", session_id="monday")
    assert (told["topic"], told["memory_count"]) == ("Nightly imports", 4)
    assert [one["id"] for one in ask("summarize_session", session_id="monday")["decisions"]] == [kept]
    ended = ask("end_session", session_id="monday")
    assert (ended["episodic_count"], ended["promoted_count"]) == (3, 0)
    assert "monday" in [one["id"] for one in ask("get_sessions")]
    assert ask("memory_stats")["total_memories"] == 4


def test_the_first_months_with_bettermemory(bettermemory: Client) -> None:
    ask = bettermemory
    assert len(ask.greeting["instructions"].encode()) < 1_700
    assert ask("memory_scope_overview")["total"] == 0
    said = "For tutorials the user wants code that runs."
    held = ask("memory_write", content=said, scopes=["learning-style"], category="user-inference")
    assert (held["status"], held["pending_reason"]) == ("pending", "user-inference")
    assert ask("memory_search", query="tutorials with code that runs") == []
    kept = ask("memory_write_confirm", pending_id=held["pending_id"])
    assert kept["status"] == "committed"

    ask.restart()  # week two, a fresh session
    [hit] = ask("memory_search", query="tutorials with code that runs", expand_top=True)
    assert (hit["id"], hit["relevance"], hit["category"], hit["body"]) == (kept["id"], "high", "user-inference", said)
    assert (hit["verification"]["status"], hit["staleness_verdict"]) == ("never", "spot_check_required")
    assert ask("memory_record_use", memory_ids=[hit["id"]], outcome="applied")["recorded"] == [hit["id"]]
    verified = ask("memory_verify", id=hit["id"], note="Asked the user.")
    assert verified["updated"] == kept["updated"]
    assert ask("memory_show", id=hit["id"])["staleness_verdict"] == "fresh"

    ask("memory_scope_disable", scope="learning-style")
    assert ask("memory_search", query="tutorials with code that runs") == []
    assert ask("memory_scope_enable", scope="learning-style") == {"disabled_scopes": []}


def test_writes_to_bettermemory_pass_gates(bettermemory: Client) -> None:
    ask = bettermemory
    passing = ask("memory_write", content="We just shipped the checkout page.", scopes=["projects:shop"])
    assert (passing["status"], passing["markers"][0]["marker"]) == ("transient_warning", "we just")
    text = "The checkout page validates addresses on the server."
    kept = ask("memory_write", content=text, scopes=["projects:shop"])
    again = ask("memory_write", content=text, scopes=["projects:shop"])
    assert (again["status"], again["matches"][0]["id"]) == ("duplicate", kept["id"])
    elsewhere = ask("memory_write", content="The shop deploys on Fridays.", scopes=["tools"])
    assert (elsewhere["status"], elsewhere["suggested_scopes"]) == ("scope_mismatch", ["projects:shop"])
    ask("memory_remove", id=kept["id"], reason="It moved to another service.")
    assert "It moved to another service" in ask.refused("memory_show", id=kept["id"])
    back = ask("memory_write", content=text, scopes=["projects:shop"])
    assert (back["status"], back["removed_matches"][0]["removed_reason"]) == (
        "previously_removed",
        "It moved to another service.",
    )
    assert [one["id"] for one in ask("memory_list_tombstones")] == [kept["id"]]
    assert ask("memory_restore", id=kept["id"])["created"] == kept["created"]
    assert ask("memory_update", id=kept["id"], content="Currently broken.")["status"] == "transient_warning"
    assert "credentials" in ask.refused("memory_write", content="token ghp_" + "a1B2" * 9, scopes=["tools"])


def test_bettermemory_curates(bettermemory: Client) -> None:
    ask = bettermemory
    first = ask("memory_write", content="Deploys happen on Fridays only.", scopes=["tools"])
    ask("memory_write", content="The linter is ruff, configured in pyproject.", scopes=["tools"])
    ask("memory_write", content="Reviews need two people who know the code.", scopes=["tool"])
    overview = ask("memory_scope_overview")
    assert (overview["scopes"], overview["total"]) == ({"tools": 2, "tool": 1}, 3)
    ask("memory_record_use", memory_ids=[first["id"]], outcome="contradicted", note="It was a Tuesday.")
    health = ask("memory_health")
    assert [row["id"] for row in health["contradicted"]] == [first["id"]]
    assert health["rare_scopes"] == [{"scope": "tool", "similar_to": "tools"}]
    assert health["verification_debt"]["never_verified_total"] == 3
    renamed = ask("memory_rename_scope", old_scope="tool", new_scope="tools")
    assert (len(renamed["active"]), renamed["tombstoned"]) == (1, [])
    ask("memory_update", id=first["id"], content="Deploys happen on Tuesdays only.")
    assert ask("memory_health")["contradicted"] == []
