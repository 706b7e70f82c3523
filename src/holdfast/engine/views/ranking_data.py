"""Read the data that ranking needs besides the text of records, from several views in one statement."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.engine.database import Row, stored
from holdfast.engine.journal import FOLDING_ONLY, Journal
from holdfast.engine.views.usage import COLUMNS
from holdfast.model.query import Usage

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
    lists = {"ids": ids, "scars": scars, "shared": shared}
    given = {name: json.dumps(list(some)) for name, some in lists.items()} | {"since": since}
    parts: dict[str, list[Row]] = {}
    for row in store.db.query(_RANKING, given) if ids else ():
        parts.setdefault(row["part"], []).append(row)
    return RankingData(
        usage={row["id"]: _usage(row) for row in parts.get("usage", ())},
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


def _usage(row: Row) -> Usage:
    return Usage(**{name: row[name] for name in COLUMNS}, last_used_at=row["value"])


def _by_id(rows: Collection[Row], column: str) -> dict[str, list[Any]]:
    """Return one column of the rows of each record, in the order of their events."""
    found: dict[str, list[Any]] = {}
    for row in sorted(rows, key=lambda row: str(row["event"])):
        found.setdefault(row["id"], []).append(row[column])
    return found
