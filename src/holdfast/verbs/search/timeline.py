"""List the records made around a record, around the best hit of a question, or around an instant."""

from collections.abc import Sequence
from dataclasses import replace

from holdfast.engine.views import Entry, records
from holdfast.engine.views.records import Filter, homes_of
from holdfast.model.errors import NotFound
from holdfast.model.kinds import SEPARATE
from holdfast.model.query import Query
from holdfast.model.record import Record
from holdfast.verbs.memory import Memory, find, is_reference
from holdfast.verbs.search.recall import recall


def timeline(memory: Memory, about: str, *, before: int = 5, after: int = 5) -> list[Record]:
    """Return a record (an id, or the best hit of a question) and those made just before and after it, oldest first."""
    entry = find(memory, about if is_reference(memory, about) else _best(memory, about))
    return [item.record for item in around(memory, entry, before=before, after=after)]


def around(
    memory: Memory, center: Entry | str, *, before: int, after: int, kinds: Sequence[str] = (), everywhere: bool = False
) -> list[Entry]:
    """Return a record and those made just before and after it, or those around an instant, oldest first."""
    entry = None if isinstance(center, str) else center
    project = entry.record.project if entry else memory.project
    kinds = kinds or ([entry.record.kind] if entry and entry.record.kind in SEPARATE else ())
    projects = None if everywhere else tuple(memory.store.sizes(homes_of((project,), kinds)))
    chosen = Filter(projects=projects, states=("active", "retired"), kinds=tuple(kinds))
    at = entry.record.created_at if entry else str(center)
    earlier = records.page(memory.store, replace(chosen, until=at), limit=before)
    later = records.page(memory.store, replace(chosen, since=at), limit=after + bool(entry), oldest_first=True)
    others = [item for item in (*earlier, *later) if entry is None or item.number != entry.number]
    return sorted((*others, *([entry] if entry else [])), key=_when)


def _best(memory: Memory, question: str) -> str:
    found = recall(memory, Query(text=question, limit=1))
    if not found.hits:
        raise NotFound(f"Nothing fits {question!r}.", hint="Try other words, or an id.")
    return found.hits[0].record.id


def _when(entry: Entry) -> tuple[str, int]:
    return entry.record.created_at, entry.number
