"""Who reads a text: a model, which has a budget and calls tools, or a person, who types commands and has a time zone."""

from collections.abc import Callable
from dataclasses import dataclass


def _day(at: str) -> str:
    return at[:10]


def _whole(id_: str) -> str:
    return id_


def _minute(at: str) -> str:
    return at[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """How times are written, how long a text may be, and what the reader calls to act; the defaults are for a model."""

    budget: int = 1_500  # tokens; 0: no limit
    figures: bool = True  # scores and counts that only a program compares
    day: Callable[[str], str] = _day
    minute: Callable[[str], str] = _minute
    session: Callable[[str], str] = _whole  # how its id is written
    answer: str = "judge([{id, verdict: APPLYING|N_A|REFUTED, evidence}])"
    closing: str = "session(close, payload)"
    to_close: str = ""  # how to answer what a close asks for, where its questions do not say so
    unclosed: str = "session(start, id) resumes it, session(close, id) closes it."
    promote: str = "thread(promote) or thread(dismiss)"
    another: str = "force=true opens another one."
    lesson: str = "remember(kind=scar, links=[elaborates:id]) if so, forget(id) if not."
    settle: str = "revise(newer, links=[supersedes:older]) if one replaces the other, links=[relates_to:id] if both hold, forget(id, reason) if one is wrong."
    merge: str = "revise(base, text=…, links=[supersedes:id of each other]) does what is proposed; links=[relates_to:id] if both should stay."


MODEL = Reader()
