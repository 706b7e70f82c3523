"""Take in what sub-agents saw, and point out what should become a lesson."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.engine.views import links, records
from holdfast.model.errors import HoldfastError, Invalid
from holdfast.model.record import Draft, Record
from holdfast.model.text import shorten
from holdfast.policy.admission.admit import Duplicate, Waivers
from holdfast.policy.admission.refusals import explain
from holdfast.policy.language.lesson_cues import lesson_cue
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import Held, Written, write

SEVERITIES = ("info", "warning", "scar_candidate")
LONGEST_TEXT, LONGEST_SOURCE = 5_000, 500
MOST = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An observation that may be worth a scar, and why."""

    record: Record
    cue: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Absorbed:
    """What was taken in, what was known, what could not be taken, and what should be looked at."""

    kept: tuple[Record, ...] = ()
    known: tuple[Record, ...] = ()
    problems: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()


def absorb(memory: Memory, observations: Sequence[Mapping[str, Any]], *, task: str = "") -> Absorbed:
    """Keep observations ({text, source, severity, context}), each on its own."""
    if not observations:
        raise Invalid("There is nothing to absorb.", hint="Give at least one observation with a text.")
    if len(observations) > MOST:
        raise Invalid(f"{len(observations)} observations are too many at once; {MOST} are the most.")
    kept: list[Record] = []
    known: list[Record] = []
    problems: list[str] = []
    for place, given in enumerate(observations, start=1):
        try:
            outcome = write(memory, _draft(given, task), waivers=Waivers(scope=True), redact=True)
        except HoldfastError as problem:
            problems.append(f"observation {place}: {problem}")
            continue
        match outcome:
            case Written(record=record) | Held(record=record):
                kept.append(record)
            case Duplicate(matches=matches):
                known.append(matches[0].record)
            case refused:
                problems.append(f"observation {place}: {explain(refused).reason}")
    found = [_candidate(record) for record in (*kept, *known)]
    return Absorbed(
        kept=tuple(kept),
        known=tuple(known),
        problems=tuple(problems),
        candidates=tuple(one for one in found if one),
    )


def candidates(memory: Memory, *, limit: int = 50) -> list[Candidate]:
    """Give the observations of this project that sound like lessons and that no record was made of yet."""
    db = memory.store.db
    entries = records.newest(db, "observation", memory.store.project_number(memory.project), limit=500)
    found = [one for entry in entries if (one := _candidate(entry.record))]
    return [one for one in found if not links.around(db, one.record.id)][:limit]


def _candidate(record: Record) -> Candidate | None:
    cue = lesson_cue(record.text, str(record.fields.get("severity", "")))
    return Candidate(record=record, cue=cue) if cue else None


def _draft(given: Mapping[str, Any], task: str) -> Draft:
    text, source = given.get("text"), given.get("source", "")
    if not isinstance(text, str) or not text.strip():
        raise Invalid("it has no text.", hint="Say what was seen.")
    if len(text) > LONGEST_TEXT or len(str(source)) > LONGEST_SOURCE:
        raise Invalid(
            f"its text or source is too long ({shorten(text, 40)}).", hint=f"{LONGEST_TEXT} characters are the most."
        )
    severity = given.get("severity") or "info"
    if severity not in SEVERITIES:
        raise Invalid(f"{severity!r} is no severity.", hint=f"Use one of {', '.join(SEVERITIES)}.")
    extra = {"source": str(source), "context": str(given.get("context") or ""), "task": task}
    return Draft(
        body=text,
        kind="observation",
        fields={"severity": severity, "type": "sub-agent"},
        source="observed",
        extra={name: value for name, value in extra.items() if value},
    )
