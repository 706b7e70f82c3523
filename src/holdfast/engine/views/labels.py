"""Views of what a record is filtered by: its scopes, tags and git branch, and who owns it if it is private."""

from holdfast.engine.database import Database, Queries, column, insert
from holdfast.engine.journal import PAGE, Journal
from holdfast.engine.views import Batch, view_of
from holdfast.engine.views.records import MEMORIES, homes_of, within
from holdfast.model.kinds import KINDS
from holdfast.model.record import GLOBAL

_SQL = Queries(__file__, memories=MEMORIES)


@view_of(2)
def labels(db: Database, batch: Batch) -> None:
    """Replace the labels of each record with its current ones."""
    db.many("delete from labels where number = :number", [{"number": entry.number} for entry in batch.known])
    rows = [
        {"facet": facet, "value": value, "number": entry.number}
        for entry in batch.entries
        for record in [entry.record]
        for facet, values in (("scope", record.scopes), ("tag", record.tags), ("branch", [record.origin.branch]))
        for value in values
        if value
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
    return {row[0]: row[1] for row in store.db.query(_SQL["counts"], {"facet": facet, **within(project)})}


def scopes_under(store: Journal, outer: str) -> list[str]:
    """Return the scopes nested in `outer`; the query skips from value to value instead of reading every row."""
    return column(store.db, _SQL["scopes_under"], {"low": f"{outer}:", "high": f"{outer};"})  # ';' comes after ':'


def numbers(store: Journal, facet: str, value: str, project: int, limit: int) -> list[int]:
    """Return the numbers of the newest records of a project with a label, newest first."""
    return column(store.db, _SQL["numbers"], {"facet": facet, "value": value, **within(project), "limit": limit})


def readable_after(store: Journal, after: int, project: str, own: str) -> dict[int, str]:
    """Return a page of event ids by sequence number: those of a project and the global ones, without others' private records."""
    given = {"after": after, "homes": homes_of((project, GLOBAL), KINDS), "own": own, "page": PAGE}
    return {row[0]: row[1] for row in store.db.query(_SQL["readable_after"], given)}
