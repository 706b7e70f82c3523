"""Events of records that rules derive from activity: their ids follow from their source, so repeating changes nothing."""

from dataclasses import replace
from datetime import datetime

from holdfast.engine.search.similar import similar
from holdfast.model.event import Actor, Event
from holdfast.model.fold import fold
from holdfast.model.ids import fixed_id, parse_instant
from holdfast.model.record import Draft, Record
from holdfast.model.trail import HookEvent
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import draft_event


def derived_id(kind: str, session: str, key: str, at: str) -> str:
    """Return the id of a record that is derived from one place of a session."""
    seconds = datetime.fromisoformat(parse_instant(at)).timestamp()
    return fixed_id(seconds, f"{kind} {session} {key}")


def derived_event(
    memory: Memory,
    draft: Draft,
    first: HookEvent,
    *,
    name: str = "",
    pending: bool = False,
    by: Actor | None = None,
) -> Event:
    """Return the event that stores a draft, by a rule unless `by` is given, with an id derived from its source."""
    about = derived_id(draft.kind, first.session, f"{draft.extra['trail']} {name}".rstrip(), first.at)
    event = draft_event(memory, draft, pending=pending)
    actor = by or Actor(kind="rule", name=first.client or "hook", session=first.session)
    # Without the checkout's current commit: it may have moved on since the activity.
    data = {name: value for name, value in event.data.items() if name != "origin"}
    return replace(event, id=about, about=about, by=actor, data=data)


def preview(memory: Memory, draft: Draft) -> Record:
    """Return the record that a draft would become."""
    record = fold(None, draft_event(memory, draft))
    assert record is not None
    return record


def novelty(memory: Memory, draft: Draft) -> float:
    """Return how new a draft is: 1 if nothing is like it, 0 if the same text is stored or was retired."""
    new = preview(memory, draft)
    known = [*similar(memory.store, new), *similar(memory.store, new, retired=True)]
    return 1.0 - max((share for _, share in known), default=0.0)
