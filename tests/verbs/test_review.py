"""One list of everything that waits for a person, and the decisions on it."""

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.model.errors import Conflict, Invalid, NotFound
from holdfast.model.event import Actor
from holdfast.model.record import Draft, Record
from holdfast.verbs.capture.mining import log_output, mine_outputs
from holdfast.verbs.exchange.jsonl import export, import_lines
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.lifecycle import record_use
from holdfast.verbs.records.write import WrittenPending, draft_event, write
from holdfast.verbs.upkeep.inbox import SORTS, WaitingItem, waiting_items
from holdfast.verbs.upkeep.review import CHOICES, approve, choices, decide, decide_all, reject
from tests.conftest import Time, keep, make_memory


def pending(memory: Memory, body: str = "The team prefers small commits.") -> Record:
    outcome = write(memory, Draft(body=body, kind="preference", source="inferred"))
    assert isinstance(outcome, WrittenPending), outcome
    return outcome.record


def only(memory: Memory, sort: str) -> WaitingItem:
    (item,) = waiting_items(memory)
    assert item.sort == sort
    assert choices(item) == CHOICES[item.sort]
    return item


def state(memory: Memory, record: Record) -> str:
    return find(memory, record.id).record.state


def suggested(memory: Memory) -> Record:
    draft = Draft(body="Load-test the limiter", kind="thread", source="mined", extra={"evidence": ["a", "b", "c"]})
    return memory.commit([draft_event(memory, draft, pending=True)])[0].record


def sent(tmp_path: Path, time: Time, memory: Memory) -> Record:
    """Import a memory of another store into quarantine."""
    with make_memory(tmp_path / "theirs", time, actor=Actor(kind="user", name="mira")) as other:
        theirs = keep(other, "Payments run in the eu-west region.", visibility="team")
        import_lines(memory, list(export(other)), quarantine_as="import of theirs.jsonl")
    return theirs


def test_nothing_waits_in_a_new_store(memory: Memory) -> None:
    keep(memory, "The API allows 60 requests a minute.")
    assert waiting_items(memory) == []


@pytest.mark.parametrize(
    ("choice", "done", "after"), [("approve", "approved", "active"), ("reject", "rejected", "retired")]
)
def test_a_pending_memory_is_approved_or_rejected(memory: Memory, choice: str, done: str, after: str) -> None:
    record = pending(memory)
    item = only(memory, "pending")
    assert item.why == "an agent concluded it"
    assert decide(memory, item, choice) == done  # type: ignore[arg-type]
    assert state(memory, record) == after
    assert waiting_items(memory) == []


def test_an_edit_of_a_pending_memory_approves_the_new_text(memory: Memory) -> None:
    record = pending(memory)
    assert decide(memory, only(memory, "pending"), "edit", text="The team prefers commits of one topic.") == "approved"
    now = find(memory, record.id).record
    assert (now.state, now.body) == ("active", "The team prefers commits of one topic.")


def test_a_mined_pattern_is_offered_once_as_mined(memory: Memory) -> None:
    for _ in range(3):
        log_output(memory, "We decided to use PostgreSQL because of its row locks.\n")
    mine_outputs(memory)
    item = only(memory, "mined")
    assert decide(memory, item, "reject") == "rejected"
    assert state(memory, item.record) == "retired"
    mine_outputs(memory)
    assert waiting_items(memory) == []


@pytest.mark.parametrize(
    ("choice", "done", "after"), [("approve", "opened as a thread", "active"), ("reject", "dismissed", "pending")]
)
def test_a_suggestion_becomes_a_thread_or_goes_away(memory: Memory, choice: str, done: str, after: str) -> None:
    record = suggested(memory)
    item = only(memory, "suggestion")
    assert "3 sessions" in item.why
    assert decide(memory, item, choice) == done  # type: ignore[arg-type]
    assert state(memory, record) == after
    assert waiting_items(memory) == []


@pytest.mark.parametrize(("choice", "after"), [("approve", "active"), ("reject", "retired")])
def test_what_others_sent_waits_in_the_same_list(
    memory: Memory, tmp_path: Path, time: Time, choice: str, after: str
) -> None:
    theirs = sent(tmp_path, time, memory)
    item = only(memory, "quarantined")
    assert "import of theirs.jsonl" in item.why
    decide(memory, item, choice)  # type: ignore[arg-type]
    assert state(memory, theirs) == after
    assert waiting_items(memory) == []


