"""Threads: opened, touched, resolved, and fading by themselves; scars: answered one by one or all at once."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.adapters.embedders.local import LocalEmbedder
from holdfast.engine.views import usage
from holdfast.model.errors import Ambiguous, Conflict, Invalid, NotFound
from holdfast.model.query import Query
from holdfast.model.record import Record
from holdfast.policy.admission.admit import SecretFound
from holdfast.surfaces.gitmem.verbs import Use, note_use, reflect, scar_called
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import link
from holdfast.verbs.search.brief import brief
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.scars import Answer, absorb, answer, candidates, unanswered
from holdfast.verbs.sessions.thread import (
    Known,
    Opened,
    Thread,
    archive_dormant,
    numbered_threads,
    open_thread,
    open_threads,
    reopen,
    resolve,
    resolved_threads,
    touch,
    triage,
)
from tests.conftest import Time, keep, make_memory
from tests.rows import of_type, refused


def opened(memory: Memory, text: str, **given: object) -> Thread:
    outcome = open_thread(memory, text, **given)  # type: ignore[arg-type]
    assert isinstance(outcome, Opened), outcome
    return outcome.thread


def test_a_thread_stays_open_until_it_is_resolved(memory: Memory) -> None:
    thread = opened(memory, "Write the runbook for on-call", issues=("SHOP-12",))
    assert (thread.stage, thread.vitality, thread.thread_class) == ("emerging", 1.0, "backlog")
    assert thread.record.fields["related_issues"] == ["SHOP-12"]
    done = resolve(memory, thread.record.id[:10], "in the wiki")
    assert (done.stage, done.record.reason) == ("resolved", "in the wiki")
    assert open_threads(memory) == []
    assert [one.record.id for one in resolved_threads(memory)] == [thread.record.id]
    assert resolve(memory, thread.record.id).stage == "resolved"
    assert reopen(memory, thread.record.id).touches == 2


def test_a_thread_is_named_by_its_place_its_id_its_text_or_the_id_it_had_elsewhere(memory: Memory) -> None:
    first, second, third = (opened(memory, text) for text in ("Write the runbook", "Rotate the keys", "Add dark mode"))
    foreign = keep(memory, "Rate limits", kind="thread", extra={"imported": {"id": "t-a1b2c3d4"}})
    places = {place: one.record.id for place, one in numbered_threads(memory).items()}
    assert places == dict(enumerate((first.record.id, second.record.id, third.record.id, foreign.id), start=1))
    assert touch(memory, f"t-{second.record.id[:10]}").record.id == second.record.id
    assert touch(memory, "t-a1b2c3d4").record.id == foreign.id
    assert resolve(memory, "#1").record.id == first.record.id
    assert resolve(memory, "DARK mode").record.id == third.record.id
    fact = keep(memory, "Not a thread.")
    for verb, reference, error, words in (
        (touch, "t-ffff0000", NotFound, "There is no memory"),
        (resolve, "#7", NotFound, "no thread #7"),
        (resolve, "unheard of", NotFound, "No open thread matches"),
        (resolve, " ", Invalid, "No thread was named"),
        (touch, fact.id, Invalid, "is a fact"),
        (touch, first.record.id, Conflict, "Reopen"),
    ):
        refused(error, verb, memory, reference, says=words)


def test_what_lies_dormant_for_a_month_can_be_archived(memory: Memory, time: Time) -> None:
    old = opened(memory, "Deploy the canary")
    time.pass_days(60)
    opened(memory, "Write the runbook")
    assert [one.record.id for one in archive_dormant(memory)] == [old.record.id]
    assert [one.record.reason for one in resolved_threads(memory)] == ["archived: dormant for a month"]
    assert archive_dormant(memory) == []


def test_the_same_piece_of_work_is_one_thread(memory: Memory) -> None:
    first = opened(memory, "Fix rate limiting on the public API")
    again = of_type(Known, open_thread(memory, "rate limiting for the public API is missing"))
    assert (again.thread.record.id, again.thread.touches) == (first.record.id, 2)
    opened(memory, "rate limiting for the public API is missing", force=True)
    assert len(open_threads(memory)) == 2


def test_by_meaning_rewordings_are_one_thread_and_neighbours_are_two(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time, embedder=LocalEmbedder()) as memory:
        opened(memory, "Write the migration guide for v3")
        assert isinstance(open_thread(memory, "Migration guide to version 3 has to be written"), Known)
        opened(memory, "Write the changelog for v3")
        opened(memory, "Fix rate limiting on the public API")
        opened(memory, "Fix authentication on the public API")


def test_threads_fade_and_are_archived_by_time_alone(memory: Memory, time: Time) -> None:
    fading = opened(memory, "Fix the login redirect")
    time.pass_days(5)
    kept = opened(memory, "Choose a logging library")
    assert [one.record.id for one in open_threads(memory)] == [kept.record.id, fading.record.id]
    time.pass_days(5)
    expected = {"emerging": 0, "active": 1, "cooling": 0, "dormant": 1, "archived": 0}
    assert {name: len(found) for name, found in triage(memory).items()} == expected
    time.pass_days(31)
    assert [one.record.id for one in open_threads(memory)] == [kept.record.id]
    assert [one.record.id for one in triage(memory)["archived"]] == [fading.record.id]
    assert touch(memory, fading.record.id).stage == "active"


def test_a_text_that_fits_several_threads_names_them(memory: Memory) -> None:
    opened(memory, "Export orders as CSV nightly")
    opened(memory, "Export customers as CSV once", force=True)
    refused(Ambiguous, resolve, memory, "as CSV", says="2 threads match")


def test_a_thread_holds_no_secret(memory: Memory) -> None:
    assert isinstance(open_thread(memory, "rotate AKIA" + "IOSFODNN7EXAMPLQ"), SecretFound)


def test_threads_of_other_projects_stay_there(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time) as memory:
        opened(memory, "Only here")
    with make_memory(tmp_path, time) as other:
        other = replace(other, config=other.config.__class__(project="example.org/acme/other"))
        assert open_threads(other) == []


def test_what_sub_agents_saw_is_kept_and_lessons_are_pointed_out(memory: Memory) -> None:
    seen = [
        {"source": "reviewer", "text": "Auth middleware does not validate token expiry", "severity": "scar_candidate"},
        {"source": "reviewer", "text": "The upload fails and the error is missing from the log"},
        {"source": "reviewer", "text": "Good use of the repository layer"},
        {"source": "reviewer", "text": " "},
        {"source": "reviewer", "text": "x", "severity": "terrible"},
        {"source": "reviewer", "text": "Auth middleware does not validate token expiry", "severity": "scar_candidate"},
    ]
    found = absorb(memory, seen, task="review")
    assert [record.kind for record in found.kept] == ["observation"] * 3
    assert found.kept[0].extra == {"source": "reviewer", "task": "review"}
    assert [record.id for record in found.known] == [found.kept[0].id]
    assert found.problems == (
        "observation 4: it has no text. Describe what was observed.",
        "observation 5: 'terrible' is not a severity. Use one of info, warning, scar_candidate.",
    )
    assert [one.cue for one in found.candidates[:2]] == ["marked as a candidate", "says “missing”"]
    refused(Invalid, absorb, memory, [], says="nothing to absorb")


def test_a_candidate_that_became_a_lesson_is_no_candidate(memory: Memory) -> None:
    seen = absorb(
        memory, [{"text": "We assumed UTC in reports", "source": "a"}, {"text": "It failed silently", "source": "a"}]
    )
    lesson = keep(memory, "Reports are in local time.", kind="learning")
    link(memory, lesson.id, "elaborates", seen.kept[0].id)
    assert [one.record.id for one in candidates(memory)] == [seen.kept[1].id]


def test_a_brief_leaves_no_trace_and_keeps_its_budget(memory: Memory) -> None:
    fields = {
        "severity": "critical",
        "counter_arguments": ["a", "b"],
        "blocking": True,
        "verify_with": ["make dry-run"],
    }
    keep(memory, "Deploys of the shop need a dry run first.", kind="scar", fields=fields)
    keep(memory, "Deploys of the shop take ten minutes.", kind="fact")
    events = sum(1 for _ in memory.store.journal())
    compact = brief(memory, "deploy the shop")
    assert compact.text.splitlines()[1].startswith("- [critical scar] Deploys of the shop need a dry run first.")
    assert "Run: make dry-run" in compact.text
    assert len(compact.included) == 2
    gate = brief(memory, "deploy the shop", form="gate")
    assert (gate.blocking, gate.tokens <= 100) == (1, True)
    assert brief(memory, "paint the kitchen", form="gate").text == "PASS: nothing blocks paint the kitchen"
    assert brief(memory, "deploy the shop", form="full", budget=30).tokens <= 30
    assert sum(1 for _ in memory.store.journal()) == events
    refused(Invalid, brief, memory, "x", form="long", says="no brief")
    refused(Invalid, brief, memory, "x", budget=5, says="at least 20")


FIELDS = {"severity": "high", "counter_arguments": ["It is only a column.", "There is a backup."]}
EVIDENCE = "Ran the migration on a copy of production and compared the row counts."


def scar(memory: Memory, title: str, body: str = "Nobody knew.") -> Record:
    return keep(memory, f"{title}. {body}", kind="scar", title=title, fields=FIELDS)


@pytest.fixture
def shown(memory: Memory) -> list[Record]:
    """Two scars that this session was shown."""
    scars = [
        scar(memory, "Migrations need a rehearsal", "Production differs, as a column of orders was wider there."),
        scar(memory, "Rollbacks of migrations need a rehearsal too", "Ours had never run; production differs."),
    ]
    recall(memory, Query(text="rehearsal of migrations"))
    assert {one.id for one in unanswered(memory)} == {one.id for one in scars}
    return scars


def outcomes(memory: Memory, record: Record) -> Counter[str]:
    return Counter(use.outcome for use in usage.since(memory.store, [record.id], ""))


def test_all_or_nothing_takes_no_answer_until_each_scar_has_a_good_one(memory: Memory, shown: list[Record]) -> None:
    one, other = (Answer(scar=record.id, decision="APPLYING", evidence=EVIDENCE) for record in shown)
    told = answer(memory, [one], every=True)
    assert (told.taken, told.problems, told.waiting) == ((), (), (shown[1],))
    told = answer(memory, [one, Answer(scar=shown[1].id, decision="N_A", evidence="short")], every=True)
    assert (told.taken, len(told.problems)) == ((), 1)
    assert len(unanswered(memory)) == 2
    told = answer(memory, [one, other], every=True)
    assert (len(told.taken), told.problems, told.waiting) == (2, (), ())


def test_a_reflection_says_how_it_went_and_answers_what_nobody_answered(memory: Memory, shown: list[Record]) -> None:
    answer(memory, [Answer(scar=shown[0].id, decision="APPLYING", evidence=EVIDENCE)])
    told = reflect(memory, [Answer(scar=one.id, decision="OBEYED", evidence="Rehearsed it twice.") for one in shown])
    assert (len(told.taken), told.problems, told.waiting) == (2, (), ())
    assert outcomes(memory, shown[0]) == {"applied": 1, "succeeded": 1}
    assert outcomes(memory, shown[1]) == {"applied": 1, "succeeded": 1}


def test_a_reflection_needs_evidence_and_a_scar_that_was_shown(memory: Memory, shown: list[Record]) -> None:
    unseen = scar(memory, "Caches go stale over night")
    given = [
        Answer(scar=shown[0].id, decision="OBEYED", evidence="Did it."),
        Answer(scar=shown[0].id, decision="GREAT", evidence=EVIDENCE),
        Answer(scar=unseen.id, decision="REFUTED", evidence=EVIDENCE),
        Answer(scar=shown[1].id, decision="REFUTED", evidence=EVIDENCE),
    ]
    told = reflect(memory, given)
    assert [record.id for record, _ in told.taken] == [shown[1].id]
    says = ["15 are needed", "'GREAT' is not an outcome", "was not shown in this session"]
    assert [said in problem for said, problem in zip(says, told.problems, strict=True)] == [True, True, True]
    assert told.waiting == (shown[0],)
    assert outcomes(memory, shown[1]) == {"refuted": 1}


def test_a_use_is_counted_once_however_often_it_is_told(memory: Memory, shown: list[Record]) -> None:
    answer(memory, [Answer(scar=shown[0].id, decision="APPLYING", evidence=EVIDENCE)])
    use = Use(scar=shown[0].id, reference="explicit", context="Rehearsed.", succeeded=True, issue="SHOP-1")
    first = note_use(memory, use)
    assert note_use(memory, use) == first
    assert outcomes(memory, shown[0]) == {"applied": 1, "succeeded": 1}
    note_use(memory, Use(scar=shown[1].title, reference="none"))
    assert outcomes(memory, shown[1]) == {"ignored": 1}
    refused(Invalid, note_use, memory, Use(scar=shown[1].id, reference="loosely"), says="not a reference_type")


def test_a_scar_is_meant_by_id_title_or_words_of_its_own(memory: Memory, shown: list[Record]) -> None:
    for name in (shown[0].id[:10], "migrations need a rehearsal"):
        assert scar_called(memory, name).id == shown[0].id
    assert scar_called(memory, "rollbacks of").id == shown[1].id
    refused(Ambiguous, scar_called, memory, "production differs", says="2 scars match")
    refused(NotFound, scar_called, memory, "unheard of", says="No scar matches")
