"""What callers of Memory MCP get of the whole: counts, the hot cache, sessions, mining, predictions, maintenance."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdfast.model.event import Event
from holdfast.model.ids import days_between
from holdfast.model.record import Record
from holdfast.model.session import Session
from holdfast.model.text import shorten
from holdfast.policy.heat import helpfulness, uses_of
from holdfast.policy.memory_types import category_of, type_of
from holdfast.surfaces.memory_mcp import shapes
from holdfast.verbs.bootstrap import Seeded
from holdfast.verbs.browse import Census
from holdfast.verbs.candidates import sort_of
from holdfast.verbs.consolidate import Proposals
from holdfast.verbs.digest import Digest, Ended
from holdfast.verbs.hot import Hot
from holdfast.verbs.maintain import Metrics, Quality, Upkeep
from holdfast.verbs.mining import Mined, OutputStatus, Run
from holdfast.verbs.predict import HALF_LIFE_DAYS, LEAST, MOST
from holdfast.verbs.session import Left, Opening
from holdfast.verbs.trust import Trust
from holdfast.verbs.upkeep import Status
from holdfast.verbs.vitals import Vitals

SECONDS_PER_DAY = 86_400
PATTERN, EPISODE, SAID = 100, 100, 300
OPERATIONS: Mapping[str, str] = {
    "erased": "delete_memory",
    "retired": "cleanup_memories",
    "unlinked": "unlink_memories",
    "restored": "restore_memory",
}


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


def session(left: Left, logs: int = 0) -> dict[str, Any]:
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
                "content": shorten(shapes.content(entry.record), SAID),
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


def mined(one: Mined, number: int) -> dict[str, Any]:
    """Give something mined that waits for a yes."""
    seen = one.record.extra["pattern"]
    return {
        "id": number,
        "pattern": one.record.body,
        "type": sort_of(one),
        "occurrences": one.occurrences,
        "confidence": one.confidence,
        "score": one.score,
        "sessions": one.sessions,
        "first_seen": seen.get("first_at", one.record.created_at),
        "last_seen": one.last_at,
    }


def mining(found: OutputStatus, waiting: Sequence[dict[str, Any]], least: int) -> dict[str, Any]:
    """Give how mining stands."""
    short = ("id", "pattern", "type", "occurrences")
    return {
        "enabled": True,
        "promotion_threshold": least,
        "candidates_ready": found.waiting,
        "outputs_last_24h": found.held.outputs,
        "outputs_unmined": found.held.unmined,
        "last_run_at": found.held.ran_at or None,
        "candidates": [
            {name: shorten(one[name], PATTERN) if name == "pattern" else one[name] for name in short}
            for one in waiting[:10]
        ],
    }


def mining_run(run: Run) -> dict[str, Any]:
    """Give what a run of mining found."""
    fresh = [one for one in (*run.offered, *run.approved) if one.revision <= 2]
    return {
        "success": True,
        "outputs_processed": run.outputs,
        "patterns_found": run.found,
        "new_patterns": len(fresh),
        "updated_patterns": run.counted - len(fresh) if run.counted > len(fresh) else 0,
        "auto_approved": len(run.approved),
        "new_memories": len(run.approved),
        "promoted_to_hot": 0,
        "entity_links_created": 0,
    }


def of_type(found: Proposals, memory_type: str) -> Proposals:
    """Give the proposals about memories of one type; all of them for none."""
    chosen = [one for one in found.found if memory_type in ("", *map(type_of, one.sources))]
    return replace(found, found=tuple(chosen))


def consolidation(found: Proposals, kept: Sequence[Record], numbers: Mapping[str, int]) -> dict[str, Any]:
    """Give what could be merged, and what was."""
    inside = sum(len(one.sources) for one in found.found)
    clusters = [
        {
            "representative_id": numbers[one.base],
            "member_ids": [numbers[source.id] for source in one.sources],
            "merged_content": one.text,
            "size": len(one.sources),
        }
        for one in found.found
    ]
    gone = inside - len(clusters)
    share = round(100 * gone / found.looked_at, 1) if found.looked_at else 0.0
    return {
        "success": True,
        "dry_run": not kept,
        "cluster_count": len(clusters),
        "total_memories_in_clusters": inside,
        "memories_to_delete": gone,
        "space_savings_pct": share,
        "clusters": clusters,
        "merged_ids": [numbers[record.id] for record in kept],
    }


def maintained(done: Upkeep, now: Status, numbers: Mapping[str, int], schema: int) -> dict[str, Any]:
    """Give what maintenance did to the store."""
    return {
        "size_before_bytes": done.bytes_before,
        "size_after_bytes": done.bytes_after,
        "bytes_reclaimed": max(0, done.bytes_before - done.bytes_after),
        "memory_count": now.everywhere,
        "vector_count": max(0, now.everywhere - now.lagging) if now.embedder != "none" else 0,
        "schema_version": schema,
        "auto_demoted_count": len(done.cooled),
        "auto_demoted_ids": [numbers[record.id] for record in done.cooled],
    }


def cleaned(done: Upkeep, expired: int) -> dict[str, Any]:
    """Give what was let go; memories are retired, and can be restored."""
    by_type: dict[str, int] = {}
    for record in done.retired:
        by_type[type_of(record)] = by_type.get(type_of(record), 0) + 1
    return {
        "success": True,
        "hot_cache_demoted": len(done.cooled),
        "patterns_expired": expired,
        "logs_deleted": 0,
        "memories_deleted": len(done.retired),
        "memories_deleted_by_type": by_type,
        "injections_deleted": 0,
        "low_utility_penalized": 0,
    }


def database(now: Status, counted: Mapping[str, Any], schema: int) -> dict[str, Any]:
    """Give where the store is and what it holds."""
    return {
        "db_path": now.place,
        "db_size_bytes": now.bytes,
        "db_size_mb": round(now.bytes / 1_048_576, 2),
        "schema_version": schema,
        **counted,
        "project": now.project,
        "memories_everywhere": now.everywhere,
        "events": now.events,
    }


def embeddings(now: Status, stored: str) -> dict[str, Any]:
    """Give whether the vectors fit the embedder."""
    name, _, size = stored.rpartition("/")
    known = {"stored_model": name or None, "stored_dim": int(size) if size.isdecimal() else None}
    valid = not now.note or now.embedder == "none"
    told = {"success": valid, "valid": valid, **known, "current_model": now.embedder, "waiting": now.lagging}
    return told if valid else {**told, "warning": now.note}


def rebuilt(before: Status, now: Status, done: int, stored: str) -> dict[str, Any]:
    """Give what making vectors anew came to."""
    name, _, size = stored.rpartition("/")
    total = now.everywhere + now.pending + now.retired
    return {
        "success": True,
        "vectors_cleared": max(0, total - before.lagging),
        "memories_total": total,
        "memories_embedded": done,
        "memories_failed": max(0, now.lagging),
        "new_dimension": int(size) if size.isdecimal() else 0,
        "new_model": name or now.embedder,
        "message": f"{done} of {total} memories embedded with {name or now.embedder}.",
    }


def audited(events: Sequence[Event], numbers: Mapping[str, int]) -> dict[str, Any]:
    """Give what was taken away or put back, latest first."""
    entries = [
        {
            "id": place,
            "operation": operation(event),
            "target_type": "memory",
            "target_id": numbers.get(event.about),
            "details": str(event.data.get("reason") or event.data.get("why") or event.data.get("relation") or "")
            or None,
            "timestamp": event.at,
        }
        for place, event in enumerate(events, start=1)
    ]
    return {"entries": entries, "count": len(entries)}


def operation(event: Event) -> str:
    """Give what an event is called there."""
    if event.verb == "heated":
        return "demote_stale" if event.data.get("why") == "stale" else "demote_memory"
    return OPERATIONS.get(event.verb, event.verb)


def metrics(found: Metrics, hot: Sequence[Hot], *, capacity: int, began: str, now: str) -> dict[str, Any]:
    """Give what was counted, and how full the hot cache is."""
    gauges = {
        "hot_cache.size": len(hot),
        "hot_cache.max_size": capacity,
        "hot_cache.pinned": sum(one.pinned for one in hot),
        "hot_cache.utilization": round(len(hot) / capacity, 3) if capacity else 0.0,
    }
    counters = {f"hot_cache.{name}": value for name, value in found.hot.items()} | found.tallies
    uptime = round(days_between(began, now) * SECONDS_PER_DAY) if began else 0
    failures = [f"{one.at} {one.name}: {one.said}" for one in found.failures]
    return {"uptime_seconds": uptime, "counters": counters, "gauges": gauges, "failures": failures}
