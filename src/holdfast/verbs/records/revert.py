"""Bring a record back to an earlier version: undo for everything that changes what a record says or its state."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from holdfast.model.anchor import snapshot_to_json
from holdfast.model.errors import Conflict, NotFound
from holdfast.model.event import LOCAL, Verb
from holdfast.model.fold import fold_all
from holdfast.model.record import Record, plain
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.lifecycle import Revision, commit_about

_REVISED = tuple(spec.name for spec in fields(Revision))


def version_at(memory: Memory, reference: str, event_id: str) -> Record:
    """Return a record as it was right after one of its events."""
    about = find(memory, reference).record.id
    events = [event for event in memory.store.events_about(about) if event.id <= event_id or event.verb in LOCAL]
    record = fold_all(events) if any(event.id == event_id for event in events) else None
    if record is None:
        raise NotFound(f"{about} has no event {event_id[:40]!r}.", hint=f"`holdfast history {about}` lists them.")
    return record


def revert(memory: Memory, before: Record, *, after: str = "") -> Record:
    """Return a record to an earlier version; with `after`, raise Conflict if anything followed that event."""
    now = find(memory, before.id).record
    if after and now.head != after:
        raise Conflict(f"{now.id} was changed again in the meantime.", hint="Its history has every earlier version.")
    if "erased" in (now.state, before.state) or "held" in (now.state, before.state):
        raise Conflict(f"{now.id} is {now.state}; it cannot go back to an earlier version.")
    with memory.store.transaction():
        for verb, data in _steps(now, before):
            now = commit_about(memory, verb, now, data)
    return now


def _steps(now: Record, before: Record) -> Iterator[tuple[Verb, Mapping[str, Any]]]:
    """Yield the events that turn one version of a record into another, in an order in which each is allowed."""
    if before.state not in (now.state, "retired"):
        yield "restored", {"pending": True} if before.state == "pending" else {}
    changed = {name: getattr(before, name) for name in _REVISED if getattr(before, name) != getattr(now, name)}
    seen: dict[str, Any] = {}
    if before.seen != now.seen:
        seen = {"seen": snapshot_to_json(before.seen) if before.seen else {"marks": {}}}
    if changed:
        yield "revised", {name: plain(value) for name, value in changed.items()} | seen
    reworded = bool(changed.keys() & {"title", "body", "fields"})
    if before.verified_at != ("" if reworded else now.verified_at) or (seen and not changed):
        yield "verified", {"verified_at": before.verified_at, "anchors": list(before.anchors)} | seen
    for link in now.links:
        if link not in before.links:
            yield "unlinked", {"relation": link.relation, "target": link.target}
    for link in before.links:
        if link not in now.links:
            yield "linked", {"relation": link.relation, "target": link.target}
    if before.state == "retired" and (now.state, now.reason) != (before.state, before.reason):
        yield "retired", {"reason": before.reason}
