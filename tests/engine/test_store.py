"""The journal, the views and the one door for writes, on SQLite and on PostgreSQL."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from holdfast.engine import journal, sqlite
from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import Store, open_store
from holdfast.engine.views import Entry, labels, records, usage
from holdfast.engine.views.queries import by_foreign_id
from holdfast.engine.views.records import Filter
from holdfast.model.event import Actor, Event, Verb
from holdfast.model.ids import Clock, instant
from holdfast.model.query import Usage
from holdfast.model.record import fold_all
from tests.calls import made
from tests.conftest import Time, contents, recorded
from tests.rows import WHOLE, refused, rows, some

VERBS: tuple[Verb, ...] = (
    "recorded", "revised", "verified", "retired", "restored", "linked", "unlinked", "used", "surfaced", "confirmed", "erased",
)  # fmt: skip


def event_about(clock: Clock, about: str, verb: Verb, **data: object) -> Event:
    """Give the next event about a record."""
    return Event(id=clock.tick(), about=about, verb=verb, at=clock.now(), data=data)


def everything(store: Store) -> dict[str, Any]:
    """Give all rows of all views but the vectors."""
    return contents(store) | {"words": sorted(map(tuple, store.db.query("select rowid, body from words")))}


def the_record(store: Store, record_id: str) -> Entry | None:
    return next(iter(records.with_part(store, record_id, 1)), None)


def some_history(seed: int, size: int = 40) -> list[Event]:
    """Give events about a handful of records: every verb, clocks an hour apart, two projects."""
    random = Random(seed)
    now = [1_700_000_000.0]
    clock = Clock(lambda: now[0])
    events: list[Event] = []
    for _ in range(size):
        now[0] += random.choice([-3600, 0, 0.001, 30])
        born = [event for event in events if event.verb == "recorded"]
        verb: Verb = random.choice(VERBS) if len(born) > 2 else "recorded"
        verb = "revised" if verb == "erased" and random.random() < 0.7 else verb
        about = "session" if verb == "surfaced" else "" if verb == "recorded" else random.choice(born).about
        arrow = {"relation": "relates_to", "target": born[0].about if born else ""}
        body, project, pending = f"body {random.random()}", random.choice(["", "p"]), random.random() < 0.2
        said: dict[str, dict[str, Any]] = {
            "recorded": {"title": "t", "body": body, "project": project, "scopes": ["a"], "pending": pending},
            "revised": {"body": f"other {body}", "scopes": random.choice([["a", "b:c"], []]), "tags": ["x"]},
            "retired": {"reason": "old"},
            "used": {"outcome": random.choice(["applied", "ignored", "contradicted", "corrected"])},
            "surfaced": {"ids": [event.about for event in random.sample(born, min(2, len(born)))]},
            "linked": arrow,
            "unlinked": arrow,
        }
        event = event_about(clock, about, verb, **said.get(verb, {}))
        events.append(replace(event, about=about or event.id, at=instant(now[0]), by=Actor(name="a", session="s")))
    return events


@pytest.mark.parametrize("seed", range(8 if WHOLE else 4))
def test_any_order_of_arrival_with_repeats_ends_in_the_same_records(store: Store, seed: int) -> None:
    events = some_history(seed)
    random = Random(seed)
    arriving = [*events, *random.choices(events, k=10)]
    random.shuffle(arriving)
    for start in range(0, len(arriving), 7):
        store.commit(arriving[start : start + 7])
    for about in {event.about for event in events}:
        found = the_record(store, about)
        assert (found.record if found else None) == fold_all(event for event in events if event.about == about)
    surfaced = sum(len(event.data.get("ids", [])) for event in events)
    applied = sum(event.data.get("outcome") == "applied" for event in events)
    totals = store.db.query("select coalesce(sum(surfaced), 0), coalesce(sum(applied), 0) from usage")[0]
    assert (totals[0], totals[1]) == (surfaced, applied)
    lived = everything(store)
    store.rebuild()
    assert everything(store) == lived


def test_a_commit_is_all_or_nothing(store: Store, clock: Clock) -> None:
    store.commit([recorded(clock, "kept")])
    before = everything(store)
    with patch.object(labels.labels, "apply", lambda *_: 1 / 0):
        refused(ZeroDivisionError, store.commit, [recorded(clock, "lost")])
    assert (everything(store), len(list(store.journal()))) == (before, 1)
    store.commit([recorded(clock, "after")])
    assert records.counted(store, Filter()) == 2


@patch.object(journal, "PAGE", 3)
def test_the_journal_is_read_in_order_of_arrival_and_from_any_point(store: Store) -> None:
    events = some_history(2, 10)
    store.commit(events)
    assert [event.id for _, event in store.journal()] == [event.id for event in events]
    assert [seq for seq, _ in store.journal(after=7)] == [8, 9, 10]
    assert store.last_id() == max(event.id for event in events)


def test_erasure_scrubs_every_payload_and_whatever_arrives_late(store: Store, clock: Clock) -> None:
    told = recorded(clock, "the secret plan", project="p")
    event = partial(event_about, clock, told.id)
    used = event("used", outcome="applied", note="a secret note", variant="secret words", observed="a secret seen")
    spoken: list[tuple[Verb, dict[str, object]]] = rows("what_an_erasure_scrubs")
    store.commit([told, used, *(event(verb, **said) for verb, said in spoken if verb != "used")])
    store.commit([event("erased")])
    store.commit([event(verb, **said) for verb, said in spoken if verb != "injected"])
    before = everything(store)
    assert "secret" not in json.dumps([dict(one.data) for _, one in store.journal()]) + str(before)
    found = some(the_record(store, told.id))
    assert (found.record.state, found.record.project) == ("erased", "p")
    assert usage.of(store, [told.id]) == {told.id: Usage(applied=2, last_used_at=used.at)}
    store.rebuild()
    assert everything(store) == before


def test_lists_are_filtered_by_project_kind_label_session_and_time(store: Store, time: Time, clock: Clock) -> None:
    for number in range(6):
        time.pass_days(1)
        labelled = {"scopes": ["a:b"] if number < 3 else ["ab"], "tags": ["odd"] if number % 2 else []}
        kind, project = "scar" if number == 3 else "fact", "p" if number % 2 else ""
        event = recorded(clock, f"n{number}", project=project, kind=kind, **labelled)
        store.commit([replace(event, by=Actor(session=f"s{number // 3}"))])
    in_project = ("n5 n3 n1", {"projects": [store.project_number("p")]})
    for titles, given in [*rows("lists_are_filtered_by_project_kind_label_session_and_time"), in_project]:
        found = records.page(store, made(Filter, given), limit=10)
        assert [entry.record.title for entry in found] == titles.split(), given
    assert labels.counts(store, "scope") == {"a:b": 3, "ab": 3}
    assert labels.scopes_under(store, "a") == ["a:b"]


@patch.object(sqlite, "MOST_LEVELS", 5)
def test_a_store_outlives_any_number_of_erasures(tmp_path: Path) -> None:
    store, levels = open_store(SQLite(tmp_path / "holdfast.db")), list[int]()
    long = (" ".join(f"w{number}x{place}" for place in range(200)) for number in range(40))
    store.commit([recorded(Clock(), text) for text in long])
    for number in range(160):
        store.commit([recorded(Clock(), f"The limit is {number}.")])
        if number % 20 == 19:  # SQLite's own merging has begun: from then on each `optimize` adds levels
            store.forget_deleted()
            levels.append(store.db.query("select block from words_data where id = 10")[0][0][4])
    assert (5 < max(levels) < 9, min(levels[3:]) < 5) == (True, True), levels
    assert store.db.query("select count(*) from words where words match 'limit'")[0][0] == 160
    store.close()


def test_a_foreign_id_is_found_whole_or_by_its_beginning(store: Store, clock: Clock) -> None:
    ids = ("learning:a1b2c3d4-1", "a1b2c3d4-2", "50%_off", 7, "observation:s-1:17", "summary:s-1:17")
    store.commit([recorded(clock, f"{one}", extra={"imported": {"system": "x", "id": one}}) for one in ids])
    store.commit([recorded(clock, "mentions imported a1b2c3d4-1")])
    for reference, how, found in rows("a_foreign_id_is_found_whole_or_by_its_beginning"):
        assert [one.record.body for one in by_foreign_id(store, reference, **how)] == found.split(), (reference, how)
