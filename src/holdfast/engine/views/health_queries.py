"""Queries over several views for the health report: records that are unused, used most, or need a review."""

from typing import NamedTuple

from holdfast.engine.database import Database
from holdfast.engine.views.records import span

# Kinds that describe one moment are not expected to be used again. Starters come with every store.
_PASSING = "('observation', 'summary', 'progress', 'thread', 'review', 'retrospective')"
_HERE = f"""
from records left join usage on usage.id = records.id
where records.state = 'active' and records.number between :low and :high and records.source <> 'starter'
and records.kind not in {_PASSING}
"""


class Found(NamedTuple):
    """The number of matching records, and the ids of the first ones up to a limit."""

    total: int
    ids: tuple[str, ...]


def cold(db: Database, project: int | None, before: str, limit: int) -> Found:
    """Return records created before an instant that were never returned nor applied."""
    never = "and created_at < :before and coalesce(surfaced, 0) + coalesce(applied, 0) = 0"
    return _found(db, never, project, before, limit)


def dead(db: Database, project: int | None, before: str, limit: int) -> Found:
    """Return records created before an instant that were returned but never applied or corrected."""
    return _found(db, "and created_at < :before and surfaced > 0 and applied + corrected = 0", project, before, limit)


def contradicted(db: Database, project: int | None, limit: int) -> Found:
    """Return records with a contradicted use after their last revision and verification."""
    later = """
    and contradicted > 0 and exists (
        select 1 from uses where uses.id = records.id and outcome = 'contradicted'
        and uses.at >= updated_at and uses.at > verified_at
    )
    """
    return _found(db, later, project, "", limit)


def unverified(db: Database, project: int | None, before: str, limit: int) -> Found:
    """Return records that were never verified and not revised since an instant."""
    return _found(db, "and verified_at = '' and updated_at < :before", project, before, limit)


def stale(db: Database, project: int | None, before: str, limit: int) -> Found:
    """Return records that were verified once, but neither verified nor revised since an instant."""
    return _found(
        db, "and verified_at <> '' and verified_at < :before and updated_at < :before", project, before, limit
    )


def citing(db: Database, project: int | None, limit: int) -> Found:
    """Return records that were verified or that cite a place in code, the latest first."""
    cites = "and (verified_at <> '' or doc like :anchors or doc like :seen)"
    parts = {"anchors": '%"anchors":%', "seen": '%"seen":%'}
    return _found(db, cites, project, "", limit, order="records.number desc", **parts)


def heavy(db: Database, project: int | None, least: int, limit: int) -> list[tuple[str, int]]:
    """Return the records applied at least `least` times, with the count, most often applied first."""
    low, high = span(project) if project is not None else (0, 2**62)
    sql = f"select records.id, applied {_HERE} and applied >= :least order by applied desc, records.id limit :limit"
    return [(row[0], row[1]) for row in db.query(sql, {"low": low, "high": high, "least": least, "limit": limit})]


def total(db: Database, project: int) -> int:
    """Count the active records that are expected to be used again."""
    low, high = span(project)
    return int(db.query(f"select count(*) {_HERE}", {"low": low, "high": high})[0][0])


def _found(
    db: Database,
    more: str,
    project: int | None,
    before: str,
    limit: int,
    *,
    order: str = "records.number",
    **parts: str,
) -> Found:
    low, high = span(project) if project is not None else (0, 2**62)
    given = {"low": low, "high": high, "before": before, **parts}
    rows = db.query(f"select records.id {_HERE} {more} order by {order} limit :limit", {**given, "limit": limit})
    # Counting reads the whole project, so only what did not fit is counted.
    count = len(rows) if len(rows) < limit else int(db.query(f"select count(*) {_HERE} {more}", given)[0][0])
    return Found(total=count, ids=tuple(row[0] for row in rows))
