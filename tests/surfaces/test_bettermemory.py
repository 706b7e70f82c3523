"""bettermemory's tools on a real store: gates, signs of staleness, and use that is told apart from guesses."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.model.event import Actor
from holdfast.surfaces.bettermemory import surface
from holdfast.surfaces.bettermemory import tools as listing
from holdfast.verbs.memory import Memory
from holdfast.verbs.sessions.session import begin
from holdfast.verbs.upkeep.health import quality
from tests.conftest import Time, keep, make_memory
from tests.surfaces.conftest import Tools

AGENT = Actor(kind="agent", name="claude")


class Bettermemory(Tools):
    def answer(self, name: str, arguments: dict[str, Any], *, failed: bool = False) -> str:
        return super().answer(f"memory_{name}", arguments, failed=failed)

    def __call__(self, name: str, **arguments: Any) -> Any:
        return json.loads(self.answer(name, arguments))

    def kept(self, content: str, *scopes: str, **arguments: Any) -> str:
        found = self("write", content=content, scopes=list(scopes or ("tools",)), **arguments)
        assert found["status"] == "committed", found
        return str(found["id"])


@pytest.fixture
def memory(tmp_path: Path, time: Time) -> Iterator[Memory]:
    with make_memory(tmp_path, time, actor=AGENT) as opened:
        yield begin(opened, implicit=True)


@pytest.fixture
def tools(memory: Memory) -> Bettermemory:
    return Bettermemory(memory, surface)


def test_use_is_observed_after_two_calls_unless_somebody_says_it(memory: Memory, tools: Bettermemory) -> None:
    one, other = tools.kept("The worker reads jobs from Redis."), tools.kept("Backups run at night.")
    tools("show", id=one)
    tools("show", id=other)
    tools("record_use", memory_ids=[one], outcome="ignored")
    tools("list")
    found = quality(memory)
    assert (found.declared, found.observed) == ({"ignored": 1}, {"applied": 1})
    assert tools("health", min_applied=1)["heavily_used"] == []


def test_a_memory_has_one_token_at_a_time(tools: Bettermemory) -> None:
    tools.kept("The worker reads jobs from Redis.")
    tokens = [tools("search", query="worker jobs Redis")[0]["use_token"] for _ in range(2)]
    assert tokens[0] != tokens[1]


def test_what_waits_is_judged_again_when_it_is_confirmed(memory: Memory, tools: Bettermemory) -> None:
    said = "The user likes short answers without any preamble."
    held = [
        tools("write", content=said, scopes=["style"], category="user-inference", force=True)["pending_id"]
        for _ in range(2)
    ]
    tools.call_.acting.context = begin(memory, implicit=True).context  # as after a restart
    assert tools("write_confirm", pending_id=held[0])["status"] == "committed"
    assert tools("write_confirm", pending_id=held[1])["status"] == "duplicate"
    assert tools("write_cancel", pending_id=held[1]) == {"cancelled": held[1], "existed": True}
    assert tools("write_cancel", pending_id=held[1])["existed"] is False
    assert (tools("list_tombstones"), len(tools("list"))) == ([], 1)
    assert "not a pending id" in tools.error("write_confirm", pending_id="nonsense")


def test_every_write_may_wait_by_setting(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time, actor=AGENT, config={"confirm_writes": True}) as memory:
        tools = Bettermemory(memory, surface)
        held = tools("write", content="Deploys happen on Fridays.", scopes=["tools"])
        assert (held["status"], held["pending_reason"], tools("list")) == ("pending", "config", [])
        assert tools("write_cancel", pending_id=held["pending_id"])["existed"]


def test_search_stays_in_the_repository_unless_asked(memory: Memory, tools: Bettermemory) -> None:
    there = Bettermemory(memory.acting_on("example.org/acme/bank"), surface).kept("The bank reads jobs from Redis.")
    here = tools.kept("The shop reads jobs from Redis.")
    assert [hit["id"] for hit in tools("search", query="jobs Redis")] == [here]
    assert {hit["id"] for hit in tools("search", query="jobs Redis", auto_scope=False)} == {here, there}
    assert tools("scope_overview")["scopes"] == {"tools": 1}
    assert tools("scope_overview", auto_scope=False)["total"] == 2
    assert tools("show", id=there)["origin"]["repo"] == "example.org/acme/bank"  # a convenience, not a wall


def test_scopes_filter_and_muted_ones_are_left_out_in_this_session_only(memory: Memory, tools: Bettermemory) -> None:
    one = tools.kept("The worker reads jobs from Redis.", "projects:shop:worker")
    other = tools.kept("The cache keeps jobs in Redis for an hour.", "caching")
    assert {hit["id"] for hit in tools("search", query="jobs Redis", scopes=["projects:shop", "caching"])} == {
        one,
        other,
    }
    tools("scope_disable", scope="projects:shop")
    assert [hit["id"] for hit in tools("search", query="jobs Redis")] == [other]
    assert tools("scope_overview")["disabled_scopes"] == ["projects:shop"]
    tools.call_.acting.context = begin(memory, implicit=True).context
    assert len(tools("search", query="jobs Redis")) == 2


@pytest.mark.parametrize(("asked", "given"), [(-3, 1), (2, 2), (1_000, 12)])
def test_the_number_of_hits_is_clamped(tools: Bettermemory, asked: int, given: int) -> None:
    for number in range(12):
        tools.kept(f"Deploy step {'abcdefghijkl'[number]}{number} restarts service number {number * 37}.")
    assert len(tools("search", query="deploy step restarts service", max_results=asked)) == given
    assert len(tools("search", query="deploy step restarts service")) == 10  # recall_limit; 5 in the preset


def test_kinds_of_other_surfaces_have_a_category(memory: Memory, tools: Bettermemory) -> None:
    keep(memory, "Use JWT for the API.", kind="decision", fields={"rationale": "It is stateless."})
    keep(memory, "Finish the runbook", kind="thread")
    assert [(row["category"], row["summary"]) for row in tools("list")] == [("fact", "Use JWT for the API.")]


def test_an_update_changes_only_what_it_names(tools: Bettermemory) -> None:
    one = tools.kept("The worker reads jobs from Redis.")
    tools("verify", id=one, verified_paths=["app.py"], verified_commits=["abc1234"])
    changed = tools("update", id=one, category="ambient", scopes=["worker"])
    assert (changed["category"], changed["scopes"], changed["last_verified_at"] is None) == (
        "ambient",
        ["worker"],
        False,
    )
    kept = tools("verify", id=one, verified_paths=[])
    assert (kept["verified_paths"], kept["verified_commits"]) == ([], ["abc1234"])
    assert tools("update", id=one, category="fact")["category"] == "fact"
    assert tools("update", id=one, content="Currently broken.")["status"] == "transient_warning"
    assert tools("update", id=one, content="The worker reads all jobs from Valkey.")["last_verified_at"] is None
    assert "Nothing to revise" in tools.error("update", id=one)


def test_never_is_not_zero(tools: Bettermemory) -> None:
    one = tools.kept("The worker reads jobs from Redis.")
    shown = tools("show", id=one)
    assert (shown["commit_drift"], shown["path_drift"]) == (None, None)
    assert "commit_drift_count" not in tools("search", query="worker jobs Redis")[0]
    assert tools("scope_overview")["curation_pending"]["drifted"] is None
    assert tools("health")["commit_drift_debt"] is None


def test_the_policy_fits_where_clients_cut_it() -> None:
    assert len(surface.instructions.encode()) < 1_700


def test_a_pending_write_expires_after_a_week(tools: Bettermemory, time: Time) -> None:
    said = {"content": "The user likes short answers.", "scopes": ["style"], "category": "user-inference"}
    held = tools("write", **said)["pending_id"]
    time.pass_days(6.9)
    assert tools("write_cancel", pending_id=held)["existed"]
    held = tools("write", **said, force=True)["pending_id"]
    time.pass_days(7.1)
    assert tools.error("write_confirm", pending_id=held)


def test_lists_have_an_end(tools: Bettermemory, monkeypatch: pytest.MonkeyPatch) -> None:
    assert listing.MOST_LISTED == 1_000
    monkeypatch.setattr(listing, "MOST_LISTED", 2)
    for name in ("Ruff", "Mypy", "Pytest"):
        tools.kept(f"{name} is one of the tools.")
    assert len(tools("list")) == 2
