"""View of touches: how often each thread was worked on, and when last."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from holdfast.engine.database import Database
from holdfast.engine.journal import Journal
from holdfast.engine.views import Batch

NAME = "touches"
VERSION = 1
TABLES = ("touches",)
SCHEMA = """
create table touches (
    id text primary key,
    touches integer not null,
    last_at text not null
);
"""


class Touched(NamedTuple):
    """How often a record was worked on after it was created, and when last."""

    times: int = 0
    last_at: str = ""


def apply(db: Database, batch: Batch, /) -> None:
    """Count the `touched` events of a batch; the store passes each event once."""
    touched = [event for event in batch.counted if event.verb == "touched"]
    db.many(_ADD, [{"id": event.about, "at": event.at} for event in touched if "withdraws" not in event.data])
    taken_back = [event for event in touched if "withdraws" in event.data]
    db.many(
        _WITHDRAW,
        [{"id": one.about, **{key: str(one.data.get(key, "")) for key in ("at", "last_at")}} for one in taken_back],
    )


_ADD = """
insert into touches (id, touches, last_at) values (:id, 1, :at)
on conflict (id) do update set
    touches = touches.touches + 1,
    last_at = case when excluded.last_at > touches.last_at then excluded.last_at else touches.last_at end
"""
_WITHDRAW = """
update touches set touches = touches - 1, last_at = case when last_at = :at then :last_at else last_at end where id = :id
"""


def of(store: Journal, ids: Iterable[str]) -> dict[str, Touched]:
    """Return the touches by record id; a record that was never touched is left out."""
    sql = "select id, touches, last_at from touches where id in (select value from json_each(:ids))"
    return {
        row[0]: Touched(times=row[1], last_at=row[2]) for row in store.db.query(sql, {"ids": json.dumps(list(ids))})
    }
