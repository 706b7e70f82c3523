"""Format the health report and the scope overview of bettermemory as JSON."""

from collections.abc import Sequence
from typing import Any

from holdfast.model.text import shorten
from holdfast.surfaces.bettermemory import shapes
from holdfast.surfaces.bettermemory.arguments import category_of
from holdfast.surfaces.bettermemory.drift import STALE_DAYS
from holdfast.surfaces.bettermemory.health_data import Chores, Curation, Row, ScopeHealth
from holdfast.verbs.memory import Memory

ROWS = 20


def report(memory: Memory, curation: Curation) -> dict[str, Any]:
    """Return the full curation report."""
    health = curation.health
    return {
        "generated_at": memory.clock.now(),
        "window_days": health.days,
        "total_active_memories": curation.total,
        "total_events": curation.events,
        "distinct_sessions": curation.sessions,
        "dead_weight": [row(row_) for row_ in curation.dead],
        "cold_memories": [row(row_) for row_ in curation.cold],
        "heavily_used": [row(row_) for row_ in curation.heavy],
        "contradicted": [{**row(row_), "resolution_timeline": timeline(row_)} for row_ in curation.contradicted],
        "marker_stats": [_marker(name, *counts) for name, counts in health.markers.items()],
        "scope_distribution": health.scopes,
        "scope_health": [_scope(scope) for scope in curation.scopes],
        "rare_scopes": [{"scope": typo.scope, "similar_to": typo.meant} for typo in health.typos],
        "orphan_use_events": len(health.strangers),
        "verification_debt": {
            "stale_after_days": STALE_DAYS,
            "never_verified_total": curation.checks["never"],
            "stale_total": curation.checks["stale"],
            "fresh_count": curation.checks["fresh"],
            "rows": [row(row_) for row_ in curation.debt],
        },
        "commit_drift_debt": _drift(memory, curation),
    }


def row(row_: Row) -> dict[str, Any]:
    """Return a record with its usage."""
    record, used = row_.record, row_.usage
    return {
        "id": record.id,
        "scopes": list(record.scopes),
        "summary": shorten(record.title, shapes.SUMMARY),
        **shapes.times(record),
        "retrieval_count": used.surfaced,
        "applied_count": used.applied,
        "ignored_count": used.ignored,
        "contradicted_count": used.contradicted,
        "corrected_count": used.corrected,
        "last_used_at": used.last_used_at or None,
        "category": category_of(record),
        "has_unresolved_contradiction": row_.contradicted,
    }


def timeline(row_: Row) -> list[dict[str, Any]]:
    """Return what supports and contradicts a record, in order."""
    record = row_.record
    moments = [("contradicted", use.at) for use in row_.disputes]
    moments += [("updated", record.updated_at)] if record.updated_at > record.created_at else []
    moments += [("verified", record.verified_at)] if record.verified_at else []
    return [{"kind": kind, "ts": at} for kind, at in sorted(moments, key=lambda moment: moment[1])]


def overview(
    memory: Memory, scopes: dict[str, int], total: int, todo: Chores, muted: Sequence[str], *, auto_scope: bool
) -> dict[str, Any]:
    """Return record counts by scope, and how much there is to curate."""
    return {
        "current_repo": memory.project,
        "current_cwd": str(memory.checkout.top()),
        "auto_scope": auto_scope,
        "scopes": scopes,
        "total": total,
        "disabled_scopes": list(muted),
        "curation_pending": {
            "stale": todo.stale,
            "never_verified": todo.never,
            "drifted": todo.drifted,
            "cold": todo.cold,
            "dead": todo.dead,
        },
    }


def _scope(health: ScopeHealth) -> dict[str, Any]:
    return {
        "scope": health.scope,
        "active": health.active,
        "dead": health.dead,
        "cold": health.cold,
        "contradicted": health.contradicted,
        "applied_total": health.applied,
    }


def _marker(name: str, fired: int, insisted: int) -> dict[str, Any]:
    rate = round(insisted / (fired + insisted), 3) if fired + insisted else 0.0
    return {"marker": name, "fire_count": fired, "override_count": insisted, "override_rate": rate}


def _drift(memory: Memory, curation: Curation) -> dict[str, Any] | None:
    if curation.drifted is None:
        return None
    ranked = sorted(curation.drifted, key=lambda pair: -pair[1])
    return {
        "current_repo": memory.project,
        "current_cwd": str(memory.checkout.top()),
        "total_drifted": len(ranked),
        "rows": [{**row(row_), "commits_since_verify": commits} for row_, commits in ranked[:ROWS]],
    }
