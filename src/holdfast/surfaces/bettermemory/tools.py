"""bettermemory's tools: the verb of each, and the maps of its arguments and results. Every write has a status."""

from pathlib import Path
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.record import Record
from holdfast.model.text import shorten
from holdfast.policy.admission.admit import (
    SAME,
    Duplicate,
    PreviouslyRemoved,
    ScopeMismatch,
    SecretFound,
    Transient,
)
from holdfast.policy.admission.refusals import Remedies, explain, explain_pending
from holdfast.surfaces.bettermemory import verbs
from holdfast.surfaces.bettermemory.staleness import STALE_DAYS, verified_parts
from holdfast.surfaces.contract import read_contract
from holdfast.surfaces.maps import Row, Terms, mapped
from holdfast.surfaces.phrases import content
from holdfast.verbs.memory import Memory
from holdfast.verbs.records import lifecycle
from holdfast.verbs.records.write import Outcome, Written, WrittenPending, confirm, drop_pending

CONTRACT = read_contract(Path(__file__).parent)
SNIPPET, AROUND = 200, 20
LONG_WORDS = 500  # words from which an ambient memory is too long for background
REMEDIES = Remedies(
    revise="memory_update",
    restore="memory_restore",
    force="force=true",
    transient="acknowledge_transient=true",
    any_scope="acknowledge_scope_mismatch=true",
    approve="memory_write_confirm(pending_id) once the user agrees",
    reject="memory_write_cancel(pending_id)",
)

TIMES = "created=created_at, updated=updated_at, last_verified_at=verified_at|none"
HEAD = f"id, scopes=scopes|list, confidence, category=.|category, {TIMES}"
VERIFICATION = f"""
    verification=checked{{status, last_verified_at=at|none, age_days=days|whole, recommendation=recommendation|none,
    stale_after_days={STALE_DAYS}}}"""
HIT = f"""
    id, scopes=scopes|list, confidence, category=.|category, snippet=hit|snippet, score=hit.score|4,
    relevance=hit.confidence|relevance, match_terms=terms, {TIMES}, {VERIFICATION}, path_drift_checked=paths|len,
    path_drift_missing=missing|len, staleness_verdict=verdict, use_token=token, commit_drift_count?=commits, *more"""
FULL = f"""
    {HEAD}, source=.|source, body=.|content,
    origin={{repo=project|none, cwd=extra.cwd, branch=origin.branch|none, worktree=origin.worktree|none}},
    {VERIFICATION}, staleness_verdict=verdict, path_drift, commit_drift, *anchors|verified"""
LISTED = f"{HEAD}, summary=title|80, {VERIFICATION}, staleness_verdict=verdict"
COMMITTED = f"status='committed', {HEAD}, source=.|source, warnings?=.|warnings"
SIMILAR = """
    id=record.id, scopes=record.scopes|list, confidence=record.confidence, snippet=record|content|200,
    similarity=similarity|3, relevance=.|likeness, created=record.created_at, updated=record.updated_at"""
REMOVED = (
    SIMILAR.replace(".|likeness", '"{.|likeness}-removed"')
    + ", removed_at=record.updated_at, removed_reason=record.reason"
)
NEIGHBOURS = f"related?=related[{SIMILAR}], conflicts?=conflicts[id=record.id, reason=found.explain]"
PENDING = f"""
    status='pending', pending_id="{verbs.PENDING}{{record.id}}", pending_reason=reason,
    preview=record{{content=body, scopes=scopes|list, confidence, source=.|source, category=.|category}}, hint,
    related?=related[{SIMILAR}]"""
MISMATCH = """
    matches=suggested[kind='project_name', evidence=.|evidence, suggested_scope=.], suggested_scopes=suggested|list"""
ROW = f"""
    id, scopes=scopes|list, summary=title|80, {TIMES}, retrieval_count=surfaced, applied_count=applied,
    ignored_count=ignored, contradicted_count=contradicted, corrected_count=corrected, last_used_at=last_used_at|none,
    category=.|category, has_unresolved_contradiction=wrong"""
HERE = "current_repo=memory.project, current_cwd=memory|folder"
HEALTH = f"""
    generated_at=memory|now, window_days=health.days, total_active_memories=total, total_events=events,
    distinct_sessions=sessions, dead_weight=dead[{ROW}], cold_memories=cold[{ROW}], heavily_used=heavy[{ROW}],
    contradicted=contradicted[{ROW}, resolution_timeline=timeline], marker_stats=health.markers|markers,
    scope_distribution=health.scopes, scope_health=scopes, rare_scopes=health.typos[scope, similar_to=meant],
    orphan_use_events=health.strangers|len,
    verification_debt={{stale_after_days={STALE_DAYS}, never_verified_total=checks.never, stale_total=checks.stale,
    fresh_count=checks.fresh, rows=debt[{ROW}]}},
    commit_drift_debt=drifted{{{HERE}, total_drifted=total, rows=rows[{ROW}, commits_since_verify=commits]}}"""
OVERVIEW = f"""
    {HERE}, auto_scope, scopes, total, disabled_scopes=muted,
    curation_pending=todo{{stale, never_verified=never, drifted, cold, dead}}"""


def listed(memory: Memory, with_bodies: bool, **where: Any) -> list[dict[str, Any]]:
    """List memories, newest first, in full or as rows."""
    shape = FULL if with_bodies else LISTED
    return [mapped(shape, row, memory, TERMS) for row in verbs.listed(memory, with_bodies, **where)]


