"""The end of a simulated session: its summary, answers, threads and decisions, and the handling of suggestions."""

from typing import Any

from demo.seat import Seat
from holdfast.policy.sessions.closing import QUESTIONS
from holdfast.verbs.records.lifecycle import record_use
from holdfast.verbs.sessions.close import Closed, close
from holdfast.verbs.sessions.thread import dismiss, promote

STATE = 0.12
# What is done with suggested threads, in turn.
_FATES = ("promote", "dismiss", "wait")


def end(seat: Seat) -> None:
    """Close a session with its planned type of closing."""
    _settle(seat)
    payload = {"summary": _summary(seat), **_left(seat)}
    if seat.visit.ending == "standard":
        payload |= {
            "closing_reflection": _reflection(seat),
            "human_corrections": seat.say("retrospective", "corrections"),
        }
        payload["task_completion"] = {"outcome": "done"}
    session = seat.memory.actor.session
    took = seat.chance.randrange(40_000, 400_000)
    closed = close(seat.memory, session=session, close_type=seat.visit.ending, payload=payload, took_ms=took)
    assert isinstance(closed, Closed), closed
    _note_threads(seat, closed)
    _decide_on(seat, closed)


def leave(seat: Seat) -> None:
    """End a session without closing it, as a client does whose window is shut."""
    session = seat.memory.actor.session
    seat.memory.commit([seat.memory.event("closed", session, data={"type": "ended", "reason": "exit"})])


def write_up(seat: Seat) -> None:
    """Close a session retroactively: none was started."""
    payload = {"title": seat.visit.title, "summary": _summary(seat), "closing_reflection": _reflection(seat)}
    closed = close(seat.memory, close_type="retroactive", payload={**payload, **_left(seat)})
    assert isinstance(closed, Closed), closed
    _note_threads(seat, closed)


def _settle(seat: Seat) -> None:
    """Record whether applied scars helped: succeeded or failed."""
    for scar in seat.applied:
        in_vain = seat.simulation.story.fate(scar.title) == "vain"
        if seat.chance.random() < 0.6:
            record_use(seat.memory, [scar.id], "failed" if in_vain else "succeeded")


def _summary(seat: Seat) -> dict[str, str]:
    episode, first = seat.visit.episode, seat.visit.part == "first"
    told = {
        "request": f"{seat.visit.issue}: {seat.visit.title}",
        "investigated": seat.say("summary", "investigated"),
        "learned": episode.lesson if first else seat.fresh("fact"),
        "completed": episode.fix if first else seat.fresh("progress"),
        "next_steps": episode.left if first else seat.say("summary", "next_steps"),
        "notes": seat.say("summary", "notes"),
    }
    return {name: text for name, text in told.items() if text}


def _reflection(seat: Seat) -> dict[str, str]:
    scars = "; ".join(scar.title for scar in seat.applied) or "None was shown that mattered."
    said = {"scars_applied": scars}
    return {one.key: said.get(one.key) or seat.say("retrospective", one.key) for one in QUESTIONS}


def _left(seat: Seat) -> dict[str, Any]:
    """Return the threads, decisions and project state for the closing of a session."""
    left: dict[str, Any] = {}
    episode = seat.visit.episode
    if seat.visit.part == "first":
        left["open_threads"] = [episode.left]
    elif thread := seat.simulation.threads.get(episode.left):
        left["open_threads"] = [thread]
    if seat.visit.part == "first" and episode.choice and seat.declares:
        decision = {"title": episode.choice, "decision": f"{episode.choice}. {episode.why}", "rationale": episode.why}
        left["decisions"] = [decision | {"alternatives_considered": list(episode.instead)}]
    if seat.chance.random() < STATE:
        left["project_state"] = seat.say("summary", "state")
    return left


def _note_threads(seat: Seat, closed: Closed) -> None:
    for record in closed.threads:
        seat.simulation.threads[record.body] = record.id


def _decide_on(seat: Seat, closed: Closed) -> None:
    if closed.suggestion is None:
        return
    fate = _FATES[seat.simulation.suggested % len(_FATES)]
    seat.simulation.suggested += 1
    match fate:
        case "promote":
            promote(seat.memory, closed.suggestion.id)
        case "dismiss":
            dismiss(seat.memory, closed.suggestion.id)
