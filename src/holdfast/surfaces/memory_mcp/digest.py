"""Summarize a session: group its memories by purpose, and make the best of its episodic memories lasting."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from holdfast.engine.views import Entry, records
from holdfast.model.record import Record
from holdfast.model.session import Session
from holdfast.policy.ranking.salience import importance
from holdfast.surfaces.memory_mcp.memory_types import EPISODIC, category_of, draft_of, type_of
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.hot import promote
from holdfast.verbs.records.lifecycle import Revision, revise
from holdfast.verbs.records.numbers import called
from holdfast.verbs.records.vitals import Vitals, vitals_of
from holdfast.verbs.sessions.session import find_session

MOST_READ, MOST_SHOWN = 500, 20
PROMOTED, WORTH = 3, 0.6
GROUPS: Mapping[str, str] = {
    "decision": "decisions",
    "lesson": "insights",
    "antipattern": "insights",
    "landmine": "insights",
    "constraint": "insights",
    "todo": "action_items",
    "bug": "action_items",
}
_ACTIONS = ("thread", "blocker")


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """A session's memories by group, most important first."""

    session: Session
    total: int
    groups: Mapping[str, tuple[Entry, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A closed session: its episodic memories, best first, and those that were made lasting."""

    session: Session
    episodes: tuple[Vitals, ...] = ()
    promoted: tuple[Record, ...] = ()


def digest(memory: Memory, reference: str) -> Digest:
    """Group what a session saved into decisions, insights, action items and context."""
    session = find_session(memory, reference)
    kept = [entry for entry in records.of_session(memory.store, session.id, limit=MOST_READ) if _in_use(entry)]
    ranked = sorted(kept, key=lambda entry: -importance(entry.record.text))
    groups: dict[str, list[Entry]] = {name: [] for name in ("decisions", "insights", "action_items", "context")}
    for entry in ranked:
        groups[_group(entry.record)].append(entry)
    shown = {name: called(memory, entries[:MOST_SHOWN]) for name, entries in groups.items()}
    return Digest(session=session, total=len(kept), groups=shown)


def end_session(memory: Memory, reference: str, *, keep: bool = True, memory_type: str = "project") -> Ended:
    """Close a session; the best of its episodic memories become lasting and hot."""
    session = find_session(memory, reference)
    entries = [entry for entry in records.of_session(memory.store, session.id, limit=MOST_READ) if _in_use(entry)]
    episodes = vitals_of(memory, [entry for entry in entries if type_of(entry.record) == EPISODIC])
    ranked = sorted(episodes, key=lambda vitals: (-vitals.salience, vitals.record.id))
    chosen = [vitals.record for vitals in ranked[:PROMOTED] if vitals.salience >= WORTH] if keep else []
    with memory.store.transaction():
        lasting = [_lasting(memory, record, memory_type) for record in chosen]
        if session.is_open:
            event = memory.event("closed", session.id, data={"type": "ended"}, after=max(session.last, session.end))
            memory.commit([replace(event, by=replace(event.by, session=session.id))])
    return Ended(session=find_session(memory, session.id), episodes=tuple(ranked), promoted=tuple(lasting))


def _lasting(memory: Memory, record: Record, memory_type: str) -> Record:
    tags = tuple(tag for tag in record.tags if tag != EPISODIC)
    kind = draft_of(record.body, memory_type).kind
    revised = revise(memory, record.id, Revision(kind=kind, tags=tags, fields={}))
    promote(memory, record.id, why="session_end")
    return revised if isinstance(revised, Record) else record


def _in_use(entry: Entry) -> bool:
    return entry.record.state == "active"


def _group(record: Record) -> str:
    return "action_items" if record.kind in _ACTIONS else GROUPS.get(category_of(record), "context")
