"""View of labels: the scopes, tags and git branch of each record, for filters and counts."""

from holdfast.engine.database import Database
from holdfast.engine.journal import Journal
from holdfast.engine.views import Batch
from holdfast.engine.views.records import MEMORIES, span

NAME = "labels"
VERSION = 2
TABLES = ("labels",)
SCHEMA = """
create table labels (
    facet text not null,
    value text not null,
    number integer not null,
    primary key (facet, value, number)
);
create index labels_number on labels (number);
"""


def apply(db: Database, batch: Batch, /) -> None:
    """Replace the labels of each record with its current ones."""
    gone = [{"number": entry.number} for entry in batch.entries if entry.known]
    if gone:
        db.many("delete from labels where number = :number", gone)
    rows = [
        {"facet": facet, "value": value, "number": entry.number}
        for entry in batch.entries
        for facet, values in (
            ("scope", entry.record.scopes),
            ("tag", entry.record.tags),
            ("branch", (entry.record.origin.branch,) if entry.record.origin.branch else ()),
        )
        for value in values
    ]
    if rows:
        db.many(
            "insert into labels (facet, value, number) values (:facet, :value, :number) on conflict do nothing", rows
        )


def counts(store: Journal, facet: str, project: int | None = None) -> dict[str, int]:
    """Count the active records with each label of a facet, most common first."""
    low, high = span(project) if project is not None else (0, 2**62)
    rows = store.db.query(
        f"""
        select value, count(*) from labels join records on records.number = labels.number
        where facet = :facet and labels.number between :low and :high and state = 'active' and {MEMORIES}
        group by value order by count(*) desc, value
        """,
        {"facet": facet, "low": low, "high": high},
    )
    return {row[0]: row[1] for row in rows}


def scopes_under(store: Journal, outer: str) -> list[str]:
    """Return the scopes nested in `outer`; the query skips from value to value instead of reading every row."""
    rows = store.db.query(
        """
        with recursive found (value) as (
            select min(value) from labels where facet = 'scope' and value >= :low and value < :high
            union all
            select (select min(value) from labels where facet = 'scope' and value > found.value and value < :high)
            from found where found.value is not null
        )
        select value from found where value is not null
        """,
        {"low": f"{outer}:", "high": f"{outer};"},  # ';' comes after ':'
    )
    return [row[0] for row in rows]


def numbers(store: Journal, facet: str, value: str, project: int, limit: int) -> list[int]:
    """Return the numbers of the newest records of a project with a label, newest first."""
    low, high = span(project)
    sql = """
    select number from labels where facet = :facet and value = :value and number between :low and :high
    order by number desc limit :limit
    """
    return [
        row[0]
        for row in store.db.query(sql, {"facet": facet, "value": value, "low": low, "high": high, "limit": limit})
    ]
