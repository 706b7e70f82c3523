"""View of links between records, which can be queried from either end."""

from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.engine.database import Database, insert, value
from holdfast.engine.journal import Journal
from holdfast.engine.views import Batch, view_of
from holdfast.engine.views.records import parsed, within
from holdfast.model.record import Record


@dataclass(frozen=True, slots=True, order=True)
class Arrow:
    """One link with both its ends."""

    source: str
    relation: str
    target: str


@view_of(1)
def links(db: Database, batch: Batch) -> None:
    """Replace the outgoing links of each record with its current ones."""
    db.many("delete from links where source = :source", [{"source": entry.record.id} for entry in batch.known])
    leaving = [(entry.record.id, link) for entry in batch.entries for link in entry.record.links]
    rows = [{"source": source, "relation": link.relation, "target": link.target} for source, link in leaving]
    insert(db, "links", rows, keeping="source, relation, target")


def around(store: Journal, record_id: str) -> list[Arrow]:
    """Return the outgoing and incoming links of a record."""
    sql = "select source, relation, target from links where source = :id or target = :id order by source, relation, target"
    return [Arrow(*row) for row in store.db.query(sql, {"id": record_id})]


def others(store: Journal, ids: Iterable[str]) -> dict[str, list[tuple[Arrow, Record | None]]]:
    """Return the outgoing and incoming links of each record, with the record at the other end if the store has it."""
    found: dict[str, list[tuple[Arrow, Record | None]]] = {one: [] for one in ids}
    for record_id, doc, *link in store.db.query(_OTHERS, {"ids": list(found)}):
        found[record_id].append((Arrow(*link), parsed(doc) if doc else None))
    for arrows in found.values():
        arrows.sort(key=lambda one: one[0])
    return found


def pairs(store: Journal, relation: str, project: int) -> list[tuple[str, str]]:
    """Return (source, target) of links with a relation between active records; the source is in the project."""
    sql = """
    select links.source, links.target from links
    join records as one on one.id = links.source join records as other on other.id = links.target
    where relation = :relation and one.state = 'active' and other.state = 'active' and one.number between :low and :high
    order by links.source, links.target
    """
    return [(row[0], row[1]) for row in store.db.query(sql, {"relation": relation, **within(project)})]


def of_project(store: Journal, project: int, limit: int) -> list[Arrow]:
    """Return the outgoing links of the active records of a project, those of the latest records first."""
    sql = """
    select links.source, relation, target from links join records on records.id = links.source
    where state = 'active' and number between :low and :high order by number desc, relation, target limit :limit
    """
    return [Arrow(*row) for row in store.db.query(sql, {**within(project), "limit": limit})]


def counts(store: Journal, project: int) -> dict[str, int]:
    """Count the outgoing links of a project's active records by relation."""
    sql = """
    select relation, count(*) from links join records on records.id = links.source
    where state = 'active' and number between :low and :high group by relation order by relation
    """
    return {row[0]: int(row[1]) for row in store.db.query(sql, within(project))}


def linked(store: Journal, project: int) -> int:
    """Count the active records of a project that have an outgoing or incoming link."""
    sql = """
    select count(*) from records where state = 'active' and number between :low and :high
    and (id in (select source from links) or id in (select target from links))
    """
    return int(value(store.db, sql, within(project)))


def leaving(store: Journal, ids: Iterable[str]) -> list[Arrow]:
    """Return the outgoing links of these records."""
    sql = "select source, relation, target from links where source in (select value from json_each(:ids))"
    return [Arrow(*row) for row in store.db.query(sql, {"ids": list(ids)})]


def superseded(store: Journal, ids: Iterable[str]) -> dict[str, str]:
    """Return, for each of these ids that an active record supersedes, the id of that record."""
    sql = """
    select links.target, max(links.source) from links join records on records.id = links.source
    where relation = 'supersedes' and records.state = 'active' and links.target in (select value from json_each(:ids)) group by links.target
    """
    return {row[0]: row[1] for row in store.db.query(sql, {"ids": list(ids)})}


_OTHERS = """
select links.source, doc, links.source, relation, target from links left join records on records.id = target
where links.source in (select value from json_each(:ids))
union all
select target, doc, links.source, relation, target from links left join records on records.id = links.source
where target in (select value from json_each(:ids)) and links.source <> target
"""
