"""Track feedback in a session: turns, muted scopes, and results without feedback."""

from collections.abc import Iterable

from holdfast.model.event import Actor, Event
from holdfast.model.scope import check_scopes
from holdfast.policy.sessions.feedback import Impression, SessionFeedback
from holdfast.verbs.memory import Memory

RULE = Actor(kind="rule", name="unspoken use")


def feedback_of(memory: Memory) -> SessionFeedback:
    """Return the feedback state of the session this memory acts in."""
    return memory.feedback.setdefault(memory.actor.session, SessionFeedback())


def next_turn(memory: Memory) -> Memory:
    """Begin a call: results of some calls ago without feedback are recorded as observed use. Return the memory."""
    if due := feedback_of(memory).next_turn(memory.clock.now()):
        memory.note([_observed(memory, impression) for impression in due])
    return memory


def shown(memory: Memory, record_id: str) -> str:
    """Record that a record was returned; return the token of that result."""
    return feedback_of(memory).show(record_id, memory.clock.tick(), memory.clock.now())


def drop_answered(memory: Memory, ids: Iterable[str]) -> None:
    """Drop results that received feedback: nothing has to be inferred for them."""
    feedback = feedback_of(memory)
    for id_ in ids:
        feedback.impressions.pop(id_, None)


def mute(memory: Memory, scope: str) -> list[str]:
    """Exclude a scope from the results of this session; return all excluded scopes."""
    muted = feedback_of(memory).muted
    muted |= dict.fromkeys(check_scopes((scope,)))
    return list(muted)


def unmute(memory: Memory, scope: str) -> list[str]:
    """Include a scope again; return the scopes still excluded."""
    muted = feedback_of(memory).muted
    muted.pop(check_scopes((scope,))[0], None)
    return list(muted)


def _observed(memory: Memory, impression: Impression) -> Event:
    data = {"outcome": "applied", "observed": "shown, and nothing said against it", "token": impression.token}
    event = memory.event("used", impression.id, data={**data, "session": memory.actor.session})
    return Event(id=event.id, about=event.about, verb=event.verb, at=event.at, by=RULE, data=event.data)
