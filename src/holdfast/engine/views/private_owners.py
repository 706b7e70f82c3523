"""View of the owners of private records, for the row policies of a team's server. Empty in a store with one user."""

from holdfast.engine.database import Database
from holdfast.engine.journal import PAGE, Journal
from holdfast.engine.views import Batch
from holdfast.engine.views.records import span

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


def readable_after(store: Journal, after: int, project: int, own: str) -> dict[int, str]:
    """Return a page of event ids by sequence number: those of a project and the global ones, without others' private records."""
    low, high = span(project) if project >= 0 else (-1, -1)
    given = {"after": after, "low": low, "high": high, "globals": span(0)[1], "own": own, "page": PAGE}
    return {row[0]: row[1] for row in store.db.query(_READABLE_AFTER, given)}


_READABLE_AFTER = """
select events.seq, events.id from events join entries on entries.id = events.about
where events.seq > :after and (entries.number between :low and :high or entries.number between 0 and :globals)
and entries.number not in (select number from privates where owner <> :own)
order by events.seq limit :page
"""
