"""Queries over several views: what ranking needs besides texts, records for the health report, and ids of other systems."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from holdfast.engine.database import Queries, Row, column, stored, value
from holdfast.engine.journal import FOLDING_ONLY, Journal
from holdfast.engine.views import Entry
from holdfast.engine.views.records import MEMORIES, parsed, within
from holdfast.engine.views.usage import COLUMNS
from holdfast.model.event import LOCAL, Event, by_record
from holdfast.model.query import Usage
from holdfast.model.record import Record

_NO_COUNTS = ", ".join("0" for _ in COLUMNS)
_SQL = Queries(__file__, memories=MEMORIES, folding_only=FOLDING_ONLY, columns=", ".join(COLUMNS), none=_NO_COUNTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingData:
    """By record id: usage, changes of trust, recent outcomes of scars, and the records that contradict it.

    And how records from elsewhere arrived, with what was decided about it, and which records are superseded or hot.
    """

    usage: Mapping[str, Usage] = field(default_factory=dict)
    trust: Mapping[str, list[float]] = field(default_factory=dict)
    outcomes: Mapping[str, list[str]] = field(default_factory=dict)
    arrivals: Mapping[str, list[Event]] = field(default_factory=dict)
    contradicted: Mapping[str, list[str]] = field(default_factory=dict)
    replaced: frozenset[str] = frozenset()
    hot: frozenset[str] = frozenset()


def ranking_data(
    store: Journal, ids: Collection[str], *, scars: Collection[str], shared: Collection[str], since: str
) -> RankingData:
    """Return the ranking data of records: outcomes since an instant only for `scars`, arrivals only for `shared`."""
    given = {"ids": [*ids], "scars": [*scars], "shared": [*shared], "since": since}
    parts: dict[str, list[Row]] = {}
    for row in store.db.query(_SQL["ranking"], given) if ids else ():
        parts.setdefault(row["part"], []).append(row)
    return RankingData(
        usage={
            row["id"]: Usage(**{name: row[name] for name in COLUMNS}, last_used_at=row["value"])
            for row in parts.get("usage", ())
        },
        trust=_by_id(parts.get("trust", ()), "delta"),
        outcomes=_by_id(parts.get("outcome", ()), "value"),
        arrivals=by_record(
            Event(id=row["event"], about=row["id"], verb=row["part"], at="", data=stored(row["value"], dict))
            for verb in LOCAL
            for row in parts.get(verb, ())
        ),
        contradicted=_by_id(parts.get("contradicted", ()), "value"),
        replaced=frozenset(row["id"] for row in parts.get("replaced", ())),
        hot=frozenset(row["id"] for row in parts.get("hot", ())),
    )


def _by_id(rows: Collection[Row], column: str) -> dict[str, list[Any]]:
    """Return one column of the rows of each record, in the order of their events."""
    found: dict[str, list[Any]] = {}
    for row in sorted(rows, key=lambda row: str(row["event"])):
        found.setdefault(row["id"], []).append(row[column])
    return found


Trouble = Literal["cold", "dead", "contradicted", "unverified", "stale"]
# The part of the SQL that names the tables of each trouble; its condition has the name of the trouble.
_TABLES: Mapping[Trouble, str] = {
    "cold": "all",
    "dead": "used",
    "contradicted": "used",
    "unverified": "records",
    "stale": "records",
}


class Tally(NamedTuple):
    """How many active records are expected to be used again, and how many of them have each trouble."""

    total: int
    troubles: Mapping[Trouble, int]


def tally(store: Journal, project: int, before: str) -> Tally:
    """Count the records of a project in one pass, and those with any usage in another."""
    given = {**within(project), "before": before}
    total, old, unverified, stale = (int(value or 0) for value in store.db.query(_SQL["tally"], given)[0])
    used, dead, contradicted = (int(value or 0) for value in store.db.query(_SQL["tally_of_used"], given)[0])
    counts: dict[Trouble, int] = {"unverified": unverified, "stale": stale}
    return Tally(total, counts | {"cold": old - used, "dead": dead, "contradicted": contradicted})


def ids_of(
    store: Journal, trouble: Trouble, project: int | None, before: str, limit: int, *, offset: int = 0
) -> tuple[str, ...]:
    """Return the ids of records with a trouble, the oldest first."""
    chosen = f"{_SQL[_TABLES[trouble]]} and {_SQL[trouble]}"
    sql = f"select records.id {chosen} order by records.number limit :limit offset :offset"
    return tuple(column(store.db, sql, {**within(project), "before": before, "limit": limit, "offset": offset}))


def citing(store: Journal, project: int, limit: int) -> tuple[list[Record], int]:
    """Return the latest records that were verified or that cite a place in code, and how many were left out."""
    where = f"{_SQL['records']} and cites = 1"
    sql = f"select doc {where} order by number desc limit :limit"
    found = [parsed(doc) for doc in column(store.db, sql, {**within(project), "limit": limit})]
    total = len(found) if len(found) < limit else int(value(store.db, f"select count(*) {where}", within(project)))
    return found, total - len(found)


def heavy(store: Journal, project: int | None, least: int, limit: int) -> list[tuple[str, int]]:
    """Return the records applied at least `least` times, with the count, most often applied first."""
    given = {**within(project), "least": least, "limit": limit}
    return [(row[0], row[1]) for row in store.db.query(_SQL["heavy"], given)]


SHORTEST, LONGEST = 4, 500  # characters of an id; a database refuses patterns of any length
MOST = 20


def foreign_ids(record: Record) -> tuple[str, ...]:
    """Return the foreign id of a record as stored (thread:t-1) and without prefix (t-1), and its aliases; empty if not imported."""
    origin = record.extra.get("imported")
    if not isinstance(origin, dict):
        return ()
    given, aliases = origin.get("id"), origin.get("aliases")
    whole = str(given).lower() if isinstance(given, str | int) else ""
    own = (whole, whole.rpartition(":")[2]) if whole else ()
    return (*own, *(str(alias).lower() for alias in (aliases if isinstance(aliases, list) else ())))


def by_foreign_id(store: Journal, reference: str, *, whole: bool = False, system: str = "") -> list[Entry]:
    """Return the records with this foreign id, else those whose foreign id starts with it; `whole` allows no prefixes.

    `system` limits the result to one system. Reads every row: call it only if no id of our own matches.
    """
    if len(reference) > LONGEST or (len(reference) < SHORTEST and not whole):
        return []
    wanted = reference.lower()
    escaped, end = wanted.translate(_ESCAPES), '"' if whole else ""
    patterns = {
        "keyed": f'%"imported"%:{escaped}{end}%',
        "named": f'%"imported"%"id": "{escaped}{end}%',
        "called": f'%"imported"%"aliases": [%"{escaped}{end}%',
        "numbered": f'%"imported"%"id": {escaped}%',
    }
    rows = store.db.query(_SQL["by_foreign_id"], {**patterns, "most": 10 * MOST})
    entries = [Entry(number=row[0], record=parsed(row[1])) for row in rows]
    found = [
        (entry, ids)
        for entry in entries
        if (ids := foreign_ids(entry.record)) and system in ("", entry.record.extra["imported"].get("system"))
    ]
    same = [entry for entry, ids in found if wanted in ids]
    if same or whole:
        return same
    return [entry for entry, ids in found if any(one.startswith(wanted) for one in ids)][:MOST]


_ESCAPES = str.maketrans({char: f"!{char}" for char in "!%_"})  # for `like`
