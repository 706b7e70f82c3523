"""Record the outcomes of scars: reflections at the end of the work, and single uses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.engine.views import records, usage
from holdfast.model.errors import Ambiguous, HoldfastError, Invalid, NotFound
from holdfast.model.ids import short
from holdfast.model.record import Record
from holdfast.model.text import shorten
from holdfast.policy.ranking.scar_wordings import VARIANTS
from holdfast.policy.secrets.find import masked
from holdfast.policy.sessions.evidence import USE_OF, problem_with_reflection
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.sessions.scars import Answer, Answered
from holdfast.verbs.sessions.session import find_session

MOST_SCARS = 1_000
LONGEST_NOTE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A reported use of a scar. `succeeded` is None while the result is unknown."""

    scar: str
    reference: str
    context: str = ""
    succeeded: bool | None = None
    issue: str = ""
    shown_at: str = ""
    variant: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """The events that record the uses, and the scars that could not be recorded, each with the reason."""

    events: tuple[str, ...] = ()
    unknown: tuple[tuple[str, str], ...] = ()


def reflect(memory: Memory, reflections: Sequence[Answer]) -> Answered:
    """Record how scars turned out, OBEYED or REFUTED; this also answers a scar that was not answered before."""
    store, session = memory.store, memory.actor.session
    shown = {impression.id for impression in usage.shown_in(store, session)}
    answered = {use.id for use in usage.in_session(store, session) if not use.observed}
    taken: list[tuple[Record, str]] = []
    problems: list[str] = []
    events = []
    for reflection in reflections:
        try:
            scar = _shown(memory, reflection, shown)
        except HoldfastError as problem:
            problems.append(f"{reflection.scar}: {problem}")
            continue
        details = {"evidence": masked(reflection.evidence.strip()), "decision": reflection.decision}
        outcomes = _outcomes(reflection.decision, answered=scar.id in answered)
        events += [memory.event("used", scar.id, data={"outcome": outcome, **details}) for outcome in outcomes]
        taken.append((scar, reflection.decision))
    if events:
        memory.commit(events)
    left = _scars(memory, shown - {scar.id for scar, _ in taken})
    return Answered(taken=tuple(taken), problems=tuple(problems), waiting=tuple(left))


def note_use(memory: Memory, use: Use) -> str:
    """Record the use of a scar, and its result if known; return the id of the event.

    A session records the same outcome of a scar only once: a confirmed scar is not counted again.
    """
    if use.reference not in USE_OF:
        raise Invalid(f"{use.reference!r} is not a reference_type.", hint=f"Use one of {', '.join(USE_OF)}.")
    if use.session:
        memory = memory.acting_in(find_session(memory, use.session).id)
    scar, outcome = scar_called(memory, use.scar), USE_OF[use.reference]
    uses = usage.in_session(memory.store, memory.actor.session)
    known = {use_.outcome: use_.event for use_ in uses if use_.id == scar.id and not use_.observed}
    results = [] if use.succeeded is None else ["succeeded" if use.succeeded else "failed"]
    details = _details(memory, use, scar)
    events = [
        memory.event("used", scar.id, data={"outcome": result, **details})
        for result in (outcome, *results)
        if result not in known
    ]
    if events:
        memory.commit(events)
    return known.get(outcome) or events[0].id


def note_uses(memory: Memory, uses: Sequence[Use]) -> Noted:
    """Record several uses independently: one that fails is reported and does not affect the others."""
    events, unknown = [], []
    for use in uses:
        try:
            events.append(note_use(memory, use))
        except HoldfastError as problem:
            unknown.append((use.scar, str(problem)))
    return Noted(events=tuple(events), unknown=tuple(unknown))


def scar_called(memory: Memory, name: str) -> Record:
    """Return the scar with this id or title, or the only one whose title or text contains the words."""
    try:
        return find(memory, name).record
    except Ambiguous:
        raise
    except HoldfastError:
        return _by_words(memory, name.strip())


def _by_words(memory: Memory, name: str) -> Record:
    project, words = memory.store.project_number(memory.project), name.lower()
    scars = [entry.record for entry in records.newest(memory.store, "scar", project, limit=MOST_SCARS)]
    if titled := [scar for scar in scars if scar.title.lower() == words]:
        return titled[0]
    matches = [scar for scar in scars if words and words in f"{scar.title}\n{scar.body}".lower()]
    if not matches:
        raise NotFound(f"No scar matches {shorten(name, 80)!r}.", hint="recall returns scars with their ids.")
    if len(matches) > 1:
        shown = "; ".join(f"{short(scar.id)} {shorten(scar.title, 60)}" for scar in matches[:5])
        raise Ambiguous(f"{len(matches)} scars match {shorten(name, 80)!r}: {shown}.", hint="Use the id.")
    return matches[0]


def _details(memory: Memory, use: Use, scar: Record) -> dict[str, Any]:
    shown = {impression.id: impression.variant for impression in usage.shown_in(memory.store, memory.actor.session)}
    details = {
        "note": masked(use.context.strip())[:LONGEST_NOTE],
        "issue": use.issue,
        "shown_at": use.shown_at,
        "variant": use.variant if use.variant in VARIANTS else shown.get(scar.id, ""),
    }
    return {name: value for name, value in details.items() if value}


def _shown(memory: Memory, answer: Answer, shown: set[str]) -> Record:
    if problem := problem_with_reflection(answer.decision, answer.evidence):
        raise Invalid(f"{problem}.")
    record = find(memory, answer.scar).record
    if record.id not in shown:
        raise Invalid(
            f"{short(record.id)} was not shown in this session.", hint="Reflect only on scars that recall returned."
        )
    return record


def _outcomes(decision: str, *, answered: bool) -> tuple[str, ...]:
    """Return the outcomes a reflection records: the result, and first the answer if there was none yet."""
    if decision == "OBEYED":
        return ("succeeded",) if answered else ("applied", "succeeded")
    return ("failed",) if answered else ("refuted",)


def _scars(memory: Memory, ids: set[str]) -> list[Record]:
    candidates = [entry.record for entry in records.by_ids(memory.store, ids).values()]
    return [record for record in candidates if record.kind == "scar" and record.state == "active"]
