"""Everything that waits for a person: each choice of each sort settles its item, and undo brings it back."""

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.adapters.checkout import GitCheckout
from holdfast.model.errors import Conflict, NotFound
from holdfast.model.ids import short
from holdfast.model.record import Record
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.actions import ACTIONS, act_on
from holdfast.verbs.records.hot import hot_set, trust_of
from holdfast.verbs.records.lifecycle import act, undo, undo_last
from holdfast.verbs.records.project import move
from holdfast.verbs.records.read import uses_of
from holdfast.verbs.upkeep.inbox import SORTS, Given, Item, choices, decide, waiting_items
from tests.conftest import Time, keep, new_file
from tests.rows import refused, rows
from tests.verbs.scripts import part_of, scripts_in

OWN = {"revision", "head", "updated_at", "seen"}  # of each version


def plain(record: Record) -> dict[str, object]:
    seen = dict(record.seen.marks) if record.seen else {}
    return {name: getattr(record, name) for name in record.__slots__ if name not in OWN} | {"seen": seen}


scripts_in(globals(), plain=lambda _, given: plain(given["of"]))
AFTER: dict[str, str] = rows("state_after_a_choice")  # of the item's record; other choices leave it active
# Nothing shows yet that it helps; the edit of this test leaves what is wrong; a replaced text was looked at.
WAITS_STILL = {("unused", "approve"), ("unused", "edit"), ("stale", "edit"), ("contradiction", "edit")}
LAST = {("overwritten", "reject"), ("overwritten", "edit")}  # undone, it does not wait again


def waiting_of(memory: Memory, sort: str) -> list[Item]:
    return [item for item in waiting_items(memory, sorts=[sort]) if item.sort == sort]


@pytest.mark.parametrize("name", [*SORTS, "stale_without_its_file"])
def test_each_choice_settles_its_item_and_can_be_undone(request: pytest.FixtureRequest, time: Time, name: str) -> None:
    memory, sort = part_of(request, __file__, name).memory, name.partition("_")[0]
    (item,) = waiting_of(memory, sort)
    assert (bool(item.why), bool(list(choices(item)))) == (True, True)
    for choice in choices(item):
        before = {record.id: plain(find(memory, record.id).record) for record in (item.record, *item.others)}
        given = Given(text=f"{item.record.body} Edited.")
        done = decide(memory, item, choice, given)
        assert done.message[0].isupper() or done.message[0] == "“"
        now = find(memory, item.record.id).record
        assert (choice, now.state) == (choice, AFTER.get(f"{sort}, {choice}", "active"))
        if (sort, choice) not in WAITS_STILL:
            assert waiting_of(memory, sort) == [], choice
        undo(memory, done.events)
        after = {record.id: plain(find(memory, record.id).record) for record in (item.record, *item.others)}
        assert after == before, choice
        assert len(waiting_of(memory, sort)) == ((sort, choice) not in LAST)
        time.pass_days(0.01)


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
    elsewhere = memory.acting_on("github.com/acme/site")
    there = act(elsewhere, lambda acting: ("Saved.", keep(acting, "The site is built with Hugo.")))
    here = act(memory, lambda acting: ("Saved.", keep(acting, "Crates are weighed twice.")))
    act_on(memory, here.result.id, "erase", {"sure": "erase"})
    refused(Conflict, undo_last, memory, says=rf"\(erased {short(here.result.id)}\) cannot be undone.* `holdfast undo")
    assert undo_last(memory, done.result.id)[0].id == done.result.id  # what the message names
    refused(NotFound, undo_last, memory, says="nothing to undo in")  # of what is erased, or in another project
    assert undo_last(elsewhere)[0].id == there.result.id


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
