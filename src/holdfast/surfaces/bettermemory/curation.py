"""What a curator reads in bettermemory: the health of a project's memory, and a cheap overview of its scopes."""

from collections.abc import Sequence
from typing import Any

from holdfast.model.text import shorten
from holdfast.surfaces.bettermemory import shapes
from holdfast.surfaces.bettermemory.curate import Chores, Curation, Row, ScopeHealth
from holdfast.surfaces.bettermemory.drift import STALE_DAYS
from holdfast.surfaces.bettermemory.given import category_of
from holdfast.verbs.memory import Memory

ROWS = 20


def report(memory: Memory, found: Curation) -> dict[str, Any]:
    """Give everything a curator wants to see."""
    health = found.health
    return {
        "generated_at": memory.clock.now(),
        "window_days": health.days,
        "total_active_memories": found.total,
        "total_events": found.events,
        "distinct_sessions": found.sessions,
        "dead_weight": [row(one) for one in found.dead],
        "cold_memories": [row(one) for one in found.cold],
        "heavily_used": [row(one) for one in found.heavy],
        "contradicted": [{**row(one), "resolution_timeline": timeline(one)} for one in found.contradicted],
        "marker_stats": [_marker(name, *counts) for name, counts in health.markers.items()],
        "scope_distribution": health.scopes,
        "scope_health": [_scope(one) for one in found.scopes],
        "rare_scopes": [{"scope": one.scope, "similar_to": one.meant} for one in health.typos],
        "orphan_use_events": list(health.strangers),
        "verification_debt": {
            "stale_after_days": STALE_DAYS,
            "never_verified_total": found.checks["never"],
            "stale_total": found.checks["stale"],
            "fresh_count": found.checks["fresh"],
            "rows": [row(one) for one in found.debt],
        },
        "commit_drift_debt": _drift(memory, found),
    }


def row(one: Row) -> dict[str, Any]:
    """Give a memory with what became of it."""
    record, used = one.record, one.usage
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
        "has_unresolved_contradiction": one.contradicted,
    }


def timeline(one: Row) -> list[dict[str, Any]]:
    """Give what speaks for and against a memory, in order."""
    record = one.record
    moments = [("contradicted", use.at) for use in one.disputes]
    moments += [("updated", record.updated_at)] if record.updated_at > record.created_at else []
    moments += [("verified", record.verified_at)] if record.verified_at else []
    return [{"kind": kind, "ts": at} for kind, at in sorted(moments, key=lambda moment: moment[1])]


def overview(
    memory: Memory, scopes: dict[str, int], total: int, todo: Chores, muted: Sequence[str], *, auto_scope: bool
) -> dict[str, Any]:
    """Give what there is, by scope, and what waits for a curator."""
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


def _scope(one: ScopeHealth) -> dict[str, Any]:
    return {
        "scope": one.scope,
        "active": one.active,
        "dead": one.dead,
        "cold": one.cold,
        "contradicted": one.contradicted,
        "applied_total": one.applied,
    }


def _marker(name: str, fired: int, insisted: int) -> dict[str, Any]:
    rate = round(insisted / (fired + insisted), 3) if fired + insisted else 0.0
    return {"marker": name, "fire_count": fired, "override_count": insisted, "override_rate": rate}


def _drift(memory: Memory, found: Curation) -> dict[str, Any] | None:
    if found.drifted is None:
        return None
    ranked = sorted(found.drifted, key=lambda pair: -pair[1])
    return {
        "current_repo": memory.project,
        "current_cwd": str(memory.checkout.top()),
        "total_drifted": len(ranked),
        "rows": [{**row(one), "commits_since_verify": commits} for one, commits in ranked[:ROWS]],
    }
