"""See what was kept around a record, or around the best answer to a question."""

from dataclasses import replace

from holdfast.engine.views import Entry, records
from holdfast.engine.views.records import Filter
from holdfast.model.errors import NotFound
from holdfast.model.query import Query
from holdfast.model.record import Record
from holdfast.verbs.memory import LIKE_AN_ID, Memory, find
from holdfast.verbs.recall import recall


def timeline(memory: Memory, about: str, *, before: int = 5, after: int = 5) -> list[Record]:
    """Give the records made just before and after one (an id, or the best hit of a question), oldest first."""
    entry = find(memory, about if LIKE_AN_ID.fullmatch(about.strip()) else _best(memory, about))
    chosen = Filter(projects=(memory.store.project_number(entry.record.project),), states=("active", "retired"))
    at = entry.record.created_at
    earlier = records.page(memory.store.db, replace(chosen, until=at), limit=before)
    later = records.page(memory.store.db, replace(chosen, since=at), limit=after + 1, oldest_first=True)
    others = [item for item in (*earlier, *later) if item.number != entry.number]
    return [item.record for item in sorted((*others, entry), key=_when)]


def _best(memory: Memory, question: str) -> str:
    found = recall(memory, Query(text=question, limit=1))
    if not found.hits:
        raise NotFound(f"Nothing fits {question!r}.")
    return found.hits[0].record.id


def _when(entry: Entry) -> tuple[str, int]:
    return entry.record.created_at, entry.number
