"""Convert the arguments of GitMem's tools into drafts, uses and answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.ids import parse_instant
from holdfast.model.kinds import SEVERITIES
from holdfast.model.record import Draft
from holdfast.policy.admission.admit import Waivers
from holdfast.surfaces.gitmem.uses import Use
from holdfast.verbs.memory import Memory
from holdfast.verbs.sessions.scars import Answer
from holdfast.verbs.sessions.session import find_session

COUNTER_ARGUMENTS = 2
# Their names for our fields, where they differ.
_LEARNING = {"source_linear_issue": "issue", "why_this_matters": "why", "self_check_criteria": "self_check"}
_DECISION = {
    "alternatives_considered": "alternatives",
    "personas_involved": "people",
    "docs_affected": "documents",
    "linear_issue": "issue",
}


def learning(args: Mapping[str, Any]) -> Draft:
    """Return the draft of a learning; raise with everything that a scar lacks."""
    kind, rest = args["learning_type"], _renamed(args, _LEARNING, without=("learning_type", "title", "description"))
    if kind == "scar":
        _check_scar(rest)
        rest.setdefault("scar_type", "process")
    else:  # fields that only a scar has
        rest = {name: value for name, value in rest.items() if name not in ("counter_arguments", "scar_type")}
    return Draft(kind=kind, title=args["title"], body=args["description"], fields=rest)


def decision(args: Mapping[str, Any]) -> Draft:
    """Return the draft of a decision."""
    rest = _renamed(args, _DECISION, without=("title", "decision"))
    return Draft(kind="decision", title=args["title"], body=args["decision"], fields=rest)


def waivers(*, duplicate: bool) -> Waivers:
    """Return the admission checks to skip: GitMem has neither transient wordings nor scopes."""
    return Waivers(duplicate=duplicate, transient=True, scope=True)


def use(args: Mapping[str, Any]) -> Use:
    """Return the use of a scar."""
    return Use(
        scar=args.get("scar_identifier") or args["scar_id"],
        reference=args["reference_type"],
        context=args["reference_context"],
        succeeded=args.get("execution_successful"),
        issue=args.get("issue_identifier") or args.get("issue_id") or "",
        shown_at=_moment(args, "surfaced_at"),
        variant=args.get("variant_id", ""),
        session=args.get("session_id", ""),
    )


def _moment(args: Mapping[str, Any], name: str) -> str:
    """Return a time as stored; raise Invalid for one that is not ISO."""
    try:
        return parse_instant(args[name])
    except Invalid as problem:
        hint = "Use the ISO time at which recall returned the scar, such as 2026-03-01T09:30:00Z."
        raise Invalid(f"{name} {args[name][:40]!r} is not an ISO timestamp.", hint=hint) from problem


def answers(items: Sequence[Mapping[str, Any]], decision_key: str) -> list[Answer]:
    """Return the answers to scars, or the reflections on them."""
    return [
        Answer(
            scar=item["scar_id"],
            decision=item[decision_key],
            evidence=item["evidence"],
            relevance=item.get("relevance", ""),
        )
        for item in items
    ]


def session_id(memory: Memory, reference: str) -> str:
    """Return the id of a session; empty for the active one."""
    if not reference:
        return ""
    try:
        return find_session(memory, reference).id
    except Invalid as problem:
        hint = "Use the id that session_start returned; call session_start if there is none."
        raise Invalid(f"Invalid session_id format: {reference[:40]!r} is not an id.", hint=hint) from problem


def _check_scar(fields: Mapping[str, Any]) -> None:
    problems = []
    if not fields.get("severity"):
        *others, last = SEVERITIES
        problems.append(f"Missing required field: severity (must be {', '.join(others)}, or {last})")
    if len([argument for argument in fields.get("counter_arguments", ()) if argument.strip()]) < COUNTER_ARGUMENTS:
        problems.append(f"Scars require at least {COUNTER_ARGUMENTS} counter_arguments")
    if problems:
        hint = "Add what is missing and call again; counter-arguments state when it is reasonable to ignore the scar."
        raise Invalid("Validation failed: nothing was saved.", hint=hint, problems=problems)


def _renamed(args: Mapping[str, Any], names: Mapping[str, str], *, without: Sequence[str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in args.items() if name not in without and value}
