"""The system clock is wrong for a while, in either direction: what was done in which order counts, and nothing is refused afterwards."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.model.event import Actor, Event
from holdfast.model.ids import Clock, epoch_ms
from holdfast.model.query import Query
from holdfast.model.record import Draft
from holdfast.policy.admission.sharing import with_team
from holdfast.verbs.exchange.incoming import keep_events, passed
from holdfast.verbs.memory import Memory
from holdfast.verbs.records import lifecycle
from holdfast.verbs.records.hot import change_trust, demote, hot_set, pin, promote, trust_of, unpin
from holdfast.verbs.records.quarantine import accept, reject
from holdfast.verbs.records.write import confirm, draft_event
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.close import close
from holdfast.verbs.sessions.opening_brief import brief_of
from holdfast.verbs.sessions.session import list_sessions, start
from holdfast.verbs.sessions.thread import Opened, open_thread, open_threads, reopen, resolve, touch
from holdfast.verbs.truth.verify import verify
from holdfast.verbs.upkeep.doctor import back_up_store
from holdfast.verbs.upkeep.erasing import erase
from tests.conftest import START, Time, keep, make_memory
from tests.replicas.seats import seating
from tests.rows import of_type

HOUR, YEAR = 3_600.0, 365 * 86_400.0
# How far the clock is off, step by step, over and over.
JUMPS = {
    "an hour back": (0.0, -HOUR),
    "a year back": (0.0, -YEAR),
    "a year ahead and back": (YEAR, 0.0),
    "back, ahead, back": (0.0, YEAR, -YEAR, HOUR, -HOUR),
    "in 1970 and in 2099": (-START + 1.0, 2.3e9),
}
ORDERS, REFUNDS = "Orders live in PostgreSQL: the ledger needs transactions.", "Refunds are paid on Fridays only."
Step = Callable[[Memory, dict[str, str]], Any]


def _keep(name: str, body: str, **given: Any) -> Step:
    return lambda memory, ids: ids.update({name: keep(memory, body, **given).id})


def _arrive(memory: Memory, ids: dict[str, str]) -> None:
    """Let a stranger's memory arrive. (One that is dated a day ahead would have to wait.)"""
    clock = Clock(lambda: epoch_ms(memory.clock.now()) / 1000)
    about = ids["theirs"] = clock.tick()
    data = {"body": "Parcels leave at noon.", "title": "Parcels", "kind": "fact", "visibility": "team"}
    eve = Actor(kind="user", name="eve")
    event = Event(id=about, about=about, verb="recorded", at=clock.now(), by=eve, data=data)
    by = {about: "eve <eve@example.org>"}
    found = passed(memory, [event], with_team(memory.project), carriers=lambda _: by)
    keep_events(memory, [*found.marks, *found.events])


def _pending(memory: Memory, ids: dict[str, str]) -> None:
    draft = Draft(body="Returns are free within a month.")
    ids["pending"] = memory.commit([draft_event(memory, draft, pending=True)])[0].record.id


def _undo(memory: Memory, ids: dict[str, str]) -> None:
    history = memory.store.events_about(ids["orders"])
    lifecycle.revert(memory, lifecycle.version_at(memory, ids["orders"], history[0].id))


def _thread(memory: Memory, ids: dict[str, str]) -> None:
    opened = of_type(Opened, open_thread(memory, "Move refunds to the ledger"))
    ids["thread"] = opened.thread.record.id


STEPS: tuple[Step, ...] = (
    _keep("orders", ORDERS, kind="decision", visibility="team"),
    _keep("refunds", REFUNDS),
    lambda memory, ids: lifecycle.revise(
        memory, ids["orders"], lifecycle.Revision(body="Orders live in two databases now.")
    ),
    lambda memory, ids: verify(memory, ids["orders"]),
    _undo,
    lambda memory, ids: lifecycle.revise(memory, ids["orders"], lifecycle.Revision(tags=("storage",))),
    lambda memory, ids: lifecycle.retire(memory, ids["refunds"], "no"),
    lambda memory, ids: lifecycle.restore(memory, ids["refunds"]),
    lambda memory, ids: lifecycle.retire(memory, ids["refunds"], "yes"),
    lambda memory, ids: lifecycle.restore(memory, ids["refunds"]),
    lambda memory, ids: lifecycle.link(memory, ids["orders"], "relates_to", ids["refunds"]),
    lambda memory, ids: lifecycle.unlink(memory, ids["orders"], "relates_to", ids["refunds"]),
    lambda memory, ids: promote(memory, ids["orders"]),
    lambda memory, ids: pin(memory, ids["orders"]),
    lambda memory, ids: unpin(memory, ids["orders"]),
    lambda memory, ids: demote(memory, ids["orders"]),
    lambda memory, ids: promote(memory, ids["orders"]),
    lambda memory, ids: change_trust(memory, ids["orders"], delta=0.2, raises=True),
    lambda memory, ids: change_trust(memory, ids["orders"], delta=-0.1, raises=False),
    _arrive,
    lambda memory, ids: reject(memory, [ids["theirs"]]),
    lambda memory, ids: accept(memory, [ids["theirs"]]),
    _pending,
    lambda memory, ids: confirm(memory, ids["pending"]),
    _thread,
    lambda memory, ids: touch(memory, ids["thread"]),
    lambda memory, ids: resolve(memory, ids["thread"]),
    lambda memory, ids: reopen(memory, ids["thread"]),
    lambda memory, ids: ids.update(first=start(memory, title="first", force=True)[0].actor.session),
    lambda memory, ids: close(memory, session=ids["first"], close_type="autonomous"),
    lambda memory, _: start(memory, title="second", force=True),
    _keep("secret", "The vault code is on the whiteboard."),
    lambda memory, ids: erase(memory, ids["secret"]),
    lambda memory, _: recall(memory, Query(text="where do orders live")),
    lambda memory, ids: lifecycle.record_use(memory, [ids["orders"]], "applied"),
)


