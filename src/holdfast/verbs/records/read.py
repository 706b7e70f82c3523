"""Read what is kept: one record, lists, what lay around it, its history, and how things stood before."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from holdfast.engine.views import labels, links, records, usage
from holdfast.engine.views.links import Arrow
from holdfast.engine.views.records import Filter
from holdfast.model.errors import Conflict, Invalid, NotFound
from holdfast.model.event import Event
from holdfast.model.fold import as_of
from holdfast.model.ids import parse_instant
from holdfast.model.query import Query, Usage
from holdfast.model.record import GLOBAL, Record
from holdfast.verbs.memory import Memory, find, lapsed
from holdfast.verbs.records.quarantine import provenance

MOST_LISTED = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A record with everything around it."""

    record: Record
    number: int
    links: tuple[Arrow, ...] = ()
    superseded_by: str = ""
    usage: Usage = field(default_factory=Usage)
    came: str = ""  # who brought it here and which way, if it came from elsewhere


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One page of records and how many there are in all."""

    records: tuple[Record, ...]
    total: int


def get(memory: Memory, reference: str, *, at: str = "") -> Shown:
    """Give one record, as it is or as it stood at an instant."""
    entry = find(memory, reference)
    if at:
        moment = parse_instant(at)
        record = as_of(memory.store.events_about(entry.record.id), moment)
        if record is None:
            raise NotFound(f"{entry.record.id} did not exist at {moment}.", hint="`holdfast history` shows since when.")
        return Shown(record=record, number=entry.number)
    db, record = memory.store.db, entry.record
    return Shown(
        record=record,
        number=entry.number,
        links=tuple(links.around(db, record.id)),
        superseded_by=links.superseded(db, [record.id]).get(record.id, ""),
        usage=usage.of(db, [record.id]).get(record.id, Usage()),
        came=provenance(memory, [record]).get(record.id, ""),
    )


def in_use(memory: Memory, reference: str) -> Record:
    """Give a record that is in use; raises with the reason where it was taken out."""
    record = find(memory, reference).record
    if record.state == "retired":
        why = record.reason.rstrip(".") or "no reason given"
        raise Conflict(f"{record.id} was removed: {why}.", hint="Restore it to use it.")
    return record


def note_reading(memory: Memory, ids: Sequence[str]) -> None:
    """Note that a session opened records: what it turned to after what. It says nothing about truth, and counts no showing."""
    if memory.actor.session and ids:
        memory.note([memory.event("surfaced", memory.actor.session, data={"ids": list(ids), "how": "read"})])


def list_records(memory: Memory, query: Query, *, states: Sequence[str] = ("active",), offset: int = 0) -> Listed:
    """Give records newest first; the query's text is not looked at."""
    chosen = chosen_by(memory, query, states)
    if offset < 0:
        raise Invalid("A list needs an offset of at least 0.")
    page = records.page(memory.store.db, chosen, limit=min(query.limit, MOST_LISTED), offset=offset)
    fresh = [entry.record for entry in page if not lapsed(memory, entry.record)]
    return Listed(records=tuple(fresh), total=records.counted(memory.store.db, chosen))


def waiting_records(memory: Memory, *, limit: int = 50) -> list[Record]:
    """Give the records of this project that wait for a yes and have not lapsed; suggested threads are not among them."""
    chosen = Filter(projects=(memory.store.project_number(memory.project),), states=("pending",))
    page = records.page(memory.store.db, chosen, limit=limit)
    fresh = [entry.record for entry in page if not lapsed(memory, entry.record)]
    return [record for record in fresh if record.kind != "thread"]


def list_scopes(memory: Memory, *, everywhere: bool = False) -> dict[str, int]:
    """Tell how many active records each scope has."""
    here = None if everywhere else memory.store.project_number(memory.project)
    return labels.counts(memory.store.db, "scope", here)


def history(memory: Memory, reference: str) -> list[Event]:
    """Give everything that happened to a record, oldest first."""
    return memory.store.events_about(find(memory, reference).record.id)


def chosen_by(memory: Memory, query: Query, states: Sequence[str] = ("active",)) -> Filter:
    """Return the filter a query means."""
    names = projects_of(memory, query)
    return filter_of(query, None if names is None else tuple(memory.store.sizes(names)), states)


def filter_of(query: Query, projects: tuple[int, ...] | None, states: Sequence[str] = ("active",)) -> Filter:
    """Return the filter a query means in some projects, or in all of them."""
    return Filter(
        projects=projects,
        kinds=query.kinds,
        scopes=query.scopes,
        any_scopes=query.any_scopes,
        without_scopes=query.without_scopes,
        tags=query.tags,
        states=tuple(states),
        session=query.session,
        since=query.since,
        until=query.until,
        starters=query.starters,
    )


def projects_of(memory: Memory, query: Query) -> tuple[str, ...] | None:
    """Return the projects a query looks in: its own and the global one; None is all of them."""
    if query.everywhere:
        return None
    return tuple(dict.fromkeys((memory.project if query.project is None else query.project, GLOBAL)))
