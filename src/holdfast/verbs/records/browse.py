"""List and count the records of a project, page by page; the lessons that ship with Holdfast are left out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from holdfast.engine.views import Entry, records
from holdfast.model.query import Query
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.read import chosen_by


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


def browse(memory: Memory, query: Query, *, states: Sequence[str] = ("active",), offset: int = 0) -> Page:
    """Return one page of the records that match a query's filters; its text is ignored."""
    filter_ = chosen_by(memory, query, states)
    entries = records.page(memory.store.db, filter_, limit=query.limit, offset=offset)
    return Page(entries=tuple(entries), total=records.counted(memory.store.db, filter_))


def latest(memory: Memory, query: Query, *, states: Sequence[str] = ("active",), before: int = 0) -> list[Entry]:
    """Return records of this project in order of arrival, latest first; the cost does not grow with the project."""
    project = (memory.store.project_number(memory.project),)
    filter_ = replace(chosen_by(memory, query, states), projects=project)
    return records.latest(memory.store.db, filter_, limit=query.limit, before=before)


def census(memory: Memory, query: Query) -> Census:
    """Count the records that match a query's filters."""
    kinds: dict[str, int] = {}
    sources: dict[str, int] = {}
    for kind, source, count in records.census(memory.store.db, chosen_by(memory, query)):
        kinds[kind] = kinds.get(kind, 0) + count
        sources[source] = sources.get(source, 0) + count
    return Census(total=sum(kinds.values()), kinds=kinds, sources=sources)
