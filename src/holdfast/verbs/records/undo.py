"""Take actions back: each event that an action appended is compensated by another one, so that the journal keeps both."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from holdfast.engine.views.usage import is_counted
from holdfast.model.anchor import snapshot_to_json
from holdfast.model.errors import Conflict, NotFound
from holdfast.model.event import FOLDING, LOCAL, Event, Verb
from holdfast.model.fold import fold_all
from holdfast.model.record import Record, plain
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records import quarantine
from holdfast.verbs.records.lifecycle import Revision, commit_about

_REVISED = tuple(spec.name for spec in fields(Revision))
_COMPARED = (*_REVISED, "links", "state", "reason", "verified_at")
MOST_ACTIONS = 20  # that can be undone, per user
UNDONE = "taken back right after it was saved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What an action did, in words, and the events that `undo` would compensate."""

    message: str
    events: tuple[Event, ...] = ()
    result: Any = None  # what the action returned


def act(memory: Memory, do: Callable[[Memory], tuple[str, Any]]) -> Done:
    """Perform an action, which returns a message and a result, and keep its events as the last thing to undo."""
    events = list[Event]()
    message, result = do(replace(memory, appended=events))
    return Done(message=message, events=tuple(keep_action(memory, events)), result=result)


def keep_action(memory: Memory, events: Sequence[Event]) -> Sequence[Event]:
    """Keep the events of an action as the last thing to undo; return those that can be: an erasure is final."""
    changes = [event for event in events if event.verb in _COUNTED or event.verb in FOLDING]
    if not changes or any(event.verb == "erased" for event in events):
        return ()
    if not memory.user:  # a server's viewer keeps them itself
        _keep(memory, [[event.id for event in changes], *_actions(memory)][:MOST_ACTIONS])
    return changes


def undo_last(memory: Memory, reference: str = "") -> list[Record]:
    """Take back the user's last action, or the last one on a memory; return the records it was about."""
    about = find(memory, reference).record.id if reference else ""
    actions = _actions(memory)
    known = [memory.store.events_with(ids) for ids in actions]
    place = next(
        (
            place
            for place, events in enumerate(known)
            if not about or any(each.about == about for each in events.values())
        ),
        None,
    )
    if place is None:
        raise NotFound("There is nothing to undo.", hint="`holdfast history ID` lists every change of a memory.")
    undone = undo(memory, [known[place][id_] for id_ in actions[place] if id_ in known[place]])
    _keep(memory, [ids for other, ids in enumerate(actions) if other != place])
    return undone


def _actions(memory: Memory) -> list[list[str]]:
    """Return the events of the user's latest actions, the last one first."""
    kept = json.loads(memory.store.setting(f"actions {memory.actor.name}") or "[]")
    return kept if isinstance(kept, list) else []


def _keep(memory: Memory, actions: Sequence[Sequence[str]]) -> None:
    memory.store.note(f"actions {memory.actor.name}", json.dumps(actions))


def undo(memory: Memory, events: Sequence[Event]) -> list[Record]:
    """Compensate the events of an action, the last ones first; return the records they were about.

    Raises Conflict, and changes nothing, if a record was changed again in the meantime.
    """
    abouts = dict.fromkeys(event.about for event in reversed(events))
    with memory.store.transaction():
        for about in abouts:
            mine = [event for event in events if event.about == about]
            for event in reversed(mine):
                if event.verb in _COUNTED:
                    memory.commit([_COUNTED[event.verb](memory, event)])
            if decided := [event for event in mine if event.verb in ("accepted", "rejected")]:
                quarantine.withdraw(memory, decided)
            if folding := [event for event in mine if event.verb in FOLDING - LOCAL]:
                _take_back(memory, about, folding)
    return [find(memory, about).record for about in abouts]


def version_at(memory: Memory, reference: str, event_id: str) -> Record:
    """Return a record as it was right after one of its events."""
    about = find(memory, reference).record.id
    events = [event for event in memory.store.events_about(about) if event.id <= event_id or event.verb in LOCAL]
    record = fold_all(events) if any(event.id == event_id for event in events) else None
    if record is None:
        raise NotFound(f"{about} has no event {event_id[:40]!r}.", hint=f"`holdfast history {about}` lists them.")
    return record


def revert(memory: Memory, before: Record) -> Record:
    """Return a record to an earlier version."""
    now = find(memory, before.id).record
    if "erased" in (now.state, before.state) or "held" in (now.state, before.state):
        raise Conflict(f"{now.id} is {now.state}; it cannot go back to an earlier version.")
    with memory.store.transaction():
        for verb, data in _steps(now, before):
            now = commit_about(memory, verb, now, {**data, "updated_at": before.updated_at})
    return now


def _take_back(memory: Memory, about: str, events: Sequence[Event]) -> None:
    """Return a record to what it was before some of its events; one that they created is retired."""
    now, history = find(memory, about).record, memory.store.events_about(about)
    after = fold_all(event for event in history if event.id <= events[-1].id or event.verb in LOCAL)
    if after and any(getattr(now, name) != getattr(after, name) for name in _COMPARED):
        raise Conflict(f"{about} was changed again in the meantime.", hint="Its history has every earlier version.")
    before = fold_all(event for event in history if event.id < events[0].id or event.verb in LOCAL)
    if before is None:
        commit_about(memory, "retired", now, {"reason": UNDONE})
    else:
        revert(memory, before)


def _unused(memory: Memory, event: Event) -> Event:
    if not is_counted(memory.store, event.id):
        raise Conflict("This outcome was taken back already.")
    return memory.event("used", event.about, data={"outcome": event.data["outcome"], "withdraws": event.id})


def _untouched(memory: Memory, event: Event) -> Event:
    touched = [each for each in memory.store.all_about(event.about) if each.verb == "touched"]
    gone = {each.data.get("withdraws") for each in touched}
    if event.id in gone:
        raise Conflict("This was taken back already.")
    counted = [each.at for each in touched if each.id not in (gone | {event.id}) and "withdraws" not in each.data]
    data = {"withdraws": event.id, "at": event.at, "last_at": max(counted, default="")}
    return memory.event("touched", event.about, data=data)


def _trusted_as_before(memory: Memory, event: Event) -> Event:
    data = {"reason": event.data["reason"], "delta": -event.data["delta"], "note": "taken back"}
    return memory.event("trusted", event.about, data=data)


def _hot_as_before(memory: Memory, event: Event) -> Event:
    heated = [each for each in memory.store.all_about(event.about) if each.verb == "heated"]
    before = max((each for each in heated if each.id < event.id), key=lambda each: each.id, default=None)
    data = dict(before.data) if before else {"hot": False, "pinned": False, "why": "manual"}
    return memory.event("heated", event.about, data=data, after=max(each.id for each in heated))


_COUNTED = {"used": _unused, "touched": _untouched, "trusted": _trusted_as_before, "heated": _hot_as_before}


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
