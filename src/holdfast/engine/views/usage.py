"""How often each record was shown, and what became of it."""

import json
from collections import Counter
from collections.abc import Iterable

from holdfast.engine.database import Database
from holdfast.engine.views import Batch
from holdfast.model.event import Event
from holdfast.model.query import Usage

NAME = "usage"
VERSION = 1
TABLES = ("usage",)
SCHEMA = """
create table usage (
    id text primary key,
    surfaced integer not null,
    applied integer not null,
    ignored integer not null,
    contradicted integer not null,
    corrected integer not null,
    last_used_at text not null
);
"""
OUTCOMES = ("applied", "ignored", "contradicted", "corrected")


def apply(db: Database, batch: Batch, /) -> None:
    """Add what the events say; the store hands each event over once."""
    for event in batch.counted:
        for record_id, column in _counts(event):
            counts = dict.fromkeys(("surfaced", *OUTCOMES), 0) | {column: 1}
            used_at = event.at if column in ("applied", "corrected") else ""
            db.execute(_ADD, {"id": record_id, **counts, "used_at": used_at})


_ADD = """
insert into usage (id, surfaced, applied, ignored, contradicted, corrected, last_used_at)
values (:id, :surfaced, :applied, :ignored, :contradicted, :corrected, :used_at)
on conflict (id) do update set
    surfaced = usage.surfaced + excluded.surfaced, applied = usage.applied + excluded.applied,
    ignored = usage.ignored + excluded.ignored, contradicted = usage.contradicted + excluded.contradicted,
    corrected = usage.corrected + excluded.corrected,
    last_used_at = case when excluded.last_used_at > usage.last_used_at
        then excluded.last_used_at else usage.last_used_at end
"""


def _counts(event: Event) -> list[tuple[str, str]]:
    if event.verb == "used":
        outcome = event.data.get("outcome")
        return [(event.about, outcome)] if outcome in OUTCOMES else []
    ids = event.data.get("ids")
    shown = Counter(item for item in ids if isinstance(item, str)) if isinstance(ids, list) else Counter[str]()
    return [(record_id, "surfaced") for record_id in shown]


def of(db: Database, ids: Iterable[str]) -> dict[str, Usage]:
    """Give the usage of each record; one never shown has none."""
    rows = db.query(_OF, {"ids": json.dumps(list(ids))})
    return {
        row["id"]: Usage(
            surfaced=row["surfaced"],
            applied=row["applied"],
            ignored=row["ignored"],
            contradicted=row["contradicted"],
            corrected=row["corrected"],
            last_used_at=row["last_used_at"],
        )
        for row in rows
    }


_OF = "select * from usage where id in (select value from json_each(:ids))"
