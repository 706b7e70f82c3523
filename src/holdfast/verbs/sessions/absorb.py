"""Import observations of sub-agents, and point out those that should become lessons."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.engine.views import links, records
from holdfast.model.errors import HoldfastError, Invalid
from holdfast.model.record import Draft, Record
from holdfast.model.text import shorten
from holdfast.policy.admission.admit import Duplicate, Waivers
from holdfast.policy.admission.refusals import explain
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import Written, WrittenPending, write

SEVERITIES = ("info", "warning", "scar_candidate")
LONGEST_TEXT, LONGEST_SOURCE = 5_000, 500
MOST = 500
_LESSON = re.compile(
    r"\b(?:unexpected(?:ly)?|failed silently|silently fail\w*|assum(?:ed|ption)|did(?:n['’]t| not) (?:realize|realise|know)|"
    r"broken|missing|no tests?|untested|data loss|lost data)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An observation that may be worth a scar, and why."""

    record: Record
    cue: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Absorbed:
    """What was stored, what was known already, what was rejected, and candidates for scars."""

    kept: tuple[Record, ...] = ()
    known: tuple[Record, ...] = ()
    problems: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()


def absorb(memory: Memory, observations: Sequence[Mapping[str, Any]], *, task: str = "") -> Absorbed:
    """Store observations ({text, source, severity, context}), each on its own."""
    if not observations:
        raise Invalid("There is nothing to absorb.", hint="Pass at least one observation with a text.")
    if len(observations) > MOST:
        raise Invalid(f"{len(observations)} observations are too many at once.", hint=f"Send at most {MOST}.")
    kept: list[Record] = []
    known: list[Record] = []
    problems: list[str] = []
    for number, observation in enumerate(observations, start=1):
        try:
            outcome = write(memory, _draft(observation, task), waivers=Waivers(scope=True), redact=True)
        except HoldfastError as problem:
            problems.append(f"observation {number}: {problem}")
            continue
        match outcome:
            case Written(record=record) | WrittenPending(record=record):
                kept.append(record)
            case Duplicate(matches=matches):
                known.append(matches[0].record)
            case refused:
                problems.append(f"observation {number}: {explain(refused).reason}")
    possible = [_candidate(record) for record in (*kept, *known)]
    return Absorbed(
        kept=tuple(kept),
        known=tuple(known),
        problems=tuple(problems),
        candidates=tuple(candidate for candidate in possible if candidate),
    )


def candidates(memory: Memory, *, limit: int = 50) -> list[Candidate]:
    """Return this project's observations that sound like lessons and are not linked to a record yet."""
    store = memory.store
    entries = records.newest(store, "observation", store.project_number(memory.project), limit=500)
    possible = [candidate for entry in entries if (candidate := _candidate(entry.record))]
    return [candidate for candidate in possible if not links.around(store, candidate.record.id)][:limit]


def lesson_cue(text: str, severity: str = "") -> str:
    """Return why an observation is a candidate for a scar; "" if it is not."""
    if severity == "scar_candidate":
        return "marked as a candidate"
    cue = _LESSON.search(text)
    return f"says “{cue[0]}”" if cue else ""


def _candidate(record: Record) -> Candidate | None:
    cue = lesson_cue(record.text, str(record.fields.get("severity", "")))
    return Candidate(record=record, cue=cue) if cue else None


def _draft(observation: Mapping[str, Any], task: str) -> Draft:
    text, source = observation.get("text"), observation.get("source", "")
    if not isinstance(text, str) or not text.strip():
        raise Invalid("it has no text.", hint="Describe what was observed.")
    if len(text) > LONGEST_TEXT or len(str(source)) > LONGEST_SOURCE:
        raise Invalid(
            f"its text or source is too long ({shorten(text, 40)}).",
            hint=f"At most {LONGEST_TEXT} characters are allowed.",
        )
    severity = observation.get("severity") or "info"
    if severity not in SEVERITIES:
        raise Invalid(f"{severity!r} is not a severity.", hint=f"Use one of {', '.join(SEVERITIES)}.")
    extra = {"source": str(source), "context": str(observation.get("context") or ""), "task": task}
    return Draft(
        body=text,
        kind="observation",
        fields={"severity": severity, "type": "sub-agent"},
        source="observed",
        extra={name: value for name, value in extra.items() if value},
    )
