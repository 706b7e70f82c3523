"""Decide on what was mined: keep it as a certain kind of memory, or turn away everything of a sort."""

from collections.abc import Sequence

from holdfast.model.record import Record
from holdfast.policy.admission.admit import Duplicate
from holdfast.surfaces.memory_mcp.join import REMEDIES, Joined
from holdfast.surfaces.memory_mcp.memory_types import draft_of
from holdfast.surfaces.phrases import refusal
from holdfast.verbs.capture.mining import Mined, approve, mined, reject
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.hot import promote
from holdfast.verbs.records.lifecycle import Revision, revise
from holdfast.verbs.records.write import Held, Written

MOST = 1_000


def approve_as(memory: Memory, reference: str, memory_type: str, tags: Sequence[str] = ()) -> Joined:
    """Say yes to something mined, as a memory of that type, and make it hot; what says it already takes its place."""
    outcome = approve(memory, reference)
    match outcome:
        case Written(record=record) | Held(record=record):
            known = False
            record = _as(memory, record, memory_type, tags)
        case Duplicate(matches=matches):
            known, record = True, matches[0].record
            reject(memory, [reference], reason=f"said by {record.id}")
        case _:
            raise refusal(outcome, REMEDIES)
    promote(memory, record.id, why="mined_approved")
    return Joined(record=record, known=known)


def reject_sort(memory: Memory, prefix: str) -> list[Record]:
    """Turn away everything mined whose sort begins so."""
    found = [one.record for one in mined(memory, limit=MOST) if sort_of(one).startswith(prefix)]
    return reject(memory, [record.id for record in found]) if found else []


def sort_of(one: Mined) -> str:
    """Give what sort of thing was mined."""
    return str(one.record.extra["pattern"].get("kind", ""))


def _as(memory: Memory, record: Record, memory_type: str, tags: Sequence[str]) -> Record:
    draft = draft_of(record.body, memory_type, tags=tags)
    every = tuple(dict.fromkeys((*record.tags, *draft.tags)))
    revised = revise(memory, record.id, Revision(kind=draft.kind, fields=draft.fields, tags=every))
    return revised if isinstance(revised, Record) else record
