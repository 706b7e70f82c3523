"""Import records of a `.gitmem` folder: learnings, decisions, threads, suggestions and scar usage."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from holdfast.adapters.importers.values import digest, first, rest, text, texts, when
from holdfast.model.event import Actor
from holdfast.model.foreign import Foreign, ForeignEvent, ForeignLink, Item
from holdfast.model.record import Draft

KINDS = ("scar", "win", "pattern", "anti_pattern")
STATE = "PROJECT STATE:"
STATE_TAG = "project-state"
USES = {
    "explicit": "applied",
    "implicit": "applied",
    "acknowledged": "acknowledged",
    "refuted": "refuted",
    "none": "ignored",
}


def learning(row: Mapping[str, Any], where: str, own_names: frozenset[str]) -> Foreign:
    """Return a scar, win, pattern or anti-pattern; an archived one is retired."""
    archived = row.get("is_active") is False
    related, faded = text(row.get("related_scar_id")), row.get("decay_multiplier")
    return Foreign(
        key=f"learning:{row.get('id') or digest(text(row.get('title')), text(row.get('description')))}",
        where=where,
        draft=replace(_learning_draft(row), project=project_of(row, own_names)),
        by=Actor(kind="agent", name=text(row.get("persona_name"))),
        state="retired" if archived else "active",
        reason="archived" if archived else "",
        retired_at=when(row.get("archived_at")),
        updated_at=when(row.get("updated_at")),
        links=(ForeignLink(relation="relates_to", key=f"learning:{related}"),) if related else (),
        counts={} if faded in (None, 1, 1.0) else {"decay_multiplier": faded},
        dated=bool(when(row.get("created_at"))),
    )


def _learning_draft(row: Mapping[str, Any]) -> Draft:
    kind = first(row, "learning_type", "type")
    fields, used = _learning_fields(row)
    used |= {"embedding", "decay_multiplier", "id", "title", "description", "project", "is_active", "persona_name"}
    used |= {"learning_type", "type"} if kind in (*KINDS, "") else set()
    return Draft(
        kind=kind if kind in KINDS else "learning",
        title=text(row.get("title")),
        body=first(row, "description", "title"),
        fields=fields,
        at=when(row.get("created_at")) or when(row.get("source_date")),
        extra=rest(row, used, ("created_at", "updated_at", "archived_at")),
    )


# Where our names differ from theirs.
_RENAMED = {"why": "why_this_matters", "self_check": "self_check_criteria", "issue": "source_linear_issue"}
_LEARNING_FIELDS = (
    "severity scar_type counter_arguments keywords domain applies_when why action_protocol self_check "
    "problem_context solution_approach issue"
).split()


def _learning_fields(row: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """Return the fields of a learning, and the names that were used for them."""
    names = {name: _RENAMED.get(name, name) for name in _LEARNING_FIELDS}
    fields = {name: row.get(original) for name, original in names.items()}
    used = set(names.values())
    check = row.get("required_verification")
    if isinstance(check, Mapping) and not rest(check, {"when", "queries", "must_show", "blocking"}):
        fields |= {"verify_when": check.get("when"), "verify_with": list(texts(check.get("queries")))}
        fields |= {"must_show": check.get("must_show"), "blocking": check.get("blocking")}
        used.add("required_verification")
    return fields, used


def decision(row: Mapping[str, Any], where: str, own_names: frozenset[str]) -> Foreign:
    """Return a decision."""
    at = when(row.get("created_at")) or when(row.get("decision_date"))
    used = "id decision title rationale alternatives_considered personas_involved docs_affected linear_issue session_id project embedding"
    return Foreign(
        key=f"decision:{row.get('id') or digest(text(row.get('title')), text(row.get('decision')))}",
        where=where,
        draft=Draft(
            kind="decision",
            title=text(row.get("title")),
            body=first(row, "decision", "title"),
            fields={
                "rationale": row.get("rationale"),
                "alternatives": row.get("alternatives_considered"),
                "people": row.get("personas_involved"),
                "documents": row.get("docs_affected"),
                "issue": row.get("linear_issue"),
            },
            project=project_of(row, own_names),
            at=at,
            extra=rest(row, used.split(), ("created_at",)),
        ),
        by=Actor(kind="agent", session=text(row.get("session_id"))),
        dated=bool(at),
    )


def thread(row: Mapping[str, Any], where: str, own_names: frozenset[str]) -> Iterator[Item]:
    """Yield a thread with its status and last activity; the state of the project becomes a progress record."""
    draft = replace(_thread_draft(row), project=project_of(row, own_names))
    key, status = f"thread:{row.get('id') or digest(draft.body)}", text(row.get("status"))
    yield Foreign(
        key=key,
        where=where,
        draft=draft,
        by=Actor(kind="agent", session=first(row, "source_session")),
        state="retired" if status in ("resolved", "archived") else "active",
        reason=first(row, "resolution_note", "status"),
        retired_at=when(row.get("resolved_at")),
        counts=rest(row, set(row) - _THREAD_COUNTS),
        dated=bool(draft.at),
    )
    touched = when(row.get("last_touched_at"))
    if touched > draft.at:
        yield ForeignEvent(key=f"{key}:{touched}", verb="touched", of=(key,), at=touched, where=where)


def _thread_draft(row: Mapping[str, Any]) -> Draft:
    body = first(row, "text", "thread", "title")
    is_state = body.startswith(STATE)
    fields = {name: row.get(name) for name in ("thread_class", "related_issues")}
    fields |= {"resolution": text(row.get("resolution_note"))}
    used = "id text status source_session resolution_note thread_class related_issues project embedding".split()
    return Draft(
        kind="progress" if is_state else "thread",
        body=body.removeprefix(STATE).strip(),
        fields={} if is_state else fields,
        tags=(STATE_TAG,) if is_state else (),
        at=when(row.get("created_at")),
        extra=rest(row, _THREAD_COUNTS.union(used), ("created_at", "resolved_at")),
    )


_THREAD_COUNTS = frozenset({"touch_count", "vitality_score", "last_touched_at"})


def suggestion(row: Mapping[str, Any], where: str) -> Iterator[Item]:
    """Yield a suggested thread and an event for each time it was dismissed."""
    key, status = f"suggestion:{row.get('id')}", text(row.get("status"))
    promoted = text(row.get("promoted_thread_id"))
    dismissals = row.get("dismissed_count")
    used = {"id", "text", "embedding", "evidence_sessions", "similarity_score"}
    extra = rest(row, used, ("created_at", "updated_at"))
    evidence = {"evidence": list(texts(row.get("evidence_sessions"))), "score": row.get("similarity_score")}
    at = when(row.get("created_at"))
    yield Foreign(
        key=key,
        where=where,
        draft=Draft(kind="thread", body=text(row.get("text")), at=at, extra=extra | evidence),
        state="retired" if status == "promoted" else "pending",
        reason="it became a thread" if promoted else "",
        updated_at=when(row.get("updated_at")),
        links=(ForeignLink(relation="relates_to", key=f"thread:{promoted}"),) if promoted else (),
        dated=bool(at),
    )
    last = when(row.get("updated_at")) or at
    for nth in range(dismissals if isinstance(dismissals, int) else 0):
        data = {"outcome": "dismissed"}
        yield ForeignEvent(key=f"{key}:{nth}", verb="used", of=(key,), at=last, data=data, where=where)


def usage(row: Mapping[str, Any], where: str) -> Iterator[Item]:
    """Yield the events of a scar: that it was surfaced, the response, and whether the work succeeded."""
    key = f"usage:{row.get('id') or digest(where)}"
    of = (f"learning:{row.get('scar_id')}",)
    by = Actor(kind="agent", name=text(row.get("agent")), session=text(row.get("session_id")))
    surfaced_at = when(row.get("surfaced_at"))
    at = when(row.get("acknowledged_at")) or when(row.get("created_at")) or surfaced_at
    if surfaced_at:
        yield ForeignEvent(key=key, verb="surfaced", of=of, at=surfaced_at, by=by, where=where)
    kind = text(row.get("reference_type")) or ("implicit" if row.get("referenced") else "none")
    data: dict[str, Any] = {"outcome": USES.get(kind, kind), "note": text(row.get("reference_context"))}
    data |= {"imported": rest(row, {"scar_id", "session_id", "agent", "surfaced_at", "reference_context"})}
    if variant := text(row.get("variant_id")):
        data["variant"] = variant
    yield ForeignEvent(key=key, verb="used", of=of, at=at, by=by, data=data, where=where)
    worked = row.get("execution_successful")
    if isinstance(worked, bool) and kind != "none":
        outcome = {"outcome": "succeeded" if worked else "failed"}
        yield ForeignEvent(key=f"{key}:outcome", verb="used", of=of, at=at, by=by, data=outcome, where=where)


def project_of(row: Mapping[str, Any], own_names: frozenset[str]) -> str | None:
    """Return the project a record names; None if it is the folder's own."""
    name = text(row.get("project"))
    return None if name in own_names else name
