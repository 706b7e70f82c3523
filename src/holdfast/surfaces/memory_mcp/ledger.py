"""What callers of Memory MCP get of mining, merging and the store itself."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdfast.model.event import Event
from holdfast.model.ids import days_between
from holdfast.model.record import Record
from holdfast.model.text import shorten
from holdfast.surfaces.memory_mcp.candidates import sort_of
from holdfast.surfaces.memory_mcp.memory_types import type_of
from holdfast.verbs.capture.mining import Mined, OutputStatus, Run
from holdfast.verbs.records.hot import Hot
from holdfast.verbs.truth.consolidate import Proposals
from holdfast.verbs.upkeep.doctor import Status
from holdfast.verbs.upkeep.maintain import Metrics, Upkeep

SECONDS_PER_DAY = 86_400
PATTERN = 100
OPERATIONS: Mapping[str, str] = {
    "erased": "delete_memory",
    "retired": "cleanup_memories",
    "unlinked": "unlink_memories",
    "restored": "restore_memory",
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


def mining(found: OutputStatus, waiting: Sequence[dict[str, Any]], *, least: int, lately: int) -> dict[str, Any]:
    """Give how mining stands."""
    short = ("id", "pattern", "type", "occurrences")
    return {
        "enabled": True,
        "promotion_threshold": least,
        "candidates_ready": found.waiting,
        "outputs_last_24h": lately,
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
