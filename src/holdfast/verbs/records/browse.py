"""Look through what a project kept, page by page, and count it; lessons that come with the product are left out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from holdfast.engine.views import Entry, records
from holdfast.model.query import Query
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.read import chosen_by


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some records, newest first, and how many there are in all."""

    entries: tuple[Entry, ...] = ()
    total: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """How many records there are, by kind and by source."""

    total: int
    kinds: dict[str, int]
    sources: dict[str, int]


def browse(memory: Memory, query: Query, *, states: Sequence[str] = ("active",), offset: int = 0) -> Page:
    """Give one page of the records a query means, whatever its text."""
    chosen = chosen_by(memory, replace(query, starters=False), states)
    found = records.page(memory.store.db, chosen, limit=query.limit, offset=offset)
    return Page(entries=tuple(found), total=records.counted(memory.store.db, chosen))


def latest(memory: Memory, query: Query, *, states: Sequence[str] = ("active",), before: int = 0) -> list[Entry]:
    """Give records of the project itself in the order they came here, latest first; as quick in a large project as in a small."""
    here = (memory.store.project_number(memory.project),)
    chosen = replace(chosen_by(memory, replace(query, starters=False), states), projects=here)
    return records.latest(memory.store.db, chosen, limit=query.limit, before=before)


def census(memory: Memory, query: Query) -> Census:
    """Count the records a query means."""
    kinds: dict[str, int] = {}
    sources: dict[str, int] = {}
    for kind, source, count in records.census(memory.store.db, chosen_by(memory, replace(query, starters=False))):
        kinds[kind] = kinds.get(kind, 0) + count
        sources[source] = sources.get(source, 0) + count
    return Census(total=sum(kinds.values()), kinds=kinds, sources=sources)
