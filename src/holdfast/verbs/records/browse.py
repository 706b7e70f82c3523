"""List and count the records of a project, page by page; the lessons that ship with Holdfast are left out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from holdfast.engine.views import Entry, labels, records
from holdfast.engine.views.records import Filter, homes_of
from holdfast.model.fold import as_of
from holdfast.model.query import Order, Query
from holdfast.model.record import Record
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.read import chosen_by

MOST_FACETS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of records, newest first, and the total count."""

    entries: tuple[Entry, ...] = ()
    total: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """Record counts by kind and by source."""

    total: int
    kinds: dict[str, int]
    sources: dict[str, int]


def browse(
    memory: Memory, query: Query, *, states: Sequence[str] = ("active",), offset: int = 0, oldest_first: bool = False
) -> Page:
    """Return one page of the records that match a query's filters, newest first by default; its text is ignored."""
    filter_ = chosen_by(memory, query, states)
    entries = records.page(memory.store, filter_, limit=query.limit, offset=offset, oldest_first=oldest_first)
    return Page(entries=tuple(entries), total=records.counted(memory.store, filter_))


def ordered(
    memory: Memory, query: Query, order: Order, *, states: Sequence[str] = ("active",), offset: int = 0
) -> list[Entry]:
    """Return one page of the records that match a query's filters, in an order; its text is ignored."""
    filter_ = chosen_by(memory, query, states)
    return records.ordered(memory.store, filter_, order, limit=query.limit, offset=offset)


def latest(memory: Memory, query: Query, *, states: Sequence[str] = ("active",), before: int = 0) -> list[Entry]:
    """Return records of this project in order of arrival, latest first; the cost does not grow with the project."""
    homes = tuple(memory.store.sizes(homes_of((memory.project,), query.kinds)))
    filter_ = replace(chosen_by(memory, query, states), projects=homes)
    return records.latest(memory.store, filter_, limit=query.limit, before=before)


def newest_of_kind(memory: Memory, kind: str, *, limit: int) -> list[Record]:
    """Return the latest active records of one kind in this project; the cost does not grow with the project."""
    project = memory.store.project_number(memory.project)
    return [entry.record for entry in records.newest(memory.store, kind, project, limit=limit)]


def census(memory: Memory, query: Query) -> Census:
    """Count the records that match a query's filters."""
    kinds: dict[str, int] = {}
    sources: dict[str, int] = {}
    for kind, source, count in records.census(memory.store, chosen_by(memory, query)):
        kinds[kind] = kinds.get(kind, 0) + count
        sources[source] = sources.get(source, 0) + count
    return Census(total=sum(kinds.values()), kinds=kinds, sources=sources)


def known_on(memory: Memory, query: Query, at: str, *, offset: int = 0) -> Page:
    """Return one page of the records that were in use at an instant, as they were then, newest first; `total` counts candidates."""
    filter_ = chosen_by(memory, replace(query, until=at), ("active", "retired", "pending"))
    entries = records.page(memory.store, filter_, limit=query.limit, offset=offset)
    then = [(entry.number, as_of(memory.store.events_about(entry.record.id), at)) for entry in entries]
    known = [Entry(number=number, record=record) for number, record in then if record and record.state == "active"]
    return Page(entries=tuple(known), total=records.counted(memory.store, filter_))


def facets(memory: Memory) -> dict[str, list[tuple[str, int]]]:
    """Count the project's active records by kind, scope and tag, the most common first."""
    store, project = memory.store, memory.store.project_number(memory.project)
    counts = {
        "kind": _by_kind(memory),
        "scope": labels.counts(store, "scope", project),
        "tag": labels.counts(store, "tag", project),
    }
    return {
        name: sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_FACETS]
        for name, found in counts.items()
    }


def _by_kind(memory: Memory) -> dict[str, int]:
    filter_ = Filter(projects=(memory.store.project_number(memory.project),))
    counts: Counter[str] = Counter()
    for kind, _, count in records.census(memory.store, filter_):
        counts[kind] += count
    return counts
