"""Queries over several views: what ranking needs besides texts, records for the health report, and ids of other systems."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from holdfast.engine.database import Queries, Row, column, stored, value
from holdfast.engine.journal import FOLDING_ONLY, Journal
from holdfast.engine.views import Entry
from holdfast.engine.views.records import MEMORIES, parsed, within
from holdfast.engine.views.usage import COLUMNS
from holdfast.model.event import LOCAL, Event, by_record
from holdfast.model.query import Usage
from holdfast.model.record import Record
from holdfast.model.text import texts_of

_NO_COUNTS = ", ".join("0" for _ in COLUMNS)
_SQL = Queries(__file__, memories=MEMORIES, folding_only=FOLDING_ONLY, columns=", ".join(COLUMNS), none=_NO_COUNTS)
Trouble = Literal["cold", "dead", "contradicted", "unverified", "stale"]
# The part of the SQL that names the tables of a trouble, else `records`; its condition has the name of the trouble.
_TABLES = {"cold": "all", "dead": "used", "contradicted": "used"}
SHORTEST, LONGEST = 4, 500  # characters of an id; a database refuses patterns of any length
MOST = 20
_ESCAPES = str.maketrans({char: f"!{char}" for char in "!%_"})  # for `like`


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingData:
    """By record id: usage, changes of trust, recent outcomes of scars, and the records that contradict it."""

    # And how records from elsewhere arrived, with what was decided about it, and which records are superseded or hot.

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
    parts = defaultdict[str, list[Row]](list)
    for row in store.db.query(_SQL["ranking"], given) if ids else ():
        parts[row["part"]].append(row)
    arrivals = (
        Event(id=row["event"], about=row["id"], verb=row["part"], at="", data=stored(row["value"], dict))
        for verb in LOCAL
        for row in parts[verb]
    )
    counts = ((row["id"], {name: row[name] for name in COLUMNS}, row["value"]) for row in parts["usage"])
    return RankingData(
        usage={key: Usage(**numbers, last_used_at=last) for key, numbers, last in counts},
        trust=_by_id(parts["trust"], "delta"),
        outcomes=_by_id(parts["outcome"], "value"),
        arrivals=by_record(arrivals),
        contradicted=_by_id(parts["contradicted"], "value"),
        replaced=frozenset(row["id"] for row in parts["replaced"]),
        hot=frozenset(row["id"] for row in parts["hot"]),
    )


def _by_id(rows: Collection[Row], column: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for row in sorted(rows, key=lambda row: str(row["event"])):
        found.setdefault(row["id"], []).append(row[column])
    return found


def tally(store: Journal, project: int, before: str) -> tuple[int, Mapping[Trouble, int]]:
    """Count the active records of a project that are expected to be used again, and those that have each trouble."""
    given = {**within(project), "before": before}
    total, old, unverified, stale = (int(value or 0) for value in store.db.query(_SQL["tally"], given)[0])
    used, dead, contradicted = (int(value or 0) for value in store.db.query(_SQL["tally_of_used"], given)[0])
    counts: dict[Trouble, int] = {"unverified": unverified, "stale": stale}
    return total, counts | {"cold": old - used, "dead": dead, "contradicted": contradicted}


def ids_of(
    store: Journal, trouble: Trouble, project: int | None, before: str, limit: int, *, offset: int = 0
) -> tuple[str, ...]:
    """Return the ids of records with a trouble, the oldest first."""
    chosen = f"{_SQL[_TABLES.get(trouble, 'records')]} and {_SQL[trouble]}"
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


def by_foreign_id(store: Journal, reference: str, *, whole: bool = False, system: str = "") -> list[Entry]:
    """Return the records with this foreign id, else those whose foreign id starts with it; `whole` allows no prefixes."""
    # `system` limits the result to one system. Reads every row: call it only if no id of our own matches.
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
    found: list[tuple[Entry, list[str]]] = []
    for number, doc in rows:
        origin = (record := parsed(doc)).extra.get("imported")
        if isinstance(origin, dict) and system in ("", origin.get("system")):
            given, aliases = origin.get("id"), origin.get("aliases")
            key = str(given).lower() if isinstance(given, str | int) else ""
            # As stored (thread:t-1) and without its prefix (t-1).
            names = [key, key.rpartition(":")[2], *map(str.lower, texts_of(aliases))]
            found.append((Entry(number=number, record=record), names))
    same = [entry for entry, names in found if wanted in names]
    if same or whole:
        return same
    return [entry for entry, names in found if any(name.startswith(wanted) for name in names)][:MOST]
