"""What came of scars in the end: told when the work is over, or recorded one by one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.engine.views import records, usage
from holdfast.model.errors import Ambiguous, HoldfastError, Invalid, NotFound
from holdfast.model.record import Record
from holdfast.model.text import shorten
from holdfast.policy.ranking.variants import VARIANTS
from holdfast.policy.secrets.find import masked
from holdfast.policy.sessions.evidence import USE_OF, problem_with_reflection
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.sessions.scars import Answer, Answered
from holdfast.verbs.sessions.session import find_session

MOST_SCARS = 1_000
LONGEST_NOTE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What somebody tells of a scar's use. `succeeded` None: nobody knows yet."""

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
    """The events that uses were noted by, and the scars that could not be told, each with the reason."""

    events: tuple[str, ...] = ()
    unknown: tuple[tuple[str, str], ...] = ()


def reflect(memory: Memory, reflections: Sequence[Answer]) -> Answered:
    """Take what came of scars in the end, OBEYED or REFUTED; one that was not answered before is answered by it."""
    db, session = memory.store.db, memory.actor.session
    shown = {one.id for one in usage.shown_in(db, session)}
    answered = {use.id for use in usage.in_session(db, session) if not use.observed}
    taken: list[tuple[Record, str]] = []
    problems: list[str] = []
    events = []
    for given in reflections:
        try:
            scar = _shown(memory, given, shown)
        except HoldfastError as problem:
            problems.append(f"{given.scar}: {problem}")
            continue
        said = {"evidence": masked(given.evidence.strip()), "decision": given.decision}
        outcomes = _in_the_end(given.decision, answered=scar.id in answered)
        events += [memory.event("used", scar.id, data={"outcome": one, **said}) for one in outcomes]
        taken.append((scar, given.decision))
    if events:
        memory.commit(events)
    left = _scars(memory, shown - {scar.id for scar, _ in taken})
    return Answered(taken=tuple(taken), problems=tuple(problems), waiting=tuple(left))


def note_use(memory: Memory, use: Use) -> str:
    """Note that a scar was used, and how that went if it is known; give the event that says so.

    A session says the same of a scar only once: what it confirmed is not counted again when it is recorded.
    """
    if use.reference not in USE_OF:
        raise Invalid(f"{use.reference!r} is no way to use a scar.", hint=f"Use one of {', '.join(USE_OF)}.")
    if use.session:
        memory = memory.acting_in(find_session(memory, use.session).id)
    scar, outcome = scar_called(memory, use.scar), USE_OF[use.reference]
    uses = usage.in_session(memory.store.db, memory.actor.session)
    known = {one.outcome: one.event for one in uses if one.id == scar.id and not one.observed}
    went = [] if use.succeeded is None else ["succeeded" if use.succeeded else "failed"]
    said = _said(memory, use, scar)
    fresh = [
        memory.event("used", scar.id, data={"outcome": one, **said}) for one in (outcome, *went) if one not in known
    ]
    if fresh:
        memory.commit(fresh)
    return known.get(outcome) or fresh[0].id


def note_uses(memory: Memory, uses: Sequence[Use]) -> Noted:
    """Note several uses, each on its own: what cannot be noted is said and does not spoil the others."""
    events, unknown = [], []
    for use in uses:
        try:
            events.append(note_use(memory, use))
        except HoldfastError as problem:
            unknown.append((use.scar, str(problem)))
    return Noted(events=tuple(events), unknown=tuple(unknown))


def scar_called(memory: Memory, name: str) -> Record:
    """Give the scar meant by an id, by its title, or by words that only its title or text has."""
    try:
        return find(memory, name).record
    except Ambiguous:
        raise
    except HoldfastError:
        return _by_words(memory, name.strip())


def _by_words(memory: Memory, name: str) -> Record:
    here, said = memory.store.project_number(memory.project), name.lower()
    scars = [entry.record for entry in records.newest(memory.store.db, "scar", here, limit=MOST_SCARS)]
    if titled := [one for one in scars if one.title.lower() == said]:
        return titled[0]
    found = [one for one in scars if said and said in f"{one.title}\n{one.body}".lower()]
    if not found:
        raise NotFound(f"No scar is called {shorten(name, 80)!r}.", hint="recall shows scars with their ids.")
    if len(found) > 1:
        shown = "; ".join(f"{one.id[:10]} {shorten(one.title, 60)}" for one in found[:5])
        raise Ambiguous(f"{len(found)} scars say {shorten(name, 80)!r}: {shown}.", hint="Give the id.")
    return found[0]


def _said(memory: Memory, use: Use, scar: Record) -> dict[str, Any]:
    shown = {one.id: one.variant for one in usage.shown_in(memory.store.db, memory.actor.session)}
    said = {
        "note": masked(use.context.strip())[:LONGEST_NOTE],
        "issue": use.issue,
        "shown_at": use.shown_at,
        "variant": use.variant if use.variant in VARIANTS else shown.get(scar.id, ""),
    }
    return {name: value for name, value in said.items() if value}


def _shown(memory: Memory, given: Answer, shown: set[str]) -> Record:
    if problem := problem_with_reflection(given.decision, given.evidence):
        raise Invalid(f"{problem}.")
    record = find(memory, given.scar).record
    if record.id not in shown:
        raise Invalid(f"{record.id[:10]} was not shown in this session.", hint="Tell only of what recall showed.")
    return record


def _in_the_end(decision: str, *, answered: bool) -> tuple[str, ...]:
    """Give what a reflection says of a scar: how the work went, and first that it was heeded if nobody said so yet."""
    if decision == "OBEYED":
        return ("succeeded",) if answered else ("applied", "succeeded")
    return ("failed",) if answered else ("refuted",)


def _scars(memory: Memory, ids: set[str]) -> list[Record]:
    found = [entry.record for entry in records.by_ids(memory.store.db, ids).values()]
    return [record for record in found if record.kind == "scar" and record.state == "active"]
