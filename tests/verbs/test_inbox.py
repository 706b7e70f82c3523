"""Everything that waits for a person: each choice of each sort settles its item, and undo brings it back."""

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.adapters.checkout import GitCheckout
from holdfast.model.errors import Conflict, Invalid, NotFound
from holdfast.model.event import Actor
from holdfast.model.record import Draft, Record
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.capture.mining import log_output, mine_outputs
from holdfast.verbs.exchange.jsonl import export, import_lines
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.actions import ACTIONS, act_on
from holdfast.verbs.records.hot import hot_set, trust_of
from holdfast.verbs.records.lifecycle import (
    Revision,
    act,
    link,
    record_use,
    retire,
    revert,
    revise,
    undo,
    undo_last,
    version_at,
)
from holdfast.verbs.records.project import move
from holdfast.verbs.records.read import history, uses_of
from holdfast.verbs.records.write import WrittenPending, draft_event, write
from holdfast.verbs.truth.contradictions import compare
from holdfast.verbs.upkeep.inbox import SORTS, Given, Item, choices, decide, decide_all, decide_by_name, waiting_items
from tests.conftest import Time, keep, make_memory, new_file
from tests.rows import each, of_type, refused, rows

OWN = {"revision", "head", "updated_at", "seen"}  # of each version


def plain(record: Record) -> dict[str, object]:
    seen = dict(record.seen.marks) if record.seen else {}
    return {name: getattr(record, name) for name in record.__slots__ if name not in OWN} | {"seen": seen}


def pending(memory: Memory, _: Path, __: Time, body: str = "The team prefers small commits.") -> Record:
    outcome = of_type(WrittenPending, write(memory, Draft(body=body, kind="preference", source="inferred")))
    return outcome.record


def mined(memory: Memory, _: Path, __: Time) -> None:
    for _number in range(3):
        log_output(memory, "We decided to use PostgreSQL because of its row locks.\n")
    mine_outputs(memory)


def suggestion(memory: Memory, _: Path, __: Time) -> Record:
    draft = Draft(body="Load-test the limiter", kind="thread", source="mined", extra={"evidence": ["a", "b", "c"]})
    return memory.commit([draft_event(memory, draft, pending=True)])[0].record


def quarantined(memory: Memory, folder: Path, time: Time) -> Record:
    """Import a memory of another store into quarantine."""
    with make_memory(folder / "theirs", time, actor=Actor(kind="user", name="mira")) as other:
        theirs = keep(other, "Payments run in the eu-west region.", visibility="team")
        import_lines(memory, list(export(other)), quarantine_as="mira <mira@example.org>")
    return theirs


def contradiction(memory: Memory, _: Path, time: Time) -> None:
    keep(memory, "The rate limit is 100 requests per minute.")
    time.pass_days(1)
    keep(memory, "The rate limit is 500 requests per minute.")
    compare(memory)


def duplicate(memory: Memory, _: Path, time: Time) -> None:
    keep(memory, "Run the backend tests with uv run pytest before every push.")
    time.pass_days(1)
    again = Draft(body="Run the backend tests with uv run pytest before each push.")
    write(memory, again, waivers=Waivers(duplicate=True))
    compare(memory)


def doubted(memory: Memory, _: Path, time: Time) -> None:
    record = keep(memory, "The queue is RabbitMQ.")
    time.pass_days(1)
    record_use(memory, [record.id], "contradicted")
    time.pass_days(1)


def stale(memory: Memory, folder: Path, _: Time) -> None:
    (folder / "pay.py").write_text("RETRIES = 3\n")
    keep(memory, "Payments are retried 3 times, see RETRIES.", anchors=("pay.py::RETRIES=3",))
    (folder / "pay.py").write_text("RETRIES = 5\n")


def gone(memory: Memory, folder: Path, _: Time) -> None:
    stale(memory, folder, _)
    (folder / "pay.py").unlink()


def overwritten(memory: Memory, _: Path, __: Time) -> None:
    record = keep(memory, "The ledger is append-only.")
    first = of_type(Record, revise(memory, record.id, Revision(body="The ledger is append-only, by Ada.")))
    data = {"body": "The ledger may be edited, by Bo.", "on": record.head}
    memory.commit([memory.event("revised", record.id, data=data, after=first.head)])


