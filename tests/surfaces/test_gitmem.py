"""GitMem's tools on a real store: what its users rely on beyond the first session."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.model.event import Actor
from holdfast.model.ids import short
from holdfast.model.record import Draft
from holdfast.surfaces.gitmem import surface
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import draft_event
from holdfast.verbs.sessions.session import begin, plant
from tests.conftest import Time, keep, make_memory
from tests.surfaces.conftest import Tools

UUID = "393adb34-5f6e-4b1c-9d2a-8f0e1c2d3b4a"
SCAR = {"severity": "high", "counter_arguments": ["It is only a column.", "There is a backup."]}
EVIDENCE = "Ran the migration on a copy of production and compared the row counts."
ANSWERS = {
    "q1_broke": "the seed",
    "q2_slow": "finding out",
    "q3_differently": "migrate first",
    "q4_worked": "small steps",
    "q5_wrong_assumption": "the seed migrates",
}


@pytest.fixture
def memory(tmp_path: Path, time: Time) -> Iterator[Memory]:
    with make_memory(tmp_path, time, actor=Actor(kind="agent", name="claude")) as opened:
        yield begin(opened, implicit=True)


class Gitmem(Tools):
    def json(self, name: str, **arguments: Any) -> Any:
        return json.loads(self(name, **arguments))

    def errors(self, name: str, **arguments: Any) -> list[str]:
        errors = json.loads(self.error(name, **arguments))["errors"]
        assert isinstance(errors, list)
        return errors


@pytest.fixture
def tools(memory: Memory) -> Gitmem:
    return Gitmem(memory, surface)


def told(text: str, key: str) -> str:
    return next(line.removeprefix(f"{key}: ") for line in text.splitlines() if line.startswith(f"{key}: "))


def test_what_was_imported_keeps_the_ids_it_had(memory: Memory, tools: Gitmem) -> None:
    scar = keep(memory, "Rehearse migrations.", kind="scar", fields=SCAR, extra={"imported": {"id": UUID}})
    keep(memory, "Rate limits", kind="thread", extra={"imported": {"id": "t-a1b2c3d4"}})
    tools("recall", plan="rehearse migrations")
    given = [{"scar_id": UUID[:8], "decision": "N_A", "evidence": EVIDENCE}]
    assert short(scar.id) in tools("confirm_scars", confirmations=given)
    assert scar.id in tools("search", query=UUID)
    assert "[RESOLVED] done" in tools("resolve_thread", thread_id="t-a1b2c3d4", resolution_note="done")
    assert scar.id in tools("archive_learning", id=UUID)
    assert tools.errors("archive_learning", id="00000000-0000-0000-0000-000000000000")[0].endswith("is not an id.")


def test_projects_are_namespaces(tools: Gitmem) -> None:
    win = {"learning_type": "win", "description": "Caching responses made it fast."}
    tools("create_learning", title="Cache the API", project="my-api", **win)
    assert "Cache the API" in tools("search", query="caching responses", project="my-api")
    assert tools("search", query="caching responses").startswith("No memory fits")
    opened = tools("session_start", project="my-api", agent_identity="desktop")
    assert told(opened, "agent") == "desktop · project: my-api"
    assert "Cache the API" in tools("log")
    assert "resumed" in tools("session_start")
    fresh = tools("session_start", force=True, issue_title="Responses need caching", linear_issue="PROJ-9")
    assert "Working on: PROJ-9 Responses need caching" in fresh
    assert "[medium win] Cache the API" in fresh


def test_a_threshold_and_a_count_decide_what_recall_shows(memory: Memory, tools: Gitmem) -> None:
    for body in ("Rehearse migrations on a copy.", "Migrations lock tables for minutes.", "Name branches well."):
        keep(memory, body, kind="scar", fields=SCAR)
    assert tools("recall", plan="rehearse migrations", match_count=1).count("similarity") == 1
    assert tools("recall", plan="rehearse migrations", similarity_threshold=0.9).count("similarity") == 1
    loose = tools("recall", plan="rehearse migrations on well named branches", similarity_threshold=0, match_count=9)
    assert "Migrations lock tables" in loose
    assert "[low confidence]" in loose


def test_starters_are_marked_and_want_no_answer(memory: Memory) -> None:
    asking = replace(memory, config=replace(memory.config, starters=True))
    plant(asking)
    shown = Gitmem(asking, surface)("recall", plan="deploy and verify the release")
    assert "[starter]" in shown
    assert "confirm_scars" not in shown
    assert "create_learning keeps the first" in shown


def test_a_scar_that_blocks_comes_first_with_what_to_run(memory: Memory, tools: Gitmem) -> None:
    keep(memory, "Migrations need a rehearsal and a review.", kind="scar", fields=SCAR)
    blocking = {
        **SCAR,
        "severity": "low",
        "blocking": True,
        "verify_with": ["make rehearse"],
        "must_show": "0 rows lost",
    }
    keep(memory, "Migrations need a backup first.", kind="scar", fields=blocking)
    shown = tools("recall", plan="run migrations")
    assert shown.index("need a backup") < shown.index("need a rehearsal")
    assert "BLOCKS until verified. Run: make rehearse Must show: 0 rows lost" in shown
    assert "make rehearse" in tools("prepare_context", plan="run migrations", format="gate")


def test_a_scar_dismissed_again_and_again_fades_and_says_so(memory: Memory, tools: Gitmem) -> None:
    scar = keep(memory, "Rehearse migrations on a copy.", kind="scar", fields=SCAR)
    for _ in range(3):
        tools("session_start", force=True)
        tools("recall", plan="rehearse migrations")
        tools("session_close", close_type="quick")
    tools("session_start")
    shown = tools("recall", plan="rehearse migrations")
    assert "[decay: 20%] [often dismissed: needs review]" in shown
    assert short(scar.id) in tools("analyze", lens="blindspots")
    assert tools.json("analyze", lens="blindspots", format="json")["data"]["ignored"][0]["surfaced"] == 4
    assert "No blind spot" in tools("analyze", lens="blindspots", agent="somebody-else")


def test_a_learning_is_kept_once_unless_one_insists(tools: Gitmem) -> None:
    given = {"learning_type": "pattern", "title": "Retry reads", "description": "Reads are retried three times."}
    first = told(tools("create_learning", **given), "learning_id")
    again = tools("create_learning", **given)
    assert (told(again, "learning_id"), told(again, "deduplicated")) == (first, "true")
    assert told(tools("create_learning", **given, allow_duplicate=True), "learning_id") != first
    other = {"learning_type": "win", "title": "Small diffs", "description": "Small diffs were reviewed in minutes."}
    tools("archive_learning", id=told(tools("create_learning", **other), "learning_id"), reason="went out of fashion")
    assert "went out of fashion" in tools.errors("create_learning", **other)[0]
    assert "Created medium win: Small diffs" in tools("create_learning", **other, allow_duplicate=True)


def test_everything_a_learning_holds_can_be_read_again(tools: Gitmem) -> None:
    kept = tools(
        "create_learning",
        learning_type="scar",
        title="Backups need a restore test",
        description="A backup nobody restored is a hope.",
        severity="CRITICAL",
        scar_type="incident",
        counter_arguments=["The vendor tests them", "It is a cache"],
        why_this_matters="We lost a day of orders.",
        action_protocol=["Restore into staging"],
        self_check_criteria=["Row counts match"],
        applies_when=["changing backups"],
        domain=["ops"],
        keywords=["restore"],
        source_linear_issue="OPS-4",
    )
    full = tools("search", query=told(kept, "learning_id"))
    for part in (
        "[critical scar] Backups need a restore test",
        "scar_type: incident",
        "why: We lost a day of orders.",
        "self_check: Row counts match",
        "issue: OPS-4",
    ):
        assert part in full
    assert "OPS-4" in tools("graph_traverse", lens="connected_to", node="ops-4")


def test_a_suggested_thread_is_promoted_or_dismissed(memory: Memory, tools: Gitmem) -> None:
    def suggest(topic: str) -> str:
        draft = Draft(body=topic, kind="thread", source="mined", extra={"evidence": ["a", "b", "c"]})
        return f"ts-{short(memory.commit([draft_event(memory, draft, pending=True)])[0].record.id)}"

    wanted, unwanted = suggest("Flaky imports keep coming back"), suggest("Builds get slower")
    opened = tools("session_start")
    assert f"{wanted}: Flaky imports keep coming back (3 sessions)" in opened
    assert told(tools("promote_suggestion", suggestion_id=wanted), "thread_id") == wanted.replace("ts-", "t-")
    assert "suggested again only if its topic recurs" in tools("gm-dismiss", suggestion_id=unwanted)
    assert "Suggested threads" not in tools("session_refresh")
    assert "is not a pending suggestion" in tools.errors("promote_suggestion", suggestion_id=wanted)[0]


def test_the_legacy_payload_of_an_agent_is_understood(tools: Gitmem) -> None:
    tools("session_start")
    closed = tools(
        "session_close",
        close_type="standard",
        linear_issue="PROJ-5",
        closing_reflection=json.dumps(ANSWERS),
        human_corrections="",
        decisions=[{"title": "Use JWT", "decision": "JWT for the API.", "rationale": "Stateless."}],
        open_threads=["Rotate the keys", {"text": "Write the runbook"}],
        learnings_created=[{"learning_type": "win", "title": "Pairing", "description": "Pairing halved reviews."}],
        project_state="PROJECT STATE: auth is half done",
        capture_transcript=True,
    )
    assert "PROJ-5 · Use JWT" in closed
    assert closed.count("Thread: t-") == 2
    opened = tools("session_start")
    assert "PROJECT STATE: auth is half done" in opened
    assert "PROJ-5 1" in tools("analyze")
    reflections = tools.json("analyze", lens="reflections", format="json")["data"]
    assert [one["text"] for one in reflections["what_broke"]] == ["the seed"]


def test_a_quick_close_is_for_short_sessions(tools: Gitmem, time: Time) -> None:
    tools("session_start")
    assert "closed (quick)" in tools("session_close", close_type="quick")
    tools("session_start", force=True)
    time.pass_days(31 / 1440)
    assert "31 minutes" in tools.errors("session_close", close_type="quick")[0]
    assert "closed (autonomous)" in tools("session_close", close_type="autonomous")


def test_transcripts_are_saved_found_and_given_back(tools: Gitmem) -> None:
    session = told(tools("session_start"), "session_id")
    messages = [{"role": "user", "content": "How do we cache?"}, {"role": "assistant", "content": "With Redis."}]
    saved = tools.json("save_transcript", session_id=session, transcript=json.dumps(messages), format="json")
    assert (saved["success"], saved["session_id"]) == (True, session)
    assert "assistant: With Redis." in tools("search_transcripts", query="redis cache")
    assert tools("search_transcripts", query="redis kubernetes helm", similarity_threshold=0.9).startswith(
        "No transcript"
    )
    assert tools.json("gitmem-gt", session_id=session)["transcript"] == json.dumps(messages)
    assert "Invalid session_id" in tools.errors("get_transcript", session_id="nonsense!")[0]


def test_the_index_can_be_looked_at_and_made_anew(memory: Memory, tools: Gitmem) -> None:
    keep(memory, "Rehearse migrations on a copy.", kind="scar", fields=SCAR)
    status = tools.json("gitmem-cache-status")
    assert (status["scar_count"], status["search_mode"], status["is_stale"]) == (1, "words", False)
    assert tools.json("cache_health")["status"] == "healthy"
    flushed = tools.json("gm-cache-f")
    assert (flushed["previous_scar_count"], flushed["new_scar_count"]) == (1, 1)
    assert "Rehearse" in tools("search", query="rehearse")


def test_the_graph_answers_where_things_came_from(tools: Gitmem) -> None:
    tools("session_start", linear_issue="PROJ-1")
    people = ["Ana - architect"]
    tools("create_decision", title="JWT", decision="Use JWT.", rationale="Stateless.", personas_involved=people)
    assert "Decision: JWT —influenced_by→ Persona: Ana" in tools("gm-graph", lens="produced_by", node="Ana")
    origin = tools("graph_traverse", lens="provenance", node="Decision: JWT", depth=2)
    assert "  2. Session: " in origin
    assert "—created_in→ Issue: PROJ-1" in origin
    assert "Predicates: " in tools("graph_traverse", lens="stats")
    assert tools("graph_traverse", lens="connected_to", node="PROJ-99").startswith("No node of the graph")
    assert "Which node?" in tools.errors("graph_traverse", lens="provenance")[0]
