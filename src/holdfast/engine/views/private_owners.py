"""View of the owners of private records, for the row policies of a team's server. Empty in a store with one user."""

import json

from holdfast.engine.database import Database
from holdfast.engine.journal import PAGE, Journal
from holdfast.engine.views import Batch
from holdfast.engine.views.records import homes_of
from holdfast.model.kinds import KINDS
from holdfast.model.record import GLOBAL

NAME = "privates"
VERSION = 2
TABLES = ("privates",)
SCHEMA = """
create table privates (
    number integer primary key,
    owner text not null
);
create index privates_project on privates ((number >> 32));
"""


def apply(db: Database, batch: Batch, /) -> None:
    """Store the owner of each private record, starters excluded."""
    if not db.shared:
        return
    revised = [{"number": entry.number} for entry in batch.entries if entry.known]
    if revised:
        db.many("delete from privates where number = :number", revised)
    rows = [
        {"number": entry.number, "owner": entry.record.by.name}
        for entry in batch.entries
        if entry.record.visibility == "private" and entry.record.source != "starter"
    ]
    db.many(
        "insert into privates (number, owner) values (:number, :owner) on conflict (number) do update set owner = excluded.owner",
        rows,
    )


def readable_after(store: Journal, after: int, project: str, own: str) -> dict[int, str]:
    """Return a page of event ids by sequence number: those of a project and the global ones, without others' private records."""
    given = {"after": after, "homes": json.dumps(homes_of((project, GLOBAL), KINDS)), "own": own, "page": PAGE}
    return {row[0]: row[1] for row in store.db.query(_READABLE_AFTER, given)}


_READABLE_AFTER = """
select events.seq, events.id from events join entries on entries.id = events.about
where events.seq > :after and entries.number >> 32 in (
    select number from projects where name in (select value from json_each(:homes))
)
and entries.number not in (select number from privates where owner <> :own)
order by events.seq limit :page
"""
