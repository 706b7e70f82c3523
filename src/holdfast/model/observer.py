"""The observer port: an optional LLM that reads activity, the questions it gets and the replies it may give."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Input of a model: instructions, the text to read, and the most tokens it may answer with."""

    instructions: str
    text: str
    most_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """It answered; tokens are None if usage was not reported."""

    text: str
    tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """It did not answer: what it said, after how many seconds or for how many, and what that cost if it was reported."""

    said: str = ""
    seconds: float = 0.0
    tokens: int | None = None


class RateLimited(Failed):
    """It must be asked later. `seconds` is 0 if it did not report when."""


class TimedOut(Failed):
    """It did not answer in time; what it spent is unknown."""


class Declined(Failed):
    """It read the text and refused to answer."""


class Rejected(Failed):
    """The request cannot work: a wrong key, model or address."""


class Unreachable(Failed):
    """No answer, or a server error."""


Reply = Answered | RateLimited | TimedOut | Declined | Rejected | Unreachable


class Observer(Protocol):
    """Asks a model. Makes a single attempt and never raises for what the other side does."""

    name: str
    model: str
    overhead: int  # tokens a call costs besides its texts, at most

    def ask(self, question: Question) -> Reply:
        """Ask the model and return its reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """What to look for in a kind of work, as data: types and concepts with what each means, and the wording of instructions."""

    name: str
    types: Mapping[str, str]
    concepts: Mapping[str, str] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observing:
    """An observer that is turned on, and the mode it works in."""

    observer: Observer
    mode: Mode
