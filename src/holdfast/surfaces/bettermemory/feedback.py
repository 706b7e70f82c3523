"""The desk of the session at work: turns, muted scopes, and use that nobody spoke of."""

from collections.abc import Iterable

from holdfast.model.event import Actor, Event
from holdfast.model.scope import check_scopes
from holdfast.policy.sessions.feedback import Desk, Showing
from holdfast.verbs.memory import Memory

RULE = Actor(kind="rule", name="unspoken use")


def desk_of(memory: Memory) -> Desk:
    """Give the desk of the session this memory acts in."""
    return memory.desks.setdefault(memory.actor.session, Desk())


def next_turn(memory: Memory) -> Memory:
    """Begin a call: what was shown some calls ago, and not spoken of, is noted as observed use. Gives the memory."""
    if due := desk_of(memory).next_turn(memory.clock.now()):
        memory.note([_observed(memory, one) for one in due])
    return memory


def shown(memory: Memory, record_id: str) -> str:
    """Note that a record was shown, and give the token of that showing."""
    return desk_of(memory).show(record_id, memory.clock.tick(), memory.clock.now())


def spoken_of(memory: Memory, ids: Iterable[str]) -> None:
    """Note that somebody said what became of records: there is nothing left to guess."""
    desk = desk_of(memory)
    for one in ids:
        desk.showings.pop(one, None)


def mute(memory: Memory, scope: str) -> list[str]:
    """Leave a scope out of what this session is shown; give all that are left out."""
    muted = desk_of(memory).muted
    muted |= dict.fromkeys(check_scopes((scope,)))
    return list(muted)


def unmute(memory: Memory, scope: str) -> list[str]:
    """Show a scope again; give those still left out."""
    muted = desk_of(memory).muted
    muted.pop(check_scopes((scope,))[0], None)
    return list(muted)


def _observed(memory: Memory, one: Showing) -> Event:
    said = {"outcome": "applied", "observed": "shown, and nothing said against it", "token": one.token}
    event = memory.event("used", one.id, data={**said, "session": memory.actor.session})
    return Event(id=event.id, about=event.about, verb=event.verb, at=event.at, by=RULE, data=event.data)
