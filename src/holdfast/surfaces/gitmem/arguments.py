"""What callers of GitMem's tools give, as values of ours."""

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.model.errors import Invalid
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


def learning(given: Mapping[str, Any]) -> Draft:
    """Give the draft of a learning, or say everything that a scar lacks."""
    kind, rest = given["learning_type"], _renamed(given, _LEARNING, without=("learning_type", "title", "description"))
    if kind == "scar":
        _check_scar(rest)
        rest.setdefault("scar_type", "process")
    else:  # what only a scar has says nothing of anything else
        rest = {name: value for name, value in rest.items() if name not in ("counter_arguments", "scar_type")}
    return Draft(kind=kind, title=given["title"], body=given["description"], fields=rest)


def decision(given: Mapping[str, Any]) -> Draft:
    """Give the draft of a decision."""
    rest = _renamed(given, _DECISION, without=("title", "decision"))
    return Draft(kind="decision", title=given["title"], body=given["decision"], fields=rest)


def waivers(*, duplicate: bool) -> Waivers:
    """Give what is not held against a write: GitMem knows neither passing remarks nor scopes."""
    return Waivers(duplicate=duplicate, transient=True, scope=True)


def use(given: Mapping[str, Any]) -> Use:
    """Give the use of a scar."""
    return Use(
        scar=given.get("scar_identifier") or given["scar_id"],
        reference=given["reference_type"],
        context=given["reference_context"],
        succeeded=given.get("execution_successful"),
        issue=given.get("issue_identifier") or given.get("issue_id") or "",
        shown_at=given["surfaced_at"],
        variant=given.get("variant_id", ""),
        session=given.get("session_id", ""),
    )


def answers(given: Sequence[Mapping[str, Any]], decision_key: str) -> list[Answer]:
    """Give answers to scars, or what came of them."""
    return [
        Answer(
            scar=one["scar_id"],
            decision=one[decision_key],
            evidence=one["evidence"],
            relevance=one.get("relevance", ""),
        )
        for one in given
    ]


def session_id(memory: Memory, given: str) -> str:
    """Give the id of the session meant; nothing means the one going on."""
    if not given:
        return ""
    try:
        return find_session(memory, given).id
    except Invalid as problem:
        hint = "Give the id that session_start showed, or its first 8 characters; call session_start if there is none."
        raise Invalid(f"Invalid session_id format: {given[:40]!r} is no id.", hint=hint) from problem


def _check_scar(fields: Mapping[str, Any]) -> None:
    problems = []
    if not fields.get("severity"):
        *others, last = SEVERITIES
        problems.append(f"Missing required field: severity (must be {', '.join(others)}, or {last})")
    if len([one for one in fields.get("counter_arguments", ()) if one.strip()]) < COUNTER_ARGUMENTS:
        problems.append(f"Scars require at least {COUNTER_ARGUMENTS} counter_arguments")
    if problems:
        hint = "Add what is missing and call again; counter-arguments say when it is reasonable to ignore the scar."
        raise Invalid("Validation failed: nothing was kept.", hint=hint, problems=problems)


def _renamed(given: Mapping[str, Any], names: Mapping[str, str], *, without: Sequence[str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in given.items() if name not in without and value}
