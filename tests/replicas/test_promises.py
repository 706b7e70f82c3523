"""What every replica promises, proved on each of them."""

import shutil
from dataclasses import replace
from typing import Any

import pytest

from holdfast.model.record import Draft, Link
from holdfast.model.replica import parts_of
from holdfast.verbs.exchange import sync
from holdfast.verbs.records.lifecycle import Revision, link, record_use, restore, retire, revise
from holdfast.verbs.records.write import WrittenPending, confirm, write
from holdfast.verbs.truth.verify import verify
from holdfast.verbs.upkeep.erasing import erase
from tests.conftest import keep
from tests.replicas.seats import Seat, synced
from tests.rows import of_type

SCAR = {"severity": "high", "counter_arguments": ["it is slow", "it is rare"]}


def test_a_record_arrives_as_it_is(ada: Seat, bob: Seat) -> None:
    record = keep(
        ada.memory,
        "Never push before `make check`.\n\nIt broke main twice: “naïve” — 日本語.\n\n---\n\n- one\n- two",
        title="Check before pushing: yes",
        kind="scar",
        fields=SCAR,
        scopes=("tools", "projects:shop"),
        tags=("ci", "2026-01-01", "yes"),
        anchors=("src/a.py",),
        triggers=("git push",),
        visibility="team",
        confidence="high",
        extra={"ticket": {"key": "A-1", "points": 3}},
    )
    verify(ada.memory, record.id)
    synced(ada, bob)
    theirs, ours = bob.records()[record.id], ada.records()[record.id]
    assert parts_of(theirs) == parts_of(ours)
    assert theirs.by.name == "ada"
    assert theirs.verified_at == ours.verified_at != ""


def test_changes_go_both_ways(ada: Seat, bob: Seat) -> None:
    record = keep(ada.memory, "The queue holds ten thousand jobs.", visibility="team", tags=("queue",))
    synced(ada, bob)
    revise(bob.memory, record.id, Revision(body="The queue holds twenty thousand jobs.", tags=("queue", "limits")))
    synced(bob, ada)
    assert ada.records()[record.id].body == "The queue holds twenty thousand jobs."
    assert ada.records()[record.id].tags == ("queue", "limits")
    other = keep(ada.memory, "Something else entirely about deployment.", visibility="team")
    link(ada.memory, record.id, "relates_to", other.id)
    synced(ada, bob)
    assert bob.records()[record.id].links == (Link(relation="relates_to", target=other.id),)


def test_what_is_written_while_a_sync_runs_is_told_by_the_next(
    ada: Seat, bob: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(ada.memory, "The queue holds ten thousand jobs.", visibility="team")
    looked = sync._outgoing

    def and_meanwhile(*given: Any) -> Any:
        found = looked(*given)
        monkeypatch.undo()
        keep(ada.memory, "Somebody wrote this in another process.", visibility="team")
        return found

    monkeypatch.setattr(sync, "_outgoing", and_meanwhile)
    synced(ada, ada, bob)
    assert bob.records().keys() == ada.records().keys()


def test_retiring_and_restoring_travel(ada: Seat, bob: Seat) -> None:
    record = keep(ada.memory, "Deploy on Fridays only.", visibility="team")
    keep(ada.memory, "Another thing that stays.", visibility="team")
    synced(ada, bob)
    retire(bob.memory, record.id, "no longer true")
    synced(bob, ada)
    assert ada.records()[record.id].state == "retired"
    restore(ada.memory, record.id)
    synced(ada, bob)
    assert bob.records()[record.id].state == "active"


def test_a_second_sync_finds_nothing_to_do(ada: Seat, bob: Seat) -> None:
    for number in range(5):
        keep(ada.memory, f"Fact number {number} about subsystem {number * 7}.", visibility="team")
    synced(ada, bob)
    events = [sum(1 for _ in seat.memory.store.journal()) for seat in (ada, bob)]
    for seat in (ada, bob, ada, bob):
        done = seat.sync()
        assert (done.came, done.put.records, done.put.events, done.put.removed, done.remarks) == (0, 0, 0, 0, ())
    assert [sum(1 for _ in seat.memory.store.journal()) for seat in (ada, bob)] == events


def test_losing_what_was_remembered_changes_nothing(ada: Seat, bob: Seat) -> None:
    first = keep(ada.memory, "Kept before anything was lost.", visibility="team")
    synced(ada, bob)
    revise(ada.memory, first.id, Revision(tags=("changed",)))
    ada.replica.close()
    shutil.rmtree(ada.replica._states)
    synced(ada, bob)
    assert ada.records()[first.id].tags == bob.records()[first.id].tags == ("changed",)
    assert ada.records()[first.id].revision == 2
    assert ada.sync().came == 0


def test_an_erased_record_is_gone_everywhere(ada: Seat, bob: Seat) -> None:
    record = keep(ada.memory, "The zanzibar clause must never be read again.", visibility="team")
    keep(ada.memory, "Another thing that stays.", visibility="team")
    synced(ada, bob)
    erase(ada.memory, record.id)
    synced(ada, bob)
    theirs = bob.records()[record.id]
    assert theirs.state in ("erased", "retired")  # a file that is gone cannot say why
    ada.sync()
    for held in bob.folder.rglob("*"):
        if held.suffix in (".md", ".json", ".db") and held.is_file():
            assert b"zanzibar" not in held.read_bytes()


def test_what_waits_for_a_yes_does_not_leave(ada: Seat, bob: Seat) -> None:
    ada.memory = replace(ada.memory, config=replace(ada.memory.config, confirm_writes=True))
    held = of_type(WrittenPending, write(ada.memory, Draft(body="Waits for a yes.", visibility="team")))
    synced(ada, bob)
    assert bob.records() == {}
    confirm(ada.memory, held.record.id)
    synced(ada, bob)
    assert bob.records()[held.record.id].state == "active"


def test_counted_events_stay_here(ada: Seat, bob: Seat) -> None:
    record = keep(ada.memory, "Used a lot over here.", visibility="team")
    record_use(ada.memory, [record.id], "applied")
    synced(ada, bob)
    assert {event.verb for _, event in bob.memory.store.journal()} <= {"recorded", "arrived"}


def test_a_dry_run_writes_nothing(ada: Seat, bob: Seat) -> None:
    keep(ada.memory, "Not yet told.", visibility="team")
    assert ada.sync(dry_run=True).put.records == 1
    bob.sync()
    assert bob.records() == {}
    assert ada.sync().put.records == 1
