"""What callers of Memory MCP get of the whole: counts, the hot cache, documents, trust, sessions, predictions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from holdfast.model.session import Session
from holdfast.model.text import shorten
from holdfast.policy.ranking.heat import helpfulness, uses_of
from holdfast.surfaces.memory_mcp import shapes
from holdfast.surfaces.memory_mcp.digest import Digest, Ended
from holdfast.surfaces.memory_mcp.memory_types import category_of, type_of
from holdfast.surfaces.phrases import content
from holdfast.verbs.exchange.bootstrap import Seeded
from holdfast.verbs.records.browse import Census
from holdfast.verbs.records.hot import Hot
from holdfast.verbs.records.vitals import Vitals
from holdfast.verbs.search.predict import HALF_LIFE_DAYS, LEAST, MOST
from holdfast.verbs.sessions.session import Left, Opening
from holdfast.verbs.truth.trust import Trust
from holdfast.verbs.upkeep.maintain import Metrics, Quality

EPISODE, SAID = 100, 300


def stats(found: Census, hot: int, type_of_kind: Callable[[str], str]) -> dict[str, Any]:
    """Give how many memories there are, by type and source."""
    by_type: dict[str, int] = {}
    for kind, count in found.kinds.items():
        by_type[type_of_kind(kind)] = by_type.get(type_of_kind(kind), 0) + count
    mined = found.sources.get("mined", 0)
    sources = {"manual": found.total - mined, "mined": mined}
    return {
        "total_memories": found.total,
        "hot_cache_count": hot,
        "by_type": by_type,
        "by_source": {name: count for name, count in sources.items() if count},
    }


def hot_status(items: Sequence[Vitals], counts: Mapping[str, int], capacity: int) -> dict[str, Any]:
    """Give the hot cache and how it fares."""
    ranked = sorted(items, key=lambda one: (uses_of(one.usage), one.heat))
    asked = counts["hits"] + counts["misses"]
    return {
        "items": [shapes.memory(one) for one in items],
        "max_items": capacity,
        "current_count": len(items),
        "pinned_count": sum(one.pinned for one in items),
        "avg_hot_score": round(sum(one.heat for one in items) / len(items), 3) if items else 0.0,
        "metrics": {name: counts[name] for name in ("hits", "misses", "evictions", "promotions")},
        "effectiveness": {
            "total_accesses": sum(uses_of(one.usage) for one in items),
            "estimated_tool_calls_saved": counts["hits"],
            "hit_rate_percent": round(100 * counts["hits"] / asked, 1) if asked else 0.0,
            "most_accessed_id": ranked[-1].number if ranked else None,
            "least_accessed_id": ranked[0].number if ranked else None,
        },
    }


def quality(found: Quality, days: int) -> dict[str, Any]:
    """Give what recall was good for lately."""
    return {
        "days": days,
        "sessions": found.sessions,
        "total_retrievals": found.recalls,
        "empty_retrievals": found.empty,
        "memories_shown": found.shown,
        "used_count": found.declared.get("applied", 0),
        "usage_rate": round(found.helped, 3),
        "declared": found.declared,
        "observed": found.observed,
    }


def retrieval(one: Vitals) -> dict[str, Any]:
    """Give how often one memory was shown and helped."""
    return {
        "memory_id": one.number,
        "retrieved_count": one.usage.surfaced,
        "used_count": uses_of(one.usage),
        "utility_score": round(helpfulness(one.usage), 3),
        "last_used_at": one.usage.last_used_at or None,
    }


def bootstrapped(done: Seeded) -> dict[str, Any]:
    """Give what a project's documents became."""
    return {
        "success": True,
        "files_found": done.found,
        "files_processed": done.read,
        "memories_created": len(done.kept),
        "memories_skipped": done.known,
        "hot_cache_promoted": done.hot,
        "errors": list(done.problems),
        "message": str(done) if done.found else "No document was found here.",
    }


