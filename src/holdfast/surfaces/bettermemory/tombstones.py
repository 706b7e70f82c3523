"""List retired records: by whom, when and why they were retired."""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.model.query import Query
from holdfast.model.record import Record
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.browse import browse

MOST = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """A retired record, and when and in which session it was retired."""

    record: Record
    at: str
    session: str


def tombstones(
    memory: Memory, *, kinds: Sequence[str] = (), scopes: Sequence[str] = (), everywhere: bool = False
) -> list[Tombstone]:
    """Return the records retired in this project, latest first; with `scopes` only those in any of them."""
    query = Query(text="", kinds=tuple(kinds), any_scopes=tuple(scopes), everywhere=everywhere, limit=MOST)
    retired = [_tombstone(memory, entry.record) for entry in browse(memory, query, states=("retired",)).entries]
    return sorted(retired, key=lambda tombstone: (tombstone.at, tombstone.record.id), reverse=True)


def _tombstone(memory: Memory, record: Record) -> Tombstone:
    events = [event for event in memory.store.events_about(record.id) if event.verb == "retired"]
    return Tombstone(record=record, at=events[-1].at, session=events[-1].by.session)
