"""Sessions from their beginning to their close, on a real store."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine.views import usage
from holdfast.model.errors import Ambiguous, Conflict, Invalid, NotFound
from holdfast.model.event import Actor
from holdfast.model.ids import short
from holdfast.model.query import Query
from holdfast.model.record import Draft
from holdfast.model.session import Host, Session
from holdfast.verbs.exchange.jsonl import export, records_of
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import retire
from holdfast.verbs.records.read import get, list_records
from holdfast.verbs.records.write import write
from holdfast.verbs.search.observations import timeline
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.analyze import patterns, topics_of
from holdfast.verbs.sessions.close import Closed, NotClosed, close, payload_file
from holdfast.verbs.sessions.scars import Answer, answer, effects, unanswered
from holdfast.verbs.sessions.session import begin, contents_of, current_session, list_sessions, plant, refresh, start
from holdfast.verbs.sessions.thread import Opened, dismiss, open_thread, open_threads, promote, suggestions
from holdfast.verbs.sessions.transcript import drop_transcript, get_transcript, save_transcript, search_transcripts
from holdfast.verbs.upkeep.doctor import status
from tests.conftest import Time, keep, make_memory, new_file
from tests.rows import of_type, refused, some

EVIDENCE = "Ran the migration on a copy of production and compared the row counts."
SCAR = {"severity": "high", "counter_arguments": ["It is only a column.", "There is a backup."]}
ANSWERS = {
    "what_broke": "the seed",
    "what_took_longer": "finding out",
    "do_differently": "migrate first",
    "what_worked": "small steps",
    "wrong_assumption": "seed migrates",
}

Open = Callable[..., Memory]


@pytest.fixture
def process(tmp_path: Path, time: Time) -> Open:
    """Give a function that opens the store as another process would; processes in `alive` still run."""
    alive: set[int] = set()

    def open_as(pid: int, *, parent: int = 1, name: str = "claude", starters: bool = False, **given: Any) -> Memory:
        config = {"starters": starters, **given}
        memory = make_memory(tmp_path, time, actor=Actor(kind="agent", name=name), config=config)
        alive.add(pid)
        return replace(memory, host=Host(name="laptop", pid=pid, parent=parent, is_alive=alive.__contains__))

    return open_as


@pytest.fixture
def memory(process: Open) -> Memory:
    """Give a memory that acts in a session it started."""
    return start(process(10))[0]


def done(memory: Memory, **given: Any) -> Closed:
    return of_type(Closed, close(memory, **given))


def die(memory: Memory) -> None:
    memory.host.is_alive.__self__.discard(memory.host.pid)  # type: ignore[attr-defined]
    memory.close()


def left_by_the_dead(process: Open) -> Session:
    memory, opening = start(process(10))
    die(memory)
    return opening.session


def test_a_session_begins_and_its_work_carries_its_id(process: Open) -> None:
    memory, opened = start(process(10), title="Rate limits", issue="SHOP-12")
    assert (opened.session.title, opened.session.issue, opened.resumed) == ("Rate limits", "SHOP-12", False)
    assert keep(memory, "The limiter counts per key.").by.session == opened.session.id
    assert refresh(memory).session == opened.session
    assert [record.body for record in contents_of(memory, opened.session.id).records] == ["The limiter counts per key."]


def test_a_restarted_server_takes_up_its_session(process: Open) -> None:
    first, opening = start(process(10), title="Long work")
    session = opening.session
    recall(first, Query(text="anything"))
    die(first)
    again = start(process(11))[1]
    assert (again.session.id, again.resumed, again.session.title) == (session.id, True, "Long work")
    assert again.session.started_at == session.started_at


@pytest.mark.parametrize("difference", [{"parent": 2}, {"name": "codex"}])
def test_another_client_begins_its_own_session(process: Open, difference: dict[str, Any]) -> None:
    session = left_by_the_dead(process)
    opened = start(process(11, **difference))[1]
    assert opened.session.id != session.id
    assert [one.id for one in opened.left_open] == [session.id]


def test_a_live_session_of_another_process_is_never_taken_over(process: Open) -> None:
    session = start(process(10))[1].session
    opened = start(process(11))[1]
    assert opened.session.id != session.id
    assert opened.left_open == ()


def test_a_session_older_than_a_day_is_not_taken_up_by_itself_but_by_its_id(process: Open, time: Time) -> None:
    session = left_by_the_dead(process)
    time.pass_days(1.5)
    second, opening = start(process(11))
    assert opening.session.id != session.id
    assert start(second, session=session.id[:12])[1].session.id == session.id


def test_sessions_of_another_project_stay_there(process: Open) -> None:
    session = left_by_the_dead(process)
    other = process(11)
    other = replace(other, config=replace(other.config, project="example.org/acme/other"))
    other, opening = start(other)
    assert opening.session.id != session.id
    with pytest.raises(Conflict, match="belongs to"):
        other, _ = start(other, session=session.id)
    refused(Conflict, close, other, session=session.id, close_type="quick", says="belongs to")


def test_force_begins_anew_and_supersedes(memory: Memory) -> None:
    old = refresh(memory).session
    memory, opening = start(memory, force=True)
    new = opening.session
    assert new.id != old.id
    ended = contents_of(memory, old.id)
    assert (ended.session.is_open, ended.close) == (False, {"type": "superseded", "by": new.id})


def test_a_session_nobody_announced_becomes_the_announced_one(process: Open) -> None:
    memory = process(10)
    memory = begin(memory, implicit=True)
    silent = memory.actor.session
    memory, opened = start(memory, title="Now with a title")
    assert (opened.session.id, opened.resumed, opened.session.implicit) == (silent, False, False)


def test_a_refresh_without_a_session_says_to_start_one(process: Open) -> None:
    refused(NotFound, refresh, process(10), says="No active session")


def test_the_next_session_is_told_what_the_last_one_left(memory: Memory) -> None:
    memory, _ = start(memory, title="Auth migration")
    payload = {
        "closing_reflection": {**ANSWERS, "collaboration": "wants plans first", "rapport": "terse"},
        "human_corrections": "",
        "decisions": [{"title": "Use JWT", "decision": "We use JWT for the API.", "rationale": "stateless"}],
        "open_threads": ["Rate limiting needs an implementation", "Write the runbook"],
        "project_state": "Auth is half migrated.",
        "summary": {"completed": "login", "next_steps": "logout"},
    }
    closed = done(memory, payload=payload)
    assert {record.kind for record in closed.kept} == {"decision", "summary", "retrospective", "progress"}
    memory, opened = start(memory)
    assert opened.last is not None
    assert opened.last.close["title"] == "Auth migration"
    assert opened.summary is not None
    assert opened.summary.fields == {"completed": "login", "next_steps": "logout"}
    assert opened.state is not None
    assert (opened.state.body, opened.rapport) == ("Auth is half migrated.", "wants plans first | terse")
    expected = ["Rate limiting needs an implementation", "Write the runbook"]
    assert [thread.record.body for thread in opened.threads] == expected
    assert [record.title for record in opened.decisions] == ["Use JWT"]


def test_a_new_project_state_takes_the_place_of_the_old(memory: Memory) -> None:
    for text in ("Half done.", "All done."):
        memory, _ = start(memory)
        done(memory, close_type="quick", payload={"project_state": text})
    memory, opening = start(memory)
    assert opening.state.body == "All done."  # type: ignore[union-attr]
    assert [hit.record.body for hit in recall(memory, Query(text="done", weak=True)).hits] == ["All done."]


def test_decisions_older_than_five_days_are_not_shown_at_the_start(memory: Memory, time: Time) -> None:
    keep(memory, "We use JWT.", kind="decision")
    memory, opening = start(memory)
    assert len(opening.decisions) == 1
    time.pass_days(6)
    memory, opening = start(memory, force=True)
    assert opening.decisions == ()


def test_a_refused_close_writes_nothing(memory: Memory) -> None:
    session = refresh(memory).session
    refused = close(memory, payload={"decisions": ["Use JWT"], "closing_reflection": {"what_broke": "x"}})
    assert isinstance(refused, NotClosed)
    assert len(refused.problems) == 4
    assert contents_of(memory, session.id).records == ()
    assert current_session(memory) == session


def test_a_quick_close_of_a_long_session_is_refused(memory: Memory, time: Time) -> None:
    time.pass_days(31 / 1440)
    assert isinstance(close(memory, close_type="quick"), NotClosed)
    done(memory, close_type="quick", payload={"what_worked": "pairing"})


def test_a_closed_session_cannot_be_closed_again_and_several_open_ones_must_be_named(process: Open) -> None:
    first, second = process(10), process(11)
    one, other = start(first)[1].session, start(second)[1].session
    outside = process(12)
    refused(Ambiguous, close, outside, close_type="quick", says="2 sessions are active")
    done(outside, session=one.id, close_type="quick")
    refused(Conflict, close, outside, session=one.id, close_type="quick", says="was closed")
    done(outside, close_type="quick")
    assert [session.is_open for session in list_sessions(outside)] == [False, False]
    assert other.id != one.id


def test_an_autonomous_close_needs_no_human_and_a_retroactive_one_no_session(memory: Memory) -> None:
    closed = done(memory, close_type="autonomous", payload={"summary": {"completed": "nightly run"}})
    assert closed.compliance["human_asked_for_corrections"] is False
    assert closed.remarks == ()
    later = done(memory, close_type="retroactive", payload={"summary": {"completed": "yesterday's work"}})
    assert later.session.id != closed.session.id


def test_a_payload_left_as_a_file_is_read_merged_and_removed_only_after_success(memory: Memory) -> None:
    session = refresh(memory).session
    file = some(payload_file(memory, session.id))
    new_file(file, "{broken")
    refused(Invalid, close, memory, says="not JSON")
    file.write_text(json.dumps({"closing_reflection": ANSWERS, "title": "From the file", "human_corrections": ""}))
    assert isinstance(close(memory, payload={"closing_reflection": {"what_broke": "x"}}), NotClosed)
    assert file.exists()
    closed = done(memory, payload={"title": "Given by hand"})
    assert closed.title == "Given by hand"
    assert not file.exists()


def test_a_payload_is_also_read_where_agents_of_gitmem_leave_it(memory: Memory, time: Time) -> None:
    session = refresh(memory).session
    told = payload_file(memory, session.id, "closing-payload.json")
    shared = memory.checkout.top() / ".gitmem" / "closing-payload.json"
    assert told is not None
    for file in (told, shared):
        file.parent.mkdir(parents=True)
    shared.write_text(json.dumps({"closing_reflection": ANSWERS, "title": "Of an earlier session"}))
    os.utime(shared, (time.now - 60, time.now - 60))
    assert isinstance(close(memory), NotClosed)
    os.utime(shared, (time.now, time.now))
    told.write_text(json.dumps({"closing_reflection": ANSWERS, "title": "Where it was told to"}))
    closed = done(memory)
    assert (closed.title, told.exists(), shared.exists()) == ("Where it was told to", False, True)
    memory, _ = start(memory)
    time.now += 1
    shared.touch()
    os.utime(shared, (time.now, time.now))
    closed = done(memory)
    assert (closed.title, shared.exists()) == ("Of an earlier session", False)


def test_a_reflection_told_in_one_piece_closes_a_session_and_is_remarked_on(memory: Memory) -> None:
    assert isinstance(close(memory, payload={"closing_reflection": "Fine."}), NotClosed)
    told = {"closing_reflection": "Most of the time went into the login, which works now.", "human_corrections": ""}
    closed = done(memory, payload=told)
    assert any("the reflection is one text" in one for one in closed.remarks)


def test_threads_of_a_payload_may_be_named_by_id_with_their_text(memory: Memory) -> None:
    known = of_type(Opened, open_thread(memory, "Rate limits are missing"))
    shown = short(known.thread.record.id)
    texts = [
        f"t-{shown}: Rate limits are missing",
        "t-ffff1111: Write the runbook",
        "20260101: rotate the keys",
        "t-ffff2222",
    ]
    closed = done(memory, close_type="quick", payload={"open_threads": texts})
    titles = ["Rate limits are missing", "Write the runbook", "20260101: rotate the keys"]
    assert [one.title for one in closed.threads] == titles
    assert any("t-ffff2222" in one for one in closed.remarks)


def test_a_payload_of_another_session_is_refused(memory: Memory) -> None:
    with pytest.raises(Invalid, match="is for session"):
        close(memory, close_type="quick", payload={"session_id": "01ARZ3NDEKTSV4RRFFQ69G5FAV"})


def test_a_close_that_died_midway_can_be_done_again(memory: Memory) -> None:
    payload = {"decisions": ["Use JWT for the API"], "open_threads": ["Rate limiting"]}
    keep(memory, "Use JWT for the API", kind="decision", title="Use JWT for the API")
    closed = done(memory, close_type="quick", payload=payload)
    assert any(remark.startswith("known already") for remark in closed.remarks)
    assert len(open_threads(memory)) == 1


def test_learnings_of_a_payload_are_checked_like_any_other(memory: Memory) -> None:
    learnings = [
        {"learning_type": "scar", "title": "No severity", "description": "Something broke."},
        {"kind": "scar", "text": "Seeding needs migrations.", **SCAR},
        {"kind": "win", "text": "Small commits made review quick."},
    ]
    closed = done(memory, close_type="quick", payload={"learnings": learnings})
    assert [record.kind for record in closed.kept] == ["scar", "win", "summary"]
    assert "severity is required" in closed.remarks[0]
    assert closed.kept[1].fields == {"severity": "medium"}


def test_secrets_in_a_closing_are_masked(memory: Memory) -> None:
    memory, _ = start(memory, title="Key rotation")
    secret = "AKIA" + "IOSFODNN7EXAMPLQ"
    payload = {"what_broke": f"the key {secret} leaked", "open_threads": [f"rotate {secret}"]}
    done(memory, close_type="quick", payload=payload)
    journal = json.dumps([dict(event.data) for _, event in memory.store.journal()])
    assert secret not in journal


def test_starters_come_once_and_stay_below_everything_else(process: Open) -> None:
    memory, opening = start(process(10, starters=True))
    assert opening.planted == 12
    assert plant(memory) == 0
    mine = keep(memory, "Deploys go through the blue pool; verify there.", kind="fact")
    found = recall(memory, Query(text="deploy verify migration database error test", limit=20)).hits
    assert found[0].record.id == mine.id
    assert {hit.record.source for hit in found[1:]} == {"starter"}
    only = recall(memory, Query(text="deploy verify", limit=1)).hits
    assert [hit.record.id for hit in only] == [mine.id]
    retire(memory, found[1].record.id, "not for us")
    memory.store.note("starters", "")
    plant(memory)
    again = recall(memory, Query(text="deploy verify migration database error test", limit=20)).hits
    assert found[1].record.id not in [hit.record.id for hit in again]


def test_starters_are_no_memories_of_the_project(process: Open) -> None:
    earlier = process(10, starters=True)
    start(earlier)
    (starter,) = (hit.record for hit in recall(earlier, Query(text="migration without a way back", limit=1)).hits)
    mine = keep(earlier, "Deploys go through the blue pool; verify there.", kind="fact")
    memory = process(11)  # the same store, where nobody asks for them
    assert start(memory)[1].planted == 0
    question = "deploy verify migration database error test"
    assert [hit.record.id for hit in recall(memory, Query(text=question, limit=20)).hits] == [mine.id]
    assert len(recall(memory, Query(text=question, limit=20, starters=True)).hits) > 1
    assert recall(memory, Query(text=starter.title, limit=20, as_of=memory.clock.now(), project="")).hits == ()
    for everywhere in (False, True):
        listed = list_records(memory, Query(text="", limit=100, everywhere=everywhere))
        assert ([record.id for record in listed.records], listed.total) == ([mine.id], 1)
    assert starter.id not in [record.id for record in timeline(memory, mine.id, before=20, after=20)]
    assert (status(memory).here, status(memory).everywhere) == (1, 1)
    assert [record.id for record in records_of(memory)] == [mine.id]
    assert not [line for line in export(memory) if starter.body in line]
    assert get(memory, starter.id).record.source == "starter"  # by its id it is still there


def test_a_recalled_scar_wants_an_answer(memory: Memory) -> None:
    first = keep(memory, "Migrations need a way back.", kind="scar", fields=SCAR)
    second = keep(memory, "Migrations lock the orders table.", kind="scar", fields=SCAR)
    keep(memory, "Migrations live in db/migrations.", kind="fact")
    recall(memory, Query(text="migrations"))
    assert {record.id for record in unanswered(memory)} == {first.id, second.id}
    answers = (
        *((first.id.lower(), "APPLYING", EVIDENCE), (second.id, "N_A", "no")),
        ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "N_A", EVIDENCE),
    )
    told = answer(memory, [Answer(scar=id_, decision=decision, evidence=said) for id_, decision, said in answers])
    assert [(record.id, decision) for record, decision in told.taken] == [(first.id, "APPLYING")]
    assert "50 are needed" in told.problems[0]
    assert "There is no memory" in told.problems[1]
    assert [record.id for record in told.waiting] == [second.id]


def test_answers_survive_a_restart_and_are_credited(process: Open) -> None:
    memory, _ = start(process(10))
    scars = [
        keep(memory, f"Migrations fail in way {word}.", kind="scar", fields=SCAR) for word in ("one", "two", "three")
    ]
    recall(memory, Query(text="migrations fail"))
    answer(memory, [Answer(scar=scars[0].id, decision="APPLYING", evidence=EVIDENCE)])
    die(memory)
    later, _ = start(process(11))
    told = answer(later, [Answer(scar=scars[1].id, decision="N_A", evidence=EVIDENCE)])
    assert told.problems == ()
    assert [record.id for record in told.waiting] == [scars[2].id]


def test_what_was_not_shown_or_is_no_scar_takes_no_answer(memory: Memory) -> None:
    hidden = keep(memory, "Queues lose messages on restart.", kind="scar", fields=SCAR)
    fact = keep(memory, "The queue is RabbitMQ.", kind="fact")
    recall(memory, Query(text="RabbitMQ"))
    told = answer(memory, [Answer(scar=one, decision="N_A", evidence=EVIDENCE) for one in (hidden.id, fact.id)])
    assert told.taken == ()
    assert "was not shown" in told.problems[0]
    assert "only scars need an answer" in told.problems[1]


def test_closing_settles_what_was_shown(memory: Memory) -> None:
    named = keep(memory, "Seeds need migrations.", kind="scar", fields=SCAR)
    silent = keep(memory, "Seeds need a clean table.", kind="scar", fields=SCAR)
    told = keep(memory, "Seeds need the right locale.", kind="scar", fields=SCAR)
    recall(memory, Query(text="seeds need"))
    payload = {
        "closing_reflection": {**ANSWERS, "scars_applied": f"Heeded: {named.title}"},
        "scars_to_record": [{"scar_identifier": told.title, "reference_type": "refuted"}, {"scar_id": "nope"}],
        "human_corrections": "",
    }
    closed = done(memory, payload=payload)
    assert closed.answered == {told.id: "refuted", named.id: "applied", silent.id: "ignored"}
    outcomes = {use.id: use.outcome for use in usage.in_session(memory.store, closed.session.id)}
    assert outcomes == {named.id: "applied", silent.id: "ignored", told.id: "refuted"}
    assert "1 shown scar counted as ignored: no answer" in closed.remarks
    assert "no scar matches 'nope'" in closed.remarks


def test_a_scar_nobody_heeds_sinks_and_is_called_a_blind_spot(process: Open) -> None:
    memory = process(10)
    ignored = keep(memory, "Deploys on Friday need a second pair of eyes.", kind="scar", fields=SCAR)
    heeded = keep(memory, "Deploys need the release notes and a second pair of eyes.", kind="scar", fields=SCAR)
    for _ in range(4):
        memory, _ = start(memory, force=True)
        recall(memory, Query(text="deploy on Friday second pair of eyes"))
        answer(memory, [Answer(scar=heeded.id, decision="APPLYING", evidence=EVIDENCE)])
        close(memory, close_type="quick")
    found = {one.scar.id: one for one in effects(memory)}
    assert (found[ignored.id].shown, found[ignored.id].outcomes) == (4, {"ignored": 4})
    assert found[ignored.id].is_blind_spot
    assert found[ignored.id].wants_review
    assert found[ignored.id].multiplier == pytest.approx(0.2)
    assert (found[heeded.id].heeded, found[heeded.id].is_blind_spot) == (1.0, False)
    hits = recall(memory, Query(text="deploy on Friday second pair of eyes")).hits
    assert [hit.record.id for hit in hits] == [heeded.id, ignored.id]
    assert hits[1].why["decay"] == pytest.approx(0.2)


def test_recurring_topics_are_suggested_and_three_dismissals_are_final(memory: Memory) -> None:

    def work() -> Closed:
        nonlocal memory
        memory, _ = start(memory, title="Flaky checkout test in CI", force=True)
        summary = {"completed": "looked at the flaky checkout test"}
        return done(memory, close_type="quick", payload={"summary": summary})

    assert work().suggestion is None
    assert work().suggestion is None
    assert work().suggestion is not None
    for left in (2, 1):
        assert [record.title for record in suggestions(memory)] == ["Flaky checkout test in CI"]
        assert dismiss(memory, suggestions(memory)[0].id)[1] == left
        assert suggestions(memory) == []
        work()
    dismiss(memory, suggestions(memory)[0].id)
    assert work().suggestion is None
    assert suggestions(memory) == []


def test_a_promoted_suggestion_is_a_thread_and_not_suggested_again(memory: Memory) -> None:
    for _ in range(3):
        memory, _ = start(memory, title="Flaky checkout test in CI", force=True)
        closed = done(memory, close_type="quick", payload={"summary": {"completed": "looked at it"}})
    assert closed.suggestion is not None
    promote(memory, closed.suggestion.id)
    refused(Conflict, promote, memory, closed.suggestion.id, says="not a pending suggestion")
    assert [thread.record.title for thread in open_threads(memory)] == ["Flaky checkout test in CI"]
    memory, _ = start(memory, title="Flaky checkout test in CI", force=True)
    again = done(memory, close_type="quick", payload={"summary": {"completed": "more"}})
    assert again.suggestion is None


def test_topics_and_patterns_tell_what_sessions_were_about(memory: Memory) -> None:
    record = keep(memory, "The limiter counts per API key.", tags=("limits",))
    ids = []
    for word in ("throttling", "throttling", "billing"):
        memory, opening = start(memory, title=f"Work on {word}", force=True)
        ids.append(opening.session.id)
        recall(memory, Query(text="limiter"))
        keep(memory, f"Learned more about {word} number {len(ids)}.", tags=(word,))
        close(memory, close_type="quick", payload={"summary": {"completed": f"{word} improved"}})
    assert topics_of(memory, ids[0]).labels == ("throttling",)
    assert "throttling" in topics_of(memory, ids[0]).words
    found = patterns(memory)
    assert (found.memories[0].record.id, found.memories[0].sessions) == (record.id, 3)
    assert ("throttling", 2) in found.topics
    refused(Invalid, patterns, memory, least=1)


def test_transcripts_are_kept_found_and_dropped(process: Open) -> None:
    memory, opening = start(process(10))
    session = opening.session
    secret = "AKIA" + "IOSFODNN7EXAMPLQ"
    turns = [
        {"type": "user", "message": {"content": "Why does the nightly import fail?"}},
        {"type": "assistant", "message": {"content": f"The bucket policy changed; key {secret}."}},
    ]
    kept = save_transcript(memory, "\n".join(map(json.dumps, turns)), form="json")
    assert kept.session == session.id
    assert secret not in get_transcript(memory, session.id).body
    save_transcript(memory, "\n".join(map(json.dumps, turns)), form="json")
    found = search_transcripts(memory, "bucket policies")
    assert [(piece.session, piece.place) for piece in found] == [(session.id, 0)]
    assert "assistant: The bucket policy changed" in found[0].body
    assert found[0].share == 1.0
    assert search_transcripts(memory, "bucket rotation", least=0.6) == []
    assert search_transcripts(memory, "kubernetes") == []
    other = process(11)
    other = replace(other, config=replace(other.config, project="example.org/acme/other"))
    assert search_transcripts(other, "bucket") == []
    assert len(search_transcripts(other, "bucket", everywhere=True)) == 1
    assert drop_transcript(memory, session.id)
    assert search_transcripts(memory, "bucket policies") == []
    refused(NotFound, get_transcript, memory, session.id, says="no transcript")


def test_an_empty_transcript_is_refused(memory: Memory) -> None:
    refused(Invalid, save_transcript, memory, "not json", form="json", says="contains no messages")
    refused(Invalid, save_transcript, memory, "x", form="pdf", says="not a transcript format")


def test_insight_needs_some_sessions(process: Open) -> None:
    memory = process(10)
    scar = keep(memory, "Deploys need a second pair of eyes.", kind="scar", fields=SCAR)
    for _ in range(5):
        memory, _ = start(memory, force=True)
        recall(memory, Query(text="deploys second pair of eyes"))
        close(memory, close_type="quick")
    memory, opening = start(memory)
    insight = some(opening.insight)
    assert (insight.sessions, insight.shown, insight.heeded) == (6, 5, 0.0)
    assert insight.blind_spot is not None
    assert insight.blind_spot.id == scar.id


def test_sessions_are_the_same_after_a_rebuild(memory: Memory) -> None:
    memory, _ = start(memory, title="One")
    write(memory, Draft(body="Something learned."))
    close(memory, close_type="quick")
    memory, _ = start(memory, title="Two", force=True)
    before = list_sessions(memory)
    memory.store.rebuild()
    assert list_sessions(memory) == before