def seeded(done: Seeded) -> dict[str, Any]:
    """Give what a text became."""
    return {"memories_created": len(done.kept), "memories_skipped": done.known, "errors": list(done.problems)}


def project(opened: Opening, hot: Sequence[Hot]) -> str:
    """Write where the project stands."""
    last = opened.last
    lines = [f"[MEMORY: Project context ({opened.session.project})]", f"Hot memories: {len(hot)}"]
    if last:
        told = str(last.close.get("title") or last.title or "untitled")
        lines.append(f"Last session: {last.closed_at[:10]} {shorten(told, 80)}")
    lines += [f"Open thread: {shorten(one.record.title, 100)}" for one in opened.threads[:3]]
    lines += [f"Decision: {shorten(one.title, 100)}" for one in opened.decisions]
    return "\n".join([*lines, *(f"- {shorten(one.record.title, shapes.CACHE_LINE)}" for one in hot[:5])])


def trust_changed(found: Trust, number: int) -> dict[str, Any]:
    """Give what a change of trust did."""
    before = found.history[-2].value if len(found.history) > 1 else found.base
    return {
        "memory_id": number,
        "old_trust": round(before, 3),
        "new_trust": round(found.value, 3),
        "message": f"Trust of memory #{number}: {before:.2f} → {found.value:.2f} ({found.history[-1].reason}).",
    }


def trust_history(found: Trust, number: int, limit: int) -> dict[str, Any]:
    """Give every change of trust, latest first."""
    before = [found.base, *(step.value for step in found.history)]
    entries = [
        {
            "id": place,
            "memory_id": number,
            "reason": step.reason,
            "old_trust": round(before[place - 1], 3),
            "new_trust": round(step.value, 3),
            "delta": round(step.delta, 3),
            "similarity": None,
            "note": step.note or None,
            "created_at": step.at,
        }
        for place, step in enumerate(found.history, start=1)
    ]
    return {
        "memory_id": number,
        "entries": entries[::-1][:limit],
        "current_trust": round(found.value, 3),
        "total_changes": len(entries),
    }


def session(left: Left, logs: int) -> dict[str, Any]:
    """Give a session."""
    one = left.session
    return {
        "id": one.id,
        "started_at": one.started_at,
        "last_activity_at": max(left.last_at, one.started_at),
        "topic": topic(one),
        "project_path": one.project or None,
        "memory_count": len(left.records),
        "log_count": logs,
    }


def topic(one: Session) -> str | None:
    """Give what a session is about."""
    return str(one.close.get("title") or one.title or "") or None


def digested(found: Digest) -> dict[str, Any]:
    """Give a session's memories by what they are good for."""
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
        for name, entries in found.groups.items()
    }
    told = {"success": True, "session_id": found.session.id, "topic": topic(found.session)}
    return {**told, "memory_count": found.total, **groups}


def ended(found: Ended) -> dict[str, Any]:
    """Give what the end of a session kept for good."""
    kept = {record.id for record in found.promoted}
    numbers = [one.number for one in found.episodes if one.record.id in kept]
    return {
        "success": True,
        "session_id": found.session.id,
        "episodic_count": len(found.episodes),
        "promoted_count": len(numbers),
        "promoted_ids": numbers,
        "top_memories": [
            {"id": one.number, "content": shorten(one.record.body, EPISODE), "salience": one.salience}
            for one in found.episodes[:5]
        ],
    }


def predictive(found: Metrics, capacity: int) -> dict[str, Any]:
    """Give how predictions are made, and from how much."""
    config = {"prediction_threshold": LEAST, "max_predictions": MOST, "sequence_decay_days": HALF_LIFE_DAYS}
    return {
        "enabled": True,
        "config": {**config, "hot_cache_max_items": capacity},
        "stats": {"total_sequences": found.steps, "total_transitions": found.steps_taken},
    }
