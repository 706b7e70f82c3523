"""View of links between records, which can be queried from either end."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.engine.database import Database
from holdfast.engine.journal import Journal
from holdfast.engine.views import Batch
from holdfast.engine.views.records import parsed, span
from holdfast.model.record import Record

NAME = "links"
VERSION = 1
TABLES = ("links",)
SCHEMA = """
create table links (
    source text not null,
    relation text not null,
    target text not null,
    primary key (source, relation, target)
);
create index links_target on links (target, relation);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """One link with both its ends."""

    source: str
    relation: str
    target: str


def apply(db: Database, batch: Batch, /) -> None:
    """Replace the outgoing links of each record with its current ones."""
    known = [{"source": entry.record.id} for entry in batch.entries if entry.known]
    db.many("delete from links where source = :source", known)
    db.many(
        "insert into links (source, relation, target) values (:source, :relation, :target) on conflict do nothing",
        [
            {"source": entry.record.id, "relation": link.relation, "target": link.target}
            for entry in batch.entries
            for link in entry.record.links
        ],
    )


def around(store: Journal, record_id: str) -> list[Arrow]:
    """Return the outgoing and incoming links of a record."""
    rows = store.db.query(
        "select source, relation, target from links where source = :id or target = :id order by source, relation, target",
        {"id": record_id},
    )
    return [Arrow(source=row[0], relation=row[1], target=row[2]) for row in rows]


def others(store: Journal, ids: Iterable[str]) -> dict[str, list[tuple[Arrow, Record | None]]]:
    """Return the outgoing and incoming links of each record, with the record at the other end if the store has it."""
    found: dict[str, list[tuple[Arrow, Record | None]]] = {one: [] for one in ids}
    for row in store.db.query(_OTHERS, {"ids": json.dumps(list(found))}):
        arrow = Arrow(source=row["source"], relation=row["relation"], target=row["target"])
        found[row["id"]].append((arrow, parsed(row["doc"]) if row["doc"] else None))
    for arrows in found.values():
        arrows.sort(key=lambda one: (one[0].source, one[0].relation, one[0].target))
    return found


_OTHERS = """
select links.source as id, links.source, relation, target, doc from links left join records on records.id = target
where links.source in (select value from json_each(:ids))
union all
select target, links.source, relation, target, doc from links left join records on records.id = links.source
where target in (select value from json_each(:ids)) and links.source <> target
"""


def pairs(store: Journal, relation: str, project: int) -> list[tuple[str, str]]:
    """Return (source, target) of links with a relation between active records; the source is in the project."""
    low, high = span(project)
    rows = store.db.query(_PAIRS, {"relation": relation, "low": low, "high": high})
    return [(row[0], row[1]) for row in rows]


_PAIRS = """
select links.source, links.target from links
join records as one on one.id = links.source join records as other on other.id = links.target
where relation = :relation and one.state = 'active' and other.state = 'active' and one.number between :low and :high
order by links.source, links.target
"""


def of_project(store: Journal, project: int, limit: int) -> list[Arrow]:
    """Return the outgoing links of the active records of a project, those of the latest records first."""
    low, high = span(project)
    rows = store.db.query(_OF_PROJECT, {"low": low, "high": high, "limit": limit})
    return [Arrow(source=row[0], relation=row[1], target=row[2]) for row in rows]


_OF_PROJECT = """
select links.source, relation, target from links join records on records.id = links.source
where state = 'active' and number between :low and :high order by number desc, relation, target limit :limit
"""


def counts(store: Journal, project: int) -> dict[str, int]:
    """Count the outgoing links of a project's active records by relation."""
    low, high = span(project)
    rows = store.db.query(_COUNTS, {"low": low, "high": high})
    return {row[0]: int(row[1]) for row in rows}


_COUNTS = """
select relation, count(*) from links join records on records.id = links.source
where state = 'active' and number between :low and :high group by relation order by relation
"""


def linked(store: Journal, project: int) -> int:
    """Count the active records of a project that have an outgoing or incoming link."""
    low, high = span(project)
    return int(store.db.query(_LINKED, {"low": low, "high": high})[0][0])


_LINKED = """
select count(*) from records where state = 'active' and number between :low and :high
and (id in (select source from links) or id in (select target from links))
"""


def leaving(store: Journal, ids: Iterable[str]) -> list[Arrow]:
    """Return the outgoing links of these records."""
    sql = "select source, relation, target from links where source in (select value from json_each(:ids))"
    return [
        Arrow(source=row[0], relation=row[1], target=row[2])
        for row in store.db.query(sql, {"ids": json.dumps(list(ids))})
    ]


def superseded(store: Journal, ids: Iterable[str]) -> dict[str, str]:
    """Return, for each of these ids that an active record supersedes, the id of that record."""
    return {row[0]: row[1] for row in store.db.query(_REPLACED, {"ids": json.dumps(list(ids))})}


_REPLACED = """
select links.target, max(links.source) from links join records on records.id = links.source
where relation = 'supersedes' and records.state = 'active' and links.target in (select value from json_each(:ids)) group by links.target
"""
