"""Have a model read what happened, if the user turned one on: once for each drain, within its allowance, or not at all."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from holdfast.engine.raw import counters, daily_budget
from holdfast.engine.raw.counters import Failure
from holdfast.model.errors import InvalidConfig
from holdfast.model.ids import instant
from holdfast.model.observer import (
    Answered,
    Declined,
    Observing,
    RateLimited,
    Rejected,
    Reply,
    TimedOut,
    Unreachable,
)
from holdfast.model.record import Draft
from holdfast.model.trail import Happening
from holdfast.policy.activity.asking import most_spent, question_of
from holdfast.policy.activity.recap import handover
from holdfast.policy.activity.reply import Malformed, Told, drafts_of, read_reply, summary_draft
from holdfast.policy.activity.work import Turn
from holdfast.policy.secrets.find import mask_secrets
from holdfast.verbs.memory import Memory

TOKENS, CALLS, WAIT = "observer.tokens", "observer.calls", "observer.wait"
FIRST_WAIT, LONGEST_WAIT, LONGEST_ASKED = 60.0, 6 * 3600.0, 24 * 3600.0
SO_FAR_TOKENS = 1_500  # of what a session came to before, where its summary is wanted
REJECTED_WAIT = 3600.0  # what is set up wrongly does not mend itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """It answered: these are its drafts, and what they cost."""

    drafts: tuple[Draft, ...] = ()
    summary: Draft | None = None
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Off:
    """No observer is turned on, or it may spend nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """It failed lately and is not asked before this instant."""

    until: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OverBudget:
    """Asking could cost more than is left of today's allowance."""

    needed: int
    left: int


Observation = (
    Observed | Off | Waiting | OverBudget | Malformed | RateLimited | TimedOut | Declined | Rejected | Unreachable
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserverStatus:
    """What the observer is, what it may and did spend today, and how it is doing."""

    observer: str
    model: str
    mode: str
    daily_tokens: int
    spent: int
    left: int
    calls: int
    problem: str = ""
    waiting_until: str = ""
    failures: tuple[Failure, ...] = ()


def observe(
    memory: Memory, turns: Sequence[Turn], happenings: Sequence[Happening], *, with_summary: bool = False
) -> Observation:
    """Ask the observer about some turns, once. Whatever else comes of it, the trail is still there."""
    most, now = memory.config.observer_daily_tokens, memory.clock.now()
    if memory.config.observer == "none" or most <= 0 or not (turns or with_summary):
        return Off()
    if (until := _waiting_until(memory)) > now:
        return Waiting(until=until)
    observing = _observing(memory)
    if isinstance(observing, Rejected):
        return _noted(memory, observing)
    so_far = handover(happenings, SO_FAR_TOKENS) if with_summary else ""
    if not turns and not so_far:
        return Off()
    question = question_of(turns, observing.mode, so_far=so_far, with_summary=with_summary)
    needed = most_spent(question, observing.observer.overhead)
    if not daily_budget.reserve(memory.store.db, TOKENS, now, needed, most):
        return OverBudget(needed=needed, left=most - daily_budget.spent(memory.store.db, TOKENS, now))
    reply = observing.observer.ask(question)
    used = _used(reply, needed)
    daily_budget.settle(memory.store.db, TOKENS, now, needed, used)
    counters.add(memory.store.db, CALLS, now)
    return _noted(memory, _read(reply, observing, turns, happenings, used))


def observer_status(memory: Memory) -> ObserverStatus:
    """Give what the observer is, what it may spend and did spend today, and what went wrong."""
    observing, now, db = _observing(memory), memory.clock.now(), memory.store.db
    most, gone = memory.config.observer_daily_tokens, daily_budget.spent(db, TOKENS, now)
    until = _waiting_until(memory)
    return ObserverStatus(
        observer=memory.config.observer,
        model=observing.observer.model if isinstance(observing, Observing) else memory.config.observer_model,
        mode=memory.config.mode,
        problem=observing.said if isinstance(observing, Rejected) and memory.config.observer != "none" else "",
        daily_tokens=most,
        spent=gone,
        left=max(0, most - gone),
        calls=daily_budget.spent(db, CALLS, now),
        waiting_until=until if until > now else "",
        failures=tuple(one for one in counters.failures(db) if one.name == "observer"),
    )


def _observing(memory: Memory) -> Observing | Rejected:
    """Give the observer that is turned on, or what is wrong with its settings."""
    try:
        return memory.observing() or Rejected(said="No observer is turned on.")
    except InvalidConfig as problem:
        return Rejected(said=str(problem))


def _used(reply: Reply, reserved: int) -> int:
    """Tell what a call cost: as it says; all that was set aside where it may have cost something and does not say."""
    match reply:
        case Answered(tokens=tokens) | Declined(tokens=tokens):
            return reserved if tokens is None else tokens
        case TimedOut():
            return reserved
    return 0


def _read(
    reply: Reply, observing: Observing, turns: Sequence[Turn], happenings: Sequence[Happening], used: int
) -> Observation:
    if not isinstance(reply, Answered):
        return reply
    match read_reply(reply.text, observing.mode):
        case Malformed() as malformed:
            return malformed
        case Told() as told:
            by = f"{observing.observer.name} {observing.observer.model}"
            drafts = drafts_of(told, turns, by)
            return Observed(drafts=tuple(drafts), summary=summary_draft(told, happenings, by), tokens=used)


def _noted(memory: Memory, found: Observation) -> Observation:
    """Note a failure and how long to leave the observer alone; an answer ends the wait."""
    match found:
        case RateLimited(seconds=seconds, said=said):
            _wait(memory, min(seconds, LONGEST_ASKED), f"asked too often: {said}")
        case Rejected(said=said):
            _wait(memory, REJECTED_WAIT, f"set up wrongly: {said}")
        case TimedOut(seconds=seconds):
            _wait(memory, 0.0, f"no answer within {seconds:.0f} s")
        case Unreachable(said=said):
            _wait(memory, 0.0, f"no answer: {said}")
        case Malformed(said=said):
            _wait(memory, 0.0, f"no observation in its answer: {said}")
        case Observed() if memory.store.setting(WAIT):
            memory.store.note(WAIT, "")
    return found


def _wait(memory: Memory, least: float, said: str) -> None:
    """Leave the observer alone: twice as long after each failure in a row, and as long as it asks for."""
    failures, now = _waited(memory)[1] + 1, memory.clock.now()
    pause = max(least, min(FIRST_WAIT * 2.0 ** (failures - 1), LONGEST_WAIT))
    until = instant(datetime.fromisoformat(now).timestamp() + pause)
    memory.store.note(WAIT, json.dumps({"until": until, "failures": failures}))
    memory.note_failure("observer", mask_secrets(said))


def _waiting_until(memory: Memory) -> str:
    return _waited(memory)[0]


def _waited(memory: Memory) -> tuple[str, int]:
    noted = memory.store.setting(WAIT)
    value = json.loads(noted) if noted else {}
    return str(value.get("until", "")), int(value.get("failures", 0))