def scope(memory: Memory, _: Path, __: Time) -> None:
    for number, scope in enumerate(("tools:deploy", "tools:deploy", "tools:deploy", "tools:deplyo")):
        keep(memory, f"Deploys need step {number} of the checklist, see page {number}.", scopes=(scope,))


def unused(memory: Memory, _: Path, time: Time) -> None:
    keep(memory, "The office closes at six.")
    time.pass_days(40)


# Each leaves one item of the sort that it is named for.
SETUPS = (pending, mined, suggestion, quarantined, contradiction, duplicate, doubted, stale, overwritten, scope, unused)
TRIED = {**{setup.__name__: setup for setup in SETUPS}, "stale: the file is gone": gone, "unchecked": unused}
# The state of the item's record after each choice; other choices leave it active.
AFTER = {
    **dict.fromkeys((("pending", "reject"), ("mined", "reject"), ("quarantined", "reject")), "retired"),
    ("quarantined", "reject author"): "retired",
    ("suggestion", "reject"): "pending",
    **{(sort, "reject"): "retired" for sort in ("doubted", "stale", "unchecked", "unused")},
    ("duplicate", "approve"): "retired",
}
# Nothing shows yet that it helps; the edit of this test leaves what is wrong; a replaced text was looked at.
WAITS_STILL = {("unused", "approve"), ("unused", "edit"), ("stale", "edit"), ("contradiction", "edit")}
LAST = {("overwritten", "reject"), ("overwritten", "edit")}  # undone, it does not wait again


def waiting_of(memory: Memory, sort: str) -> list[Item]:
    return [item for item in waiting_items(memory, sorts=[sort]) if item.sort == sort]


@pytest.mark.parametrize("name", TRIED)
def test_each_choice_settles_its_item_and_can_be_undone(memory: Memory, tmp_path: Path, time: Time, name: str) -> None:
    setup, sort = TRIED[name], name.partition(":")[0]
    if sort == "stale":  # for the folder the store is in, so that cited code is here
        memory = replace(memory, config=replace(memory.config, project=""))
    setup(memory, tmp_path, time)
    (item,) = waiting_of(memory, sort)
    assert (bool(item.why), bool(list(choices(item)))) == (True, True)
    for choice in choices(item):
        before = {record.id: plain(find(memory, record.id).record) for record in (item.record, *item.others)}
        given = Given(text=f"{item.record.body} Edited.")
        done = decide(memory, item, choice, given)
        assert done.message[0].isupper() or done.message[0] == "“"
        now = find(memory, item.record.id).record
        assert (choice, now.state) == (choice, AFTER.get((sort, choice), "active"))
        if (sort, choice) not in WAITS_STILL:
            assert waiting_of(memory, sort) == [], choice
        undo(memory, done.events)
        after = {record.id: plain(find(memory, record.id).record) for record in (item.record, *item.others)}
        assert after == before, choice
        assert len(waiting_of(memory, sort)) == ((sort, choice) not in LAST)
        time.pass_days(0.01)


def test_every_sort_is_tried(memory: Memory) -> None:
    assert {name.partition(":")[0] for name in TRIED} == set(SORTS)
    keep(memory, "The API allows 60 requests a minute.")
    assert waiting_items(memory) == []


def test_ids_and_addresses_are_decided_without_a_list(memory: Memory, tmp_path: Path, time: Time) -> None:
    first, topic = pending(memory, tmp_path, time), suggestion(memory, tmp_path, time)
    theirs = quarantined(memory, tmp_path, time)
    decided = {first.id: "approve", topic.id: "approve", theirs.id: "approve", "stranger@example.org": "reject"}
    messages = [decide_by_name(memory, name, choice, Given())[1].message for name, choice in decided.items()]
    expected = ["Approved", "Opened as a thread", "Accepted", "Rejected"]
    assert [message.partition(":")[0] for message in messages] == expected
    refused(Conflict, decide_by_name, memory, first.id, "approve", Given(), says="needs no approval")
    refused(NotFound, decide_by_name, memory, "nobody", "reject", Given(), says="nobody")


