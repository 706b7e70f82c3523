"""View of the hot set: which records are in it, which of them are pinned, and how often it was hit."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from holdfast.engine.database import Database, Params, query_each
from holdfast.engine.journal import Journal
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


class HotEntry(NamedTuple):
    """A record of the hot set: its number, whether it is pinned, since when and why."""

    id: str
    number: int
    pinned: bool
    at: str
    why: str


def apply(db: Database, batch: Batch, /) -> None:
    """Update the hot set and its counts from events; free-text reasons of erased records are cleared."""
    erased = [entry.record.id for entry in batch.entries if entry.record.state == "erased"]
    db.many(_HUSH, [{"id": one, "kept": json.dumps(HEATED_BECAUSE)} for one in erased])
    heated = [event for event in batch.counted if event.verb == "heated"]
    db.many(_PUT, [_row(event) for event in heated])
    counts = Counter(name for event in heated if (name := _move(event)))
    for event in batch.counted:
        if event.verb == "surfaced" and isinstance(event.data.get("hot"), int):
            shown, hits = event.data.get("ids"), int(event.data["hot"])
            counts["hits"] += hits
            counts["misses"] += max(0, (len(shown) if isinstance(shown, list) else 0) - hits)
    db.many(_ADD, [{"name": name, "number": number} for name, number in counts.items() if number])


def last(store: Journal, record_id: str) -> str:
    """Return the id of the last event that added or removed a record; empty if there is none."""
    rows = store.db.query("select event from heat where id = :id", {"id": record_id})
    return str(rows[0][0]) if rows else ""


def _row(event: Event) -> Params:
    row = {"id": event.about, "at": event.at, "why": str(event.data.get("why", "")), "event": event.id}
    hot, pinned = int(event.data.get("hot") is True), int(event.data.get("pinned") is True)
    return {**row, "hot": hot, "pinned": pinned if hot else 0}


def _move(event: Event) -> str:
    """Return the name of the counter for an event; empty if it is not counted."""
    otherwise = "promotions" if event.data.get("hot") is True else "demotions"
    named = {"evicted": "evictions", "stale": "demotions", "unpin": "", "pin": ""}
    return named.get(str(event.data.get("why", "")), otherwise)


# Events may arrive in any order: the one with the highest id counts.
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


def hot(store: Journal, projects: Sequence[int]) -> list[HotEntry]:
    """Return the active records of these projects that are in the hot set."""
    spans = [dict(zip(("low", "high"), span(project), strict=True)) for project in projects]
    rows = [row for some in query_each(store.db, _HOT, spans) for row in some]
    return [HotEntry(row[0], row[1], bool(row[2]), row[3], row[4]) for row in rows]


_HOT = """
select heat.id, records.number, pinned, heat.at, heat.why from heat join records on records.id = heat.id
where hot = 1 and state = 'active' and source <> 'starter' and records.number between :low and :high order by records.number
"""


def counts(store: Journal) -> dict[str, int]:
    """Return the hits and misses of the hot set, and its promotions, demotions and evictions."""
    known = {row[0]: row[1] for row in store.db.query("select name, value from heat_counts")}
    return {name: known.get(name, 0) for name in ("hits", "misses", "promotions", "demotions", "evictions")}