def process(memory: Memory, time: Time) -> Memory:
    """Return the memory as another process opens it."""
    clock = Clock(time)
    if last := memory.store.last_id():
        clock.observe(last)
    return replace(memory, clock=clock)


def outcome(folder: Path, offsets: tuple[float, ...]) -> dict[str, Any]:
    """Do all steps, each in a process of its own, while the clock is off by each of the offsets in turn; return what is there."""
    time, ids = Time(), dict[str, str]()
    with make_memory(folder, time, config={"quarantine": "show", "pending_days": 99_999}) as first:
        for step, offset in zip(STEPS, itertools.cycle(offsets), strict=False):
            time.now += 60
            right, time.now = time.now, time.now + offset
            step(process(first, time), ids)
            time.now = right
        memory = process(first, time)
        names = {about: name for name, about in ids.items()}
        told = {name: memory.store.folded(about) for name, about in ids.items()}
        journal = [event.id for _, event in memory.store.journal(0)]
        assert len(journal) == len(set(journal))
        memory.store.rebuild()
        assert {name: memory.store.folded(about) for name, about in ids.items()} == told
        found = recall(memory, Query(text="where do orders live"), surface=False)
        return {
            "records": {
                name: (
                    one.state,
                    one.title,
                    one.body,
                    one.tags,
                    one.links,
                    one.reason,
                    one.revision,
                    bool(one.verified_at),
                )
                for name, one in told.items()
                if one
            },
            "hot": [(names[hot.record.id], hot.pinned) for hot in hot_set(memory)],
            "trust": [round(step.delta, 2) for step in trust_of(memory, ids["orders"]).history],
            "threads": [names[thread.record.id] for thread in open_threads(memory)],
            "sessions": sorted((one.title, one.is_open) for one in list_sessions(memory)),
            "found": names.get(found.hits[0].record.id),
            "brief": ORDERS[:20] in brief_of(memory).text,
        }


@pytest.mark.parametrize("name", JUMPS)
def test_whatever_the_clock_shows_the_order_of_what_was_done_counts(tmp_path: Path, name: str) -> None:
    assert outcome(tmp_path / "jumping", JUMPS[name]) == outcome(tmp_path / "steady", (0.0,))


def test_what_was_written_while_a_clock_was_ahead_arrives_when_its_time_has_come(tmp_path: Path) -> None:
    with seating("notes", tmp_path) as seats:
        ada, bob = seats("ada"), seats("bob")
        for seat in (ada, bob):
            seat.memory = replace(seat.memory, config=replace(seat.memory.config, quarantine="show"))
        accept(bob.memory, ["holdfast@localhost"])
        ada.time.now += YEAR
        early = keep(ada.memory, ORDERS, visibility="team")
        ada.time.now -= YEAR
        ada.memory = process(ada.memory, ada.time)
        sent = ada.sync()
        assert ["clock" in remark.why for remark in sent.remarks if remark.where == early.id] == [True]
        usual = keep(ada.memory, REFUNDS, visibility="team")
        ada.sync()
        done = bob.sync()
        assert (done.came, [remark.where for remark in done.remarks]) == (1, [early.id])
        assert usual.id in bob.records()
        bob.time.now += YEAR
        assert bob.sync().came == 1
        assert bob.records().keys() == {early.id, usual.id}


def test_a_clock_that_is_behind_refuses_what_is_current_only_until_it_is_right(tmp_path: Path) -> None:
    with seating("notes", tmp_path) as seats:
        ada, bob = seats("ada"), seats("bob")
        bob.memory = replace(bob.memory, config=replace(bob.memory.config, quarantine="show"))
        accept(bob.memory, ["holdfast@localhost"])
        kept = keep(ada.memory, ORDERS, visibility="team")
        ada.sync()
        bob.time.now -= YEAR
        assert bob.sync().came == 0
        bob.time.now += YEAR
        assert bob.sync().came == 1
        assert bob.records().keys() == {kept.id}


@pytest.mark.embedded
def test_a_backup_is_kept_although_an_older_one_has_a_later_name(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time) as memory:
        keep(memory, ORDERS)
    store = tmp_path / "store" / "holdfast.db"
    ahead = back_up_store(store, None, keep=1, now="20991231-000000")
    made = back_up_store(store, None, keep=1, now="20260921-000000")
    assert (made.file.exists(), made.removed) == (True, [ahead.file])
