"""Queries over several views for the health report: records that are unused, used most, or need a review."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from holdfast.engine.journal import Journal
from holdfast.engine.views.records import MEMORIES, span

Trouble = Literal["cold", "dead", "contradicted", "unverified", "stale"]
# Kinds that describe one moment are not expected to be used again. Starters come with every store.
_PASSING = "('observation', 'summary', 'progress', 'thread', 'review', 'retrospective')"
_HERE = f"""
records.state = 'active' and records.number between :low and :high and records.source <> 'starter'
and records.kind not in {_PASSING} and {MEMORIES}
"""
_ALL = "from records left join usage on usage.id = records.id where"
# Few records have any usage: read these, and look up the record of each.
_USED = "from usage cross join records where records.id = usage.id and"
_CONDITIONS: Mapping[Trouble, tuple[str, str]] = {
    # created before an instant, never returned nor applied
    "cold": (_ALL, "created_at < :before and coalesce(surfaced, 0) + coalesce(applied, 0) = 0"),
    # created before an instant, returned, but never applied or corrected
    "dead": (_USED, "created_at < :before and surfaced > 0 and applied + corrected = 0"),
    # with a contradicted use after their last revision and verification
    "contradicted": (
        _USED,
        """contradicted > 0 and exists (
            select 1 from uses where uses.id = records.id and outcome = 'contradicted'
            and uses.at >= updated_at and uses.at > verified_at
        )""",
    ),
    # never verified, and not revised since an instant
    "unverified": ("from records where", "verified_at = '' and updated_at < :before"),
    # verified once, but neither verified nor revised since an instant
    "stale": ("from records where", "verified_at <> '' and verified_at < :before and updated_at < :before"),
}


class Found(NamedTuple):
    """The number of matching records, and the ids of the first ones up to a limit."""

    total: int
    ids: tuple[str, ...]


class Tally(NamedTuple):
    """How many active records are expected to be used again, and how many of them have each trouble."""

    total: int
    troubles: Mapping[Trouble, int]


def tally(store: Journal, project: int, before: str) -> Tally:
    """Count the records of a project in one pass, and those with any usage in another."""
    given = dict(zip(("low", "high"), span(project), strict=True)) | {"before": before}
    total, old, unverified, stale = (int(value or 0) for value in store.db.query(_TALLY, given)[0])
    used, dead, contradicted = (int(value or 0) for value in store.db.query(_TALLY_OF_USED, given)[0])
    counts: dict[Trouble, int] = {"unverified": unverified, "stale": stale}
    return Tally(total, counts | {"cold": old - used, "dead": dead, "contradicted": contradicted})


_TALLY = f"""
select count(*), sum(case when created_at < :before then 1 else 0 end),
    {", ".join(f"sum(case when {_CONDITIONS[name][1]} then 1 else 0 end)" for name in ("unverified", "stale"))}
from records where {_HERE}
"""
_TALLY_OF_USED = f"""
select sum(case when created_at < :before and surfaced + applied > 0 then 1 else 0 end),
    {", ".join(f"sum(case when {_CONDITIONS[name][1]} then 1 else 0 end)" for name in ("dead", "contradicted"))}
{_USED} {_HERE}
"""


def ids_of(
    store: Journal, trouble: Trouble, project: int | None, before: str, limit: int, *, offset: int = 0
) -> tuple[str, ...]:
    """Return the ids of records with a trouble, the oldest first."""
    low, high = span(project) if project is not None else (0, 2**62)
    table, condition = _CONDITIONS[trouble]
    sql = f"select records.id {table} {_HERE} and {condition} order by records.number limit :limit offset :offset"
    given = {"low": low, "high": high, "limit": limit, "offset": offset}
    rows = store.db.query(sql, given | ({"before": before} if ":before" in condition else {}))
    return tuple(row[0] for row in rows)


def citing(store: Journal, project: int | None, limit: int) -> Found:
    """Return records that were verified or that cite a place in code, the latest first."""
    low, high = span(project) if project is not None else (0, 2**62)
    here = {"low": low, "high": high}
    sql = f"select id from records where cites = 1 and {_HERE} order by number desc limit :limit"
    rows = store.db.query(sql, here | {"limit": limit})
    count = f"select count(*) from records where cites = 1 and {_HERE}"
    total = len(rows) if len(rows) < limit else int(store.db.query(count, here)[0][0])
    return Found(total=total, ids=tuple(row[0] for row in rows))


def heavy(store: Journal, project: int | None, least: int, limit: int) -> list[tuple[str, int]]:
    """Return the records applied at least `least` times, with the count, most often applied first."""
    low, high = span(project) if project is not None else (0, 2**62)
    sql = f"select records.id, applied {_USED} {_HERE} and applied >= :least order by applied desc, records.id limit :limit"
    return [(row[0], row[1]) for row in store.db.query(sql, {"low": low, "high": high, "least": least, "limit": limit})]
