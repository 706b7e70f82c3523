"""Format mining, consolidation and maintenance results of Memory MCP as JSON."""

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


def mined(candidate: Mined, number: int) -> dict[str, Any]:
    """Return a pending mined candidate."""
    seen = candidate.record.extra["pattern"]
    return {
        "id": number,
        "pattern": candidate.record.body,
        "type": sort_of(candidate),
        "occurrences": candidate.occurrences,
        "confidence": candidate.confidence,
        "score": candidate.score,
        "sessions": candidate.sessions,
        "first_seen": seen.get("first_at", candidate.record.created_at),
        "last_seen": candidate.last_at,
    }


def mining(status: OutputStatus, waiting: Sequence[dict[str, Any]], *, least: int, recent: int) -> dict[str, Any]:
    """Return the state of mining."""
    short = ("id", "pattern", "type", "occurrences")
    return {
        "enabled": True,
        "promotion_threshold": least,
        "candidates_ready": sum(candidate["occurrences"] >= least for candidate in waiting),
        "candidates_pending": status.waiting,
        "outputs_last_24h": recent,
        "outputs_unmined": status.held.unmined,
        "last_run_at": status.held.ran_at or None,
        "candidates": [
            {name: shorten(candidate[name], PATTERN) if name == "pattern" else candidate[name] for name in short}
            for candidate in waiting[:10]
        ],
    }


def mining_run(run: Run) -> dict[str, Any]:
    """Return the result of a mining run."""
    fresh = [record for record in (*run.offered, *run.approved) if record.revision <= 2]
    return {
        "success": True,
        "outputs_processed": run.outputs,
        "patterns_found": run.found,
        "new_patterns": len(fresh),
        "updated_patterns": run.counted - len(fresh) if run.counted > len(fresh) else 0,
        "auto_approved": len(run.approved),
        "new_memories": len(run.approved),
        "promoted_to_hot": len(run.approved),
    }


def of_type(proposals: Proposals, memory_type: str) -> Proposals:
    """Return the proposals about memories of one type; all of them for an empty type."""
    chosen = [proposal for proposal in proposals.found if memory_type in ("", *map(type_of, proposal.sources))]
    return replace(proposals, found=tuple(chosen))


def consolidation(proposals: Proposals, kept: Sequence[Record], numbers: Mapping[str, int]) -> dict[str, Any]:
    """Return what could be merged, and what was."""
    inside = sum(len(proposal.sources) for proposal in proposals.found)
    clusters = [
        {
            "representative_id": numbers[proposal.base],
            "member_ids": [numbers[source.id] for source in proposal.sources],
            "merged_content": proposal.text,
            "size": len(proposal.sources),
        }
        for proposal in proposals.found
    ]
    gone = inside - len(clusters)
    share = round(100 * gone / proposals.looked_at, 1) if proposals.looked_at else 0.0
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
    """Return what maintenance did to the store."""
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
    """Return what was cleaned up; memories are retired and can be restored."""
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
    """Return where the store is and what it contains."""
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
    """Return whether the stored vectors match the embedder."""
    name, _, size = stored.rpartition("/")
    known = {"stored_model": name or None, "stored_dim": int(size) if size.isdecimal() else None}
    valid = not now.note or now.embedder == "none"
    result = {"success": valid, "valid": valid, **known, "current_model": now.embedder, "waiting": now.lagging}
    return result if valid else {**result, "warning": now.note}


def rebuilt(before: Status, now: Status, done: int, stored: str) -> dict[str, Any]:
    """Return the result of rebuilding the vectors."""
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
    """Return what was removed or restored, latest first."""
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
    """Return Memory MCP's name of an event."""
    if event.verb == "heated":
        return "demote_stale" if event.data.get("why") == "stale" else "demote_memory"
    return OPERATIONS.get(event.verb, event.verb)


def metrics(counted: Metrics, hot: Sequence[Hot], *, capacity: int, began: str, now: str) -> dict[str, Any]:
    """Return the counters, and how full the hot cache is."""
    gauges = {
        "hot_cache.size": len(hot),
        "hot_cache.max_size": capacity,
        "hot_cache.pinned": sum(hot_.pinned for hot_ in hot),
        "hot_cache.utilization": round(len(hot) / capacity, 3) if capacity else 0.0,
    }
    counters = {f"hot_cache.{name}": value for name, value in counted.hot.items()}
    counters |= {"recall.total": counted.recalls, "store.total": counted.writes, "mining.outputs": counted.outputs}
    counters |= counted.tallies
    uptime = round(days_between(began, now) * SECONDS_PER_DAY) if began else 0
    failures = [f"{failure.at} {failure.name}: {failure.said}" for failure in counted.failures]
    return {"uptime_seconds": uptime, "counters": counters, "gauges": gauges, "failures": failures}
