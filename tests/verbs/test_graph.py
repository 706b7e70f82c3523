"""The graph of a project through four lenses, and the store from above: projects, days, pictures of links."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine.raw import trail
from holdfast.model.errors import Invalid
from holdfast.model.ids import short
from holdfast.model.query import Query
from holdfast.model.record import Link
from holdfast.model.trail import HookEvent
from holdfast.verbs.capture.trail import drain
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import record_use, retire
from holdfast.verbs.records.read import get, latest, uses_of
from holdfast.verbs.search.graph import Traversal, traverse
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.receipts import deliveries_in, deliveries_of
from holdfast.verbs.sessions.session import begin, start
from holdfast.verbs.sessions.thread import Opened, open_thread, resolve
from holdfast.verbs.upkeep.health import day_by_day, projects, timings
from tests.conftest import Time, keep
from tests.rows import of_type, refused, some
from tests.verbs.test_stream import told

Said = list[tuple[str, str, str]]


@pytest.fixture
def session(memory: Memory) -> str:
    """A session about SHOP-12 that decided, learned and opened something."""
    memory, opening = start(memory, issue="shop-12", title="Auth")
    begun = opening.session.id
    decision = keep(
        memory,
        "JWT for the API.",
        kind="decision",
        title="Use JWT",
        fields={"people": ["Ana - architect", "Bo (ops)"], "documents": ["docs/auth.md"], "issue": "SHOP-12"},
    )
    keep(
        memory,
        "Tokens expire at midnight UTC.",
        kind="pattern",
        title="Midnight expiry",
        links=(Link(relation="refines", target=decision.id),),
    )
    outcome = of_type(Opened, open_thread(memory, "Rotate the signing keys", issues=("SHOP-13",)))
    resolve(memory, outcome.thread.record.id)
    return f"Session: {short(begun)}"


def said(found: Traversal) -> Said:
    return [(one.subject, one.predicate, one.object) for one in found.triples]


def test_everything_connected_to_an_issue_is_shown(memory: Memory, session: str) -> None:
    found = traverse(memory, "connected_to", "shop-12")
    assert found.nodes == ("Issue: SHOP-12",)
    expected = {("Decision: Use JWT", "created_in", "Issue: SHOP-12"), (session, "created_in", "Issue: SHOP-12")}
    assert set(said(found)) == expected
    around = traverse(memory, "connected_to", "Decision: Use JWT", predicate="refines")
    assert said(around) == [("Pattern: Midnight expiry", "refines", "Decision: Use JWT")]
    cut = traverse(memory, "connected_to", "use jwt", limit=1)
    assert (len(cut.triples), cut.cut) == (1, 6)


def test_what_somebody_had_a_part_in_is_shown(memory: Memory, session: str) -> None:
    assert said(traverse(memory, "produced_by", "ana")) == [("Decision: Use JWT", "influenced_by", "Persona: Ana")]
    by_agent = {subject for subject, _, _ in said(traverse(memory, "produced_by", "claude"))}
    assert by_agent == {"Decision: Use JWT", "Pattern: Midnight expiry", session}


def test_where_something_came_from_is_followed_step_by_step(memory: Memory, session: str) -> None:
    hops = traverse(memory, "provenance", "Pattern: Midnight expiry", depth=2).hops
    steps = {(hop.depth, hop.triple.predicate, hop.triple.object) for hop in hops}
    assert {
        (1, "refines", "Decision: Use JWT"),
        (1, "created_in", session),
        (2, "affects_doc", "Doc: docs/auth.md"),
        (2, "created_in", "Issue: SHOP-12"),
    } <= steps
    assert {hop.depth for hop in traverse(memory, "provenance", "midnight", depth=1).hops} == {1}


def test_threads_are_connected_with_sessions_and_issues(memory: Memory, session: str) -> None:
    thread = "Thread: Rotate the signing keys"
    assert set(said(traverse(memory, "connected_to", thread))) == {
        (session, "created_thread", thread),
        (session, "resolves_thread", thread),
        (thread, "relates_to_thread", "Issue: SHOP-13"),
    }


@pytest.mark.usefixtures("session")
def test_the_whole_graph_can_be_counted(memory: Memory) -> None:
    stats = some(traverse(memory, "stats").stats)
    assert (stats.predicates["influenced_by"], stats.issues["Issue: SHOP-12"]) == (5, 2)
    assert stats.agents == {"Agent: claude": 3}


def test_a_look_needs_a_lens_and_a_node(memory: Memory) -> None:
    assert traverse(memory, "connected_to", "SHOP-99").nodes == ()
    for lens, node, predicate in (("sideways", "x", ""), ("provenance", " ", ""), ("connected_to", "x", "likes")):
        refused(Invalid, traverse, memory, lens, node, predicate=predicate)


def test_projects_are_counted_apart(memory: Memory) -> None:
    keep(memory, "Refunds go through the ledger.")
    keep(memory, "Decided to keep the ledger.", kind="decision")
    keep(memory.acting_on("example.org/acme/printer"), "Labels are printed at 300 dpi.")
    memory = begin(memory)
    found = projects(memory)
    expected = [(memory.project, 2, 1), ("example.org/acme/printer", 1, 0)]
    assert [(one.name, one.kept, one.sessions) for one in found] == expected
    assert dict(found[0].kinds) == {"fact": 1, "decision": 1}


def test_days_count_what_happened_and_leave_no_day_out(memory: Memory, time: Time) -> None:
    memory = begin(memory)
    record = keep(memory, "Refunds go through the ledger.")
    recall(memory, Query(text="refunds ledger"))
    recall(memory, Query(text="quantum chromodynamics"))
    time.pass_days(2)
    record_use(memory, [record.id], "applied")
    memory.commit([memory.event("injected", memory.actor.session, data={"ids": [record.id], "tokens": 90})])
    found = day_by_day(memory, days=7)
    first, last = found.days[-3], found.days[-1]
    assert len(found.days) == 7
    assert (found.kept, found.recalls) == ({first: {"fact": 1}}, {first: {"used": 1, "empty": 1}})
    assert (found.tokens[last], found.outcomes) == ({"used": 90, "injected": 0}, {last: {"applied": 1}})


def test_hooks_tell_what_they_cost(memory: Memory, tmp_path: Path) -> None:
    for number in range(10):
        told(tmp_path / "spool", number, memory.clock.now(), "PostToolUse", tool="Bash", took_ms=10.0 + number)
    told(tmp_path / "spool", 99, memory.clock.now(), "Stop")
    drain(memory, tmp_path / "spool")
    assert [(one.event, one.times, one.p50, one.p95) for one in timings(memory)] == [("PostToolUse", 10, 15.0, 19.0)]


def test_the_latest_come_first_and_go_on_from_a_number(memory: Memory) -> None:
    ids = [keep(memory, f"Shelf {number} holds ledger w{number}x.").id for number in range(9)]
    retire(memory, ids[4], "gone")
    keep(memory.acting_on("example.org/acme/printer"), "Labels are printed at 300 dpi.")
    first = latest(memory, Query(text="", limit=4))
    rest = latest(memory, Query(text="", limit=9), before=first[-1].number)
    assert [entry.record.id for entry in (*first, *rest)] == [one for one in ids[::-1] if one != ids[4]]
    assert [entry.record.id for entry in latest(memory, Query(text="", kinds=("fact",), limit=1))] == [ids[8]]
    assert latest(memory, Query(text="", kinds=("scar",), limit=1)) == []
    assert [entry.record.id for entry in latest(memory, Query(text=""), states=("retired",))] == [ids[4]]


def test_uses_of_one_record_are_told_with_what_was_said(memory: Memory) -> None:
    record = keep(memory, "Refunds go through the ledger.")
    record_use(memory, [record.id], "applied", note="saved an hour")
    record_use(memory, [record.id], "contradicted")
    expected = [("contradicted", "", "claude"), ("applied", "saved an hour", "claude")]
    assert [(one.outcome, one.said, one.by) for one in uses_of(memory, record.id)] == expected


def test_what_a_session_got_is_listed_with_its_occasion_its_words_and_what_followed(memory: Memory) -> None:
    fields = {"severity": "high", "counter_arguments": ["It is rare.", "It is slow."]}
    scar = keep(memory, "`git push --force` lost two commits.", kind="scar", fields=fields)
    fact = keep(memory, "Refunds go through the ledger.")
    common: dict[str, Any] = {"session": "s1", "client": "claude-code"}
    text = f"Holdfast: scar {short(scar.id)}: never force."
    given = {"ids": [scar.id], "why": "action site", "tokens": 9}
    trail.add(
        memory.store,
        [
            HookEvent(
                id="1",
                at="2026-09-21T09:00:00.000Z",
                event="PreToolUse",
                tool="Bash",
                given={"command": "git push --force"},
                **common,
            ),
            HookEvent(
                id="2", at="2026-09-21T09:00:01.000Z", event="Injected", text=f"x\n{text}", given=given, **common
            ),
        ],
    )
    event = memory.event("injected", "s1", data=given)
    memory.commit([replace(event, at="2026-09-21T09:00:01.000Z", by=replace(event.by, session="s1"))])
    recall(memory, Query(text="refunds ledger"))
    record_use(memory, [scar.id], "applied")
    seen = [
        (one.record.id, one.channel, one.occasion, one.match, one.text, one.outcome)
        for one in deliveries_in(memory, "s1")
    ]
    assert seen == [
        (scar.id, "action site", "git push --force", "git push --force", text, "applied"),
        (fact.id, "recall", "refunds ledger", "1 of 1", "", ""),
    ]
    assert [one.channel for one in deliveries_of(memory, scar)] == ["action site"]
    assert deliveries_in(memory, "s2") == []
    usage = get(memory, scar.id).usage
    assert (usage.surfaced, usage.injected, usage.shown) == (0, 1, 1)
