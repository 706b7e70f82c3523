"""The hot set: which records are in it, which of them are pinned, and how it has fared."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from holdfast.engine.database import Database
from holdfast.engine.views import Batch
from holdfast.engine.views.records import span
from holdfast.model.event import Event
from holdfast.model.fold import HEATED_BECAUSE

NAME = "heat"
VERSION = 1
TABLES = ("heat", "heat_counts")
SCHEMA = """
create table heat (
    id text primary key,
    hot integer not null,
    pinned integer not null,
    at text not null,
    why text not null,
    event text not null
);
create index heat_hot on heat (hot) where hot = 1;
create table heat_counts (
    name text primary key,
    value integer not null
);
"""


class Warm(NamedTuple):
    """A record of the hot set: its place, whether it is pinned, since when and why."""

    id: str
    number: int
    pinned: bool
    at: str
    why: str


def apply(db: Database, batch: Batch, /) -> None:
    """Put in and take out what the events say, and count; of what is erased nobody's words stay."""
    for entry in batch.entries:
        if entry.record.state == "erased":
            db.execute(_HUSH, {"id": entry.record.id, "kept": json.dumps(HEATED_BECAUSE)})
    for event in batch.counted:
        if event.verb == "heated":
            _heat(db, event)
        elif event.verb == "surfaced" and isinstance(event.data.get("hot"), int):
            shown = event.data.get("ids")
            hits = int(event.data["hot"])
            _count(db, "hits", hits)
            _count(db, "misses", max(0, (len(shown) if isinstance(shown, list) else 0) - hits))


def last(db: Database, record_id: str) -> str:
    """Give the event that put a record in or out last."""
    rows = db.query("select event from heat where id = :id", {"id": record_id})
    return str(rows[0][0]) if rows else ""


def _heat(db: Database, event: Event) -> None:
    why = str(event.data.get("why", ""))
    row = {"id": event.about, "at": event.at, "why": why, "event": event.id}
    hot, pinned = int(event.data.get("hot") is True), int(event.data.get("pinned") is True)
    db.execute(_PUT, {**row, "hot": hot, "pinned": pinned if hot else 0})
    if name := {"evicted": "evictions", "stale": "demotions", "unpin": "", "pin": ""}.get(
        why, "promotions" if hot else "demotions"
    ):
        _count(db, name, 1)


def _count(db: Database, name: str, number: int) -> None:
    if number:
        db.execute(_ADD, {"name": name, "number": number})


# Events may arrive in any order: the latest by id is the one that holds.
_PUT = """
insert into heat (id, hot, pinned, at, why, event) values (:id, :hot, :pinned, :at, :why, :event)
on conflict (id) do update set
    hot = excluded.hot, pinned = excluded.pinned, at = excluded.at, why = excluded.why, event = excluded.event
where excluded.event > heat.event
"""
_HUSH = "update heat set why = '' where id = :id and why not in (select value from json_each(:kept))"
_ADD = """
insert into heat_counts (name, value) values (:name, :number)
on conflict (name) do update set value = heat_counts.value + excluded.value
"""


def hot(db: Database, projects: Sequence[int]) -> list[Warm]:
    """Give the active records of these projects that are in the hot set."""
    found: list[Warm] = []
    for low, high in (span(project) for project in projects):
        rows = db.query(_HOT, {"low": low, "high": high})
        found.extend(Warm(row[0], row[1], bool(row[2]), row[3], row[4]) for row in rows)
    return found


_HOT = """
select heat.id, records.number, pinned, heat.at, heat.why from heat join records on records.id = heat.id
where hot = 1 and state = 'active' and records.number between :low and :high order by records.number
"""


def counts(db: Database) -> dict[str, int]:
    """Tell how often the hot set helped or not, and how often something went in or out."""
    known = {row[0]: row[1] for row in db.query("select name, value from heat_counts")}
    return {name: known.get(name, 0) for name in ("hits", "misses", "promotions", "demotions", "evictions")}
