"""The system clock is wrong for a while, in either direction: what was done in which order counts, and nothing is refused afterwards."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from holdfast.model.ids import Clock, epoch_ms
from holdfast.model.query import Query
from holdfast.model.record import Record
from holdfast.policy.admission.sharing import with_team
from holdfast.verbs.exchange.incoming import keep_events, passed
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.hot import hot_set, trust_of
from holdfast.verbs.records.quarantine import accept
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.opening_brief import brief_of
from holdfast.verbs.sessions.session import list_sessions
from holdfast.verbs.sessions.thread import open_threads
from holdfast.verbs.upkeep.doctor import back_up_store
from tests.conftest import START, Time, keep, make_memory, recorded
from tests.replicas.seats import seating
from tests.rows import rows
from tests.verbs.scripts import Script

HOUR, YEAR = 3_600.0, 365 * 86_400.0
# How far the clock is off, step by step, over and over.
JUMPS = {
    "an hour back": (0.0, -HOUR),
    "back, ahead, back": (0.0, YEAR, -YEAR, HOUR, -HOUR),
    "in 1970 and in 2099": (-START + 1.0, 2.3e9),
}
ORDERS, REFUNDS = "Orders live in PostgreSQL: the ledger needs transactions.", "Refunds are paid on Fridays only."


def arrive(memory: Memory) -> Record:
    """Let a stranger's memory arrive. (One that is dated a day ahead would have to wait.)"""
    clock = Clock(lambda: epoch_ms(memory.clock.now()) / 1000)
    event = recorded(clock, "Parcels leave at noon.", title="Parcels", kind="fact", visibility="team")
    by = {event.id: "eve <eve@example.org>"}
    found = passed(memory, [event], with_team(memory.project), carriers=lambda _: by)
    keep_events(memory, [*found.marks, *found.events])
    return find(memory, event.id).record


class Jumping(Script):
    """Steps, each in a process of its own."""

    steps: ClassVar = {**Script.steps, "arrive": lambda script, _: arrive(script.memory)}


def process(memory: Memory, time: Time) -> Memory:
    """Return the memory as another process opens it."""
    clock = Clock(time)
    if last := memory.store.last_id():
        clock.observe(last)
    return replace(memory, clock=clock)


def outcome(request: pytest.FixtureRequest, folder: Path, offsets: tuple[float, ...]) -> dict[str, Any]:
    """Do all steps, each in a process of its own, while the clock is off by each of the offsets in turn; return what is there."""
    time = Time()
    with make_memory(folder, time, config={"quarantine": "show", "pending_days": 99_999}) as first:
        script = Jumping(folder, {"ORDERS": ORDERS, "REFUNDS": REFUNDS}, memory=first, time=time, request=request)
        for step, offset in zip(rows("steps_while_the_clock_jumps"), itertools.cycle(offsets), strict=False):
            time.now += 60
            right, time.now = time.now, time.now + offset
            script.memory = process(first, time)
            script.run(step)
            time.now = right
        memory = process(first, time)
        journal = [event for _, event in memory.store.journal(0)]
        assert len(journal) == len({event.id for event in journal})
        names = {about: place for place, about in enumerate(dict.fromkeys(event.about for event in journal))}
        told = {about: memory.store.folded(about) for about in names}
        memory.store.rebuild()
        assert {about: memory.store.folded(about) for about in names} == told
        found = recall(memory, Query(text="where do orders live"), surface=False)
        parts = ("state", "title", "body", "tags", "links", "reason", "revision")
        return {
            "records": [
                (names[about], *(getattr(one, part) for part in parts), bool(one.verified_at))
                for about, one in told.items()
                if one
            ],
            "hot": [(names[hot.record.id], hot.pinned) for hot in hot_set(memory)],
            "trust": [round(step["delta"], 2) for step in trust_of(memory, script.known["orders"].id)["history"]],
            "threads": [names[thread.record.id] for thread in open_threads(memory)],
            "sessions": sorted((one.title, one.is_open) for one in list_sessions(memory)),
            "found": names[found.hits[0].record.id],
            "brief": ORDERS[:20] in brief_of(memory).text,
        }


def test_whatever_the_clock_shows_the_order_of_what_was_done_counts(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    steady = outcome(request, tmp_path / "steady", (0.0,))
    for name, offsets in JUMPS.items():
        assert (name, outcome(request, tmp_path / name, offsets)) == (name, steady)


def test_a_clock_that_is_wrong_holds_back_what_another_machine_wrote_only_until_its_time_has_come(
    tmp_path: Path,
) -> None:
    with seating("notes", tmp_path) as seats:
        ada, bob = seats("ada"), seats("bob")
        for seat in (ada, bob):
            seat.memory = replace(seat.memory, config=replace(seat.memory.config, quarantine="show"))
        accept(bob.memory, ["holdfast@localhost"])
        ada.time.now += YEAR
        early = keep(ada.memory, ORDERS, visibility="team")
        ada.time.now -= YEAR
        ada.memory = process(ada.memory, ada.time)
        assert ["clock" in remark.why for remark in ada.sync().remarks if remark.where == early.id] == [True]
        usual = keep(ada.memory, REFUNDS, visibility="team")
        ada.sync()
        bob.time.now -= YEAR
        assert bob.sync().came == 0
        bob.time.now += YEAR
        done = bob.sync()
        assert (done.came, [remark.where for remark in done.remarks], {*bob.records()}) == (1, [early.id], {usual.id})
        bob.time.now += YEAR
        assert (bob.sync().came, {*bob.records()}) == (1, {early.id, usual.id})


@pytest.mark.embedded
def test_a_backup_is_kept_although_an_older_one_has_a_later_name(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time) as memory:
        keep(memory, ORDERS)
    store = tmp_path / "store" / "holdfast.db"
    ahead = back_up_store(store, None, keep=1, now="20991231-000000")
    made = back_up_store(store, None, keep=1, now="20260921-000000")
    assert (made[0].exists(), made[2]) == (True, [ahead[0]])
