"""What GitMem's tools need beyond the verbs: outcomes of scars, lessons by kind and severity, arguments as drafts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast.engine.views import records, usage
from holdfast.model.errors import Ambiguous, HoldfastError, Invalid, NotFound
from holdfast.model.ids import parse_instant, short
from holdfast.model.kinds import SEVERITIES
from holdfast.model.query import Hit, Query, Recalled
from holdfast.model.record import Draft, Record
from holdfast.model.text import shorten
from holdfast.policy.ranking.scar_wordings import VARIANTS
from holdfast.policy.secrets.find import masked
from holdfast.policy.sessions.evidence import USE_OF, problem_with_reflection
from holdfast.verbs.memory import Memory, find, is_reference
from holdfast.verbs.records.lifecycle import link, retire
from holdfast.verbs.search.brief import LESSONS
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.scars import Answer, Answered
from holdfast.verbs.sessions.session import find_session

MOST_SCARS, LONGEST_NOTE = 1_000, 1_000
COUNTER_ARGUMENTS = 2
MORE = 3  # times as many hits are requested when some will be filtered out
_SUCCESSOR = re.compile(r"\bsuperseded by ([\w-]+)", re.IGNORECASE)
# Their names for our fields, where they differ.
_LEARNING = {"source_linear_issue": "issue", "why_this_matters": "why", "self_check_criteria": "self_check"}
_DECISION = {
    "alternatives_considered": "alternatives",
    "personas_involved": "people",
    "docs_affected": "documents",
    "linear_issue": "issue",
}


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


def learning(args: Mapping[str, Any]) -> Draft:
    """Return the draft of a learning; raise with everything that a scar lacks."""
    kind, fields = args["learning_type"], _fields(args, _LEARNING, without=("learning_type", "title", "description"))
    if kind != "scar":  # fields that only a scar has
        fields = {name: value for name, value in fields.items() if name not in ("counter_arguments", "scar_type")}
        return Draft(kind=kind, title=args["title"], body=args["description"], fields=fields)
    problems = []
    if not fields.get("severity"):
        *others, last = SEVERITIES
        problems.append(f"Missing required field: severity (must be {', '.join(others)}, or {last})")
    if len([argument for argument in fields.get("counter_arguments", ()) if argument.strip()]) < COUNTER_ARGUMENTS:
        problems.append(f"Scars require at least {COUNTER_ARGUMENTS} counter_arguments")
    if problems:
        hint = "Add what is missing and call again; counter-arguments state when it is reasonable to ignore the scar."
        raise Invalid("Validation failed: nothing was saved.", hint=hint, problems=problems)
    return Draft(kind=kind, title=args["title"], body=args["description"], fields={"scar_type": "process", **fields})


def decision(args: Mapping[str, Any]) -> Draft:
    """Return the draft of a decision."""
    fields = _fields(args, _DECISION, without=("title", "decision"))
    return Draft(kind="decision", title=args["title"], body=args["decision"], fields=fields)


def session_id(memory: Memory, reference: str) -> str:
    """Return the id of a session; empty for the active one."""
    try:
        return find_session(memory, reference).id if reference else ""
    except Invalid as problem:
        hint = "Use the id that session_start returned; call session_start if there is none."
        raise Invalid(f"Invalid session_id format: {reference[:40]!r} is not an id.", hint=hint) from problem


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
            if problem := problem_with_reflection(reflection.decision, reflection.evidence):
                raise Invalid(f"{problem}.")
            scar = find(memory, reflection.scar).record
            if scar.id not in shown:
                hint = "Reflect only on scars that recall returned."
                raise Invalid(f"{short(scar.id)} was not shown in this session.", hint=hint)
        except HoldfastError as problem:
            problems.append(f"{reflection.scar}: {problem}")
            continue
        first = ("applied", "succeeded") if reflection.decision == "OBEYED" else ("refuted",)
        later = ("succeeded",) if reflection.decision == "OBEYED" else ("failed",)
        details = {"evidence": masked(reflection.evidence.strip()), "decision": reflection.decision}
        events += [
            memory.event("used", scar.id, data={"outcome": outcome, **details})
            for outcome in (later if scar.id in answered else first)
        ]
        taken.append((scar, reflection.decision))
    if events:
        memory.commit(events)
    others = [entry.record for entry in records.by_ids(store, shown - {scar.id for scar, _ in taken}).values()]
    left = [record for record in others if record.kind == "scar" and record.state == "active"]
    return Answered(taken=tuple(taken), problems=tuple(problems), waiting=tuple(left))


def use_of(args: Mapping[str, Any]) -> Use:
    """Return the use of a scar."""
    try:
        shown_at = parse_instant(args["surfaced_at"])
    except Invalid as problem:
        hint = "Use the ISO time at which recall returned the scar, such as 2026-03-01T09:30:00Z."
        raise Invalid(f"surfaced_at {args['surfaced_at'][:40]!r} is not an ISO timestamp.", hint=hint) from problem
    return Use(
        scar=args.get("scar_identifier") or args["scar_id"],
        reference=args["reference_type"],
        context=args["reference_context"],
        succeeded=args.get("execution_successful"),
        issue=args.get("issue_identifier") or args.get("issue_id") or "",
        shown_at=shown_at,
        variant=args.get("variant_id", ""),
        session=args.get("session_id", ""),
    )


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
    shown = {impression.id: impression.variant for impression in usage.shown_in(memory.store, memory.actor.session)}
    details = {
        "note": masked(use.context.strip())[:LONGEST_NOTE],
        "issue": use.issue,
        "shown_at": use.shown_at,
        "variant": use.variant if use.variant in VARIANTS else shown.get(scar.id, ""),
    }
    details = {name: value for name, value in details.items() if value}
    results = [] if use.succeeded is None else ["succeeded" if use.succeeded else "failed"]
    events = [
        memory.event("used", scar.id, data={"outcome": result, **details})
        for result in (outcome, *results)
        if result not in known
    ]
    if events:
        memory.commit(events)
    return known.get(outcome) or events[0].id


def note_uses(memory: Memory, scars: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Record several uses independently: one that fails is reported and does not affect the others."""
    events, names, errors = [], [], []
    for use in [use_of(scar) for scar in scars]:
        try:
            events.append(note_use(memory, use))
        except HoldfastError as problem:
            names.append(use.scar)
            errors.append(f"{use.scar}: {problem}")
    return {"events": events, "names": names, "errors": errors}


