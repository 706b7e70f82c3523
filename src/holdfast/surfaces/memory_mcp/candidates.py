"""Decide on mined candidates: approve one as a certain type, or reject all of one sort."""

from collections.abc import Sequence

from holdfast.model.record import Record
from holdfast.policy.admission.admit import Duplicate
from holdfast.surfaces.memory_mcp.memory_types import draft_of
from holdfast.surfaces.memory_mcp.save import REMEDIES, Joined
from holdfast.surfaces.phrases import refusal
from holdfast.verbs.capture.mining import Mined, approve, mined, reject
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.hot import promote
from holdfast.verbs.records.lifecycle import Revision, revise
from holdfast.verbs.records.write import Written, WrittenPending

MOST = 1_000


def approve_as(memory: Memory, reference: str, memory_type: str, tags: Sequence[str] = ()) -> Joined:
    """Approve a mined candidate as a memory of that type and make it hot; a duplicate takes its place."""
    outcome = approve(memory, reference)
    match outcome:
        case Written(record=record) | WrittenPending(record=record):
            known = False
            record = _as(memory, record, memory_type, tags)
        case Duplicate(matches=matches):
            known, record = True, matches[0].record
            reject(memory, [reference], reason=f"duplicate of {record.id}")
        case _:
            raise refusal(outcome, REMEDIES)
    promote(memory, record.id, why="mined_approved")
    return Joined(record=record, known=known)


def reject_sort(memory: Memory, prefix: str) -> list[Record]:
    """Reject every mined candidate whose sort has the prefix."""
    matching = [candidate.record for candidate in mined(memory, limit=MOST) if sort_of(candidate).startswith(prefix)]
    return reject(memory, [record.id for record in matching]) if matching else []


def sort_of(candidate: Mined) -> str:
    """Return the sort of a mined candidate."""
    return str(candidate.record.extra["pattern"].get("kind", ""))


def _as(memory: Memory, record: Record, memory_type: str, tags: Sequence[str]) -> Record:
    draft = draft_of(record.body, memory_type, tags=tags)
    all_tags = tuple(dict.fromkeys((*record.tags, *draft.tags)))
    revised = revise(memory, record.id, Revision(kind=draft.kind, fields=draft.fields, tags=all_tags))
    return revised if isinstance(revised, Record) else record