@each("choice, states", [("approve", ["active"] * 3), ("reject", ["retired", "pending", "retired"])])
def test_everything_of_some_sorts_is_decided_at_once(
    tmp_path: Path, time: Time, choice: str, states: list[str]
) -> None:
    with make_memory(tmp_path / choice, time) as memory:
        waiting = [make(memory, tmp_path / choice, time) for make in (pending, suggestion, quarantined)]
        assert [item.sort for item in waiting_items(memory, sorts=["suggestion"])] == ["suggestion"]
        assert len(waiting_items(memory, limit=1)) == 3
        refused(Invalid, waiting_items, memory, sorts=["nonsense"])
        refused(Invalid, decide, memory, waiting_of(memory, "pending")[0], "both")
        assert len(decide_all(memory, ["quarantined", "pending", "suggestion"], choice, Given())) == 3
        assert [find(memory, record.id).record.state for record in waiting] == states
        assert waiting_items(memory) == []


FIELDS = {"reason": "outdated", "note": "why", "visibility": "team", "outcome": "applied", "relation": "refines"}


@pytest.mark.parametrize(
    "name", sorted(set(ACTIONS) - {"erase", "revert", "update", "confirm", "cancel", "unlink", "restore"})
)
def test_each_action_on_a_memory_can_be_undone(memory: Memory, time: Time, name: str) -> None:
    record = keep(memory, "Refunds go through the ledger.")
    fields = {**FIELDS, "target": keep(memory, "The ledger is append-only.").id}
    if name == "unpin":
        act_on(memory, record.id, "pin", fields)
    time.pass_days(1)

    def looks() -> object:
        trust = round(trust_of(memory, record.id)["value"], 3)
        heat = [(hot.record.id, hot.pinned) for hot in hot_set(memory)]
        return plain(find(memory, record.id).record), trust, heat, len(uses_of(memory, record.id, limit=9))

    before = looks()
    act_on(memory, record.id, name, fields)
    assert looks() != before
    assert [record_.id for record_ in undo_last(memory)] == [record.id]
    assert looks() == before


def test_the_last_actions_are_undone_one_after_the_other(memory: Memory) -> None:
    done = act(memory, lambda acting: ("Saved.", keep(acting, "Staging is reset at two.")))
    act_on(memory, done.result.id, "retire", {"reason": "wrong"})
    assert undo_last(memory)[0].state == "active"
    act(memory, lambda acting: ("Moved.", move(acting, ".", "github.com/acme/new")))
    assert undo_last(memory)[0].project == memory.project
    assert undo_last(memory, done.result.id)[0].state == "retired"
    refused(NotFound, undo_last, memory, says="nothing to undo")


def test_what_was_changed_again_is_not_undone_but_goes_back_to_an_earlier_version_and_forward_again(
    memory: Memory, time: Time
) -> None:
    record, other = keep(memory, "Refunds go through the ledger."), keep(memory, "The ledger is append-only.")
    time.pass_days(1)
    done = act_on(memory, record.id, "retire", {"reason": "wrong"})
    act_on(memory, record.id, "restore", {})
    refused(Conflict, undo, memory, done.events, says="changed again")
    revise(memory, record.id, Revision(body="Quite another text.", tags=("new",), kind="learning", anchors=("b.py",)))
    link(memory, record.id, "refines", other.id)
    retire(memory, record.id, "gone")
    now = find(memory, record.id).record
    assert plain(now) != plain(record)
    assert plain(revert(memory, version_at(memory, record.id, history(memory, record.id)[0].id))) == plain(record)
    assert plain(revert(memory, now)) == plain(now)
    refused(NotFound, version_at, memory, record.id, "01ARZ3NDEKTSV4RRFFQ69G5FAV")


@pytest.mark.parametrize(("text", "after"), rows("texts_that_follow_a_value"))
def test_a_memory_follows_a_value_that_changed(memory: Memory, tmp_path: Path, text: str, after: str) -> None:
    code = new_file(tmp_path / "app.py", "RETRIES = 3\n")
    memory = replace(memory, checkout=GitCheckout(tmp_path, memory.project))
    record = keep(memory, text, anchors=("app.py::RETRIES=3",))
    code.write_text("RETRIES = 5\n")
    (item,) = waiting_of(memory, "stale")
    assert ("update" in choices(item)) == bool(after)
    if after:
        done = decide(memory, item, "update")
        now = find(memory, record.id).record
        assert (now.body, now.anchors, bool(now.verified_at)) == (after, ("app.py::RETRIES=5",), True)
        assert plain(undo(memory, done.events)[0]) == plain(record)
