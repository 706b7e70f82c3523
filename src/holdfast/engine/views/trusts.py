"""View of trust: every change to how far a record is believed."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from holdfast.engine.database import Database
from holdfast.engine.journal import Journal
from holdfast.engine.views import Batch

NAME = "trusts"
VERSION = 2
TABLES = ("trusts",)
SCHEMA = """
create table trusts (
    event text primary key,
    id text not null,
    at text not null,
    reason text not null,
    delta real not null
);
create index trusts_id on trusts (id, event);
"""


class Change(NamedTuple):
    """One change of trust; its note stays in the event."""

    event: str
    id: str
    at: str
    reason: str
    delta: float


def apply(db: Database, batch: Batch, /) -> None:
    """Store the changes of trust in a batch (the store passes each event once) and delete those of erased records."""
    gone = [{"id": entry.record.id} for entry in batch.entries if entry.record.state == "erased"]
    db.many("delete from trusts where id = :id", gone)
    rows = []
    for event in batch.counted:
        delta = event.data.get("delta")
        if event.verb == "trusted" and isinstance(delta, int | float):
            reason = str(event.data.get("reason", ""))
            rows.append({"event": event.id, "id": event.about, "at": event.at, "reason": reason, "delta": float(delta)})
    db.many(
        """
        insert into trusts (event, id, at, reason, delta) values (:event, :id, :at, :reason, :delta)
        on conflict do nothing
        """,
        rows,
    )


def of(store: Journal, ids: Iterable[str]) -> dict[str, list[Change]]:
    """Return the changes of trust by record id, in order; a record without changes is left out."""
    found: dict[str, list[Change]] = {}
    for row in store.db.query(_OF, {"ids": json.dumps(list(ids))}):
        found.setdefault(row[1], []).append(Change(*row))
    return found


_OF = """
select event, id, at, reason, delta from trusts where id in (select value from json_each(:ids)) order by id, event
"""
