"""Close a session: the questions, lenient parsing of the payload agents send, and what a proper close needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

from holdfast.model.patterns import tables
from holdfast.model.text import counted, filled, shorten

CLOSE_TYPES = ("quick", "standard", "autonomous", "retroactive")
QUICK_MINUTES = 30
FULL_MINUTES, MICRO_MINUTES, BUSY = 60, 15, 3
HUMAN_SECONDS = 3.0  # no human reads and answers faster
WORTH_KEEPING = 20  # characters from which an answer likely holds a lesson


class Question(NamedTuple):
    """One closing question: the key of its answer, its text, and other keys that agents use for it."""

    key: str
    text: str
    aliases: list[str]
    required: bool


_ROWS = [(key, *row.split(" | ")) for key, row in tables(__file__)["questions"]]
QUESTIONS = [Question(key.rstrip("*"), text, more.split(), key.endswith("*")) for key, text, more in _ROWS]
_KEYS = {name: question.key for question in QUESTIONS for name in (question.key, *question.aliases)}
SUMMARY = ("request", "investigated", "learned", "completed", "next_steps", "notes")
_STEPS = ("questions_displayed_at", "reflection_completed_at", "human_asked_at", "human_response_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """What a session leaves behind, normalized. `corrections` is None if the human was not asked.

    `prose`: the reflection is one text, not an answer per question.
    """

    title: str = ""
    reflection: Mapping[str, str] = field(default_factory=dict)
    summary: Mapping[str, str] = field(default_factory=dict)
    corrections: str | None = None
    completion: Mapping[str, Any] = field(default_factory=dict)
    decisions: tuple[Mapping[str, Any], ...] = ()
    threads: tuple[str, ...] = ()
    resolved: tuple[str, ...] = ()
    learnings: tuple[Mapping[str, Any], ...] = ()
    kept: tuple[str, ...] = ()
    scars: tuple[Mapping[str, Any], ...] = ()
    project_state: str = ""
    session: str = ""
    issue: str = ""
    prose: bool = False
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conduct:
    """Facts about a session when it ends."""

    minutes: float = 0.0
    recalls: int = 0
    observations: int = 0
    unanswered: int = 0
    learnings: int = 0


def read_payload(payload: Mapping[str, Any]) -> Payload:
    """Parse a payload leniently: known spellings and shapes are accepted, unknown keys are listed in `unread`."""
    said, completion = payload.get("closing_reflection", payload.get("reflection")), payload.get("task_completion")
    asked = said if isinstance(said, Mapping) else {"what_worked": said if isinstance(said, str) else ""}
    unread = (*_mapping(said), *(name for name in payload if name not in _READ))
    # They may be at the top level.
    answers = [(name, _joined(value)) for name, value in (*payload.items(), *asked.items())]
    learnings = _items(payload.get("learnings_created")) + _items(payload.get("learnings"))
    corrections = payload.get("human_corrections", payload.get("corrections"))
    if corrections is None and isinstance(completion, Mapping):
        corrections = completion.get("human_response")
    opened = _items(payload.get("open_threads", payload.get("threads")))
    threads = (": ".join(filled(_first(_mapping(item), "id"), _first(item, "text"))) for item in opened)
    decided = _items(payload.get("decisions"))
    decisions = ({**_mapping(item), "title": _first(item, "title", "decision")} for item in decided)
    inner = payload.get("summary")
    source = {"completed": inner if isinstance(inner, str) else "", **payload, **_mapping(inner)}
    return Payload(
        title=_text(payload.get("title")),
        reflection={_KEYS[name]: text for name, text in answers if name in _KEYS and text},
        summary={name: text for name in SUMMARY if (text := _joined(source.get(name)))},
        corrections=None if corrections is None else _joined(corrections),
        completion=completion if isinstance(completion, Mapping) else {"outcome": completion} if completion else {},
        decisions=tuple(decision for decision in decisions if decision["title"]),
        threads=tuple(filter(None, threads)),
        resolved=tuple(filter(None, map(_text, _items(payload.get("resolved_threads"))))),
        learnings=tuple(item for item in learnings if isinstance(item, Mapping)),
        kept=tuple(item for item in learnings if isinstance(item, str)),
        scars=tuple(item for item in _items(payload.get("scars_to_record")) if isinstance(item, Mapping)),
        project_state=_text(payload.get("project_state")),
        session=_first(payload, "session_id", "session"),
        issue=_first(payload, "linear_issue", "issue"),
        prose=isinstance(said, str) and len(said.strip()) >= WORTH_KEEPING,
        unread=tuple(name for name in unread if name not in _KEYS),
    )


_READ = frozenset(
    """
    title closing_reflection reflection decisions open_threads threads learnings_created learnings task_completion
    human_corrections corrections resolved_threads scars_to_record project_state session_id session summary
    close_type linear_issue issue ceremony_duration_ms capture_transcript transcript_path
    """.split()
) | frozenset(SUMMARY)


def refusals(close_type: str, payload: Payload, conduct: Conduct) -> list[str]:
    """Return why a session cannot be closed this way and what to do; empty if it can."""
    if close_type not in CLOSE_TYPES:
        return [f"{close_type!r} is not a close type: use {', '.join(CLOSE_TYPES)}"]
    if close_type == "quick" and conduct.minutes >= QUICK_MINUTES and not payload.reflection:
        way_out = "close it as standard or answer at least one question"
        return [f"the session lasted {conduct.minutes:.0f} minutes; from {QUICK_MINUTES} minutes on, {way_out}"]
    if close_type != "standard" or payload.prose:
        return []
    missing = (one for one in QUESTIONS if one.required and not payload.reflection.get(one.key))
    return [f"answer {question.key}: {question.text}" for question in missing]


def remarks(close_type: str, payload: Payload, conduct: Conduct) -> list[str]:
    """Return warnings that do not prevent closing."""
    ignored = conduct.unanswered and f"{counted(conduct.unanswered, 'shown scar')} counted as ignored: no answer"
    prose = payload.prose and "the reflection is one text; separate answers per question are easier to find again"
    notes = filled(*(f"unknown key ignored: {name}" for name in payload.unread), prose, ignored)
    if close_type != "standard":
        return notes
    telling = ("do_differently", "wrong_assumption")
    lessons = " and ".join(key for key in telling if len(payload.reflection.get(key, "")) > WORTH_KEEPING)
    return notes + filled(
        not conduct.recalls and "nothing was recalled in this session",
        payload.corrections is None and "the human was not asked for corrections (human_corrections, may be empty)",
        *_hurried(payload.completion),
        lessons and not conduct.learnings and f"{lessons} may hold a lesson, but none was kept",
    )


def ceremony(conduct: Conduct) -> str:
    """Return how thorough the close should be: micro, standard or full."""
    if conduct.minutes >= FULL_MINUTES or conduct.recalls >= BUSY or conduct.observations >= BUSY:
        return "full"
    if conduct.minutes < MICRO_MINUTES and not conduct.recalls and not conduct.observations:
        return "micro"
    return "standard"


def rapport_of(reflection: Mapping[str, str]) -> str:
    """Return what a session noted about working together."""
    return " | ".join(reflection[key] for key in ("collaboration", "rapport") if reflection.get(key))


def title_of(payload: Payload, issue: str, known: str) -> str:
    """Return a session's title: its own, else the issue with the first decision or what worked."""
    if payload.title or known:
        return payload.title or known
    decided = next((str(decision["title"]) for decision in payload.decisions), "")
    return " · ".join(filled(issue, decided or shorten(payload.reflection.get("what_worked", ""), 50)))


def _first(item: Any, *names: str) -> str:
    texts = [_text(item.get(name)) for name in names] if isinstance(item, Mapping) else [_text(item)]
    return next(filter(None, texts), "")


def _hurried(completion: Mapping[str, Any]) -> list[str]:
    moments = [moment for name in _STEPS if (moment := _moment(completion.get(name)))]
    if any(later < earlier for earlier, later in pairwise(moments)):
        return ["the steps of the closing ceremony are out of order"]
    asked, answered = _moment(completion.get(_STEPS[2])), _moment(completion.get(_STEPS[3]))
    if asked and answered and (answered - asked).total_seconds() < HUMAN_SECONDS:
        return ["the human had less than three seconds to answer"]
    return []


def _moment(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [] if value in (None, "") else [value]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _joined(value: Any) -> str:
    return ". ".join(filter(None, map(_text, value))) if isinstance(value, list | tuple) else _text(value)


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