def scar_called(memory: Memory, name: str) -> Record:
    """Return the scar with this id or title, or the only one whose title or text contains the words."""
    try:
        return find(memory, name).record
    except Ambiguous:
        raise
    except HoldfastError:
        name = name.strip()
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


def search_lessons(
    memory: Memory, text: str, *, kinds: Sequence[str] = (*LESSONS, "observation"), severity: str = "", limit: int = 5
) -> Recalled:
    """Find lessons, and what sub-agents reported, by question; an id returns its record."""
    if is_reference(memory, text):
        record = find(memory, text).record
        return Recalled(hits=(Hit(record=record, score=1.0, confidence="strong", why={"id": 1.0}, fit=1.0),))
    recalled = recall(memory, Query(text=text, kinds=tuple(kinds), limit=limit * MORE), surface=False)
    hits = [
        hit
        for hit in recalled.hits
        if severity in ("", hit.record.fields.get("severity"))
        and (hit.record.kind != "observation" or hit.record.fields.get("type") == "sub-agent")
    ]
    return replace(recalled, hits=tuple(hits[:limit]))


def archive(memory: Memory, reference: str, reason: str = "archived") -> Record:
    """Take a lesson out of use; if the reason is "superseded by" the id of another, that one gets a link to it."""
    record, named = find(memory, reference).record, _SUCCESSOR.search(reason)
    if named and is_reference(memory, named[1]):
        link(memory, named[1], "supersedes", record.id)
    return retire(memory, record.id, reason)


def _fields(args: Mapping[str, Any], names: Mapping[str, str], *, without: Sequence[str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in args.items() if name not in without and value}
