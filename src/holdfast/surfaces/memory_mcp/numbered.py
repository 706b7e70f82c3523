"""Look up records by the integers that this surface calls them."""

from collections.abc import Iterable

from holdfast.engine.views import records
from holdfast.model.errors import NotFound
from holdfast.surfaces.memory_mcp.memory_types import SYSTEM
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.numbers import called, entries_called


def id_of(memory: Memory, number: int) -> str:
    """Return the id of the record with this number, or with this number in an imported Memory MCP store."""
    for entry in entries_called(memory, [number], SYSTEM).get(number, ()):
        return entry.record.id
    raise NotFound(f"Memory not found: {number}.", hint="list_memories lists the ids.")


def pattern_of(memory: Memory, number: int) -> str:
    """Return the id of the mined candidate with this number."""
    try:
        return id_of(memory, number)
    except NotFound as problem:
        raise NotFound(f"Pattern not found: {number}.", hint="review_candidates lists the ids.") from problem


def numbers_of(memory: Memory, ids: Iterable[str]) -> dict[str, int]:
    """Return the number of each record."""
    entries = called(memory, records.by_ids(memory.store, ids).values())
    return {entry.record.id: entry.number for entry in entries}