def save(memory: Memory, **args: Any) -> dict[str, Any]:
    """Save a memory, or return why it was refused."""
    return written(memory, verbs.save(memory, **args), args["content"])


def update(memory: Memory, id_: str, **args: Any) -> dict[str, Any]:
    """Change a memory in place, or return why that was refused."""
    return written(memory, verbs.update(memory, id_, **args), args.get("content", ""))


def written(memory: Memory, outcome: Outcome | Record, text: str = "") -> dict[str, Any]:
    """Return the outcome of a write, as a status with what to do next."""
    match outcome:
        case Record():
            return mapped(COMMITTED, outcome, memory, TERMS)
        case Written(record=record):
            return mapped(COMMITTED, record, memory, TERMS) | mapped(NEIGHBOURS, outcome, memory, TERMS)
        case WrittenPending(record=record, why=why):
            reason = "config" if "confirm_writes" in why else "user-inference"
            hint = explain_pending(record.id, REMEDIES)
            return mapped(PENDING, (outcome, {"reason": reason, "hint": hint}), memory, TERMS)
    refusal = explain(outcome, REMEDIES)
    match outcome:
        case Transient(markers=markers):
            details: dict[str, Any] = {"markers": [_around(text, marker) for marker in markers]}
            return {"status": "transient_warning", **details, "hint": refusal.hint}
        case ScopeMismatch(suggested=suggested):
            details = mapped(MISMATCH, {"suggested": suggested}, memory, TERMS)
        case Duplicate():
            details = mapped(f"matches=matches[{SIMILAR}]", outcome, memory, TERMS)
        case PreviouslyRemoved():
            details = mapped(f"removed_matches=matches[{REMOVED}]", outcome, memory, TERMS)
        case SecretFound():
            raise Invalid(refusal.reason, hint=refusal.hint)
    return {"status": refusal.code, **details, "hint": refusal.hint}


def _around(text: str, marker: str) -> dict[str, str]:
    """Return a marker with the text around it."""
    place = max(0, text.lower().find(marker))
    snippet = " ".join(text[max(0, place - AROUND) : place + len(marker) + AROUND].split())
    return {"marker": marker, "snippet": snippet} if text else {"marker": marker}


def _marker(name: str, fired: int, insisted: int) -> dict[str, Any]:
    rate = round(insisted / (fired + insisted), 3) if fired + insisted else 0.0
    return {"marker": name, "fire_count": fired, "override_count": insisted, "override_rate": rate}


def _warnings(record: Record) -> list[str]:
    is_long = verbs.category_of(record) == "ambient" and len(record.body.split()) > LONG_WORDS
    return ["ambient_body_long"] if is_long else []


TERMS = Terms(
    filters={
        "active": lambda records: [record.id for record in records if record.state != "retired"],
        "category": verbs.category_of,
        "evidence": lambda scope: scope.split(":")[1],
        "folder": lambda memory: str(memory.checkout.top()),
        "likeness": lambda match: "high" if match.similarity >= SAME else "medium",
        "markers": lambda markers: [_marker(name, *counts) for name, counts in markers.items()],
        "now": lambda memory: memory.clock.now(),
        "pending": verbs.record_id_of,
        "removed": lambda records: [record.id for record in records if record.state == "retired"],
        "snippet": lambda hit: shorten(hit.snippet or content(hit.record), SNIPPET),
        "source": verbs.source_of,
        "verified": verified_parts,
        "warnings": _warnings,
        "whole": lambda days: None if days is None else int(days),
    },
    lookups={"written": written},
)

ROWS = {
    "memory_search": Row(verbs.search, None, f"[{HIT}]"),
    "memory_show": Row(verbs.show, None, f"{FULL}, use_token=token"),
    "memory_write": Row(save),
    "memory_write_confirm": Row(confirm, "reference=pending_id|pending", "*.|written"),
    "memory_write_cancel": Row(drop_pending, "reference=pending_id|pending", "cancelled=pending_id, existed=."),
    "memory_update": Row(update),
    "memory_verify": Row(
        verbs.verify, None, "verified=id, last_verified_at=verified_at, updated=updated_at, *anchors|verified"
    ),
    "memory_list": Row(listed),
    "memory_remove": Row(
        lifecycle.retire, "reference=id_, reason", "removed=id, removed_reason=reason, tombstone_path=null"
    ),
    "memory_restore": Row(lifecycle.restore, "reference=id_", COMMITTED),
    "memory_list_tombstones": Row(
        verbs.tombstones,
        None,
        f"[{HEAD}, summary=title|80, removed=at, removed_reason=reason, removed_session=session|none]",
    ),
    "memory_rename_scope": Row(
        lifecycle.rename_scope,
        "old=old_scope, new=new_scope, retired=include_tombstones",
        "old_scope, new_scope, active=.|active, tombstoned=.|removed",
    ),
    "memory_record_use": Row(lifecycle.record_use, "references=memory_ids, outcome, note", "recorded=., outcome"),
    "memory_health": Row(verbs.curated, "days=window_days, top=heavily_used_top_k, least=min_applied", HEALTH),
    "memory_scope_overview": Row(verbs.overview, None, OVERVIEW),
    "memory_scope_disable": Row(verbs.mute, None, "disabled_scopes=."),
    "memory_scope_enable": Row(verbs.unmute, None, "disabled_scopes=."),
}
