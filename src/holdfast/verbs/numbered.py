"""Records by their local numbers, for callers who know memories by integers."""

from collections.abc import Iterable

from holdfast.engine.views import Entry, records
from holdfast.model.errors import NotFound
from holdfast.verbs.memory import Memory
from holdfast.verbs.observations import numbered


def by_number(memory: Memory, number: int) -> Entry:
    """Give the record of a number, or of the number it had where it came from."""
    found = numbered(memory, [number])
    if not found:
        raise NotFound(f"Memory not found: {number}.", hint="list_memories shows the ids there are.")
    return found[0]


def id_of(memory: Memory, number: int) -> str:
    """Give the id of the record with a number."""
    return by_number(memory, number).record.id


def numbers_of(memory: Memory, ids: Iterable[str]) -> dict[str, int]:
    """Give the number of each record."""
    return {one: entry.number for one, entry in records.by_ids(memory.store.db, ids).items()}
