"""Look up records by their local numbers, for callers that use integer ids."""

from collections.abc import Iterable

from holdfast.engine.raw import imported
from holdfast.engine.views import Entry, records
from holdfast.model.errors import NotFound
from holdfast.model.record import GLOBAL
from holdfast.surfaces.memory_mcp.memory_types import SYSTEM
from holdfast.verbs.memory import Memory

LARGEST = 2**63


def by_number(memory: Memory, number: int) -> Entry:
    """Return the record with this number, or with this number in an imported Memory MCP store; never an erased one."""
    db = memory.store.db
    own = records.by_numbers(db, [number] if 0 < number < LARGEST else []).get(number)
    if own is None or own.project == GLOBAL:  # small numbers more likely belong to imported memories
        for entry in imported.by_foreign_id(db, str(number), whole=True, system=SYSTEM):
            return entry
    if own is None or own.state == "erased":
        raise NotFound(f"Memory not found: {number}.", hint="list_memories lists the ids.")
    return Entry(number=number, record=own)


def id_of(memory: Memory, number: int) -> str:
    """Return the id of the record with this number."""
    return by_number(memory, number).record.id


def numbers_of(memory: Memory, ids: Iterable[str]) -> dict[str, int]:
    """Return the number of each record."""
    return {id_: entry.number for id_, entry in records.by_ids(memory.store.db, ids).items()}
