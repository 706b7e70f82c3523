"""Track feedback in a session: turns, muted scopes, and results without feedback."""

from collections.abc import Iterable

from holdfast.model.event import Actor, Event
from holdfast.model.scope import check_scopes
from holdfast.policy.sessions.feedback import Desk, Showing
from holdfast.verbs.memory import Memory

RULE = Actor(kind="rule", name="unspoken use")


def desk_of(memory: Memory) -> Desk:
    """Return the feedback state of the session this memory acts in."""
    return memory.desks.setdefault(memory.actor.session, Desk())


def next_turn(memory: Memory) -> Memory:
    """Begin a call: results of some calls ago without feedback are recorded as observed use. Return the memory."""
    if due := desk_of(memory).next_turn(memory.clock.now()):
        memory.note([_observed(memory, showing) for showing in due])
    return memory


def shown(memory: Memory, record_id: str) -> str:
    """Record that a record was returned; return the token of that result."""
    return desk_of(memory).show(record_id, memory.clock.tick(), memory.clock.now())


def spoken_of(memory: Memory, ids: Iterable[str]) -> None:
    """Drop results that received feedback: nothing has to be inferred for them."""
    desk = desk_of(memory)
    for id_ in ids:
        desk.showings.pop(id_, None)


def mute(memory: Memory, scope: str) -> list[str]:
    """Exclude a scope from the results of this session; return all excluded scopes."""
    muted = desk_of(memory).muted
    muted |= dict.fromkeys(check_scopes((scope,)))
    return list(muted)


def unmute(memory: Memory, scope: str) -> list[str]:
    """Include a scope again; return the scopes still excluded."""
    muted = desk_of(memory).muted
    muted.pop(check_scopes((scope,))[0], None)
    return list(muted)


def _observed(memory: Memory, showing: Showing) -> Event:
    data = {"outcome": "applied", "observed": "shown, and nothing said against it", "token": showing.token}
    event = memory.event("used", showing.id, data={**data, "session": memory.actor.session})
    return Event(id=event.id, about=event.about, verb=event.verb, at=event.at, by=RULE, data=event.data)
