"""Views of what a record is filtered by: its scopes, tags and git branch, and who owns it if it is private."""

from holdfast.engine.database import Database, column, insert
from holdfast.engine.journal import PAGE, Journal
from holdfast.engine.views import Batch, view_of
from holdfast.engine.views.records import MEMORIES, homes_of, within
from holdfast.model.kinds import KINDS
from holdfast.model.record import GLOBAL


@view_of(2)
def labels(db: Database, batch: Batch) -> None:
    """Replace the labels of each record with its current ones."""
    db.many("delete from labels where number = :number", [{"number": entry.number} for entry in batch.known])
    rows = [
        {"facet": facet, "value": value, "number": entry.number}
        for entry in batch.entries
        for facet, values in (
            ("scope", entry.record.scopes),
            ("tag", entry.record.tags),
            ("branch", filter(None, (entry.record.origin.branch,))),
        )
        for value in values
    ]
    insert(db, "labels", rows, keeping="facet, value, number")


@view_of(2)
def privates(db: Database, batch: Batch) -> None:
    """Store the owner of each private record, starters excluded; only a team's server needs that, for its row policies."""
    if db.shared:
        db.many("delete from privates where number = :number", [{"number": entry.number} for entry in batch.known])
        own = [one for one in batch.entries if one.record.visibility == "private" and one.record.source != "starter"]
        insert(db, "privates", [{"number": one.number, "owner": one.record.by.name} for one in own], replacing="number")


def counts(store: Journal, facet: str, project: int | None = None) -> dict[str, int]:
    """Count the active records with each label of a facet, most common first."""
    return {row[0]: row[1] for row in store.db.query(_COUNTS, {"facet": facet, **within(project)})}


_COUNTS = f"""
select value, count(*) from labels join records on records.number = labels.number
where facet = :facet and labels.number between :low and :high and state = 'active' and {MEMORIES}
group by value order by count(*) desc, value
"""


def scopes_under(store: Journal, outer: str) -> list[str]:
    """Return the scopes nested in `outer`; the query skips from value to value instead of reading every row."""
    sql = """
    with recursive found (value) as (
        select min(value) from labels where facet = 'scope' and value >= :low and value < :high
        union all
        select (select min(value) from labels where facet = 'scope' and value > found.value and value < :high)
        from found where found.value is not null
    )
    select value from found where value is not null
    """
    return column(store.db, sql, {"low": f"{outer}:", "high": f"{outer};"})  # ';' comes after ':'


def numbers(store: Journal, facet: str, value: str, project: int, limit: int) -> list[int]:
    """Return the numbers of the newest records of a project with a label, newest first."""
    sql = """
    select number from labels where facet = :facet and value = :value and number between :low and :high
    order by number desc limit :limit
    """
    return column(store.db, sql, {"facet": facet, "value": value, **within(project), "limit": limit})


def readable_after(store: Journal, after: int, project: str, own: str) -> dict[int, str]:
    """Return a page of event ids by sequence number: those of a project and the global ones, without others' private records."""
    sql = """
    select events.seq, events.id from events join entries on entries.id = events.about
    where events.seq > :after and entries.number >> 32 in (
        select number from projects where name in (select value from json_each(:homes))
    )
    and entries.number not in (select number from privates where owner <> :own)
    order by events.seq limit :page
    """
    given = {"after": after, "homes": homes_of((project, GLOBAL), KINDS), "own": own, "page": PAGE}
    return {row[0]: row[1] for row in store.db.query(sql, given)}
