"""Queries over several views: what ranking needs besides texts, records for the health report, and ids of other systems."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from holdfast.engine.database import Row, column, stored, value
from holdfast.engine.journal import FOLDING_ONLY, Journal
from holdfast.engine.views import Entry
from holdfast.engine.views.records import MEMORIES, parsed, within
from holdfast.engine.views.usage import COLUMNS
from holdfast.model.query import Usage
from holdfast.model.record import Record

_NO_COUNTS = ", ".join("0" for _ in COLUMNS)
_IDS = "(select value from json_each(:ids))"
_RANKING = f"""
select 'usage' as part, id, last_used_at as value, '' as event, 0.0 as delta, {", ".join(COLUMNS)} from usage where id in {_IDS}
union all
select 'trust', id, '', event, delta, {_NO_COUNTS} from trusts where id in {_IDS}
union all
select 'outcome', id, outcome, event, 0.0, {_NO_COUNTS} from uses
where at >= :since and outcome not in ('succeeded', 'failed') and id in (select value from json_each(:scars))
union all
select 'arrived', about, data, id, 0.0, {_NO_COUNTS} from events
where about in (select value from json_each(:shared)) and {FOLDING_ONLY} and verb = 'arrived'
union all
select 'replaced', links.target, '', '', 0.0, {_NO_COUNTS} from links join records on records.id = links.source
where relation = 'supersedes' and records.state = 'active' and links.target in {_IDS}
union all
select 'contradicted', links.target, links.source, records.created_at, 0.0, {_NO_COUNTS} from links join records on records.id = links.source
where relation = 'contradicts' and records.state = 'active' and links.target in {_IDS}
union all
select 'hot', heat.id, '', '', 0.0, {_NO_COUNTS} from heat join records on records.id = heat.id
where hot = 1 and state = 'active' and heat.id in {_IDS}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingData:
    """By record id: usage, changes of trust, recent outcomes of scars, arrivals, and the records that contradict it.

    And which records are superseded or hot.
    """

    usage: Mapping[str, Usage] = field(default_factory=dict)
    trust: Mapping[str, list[float]] = field(default_factory=dict)
    outcomes: Mapping[str, list[str]] = field(default_factory=dict)
    arrivals: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    contradicted: Mapping[str, list[str]] = field(default_factory=dict)
    replaced: frozenset[str] = frozenset()
    hot: frozenset[str] = frozenset()


def ranking_data(
    store: Journal, ids: Collection[str], *, scars: Collection[str], shared: Collection[str], since: str
) -> RankingData:
    """Return the ranking data of records: outcomes since an instant only for `scars`, arrivals only for `shared`."""
    given = {"ids": [*ids], "scars": [*scars], "shared": [*shared], "since": since}
    parts: dict[str, list[Row]] = {}
    for row in store.db.query(_RANKING, given) if ids else ():
        parts.setdefault(row["part"], []).append(row)
    return RankingData(
        usage={
            row["id"]: Usage(**{name: row[name] for name in COLUMNS}, last_used_at=row["value"])
            for row in parts.get("usage", ())
        },
        trust=_by_id(parts.get("trust", ()), "delta"),
        outcomes=_by_id(parts.get("outcome", ()), "value"),
        arrivals={
            about: [stored(data, dict) for data in arrivals]
            for about, arrivals in _by_id(parts.get("arrived", ()), "value").items()
        },
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
    # created before an instant, never returned, injected nor applied
    "cold": (_ALL, "created_at < :before and coalesce(surfaced + injected + applied, 0) = 0"),
    # created before an instant, returned or injected, but never applied nor corrected; what a rule sees counts unless it was declared ignored
    "dead": (
        _USED,
        """created_at < :before and surfaced + injected > 0 and applied + corrected = 0
        and (ignored > 0 or not exists (select 1 from uses where uses.id = records.id and outcome = 'applied'))""",
    ),
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
    given = {**within(project), "before": before}
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
select sum(case when created_at < :before and surfaced + injected + applied > 0 then 1 else 0 end),
    {", ".join(f"sum(case when {_CONDITIONS[name][1]} then 1 else 0 end)" for name in ("dead", "contradicted"))}
{_USED} {_HERE}
"""


def ids_of(
    store: Journal, trouble: Trouble, project: int | None, before: str, limit: int, *, offset: int = 0
) -> tuple[str, ...]:
    """Return the ids of records with a trouble, the oldest first."""
    table, condition = _CONDITIONS[trouble]
    sql = f"select records.id {table} {_HERE} and {condition} order by records.number limit :limit offset :offset"
    given = {**within(project), "limit": limit, "offset": offset}
    return tuple(column(store.db, sql, given | ({"before": before} if ":before" in condition else {})))


def citing(store: Journal, project: int | None, limit: int) -> Found:
    """Return records that were verified or that cite a place in code, the latest first."""
    where = f"from records where cites = 1 and {_HERE}"
    given = {**within(project), "limit": limit}
    ids = column(store.db, f"select id {where} order by number desc limit :limit", given)
    total = len(ids) if len(ids) < limit else int(value(store.db, f"select count(*) {where}", within(project)))
    return Found(total=total, ids=tuple(ids))


def heavy(store: Journal, project: int | None, least: int, limit: int) -> list[tuple[str, int]]:
    """Return the records applied at least `least` times, with the count, most often applied first."""
    sql = f"select records.id, applied {_USED} {_HERE} and applied >= :least order by applied desc, records.id limit :limit"
    return [(row[0], row[1]) for row in store.db.query(sql, {**within(project), "least": least, "limit": limit})]


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
    rows = store.db.query(_ABOUT, {**patterns, "most": 10 * MOST})
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
_ABOUT = """
select number, doc from records
where state <> 'erased' and (
    lower(doc) like :keyed escape '!' or lower(doc) like :named escape '!'
    or lower(doc) like :called escape '!' or lower(doc) like :numbered escape '!'
)
order by number limit :most
"""
