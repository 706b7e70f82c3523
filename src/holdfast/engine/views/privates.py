"""View of the owners of private records, for the row policies of a team's server. Empty in a store with one user."""

from holdfast.engine.database import Database
from holdfast.engine.views import Batch

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
