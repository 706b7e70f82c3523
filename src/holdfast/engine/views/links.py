"""View of links between records, which can be queried from either end."""

from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.engine.database import Database, Queries, insert, value
from holdfast.engine.journal import Journal
from holdfast.engine.views import Batch, view_of
from holdfast.engine.views.records import parsed, within
from holdfast.model.record import Record

_SQL = Queries(__file__)


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
    return [Arrow(*row) for row in store.db.query(_SQL["around"], {"id": record_id})]


def others(store: Journal, ids: Iterable[str]) -> dict[str, list[tuple[Arrow, Record | None]]]:
    """Return the outgoing and incoming links of each record, with the record at the other end if the store has it."""
    found: dict[str, list[tuple[Arrow, Record | None]]] = {one: [] for one in ids}
    rows = store.db.query(_SQL["others"], {"ids": list(found)}) if found else ()
    for arrow, record_id, doc in sorted((Arrow(*row[2:]), row[0], row[1] or "") for row in map(tuple, rows)):
        found[record_id].append((arrow, parsed(doc) if doc else None))
    return found


def pairs(store: Journal, relation: str, project: int) -> list[tuple[str, str]]:
    """Return (source, target) of links with a relation between active records; the source is in the project."""
    given = {"relation": relation, **within(project)}
    return [(row[0], row[1]) for row in store.db.query(_SQL["pairs"], given)]


def of_project(store: Journal, project: int, limit: int) -> list[Arrow]:
    """Return the outgoing links of the active records of a project, those of the latest records first."""
    return [Arrow(*row) for row in store.db.query(_SQL["of_project"], {**within(project), "limit": limit})]


def counts(store: Journal, project: int) -> dict[str, int]:
    """Count the outgoing links of a project's active records by relation."""
    return {row[0]: int(row[1]) for row in store.db.query(_SQL["counts"], within(project))}


def linked(store: Journal, project: int) -> int:
    """Count the active records of a project that have an outgoing or incoming link."""
    return int(value(store.db, _SQL["linked"], within(project)))


def leaving(store: Journal, ids: Iterable[str]) -> list[Arrow]:
    """Return the outgoing links of these records."""
    return [Arrow(*row) for row in store.db.query(_SQL["leaving"], {"ids": list(ids)})]


def superseded(store: Journal, ids: Iterable[str]) -> dict[str, str]:
    """Return, for each of these ids that an active record supersedes, the id of that record."""
    return {row[0]: row[1] for row in store.db.query(_SQL["superseded"], {"ids": list(ids)})}
