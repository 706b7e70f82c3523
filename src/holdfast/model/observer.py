"""The observer port: an optional LLM that reads activity, the questions it gets and the replies it may give."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from holdfast.model.errors import InvalidConfig


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
class RateLimited:
    """It must be asked later. `seconds` is 0 if it did not report when."""

    seconds: float
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedOut:
    """It did not answer in time; what it spent is unknown."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Declined:
    """It read the text and refused to answer."""

    said: str
    tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """The request cannot work: a wrong key, model or address."""

    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreachable:
    """No answer, or a server error."""

    said: str


Reply = Answered | RateLimited | TimedOut | Declined | Rejected | Unreachable


class Observer(Protocol):
    """Asks a model. Makes a single attempt and never raises for what the other side does."""

    name: str
    model: str
    overhead: int  # tokens a call costs besides its texts, at most

    def ask(self, question: Question) -> Reply:
        """Ask the model and return its reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeType:
    """A type of observation in a mode."""

    id: str
    label: str = ""
    description: str = ""
    icon: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """What to look for in a kind of work, as data: types, concepts and the wording of instructions."""

    name: str
    description: str = ""
    types: tuple[ModeType, ...] = ()
    concepts: tuple[ModeType, ...] = ()
    prompts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observing:
    """An observer that is turned on, and the mode it works in."""

    observer: Observer
    mode: Mode


def merged(parent: Mapping[str, Any], child: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mode's JSON with the values of the mode that refines it; lists are replaced, objects merged."""
    both = dict(parent)
    for name, value in child.items():
        old = both.get(name)
        both[name] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return both


def mode_from_json(name: str, value: Mapping[str, Any]) -> Mode:
    """Parse a mode; raise InvalidConfig if it is malformed."""
    types = _types(name, value.get("observation_types", ()))
    if not types:
        raise InvalidConfig(f"The mode {name} names no observation_types.")
    prompts = value.get("prompts", {})
    if not isinstance(prompts, Mapping):
        raise InvalidConfig(f"The prompts of the mode {name} must be an object of texts.")
    return Mode(
        name=name,
        description=str(value.get("description", "")),
        types=types,
        concepts=_types(name, value.get("observation_concepts", ())),
        prompts={str(key): text for key, text in prompts.items() if isinstance(text, str)},
    )


def _types(name: str, entries: Any) -> tuple[ModeType, ...]:
    listed: list[Any] = [*entries] if isinstance(entries, list | tuple) else [None]
    if not all(isinstance(entry, Mapping) and entry.get("id") for entry in listed):
        raise InvalidConfig(f"The types and concepts of the mode {name} must be a list of objects with an id.")
    icons = [str(entry.get("emoji", entry.get("icon", ""))) for entry in listed]
    texts = [{part: str(entry.get(part, "")) for part in ("id", "label", "description")} for entry in listed]
    return tuple(ModeType(**text, icon=icon) for text, icon in zip(texts, icons, strict=True))
