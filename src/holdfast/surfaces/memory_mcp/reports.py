"""Format counts, the hot cache, documents, trust, sessions and predictions of Memory MCP as JSON."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from holdfast.model.session import Session
from holdfast.model.text import shorten
from holdfast.policy.ranking.hot_set import helpfulness, uses_of
from holdfast.surfaces.memory_mcp import shapes
from holdfast.surfaces.memory_mcp.digest import Digest, Ended
from holdfast.surfaces.memory_mcp.memory_types import category_of, type_of
from holdfast.surfaces.phrases import content
from holdfast.verbs.exchange.bootstrap import Seeded
from holdfast.verbs.records.browse import Census
from holdfast.verbs.records.hot import Hot
from holdfast.verbs.records.vitals import Vitals
from holdfast.verbs.search.predict import HALF_LIFE_DAYS, LEAST, MOST
from holdfast.verbs.sessions.session import Opening, SessionContents
from holdfast.verbs.truth.trust import Trust
from holdfast.verbs.upkeep.maintain import Metrics, Quality

EPISODE, SAID = 100, 300


def stats(census: Census, hot: int, type_of_kind: Callable[[str], str]) -> dict[str, Any]:
    """Return the number of memories by type and source."""
    by_type: dict[str, int] = {}
    for kind, count in census.kinds.items():
        by_type[type_of_kind(kind)] = by_type.get(type_of_kind(kind), 0) + count
    mined = census.sources.get("mined", 0)
    sources = {"manual": census.total - mined, "mined": mined}
    return {
        "total_memories": census.total,
        "hot_cache_count": hot,
        "by_type": by_type,
        "by_source": {name: count for name, count in sources.items() if count},
    }


def hot_status(items: Sequence[Vitals], counts: Mapping[str, int], capacity: int) -> dict[str, Any]:
    """Return the hot cache and its statistics."""
    ranked = sorted(items, key=lambda item: (uses_of(item.usage), item.heat))
    lookups = counts["hits"] + counts["misses"]
    return {
        "items": [shapes.memory(item) for item in items],
        "max_items": capacity,
        "current_count": len(items),
        "pinned_count": sum(item.pinned for item in items),
        "avg_hot_score": round(sum(item.heat for item in items) / len(items), 3) if items else 0.0,
        "metrics": {name: counts[name] for name in ("hits", "misses", "evictions", "promotions")},
        "effectiveness": {
            "total_accesses": sum(uses_of(item.usage) for item in items),
            "estimated_tool_calls_saved": counts["hits"],
            "hit_rate_percent": round(100 * counts["hits"] / lookups, 1) if lookups else 0.0,
            "most_accessed_id": ranked[-1].number if ranked else None,
            "least_accessed_id": ranked[0].number if ranked else None,
        },
    }


def quality(measured: Quality, days: int) -> dict[str, Any]:
    """Return how useful recent recalls were."""
    return {
        "days": days,
        "sessions": measured.sessions,
        "total_retrievals": measured.recalls,
        "empty_retrievals": measured.empty,
        "memories_shown": measured.shown,
        "used_count": measured.declared.get("applied", 0),
        "usage_rate": round(measured.helped, 3),
        "declared": measured.declared,
        "observed": measured.observed,
    }


def retrieval(vitals: Vitals) -> dict[str, Any]:
    """Return how often one memory was returned and helped."""
    return {
        "memory_id": vitals.number,
        "retrieved_count": vitals.usage.surfaced,
        "used_count": uses_of(vitals.usage),
        "utility_score": round(helpfulness(vitals.usage), 3),
        "last_used_at": vitals.usage.last_used_at or None,
    }


def bootstrapped(done: Seeded) -> dict[str, Any]:
    """Return the result of importing a project's documents."""
    return {
        "success": True,
        "files_found": done.found,
        "files_processed": done.read,
        "memories_created": len(done.kept),
        "memories_skipped": done.known,
        "hot_cache_promoted": done.hot,
        "errors": list(done.problems),
        "message": str(done) if done.found else "No documents found.",
    }


