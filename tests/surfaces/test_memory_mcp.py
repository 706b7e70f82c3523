"""Memory MCP's tools on a real store: what its users rely on, without what its defects did to them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine.views import signals
from holdfast.model.event import Actor
from holdfast.surfaces.memory_mcp import surface
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import retire
from holdfast.verbs.sessions.session import begin
from tests.conftest import Time, keep, make_memory
from tests.surfaces.conftest import Tools


class MemoryMcp(Tools):
    def __call__(self, name: str, **arguments: Any) -> Any:
        return json.loads(self.answer(name, arguments))

    def error(self, name: str, **arguments: Any) -> str:
        told = json.loads(super().error(name, **arguments))
        assert told["success"] is False
        return str(told["error"])

    def read(self, uri: str) -> str:
        found = surface.read(self.call_, uri)
        assert found is not None
        return found[1]

    def kept(self, content: str, **arguments: Any) -> int:
        return int(self("remember", content=content, **arguments)["memory_id"])


@pytest.fixture
def memory(tmp_path: Path, time: Time) -> Iterator[Memory]:
    with make_memory(tmp_path, time, actor=Actor(kind="agent", name="claude")) as opened:
        yield begin(opened, implicit=True)


@pytest.fixture
def tools(memory: Memory) -> MemoryMcp:
    return MemoryMcp(memory, surface)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "project"),
        ({"memory_type": "pattern"}, "pattern"),
        ({"memory_type": "pattern", "category": "antipattern"}, "pattern"),
        ({"memory_type": "reference", "category": "command"}, "reference"),
        ({"memory_type": "project", "category": "decision"}, "project"),
        ({"memory_type": "project", "category": "landmine"}, "project"),
        ({"memory_type": "conversation"}, "conversation"),
        ({"memory_type": "episodic"}, "episodic"),
    ],
)
def test_a_memory_has_the_type_it_was_given(tools: MemoryMcp, given: dict[str, str], told: str) -> None:
    number = tools.kept("Deploys happen on Fridays.", **given)
    [found] = tools("list_memories", memory_type=told)
    assert (found["id"], found["memory_type"], found["tags"]) == (number, told, [])
    assert tools("recall", query="deploys on Fridays", memory_type=told)["memories"][0]["id"] == number


def test_what_comes_with_the_product_is_not_among_ones_memories(tools: MemoryMcp) -> None:
    assert tools("memory_stats")["total_memories"] == 0
    assert tools("list_memories") == []
    assert tools("recall", query="a migration without a way back", mode="exploratory")["memories"] == []


def test_asking_changes_neither_trust_nor_the_hot_cache(memory: Memory, tools: MemoryMcp) -> None:
    number = tools.kept("Deploys happen on Fridays.")
    for _ in range(5):
        tools("recall", query="when do deploys happen")
    [found] = tools("list_memories")
    assert (found["trust_score"], found["is_hot"], found["access_count"]) == (1.0, False, 5)
    assert signals.trust_changes(memory.store, [found["ref"]]) == {}
    for _ in range(3):
        tools("mark_memory_used", memory_id=number)
    assert tools("list_memories")[0]["promotion_source"] == "auto_threshold"


@pytest.mark.parametrize("penalty", [0.2, -0.2])
def test_calling_a_memory_wrong_never_raises_trust(tools: MemoryMcp, penalty: float) -> None:
    number = tools.kept("Deploys happen on Fridays.")
    changed = tools("invalidate_memory", memory_id=number, penalty=penalty, note="They moved.")
    assert (changed["old_trust"], changed["new_trust"]) == (1.0, 0.8)
    assert "reason must be one of" in tools.error("invalidate_memory", memory_id=number, reason="used_correctly")


def test_nothing_of_another_project_is_shown(memory: Memory, tools: MemoryMcp) -> None:
    other = MemoryMcp(memory.acting_on("example.org/acme/bank"), surface)
    number = other.kept("The bank deploys on Mondays, never on Fridays.")
    other("promote", memory_id=number)
    other("forget", memory_id=other.kept("Something else of the bank."))
    mine = tools.kept("The shop deploys on Fridays.")
    for name in ("recall", "recall_with_fallback"):
        assert [one["id"] for one in tools(name, query="who deploys on Fridays")["memories"]] == [mine]
    assert tools.read("memory://hot-cache") == "[MEMORY: Hot cache empty - no recent activity]"
    assert tools("find_contradictions", memory_id=mine) == []
    assert tools("preview_consolidation")["cluster_count"] == 0
    assert tools("audit_history")["entries"] == []
    assert [one["project_path"] for one in tools("get_sessions")] == ["example.org/acme/shop"]
    assert other("get_sessions", project_path="/home/ann/shop")[0]["project_path"] == "example.org/acme/shop"


def test_modes_set_how_many_answers_there_are(tools: MemoryMcp) -> None:
    for number in range(12):
        tools.kept(f"Deploy step {'abcdefghijkl'[number]}{number} restarts service number {number * 37}.")
    counts = {
        mode: len(tools("recall", query="deploy step restarts service", mode=mode)["memories"])
        for mode in ("precision", "balanced", "exploratory")
    }
    assert counts == {"precision": 3, "balanced": 5, "exploratory": 10}
    assert len(tools("recall", query="deploy step restarts service", limit=7, threshold=0)["memories"]) == 7


def test_links_lead_to_more(tools: MemoryMcp) -> None:
    one, other = tools.kept("The API listens on port 8080."), tools.kept("Certificates are renewed by cron.")
    tools("link_memories", from_memory_id=one, to_memory_id=other, relation_type="depends_on")
    found = tools("recall", query="which port does the API listen on", include_related=True)
    assert [row["memory"]["id"] for row in found["related_memories"]] == [other]
    widened = tools("recall", query="which port does the API listen on", expand_relations=True)["memories"]
    assert [row["id"] for row in widened] == [one, other]
    assert widened[1]["similarity"] == pytest.approx(0.8 * widened[0]["similarity"], abs=0.01)
    assert tools.error("unlink_memories", from_memory_id=other, to_memory_id=one).startswith("There is no such link")


def test_what_follows_what_is_learned_from_sessions(memory: Memory, tools: MemoryMcp) -> None:
    one, other = tools.kept("The API listens on port 8080."), tools.kept("Certificates are renewed by cron.")
    for _ in range(3):
        tools.call_.acting.context = begin(memory, implicit=True).context
        tools("recall", query="which port does the API listen on")
        tools("recall", query="how are certificates renewed")
    [pattern] = tools("access_patterns")
    assert (pattern["from_memory_id"], pattern["to_memory_id"], pattern["count"]) == (one, other, 3)
    [guess] = tools("predict_next", memory_id=one)
    assert (guess["memory"]["id"], guess["probability"]) == (other, 1.0)
    assert tools("warm_cache", memory_id=one)["promoted_ids"] == [other]
    assert tools("hot_cache_status")["items"][0]["promotion_source"] == "predicted"
    recurring = tools("cross_session_patterns", min_sessions=3)
    assert {row["memory_id"] for row in recurring} == {one, other}


def test_the_best_of_a_session_lasts(tools: MemoryMcp) -> None:
    number = tools.kept(
        "The nightly import fails when /data/in.csv is empty.", memory_type="episodic", session_id="mon"
    )
    idle = tools.kept("Looked at the logs.", memory_type="episodic", session_id="mon")
    for _ in range(5):
        tools("mark_memory_used", memory_id=number)
    ended = tools("end_session", session_id="mon", promote_type="pattern")
    assert (ended["promoted_ids"], ended["episodic_count"]) == ([number], 2)
    types = {one["id"]: one["memory_type"] for one in tools("get_session_memories", session_id="mon")}
    assert types == {number: "pattern", idle: "episodic"}


def test_what_says_the_same_is_merged_on_request(tools: MemoryMcp) -> None:
    first = "Access tokens expire after 15 minutes and are signed with RS256 by the gateway. Ask Noor for the key."
    second = (
        "Access tokens are signed with RS256 by the gateway and expire after 15 minutes. Refresh tokens live in Redis."
    )
    for content in (first, second):
        tools.kept(content)
    preview = tools("run_consolidation")
    assert (preview["dry_run"], preview["cluster_count"], tools("memory_stats")["total_memories"]) == (True, 1, 2)
    merged = tools("run_consolidation", dry_run=False, memory_type="project")
    [left] = tools("list_memories")
    assert merged["merged_ids"] == [left["id"]]
    assert tools("preview_consolidation", memory_type="pattern")["cluster_count"] == 0


def test_a_rejected_candidate_does_not_come_back(tools: MemoryMcp) -> None:
    said = "We decided to use Valkey instead of Memcached because it persists its data."
    tools("log_output", content=said, session_id="monday")
    tools("run_mining")
    [candidate] = tools("review_candidates")
    tools("bulk_reject_candidates", pattern_type_prefix="dec")
    tools("log_output", content=said, session_id="tuesday")
    tools("run_mining")
    assert tools("review_candidates") == []
    assert "not a pending" in tools.error("approve_candidate", pattern_id=candidate["id"])


def test_what_was_retired_elsewhere_is_not_kept_again_unseen(memory: Memory, tools: MemoryMcp) -> None:
    retire(memory, keep(memory, "Deploys happen on Fridays.").id, "they moved")
    assert "said this and was retired: they moved." in tools.error("remember", content="Deploys happen on Fridays.")
    assert "credentials" in tools.error("remember", content="The token is ghp_" + "a1B2" * 9)


def test_the_project_is_told_in_a_few_lines(tools: MemoryMcp) -> None:
    tools("promote", memory_id=tools.kept("Deploys happen on Fridays.", category="decision"))
    lines = tools.read("memory://project-context").splitlines()
    assert lines[0] == "[MEMORY: Project context (example.org/acme/shop)]"
    assert "- Deploys happen on Fridays." in lines


def test_what_was_imported_keeps_its_numbers(memory: Memory, tools: MemoryMcp) -> None:
    origin = {"imported": {"system": "memory-mcp", "id": "memory:42"}}
    record = keep(memory, "Deploys happen on Fridays.", extra=origin)
    assert tools("validate_memory", memory_id=42)["memory_id"] == 42
    tools("promote", memory_id=42)
    assert [one["ref"] for one in tools("hot_cache_status")["items"]] == [record.id]
    assert tools.error("promote", memory_id=43).startswith("Memory not found: 43.")
