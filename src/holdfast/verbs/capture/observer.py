"""Ask the optional observer model about finished turns: once per run of the worker and within its daily token budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from holdfast.engine.raw import counters
from holdfast.model.errors import InvalidConfig
from holdfast.model.ids import instant
from holdfast.model.observer import Answered, Declined, Observing, RateLimited, Rejected, TimedOut, Unreachable
from holdfast.model.record import Draft
from holdfast.model.trail import HookEvent
from holdfast.policy.activity import observer_reply
from holdfast.policy.activity.observer_reply import Malformed
from holdfast.policy.activity.session_summary import handover
from holdfast.policy.activity.turns import Turn
from holdfast.policy.secrets.find import mask_secrets
from holdfast.verbs.memory import Memory, Report

TOKENS, CALLS, WAIT = "observer.tokens", "observer.calls", "observer.wait"
FIRST_WAIT, LONGEST_WAIT, LONGEST_ASKED = 60.0, 6 * 3600.0, 24 * 3600.0
SO_FAR_TOKENS = 1_500  # of the session so far, sent when a summary is wanted
REJECTED_WAIT = 3600.0  # wrong settings do not fix themselves


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The observer answered: its drafts, and the tokens they cost."""

    drafts: tuple[Draft, ...] = ()
    summary: Draft | None = None
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAsked:
    """The observer is off, is not asked again soon after it failed, or its question could exceed what is left of today's budget."""

    why: Literal["off", "waiting", "over budget"] = "off"


Observation = Observed | NotAsked | Malformed | RateLimited | TimedOut | Declined | Rejected | Unreachable


def observe(
    memory: Memory, turns: Sequence[Turn], activity: Sequence[HookEvent], *, with_summary: bool = False
) -> Observation:
    """Ask the observer about some turns, once. If it fails, the activity stays stored."""
    most, now = memory.config.observer_daily_tokens, memory.clock.now()
    if memory.config.observer == "none" or most <= 0 or not (turns or with_summary):
        return NotAsked()
    if _waited(memory)[0] > now:
        return NotAsked(why="waiting")
    observing = _observing(memory)
    if isinstance(observing, Rejected):
        return _noted(memory, observing)
    so_far = handover(activity, SO_FAR_TOKENS) if with_summary else ""
    if not turns and not so_far:
        return NotAsked()
    question = observer_reply.question_of(turns, observing.mode, so_far=so_far, with_summary=with_summary)
    needed = observer_reply.most_spent(question, observing.observer.overhead)
    if not counters.reserve(memory.store, TOKENS, now, needed, most):
        return NotAsked(why="over budget")
    reply = observing.observer.ask(question)
    match reply:  # as reported; the whole reservation if a cost is possible but unknown
        case Answered(tokens=int(tokens)) | Declined(tokens=int(tokens)):
            used = tokens
        case Answered() | Declined() | TimedOut():
            used = needed
        case _:
            used = 0
    counters.add(memory.store, TOKENS, now, used - needed)  # instead of what was reserved
    counters.add(memory.store, CALLS, now)
    if not isinstance(reply, Answered):
        return _noted(memory, reply)
    parsed = observer_reply.read_reply(reply.text, observing.mode)
    if isinstance(parsed, Malformed):
        return _noted(memory, parsed)
    by = f"{observing.observer.name} {observing.observer.model}"
    drafts, written = observer_reply.drafts_of(parsed, turns, by), observer_reply.summary_draft(parsed, activity, by)
    return _noted(memory, Observed(drafts=tuple(drafts), summary=written, tokens=used))


def observer_status(memory: Memory) -> Report:
    """Return the observer's settings, today's spending, and what went wrong."""
    observing, now, store, config = _observing(memory), memory.clock.now(), memory.store, memory.config
    most, spent, until = config.observer_daily_tokens, counters.spent(store, TOKENS, now), _waited(memory)[0]
    return {
        "observer": config.observer,
        "model": observing.observer.model if isinstance(observing, Observing) else config.observer_model,
        "mode": config.mode,
        "daily_tokens": most,
        "spent": spent,
        "left": max(0, most - spent),
        "calls": counters.spent(store, CALLS, now),
        "problem": observing.said if isinstance(observing, Rejected) and config.observer != "none" else "",
        "waiting_until": until if until > now else "",
        "failures": [failure for failure in counters.failures(store) if failure.name == "observer"],
    }


def _observing(memory: Memory) -> Observing | Rejected:
    try:
        return memory.observing() or Rejected(said="No observer is turned on.")
    except InvalidConfig as problem:
        return Rejected(said=str(problem))


def _noted(memory: Memory, outcome: Observation) -> Observation:
    """Record a failure, and pause twice as long after each in a row, at least as long as it asks for; a success ends the pause."""
    at_least, message = 0.0, ""
    match outcome:
        case RateLimited(seconds=seconds, said=said):
            at_least, message = min(seconds, LONGEST_ASKED), f"rate limited: {said}"
        case Rejected(said=said):
            at_least, message = REJECTED_WAIT, f"invalid settings: {said}"
        case TimedOut(seconds=seconds):
            message = f"no answer within {seconds:.0f} s"
        case Unreachable(said=said):
            message = f"unreachable: {said}"
        case Malformed(said=said):
            message = f"no observation in the reply: {said}"
        case Observed() if memory.store.setting(WAIT):
            memory.store.note(WAIT, "")
    if message:
        failures, now = _waited(memory)[1] + 1, memory.clock.now()
        wait = max(at_least, min(FIRST_WAIT * 2.0 ** (failures - 1), LONGEST_WAIT))
        until = instant(datetime.fromisoformat(now).timestamp() + wait)
        memory.store.note(WAIT, {"until": until, "failures": failures})
        memory.note_failure("observer", mask_secrets(message))
    return outcome


def _waited(memory: Memory) -> tuple[str, int]:
    value = memory.store.kept(WAIT, dict[str, Any]())
    return str(value.get("until", "")), int(value.get("failures", 0))