def seeded(done: Seeded) -> dict[str, Any]:
    """Return the result of importing a text."""
    return {"memories_created": len(done.kept), "memories_skipped": done.known, "errors": list(done.problems)}


def project(opened: Opening, hot: Sequence[Hot]) -> str:
    """Format the state of the project."""
    last = opened.last
    lines = [f"[MEMORY: Project context ({opened.session.project})]", f"Hot memories: {len(hot)}"]
    if last:
        title = str(last.close.get("title") or last.title or "untitled")
        lines.append(f"Last session: {last.closed_at[:10]} {shorten(title, 80)}")
    lines += [f"Open thread: {shorten(thread.record.title, 100)}" for thread in opened.threads[:3]]
    lines += [f"Decision: {shorten(decision.title, 100)}" for decision in opened.decisions]
    return "\n".join([*lines, *(f"- {shorten(member.record.title, shapes.CACHE_LINE)}" for member in hot[:5])])


def trust_changed(trust: Trust, number: int) -> dict[str, Any]:
    """Return the effect of a change of trust."""
    before = trust.history[-2].value if len(trust.history) > 1 else trust.base
    return {
        "memory_id": number,
        "old_trust": round(before, 3),
        "new_trust": round(trust.value, 3),
        "message": f"Trust of memory #{number}: {before:.2f} → {trust.value:.2f} ({trust.history[-1].reason}).",
    }


def trust_history(trust: Trust, number: int, limit: int) -> dict[str, Any]:
    """Return every change of trust, latest first."""
    before = [trust.base, *(step.value for step in trust.history)]
    entries = [
        {
            "id": position,
            "memory_id": number,
            "reason": step.reason,
            "old_trust": round(before[position - 1], 3),
            "new_trust": round(step.value, 3),
            "delta": round(step.delta, 3),
            "similarity": None,
            "note": step.note or None,
            "created_at": step.at,
        }
        for position, step in enumerate(trust.history, start=1)
    ]
    return {
        "memory_id": number,
        "entries": entries[::-1][:limit],
        "current_trust": round(trust.value, 3),
        "total_changes": len(entries),
    }


def session(left: SessionContents, logs: int) -> dict[str, Any]:
    """Return a session."""
    session_ = left.session
    return {
        "id": session_.id,
        "started_at": session_.started_at,
        "last_activity_at": max(left.last_at, session_.started_at),
        "topic": topic(session_),
        "project_path": session_.project or None,
        "memory_count": len(left.records),
        "log_count": logs,
    }


def topic(session_: Session) -> str | None:
    """Return the topic of a session."""
    return str(session_.close.get("title") or session_.title or "") or None


def digested(digest: Digest) -> dict[str, Any]:
    """Return a session's memories by group."""
    groups = {
        name: [
            {
                "id": entry.number,
                "content": shorten(content(entry.record), SAID),
                "memory_type": type_of(entry.record),
                "category": category_of(entry.record) or None,
            }
            for entry in entries
        ]
        for name, entries in digest.groups.items()
    }
    head = {"success": True, "session_id": digest.session.id, "topic": topic(digest.session)}
    return {**head, "memory_count": digest.total, **groups}


def ended(result: Ended) -> dict[str, Any]:
    """Return what was made lasting at the end of a session."""
    kept = {record.id for record in result.promoted}
    numbers = [episode.number for episode in result.episodes if episode.record.id in kept]
    return {
        "success": True,
        "session_id": result.session.id,
        "episodic_count": len(result.episodes),
        "promoted_count": len(numbers),
        "promoted_ids": numbers,
        "top_memories": [
            {"id": episode.number, "content": shorten(episode.record.body, EPISODE), "salience": episode.salience}
            for episode in result.episodes[:5]
        ],
    }


def predictive(metrics: Metrics, capacity: int) -> dict[str, Any]:
    """Return how predictions are made, and from how much data."""
    config = {"prediction_threshold": LEAST, "max_predictions": MOST, "sequence_decay_days": HALF_LIFE_DAYS}
    return {
        "enabled": True,
        "config": {**config, "hot_cache_max_items": capacity},
        "stats": {"total_sequences": metrics.steps, "total_transitions": metrics.steps_taken},
    }