@pytest.mark.parametrize(
    ("choice", "done"), [("approve", "kept the newer"), ("reject", "kept the older"), ("both", "kept both")]
)
def test_a_contradiction_is_one_item_with_both_memories(memory: Memory, time: Time, choice: str, done: str) -> None:
    older = keep(memory, "The rate limit is 100 requests per minute.")
    time.pass_days(1)
    newer = keep(memory, "The rate limit is 500 requests per minute.")
    item = only(memory, "contradiction")
    assert item.ids == (newer.id, older.id)
    assert decide(memory, item, choice) == done  # type: ignore[arg-type]
    assert waiting_items(memory) == []


@pytest.mark.parametrize(("choice", "done"), [("approve", "merged"), ("reject", "kept apart")])
def test_near_duplicates_are_one_item(memory: Memory, time: Time, choice: str, done: str) -> None:
    from holdfast.policy.admission.admit import Waivers

    keep(memory, "Run the backend tests with uv run pytest before every push.")
    time.pass_days(1)
    write(
        memory,
        Draft(body="Run the backend tests with uv run pytest before each push."),
        waivers=Waivers(duplicate=True),
    )
    item = only(memory, "duplicate")
    assert len(item.others) == 1
    assert decide(memory, item, choice) == done  # type: ignore[arg-type]
    assert waiting_items(memory) == []


@pytest.mark.parametrize(("choice", "done"), [("approve", "verified"), ("reject", "retired"), ("edit", "revised")])
def test_a_memory_reported_wrong_waits_until_it_is_settled(memory: Memory, time: Time, choice: str, done: str) -> None:
    record = keep(memory, "The queue is RabbitMQ.")
    time.pass_days(1)
    record_use(memory, [record.id], "contradicted")
    item = only(memory, "doubted")
    time.pass_days(1)
    assert decide(memory, item, choice, text="The queue is SQS.") == done  # type: ignore[arg-type]
    assert waiting_items(memory) == []


@pytest.mark.parametrize(("choice", "done"), [("approve", "verified"), ("reject", "retired")])
def test_a_memory_whose_code_is_gone_is_still_true_or_retired(
    memory: Memory, tmp_path: Path, choice: str, done: str
) -> None:
    (tmp_path / "pay.py").write_text("RETRIES = 3\n")
    here = replace(memory, config=replace(memory.config, project=""))
    record = keep(here, "Payments are retried three times.", anchors=("pay.py",))
    (tmp_path / "pay.py").unlink()
    item = only(here, "stale")
    assert item.record.id == record.id
    assert decide(here, item, choice) == done  # type: ignore[arg-type]
    assert waiting_items(here) == []


def test_ids_and_addresses_are_approved_and_rejected_without_a_list(memory: Memory, tmp_path: Path, time: Time) -> None:
    first, topic, theirs = pending(memory), suggested(memory), sent(tmp_path, time, memory)
    done = approve(memory, [first.id, topic.id, theirs.id])
    assert [decision.done for decision in done] == ["approved", "opened as a thread", "accepted"]
    assert [decision.done for decision in reject(memory, ["stranger@example.org"])] == ["rejected"]
    with pytest.raises(Conflict, match="needs no approval"):
        approve(memory, [first.id])
    with pytest.raises(NotFound, match="nobody"):
        reject(memory, ["nobody"])
    with pytest.raises(Invalid):
        approve(memory, [])


@pytest.mark.parametrize(
    ("choice", "states"), [("approve", ["active"] * 3), ("reject", ["retired", "pending", "retired"])]
)
def test_everything_of_some_sorts_is_decided_at_once(
    memory: Memory, tmp_path: Path, time: Time, choice: str, states: list[str]
) -> None:
    waiting = [pending(memory), suggested(memory), sent(tmp_path, time, memory)]
    done = decide_all(memory, ["quarantined", "pending", "suggestion"], choice)  # type: ignore[arg-type]
    assert len(done) == 3
    assert [state(memory, record) for record in waiting] == states
    assert waiting_items(memory) == []


def test_only_some_sorts_are_listed_on_request(memory: Memory) -> None:
    pending(memory)
    suggested(memory)
    assert [item.sort for item in waiting_items(memory, sorts=["suggestion"])] == ["suggestion"]
    assert len(waiting_items(memory, limit=1)) == 2
    with pytest.raises(Invalid):
        waiting_items(memory, sorts=["nonsense"])  # type: ignore[list-item]


def test_a_choice_that_an_item_does_not_offer_is_refused(memory: Memory) -> None:
    pending(memory)
    with pytest.raises(Invalid):
        decide(memory, only(memory, "pending"), "both")
    assert set(CHOICES) == set(SORTS)
