"""Read records: one, lists, its links and history, and its state at an earlier time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from holdfast.engine.views import labels, links, records, usage
from holdfast.engine.views.links import Arrow
from holdfast.engine.views.records import Filter, homes_of
from holdfast.model.errors import Conflict, Invalid, NotFound
from holdfast.model.event import Event
from holdfast.model.fold import as_of
from holdfast.model.ids import parse_instant, short
from holdfast.model.query import Query, Usage
from holdfast.model.record import GLOBAL, Record
from holdfast.verbs.memory import Memory, find, lapsed
from holdfast.verbs.records.project import notes_on_nothing
from holdfast.verbs.records.quarantine import provenance

MOST_LISTED = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordDetails:
    """A record with its links, usage and provenance."""

    record: Record
    number: int
    links: tuple[Arrow, ...] = ()
    superseded_by: str = ""
    usage: Usage = field(default_factory=Usage)
    came: str = ""  # who sent it and by which replica, if it came from elsewhere


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One page of records and the total count."""

    records: tuple[Record, ...]
    total: int
    notes: tuple[str, ...] = ()  # of an empty one: where else there are memories

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)


def get(memory: Memory, reference: str, *, at: str = "") -> RecordDetails:
    """Return a record as it is, or as it was at an instant."""
    entry = find(memory, reference)
    if at:
        moment = parse_instant(at)
        record = as_of(memory.store.events_about(entry.record.id), moment)
        if record is None:
            raise NotFound(
                f"{entry.record.id} did not exist at {moment}.", hint="`holdfast history` shows when it was written."
            )
        return RecordDetails(record=record, number=entry.number)
    store, record = memory.store, entry.record
    return RecordDetails(
        record=record,
        number=entry.number,
        links=tuple(links.around(store, record.id)),
        superseded_by=links.superseded(store, [record.id]).get(record.id, ""),
        usage=usage.of(store, [record.id]).get(record.id, Usage()),
        came=provenance(memory, [record]).get(record.id, ""),
    )


def in_use(memory: Memory, reference: str) -> Record:
    """Return a record that is in use; raise with the reason if it was retired."""
    record = find(memory, reference).record
    if record.state == "retired":
        why = record.reason.rstrip(".") or "no reason given"
        raise Conflict(f"{record.id} was removed: {why}.", hint=f"`holdfast restore {short(record.id)}` restores it.")
    return record


def note_reading(memory: Memory, ids: Sequence[str]) -> None:
    """Note that a session opened records, for predictions. Not counted as a use or an impression."""
    if memory.actor.session and ids:
        memory.note([memory.event("surfaced", memory.actor.session, data={"ids": list(ids), "how": "read"})])


def list_records(memory: Memory, query: Query, *, states: Sequence[str] = ("active",), offset: int = 0) -> Listed:
    """Return one page of records, newest first; the query's text is ignored."""
    filter_ = chosen_by(memory, query, states)
    if offset < 0:
        raise Invalid("A list needs an offset of at least 0.")
    page = records.page(memory.store, filter_, limit=min(query.limit, MOST_LISTED), offset=offset)
    current = [entry.record for entry in page if not lapsed(memory, entry.record)]
    total = records.counted(memory.store, filter_)
    return Listed(records=tuple(current), total=total, notes=() if total else tuple(notes_on_nothing(memory)))


def waiting_records(memory: Memory, *, limit: int = 50) -> list[Record]:
    """Return the pending records of this project that have not expired, without suggested threads."""
    filter_ = Filter(projects=(memory.store.project_number(memory.project),), states=("pending",))
    page = records.page(memory.store, filter_, limit=limit)
    current = [entry.record for entry in page if not lapsed(memory, entry.record)]
    return [record for record in current if record.kind != "thread"]


def list_scopes(memory: Memory, *, everywhere: bool = False) -> dict[str, int]:
    """Count the active records of each scope."""
    project = None if everywhere else memory.store.project_number(memory.project)
    return labels.counts(memory.store, "scope", project)


def history(memory: Memory, reference: str) -> list[Event]:
    """Return every event of a record, oldest first."""
    return memory.store.events_about(find(memory, reference).record.id)


def chosen_by(memory: Memory, query: Query, states: Sequence[str] = ("active",)) -> Filter:
    """Return the filter a query means."""
    names = projects_of(memory, query)
    homes = None if names is None else tuple(memory.store.sizes(homes_of(names, query.kinds)))
    return filter_of(query, homes, states)


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
    """Return the projects a query searches: its own and the global one, or None for all."""
    if query.everywhere:
        return None
    return tuple(dict.fromkeys((memory.project if query.project is None else query.project, GLOBAL)))
