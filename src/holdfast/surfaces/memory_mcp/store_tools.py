"""Memory MCP's tools for mining and for maintaining the store."""

from typing import Any

from holdfast.model.query import Query
from holdfast.model.text import counted
from holdfast.surfaces.memory_mcp import reports, shapes, upkeep_reports
from holdfast.surfaces.memory_mcp.candidates import approve_as, reject_sort
from holdfast.surfaces.memory_mcp.memory_types import type_of_kind
from holdfast.surfaces.memory_mcp.numbered import numbers_of, pattern_of
from holdfast.surfaces.tool import Call
from holdfast.verbs.capture import mining
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.browse import census
from holdfast.verbs.records.hot import hot_ids, hot_set
from holdfast.verbs.sessions.session import current_session, in_session
from holdfast.verbs.truth import consolidate
from holdfast.verbs.upkeep import doctor as keeping
from holdfast.verbs.upkeep.maintain import maintain, metrics, removals

ENOUGH = 3


def log_output(call: Call, content: str, session_id: str = "") -> dict[str, Any]:
    """Store a session's output for mining."""
    memory = in_session(call.memory, session_id)
    kept = mining.log_output(memory, content)
    message = "Output logged." if kept else "Too short to be worth mining; nothing was logged."
    return shapes.done(message, characters=kept, session_id=memory.actor.session)


def run_mining(call: Call, **_: Any) -> dict[str, Any]:
    """Mine the output logged since the last run."""
    return upkeep_reports.mining_run(mining.mine_outputs(call.memory))


def mining_status(call: Call) -> dict[str, Any]:
    """Return the state of mining."""
    recent = mining.outputs_logged(call.memory, days=1)
    return upkeep_reports.mining(
        mining.output_status(call.memory), _candidates(call.memory), least=ENOUGH, recent=recent
    )


def review_candidates(call: Call) -> list[dict[str, Any]]:
    """List the pending mined candidates."""
    return _candidates(call.memory)


def approve_candidate(call: Call, pattern_id: int, memory_type: str, tags: tuple[str, ...] = ()) -> dict[str, Any]:
    """Approve a mined candidate."""
    joined = approve_as(call.memory, pattern_of(call.memory, pattern_id), memory_type, tags)
    return shapes.remembered(call.memory, joined)


def reject_candidate(call: Call, pattern_id: int) -> dict[str, Any]:
    """Reject a mined candidate for good."""
    mining.reject(call.memory, [pattern_of(call.memory, pattern_id)])
    return shapes.done(f"Pattern #{pattern_id} is rejected and will not be offered again.", pattern_id=pattern_id)


def bulk_reject_candidates(
    call: Call, pattern_ids: tuple[int, ...] = (), pattern_type_prefix: str = ""
) -> dict[str, Any]:
    """Reject several mined candidates: those listed, and those whose type has the prefix."""
    named = [pattern_of(call.memory, number) for number in pattern_ids]
    rejected = mining.reject(call.memory, named) if named else []
    rejected += reject_sort(call.memory, pattern_type_prefix) if pattern_type_prefix else []
    return shapes.done(f"{counted(len(rejected), 'pattern')} rejected.", rejected_count=len(rejected))


def preview_consolidation(call: Call, memory_type: str = "") -> dict[str, Any]:
    """Return what could be merged."""
    return _merged(call.memory, memory_type, keep=False)


def run_consolidation(call: Call, dry_run: bool, memory_type: str = "") -> dict[str, Any]:
    """Merge near-duplicates; the originals stay, retired."""
    return _merged(call.memory, memory_type, keep=not dry_run)


def db_maintenance(call: Call) -> dict[str, Any]:
    """Free disk space and cool the hot cache."""
    memory = call.memory
    done = maintain(memory, retiring=False)
    numbers = numbers_of(memory, [record.id for record in done.cooled])
    return upkeep_reports.maintained(done, keeping.status(memory), numbers, _schema(memory))


def run_cleanup(call: Call) -> dict[str, Any]:
    """Retire memories whose retention ended."""
    before = mining.output_status(call.memory).waiting
    done = maintain(call.memory)
    return upkeep_reports.cleaned(done, max(0, before - mining.output_status(call.memory).waiting))


def validate_embeddings(call: Call) -> dict[str, Any]:
    """Return whether the stored vectors match the embedder."""
    return upkeep_reports.embeddings(keeping.status(call.memory), call.memory.store.setting("embedder"))


def db_info(call: Call) -> dict[str, Any]:
    """Return where the store is and what it contains."""
    memory = call.memory
    counted = reports.stats(census(memory, Query(text="")), len(hot_ids(memory)), type_of_kind)
    return upkeep_reports.database(keeping.status(memory), counted, _schema(memory))


def embedding_info(call: Call) -> dict[str, Any]:
    """Return which embedder is used."""
    now, embedder = keeping.status(call.memory), call.memory.embedder
    size = embedder.size if embedder else 0
    waiting = {"waiting_for_vectors": now.lagging, "note": now.note or None}
    return {"provider": now.embedder, "dimension": size, "cache_size": 0, "cache_max_size": 0, **waiting}


def audit_history(call: Call, limit: int, operation: str = "") -> dict[str, Any]:
    """Return what was removed or restored."""
    events = [event for event in removals(call.memory) if operation in ("", upkeep_reports.operation(event))][:limit]
    return upkeep_reports.audited(events, numbers_of(call.memory, [event.about for event in events]))


def db_rebuild_vectors(call: Call, **_: Any) -> dict[str, Any]:
    """Rebuild all vectors."""
    before = keeping.status(call.memory)
    done = keeping.rebuild_vectors(call.memory, call.progress)
    return upkeep_reports.rebuilt(before, keeping.status(call.memory), done, call.memory.store.setting("embedder"))


def metrics_status(call: Call) -> dict[str, Any]:
    """Return the counters."""
    memory, session = call.memory, current_session(call.memory)
    began, capacity = session.started_at if session else "", memory.config.hot_capacity
    return upkeep_reports.metrics(
        metrics(memory), hot_set(memory), capacity=capacity, began=began, now=memory.clock.now()
    )


def _candidates(memory: Memory) -> list[dict[str, Any]]:
    candidates = mining.mined(memory)
    numbers = numbers_of(memory, [candidate.record.id for candidate in candidates])
    return [upkeep_reports.mined(candidate, numbers[candidate.record.id]) for candidate in candidates]


def _merged(memory: Memory, memory_type: str, *, keep: bool) -> dict[str, Any]:
    proposals = upkeep_reports.of_type(consolidate.proposals(memory), memory_type)
    merged = [consolidate.consolidate(memory, proposal) for proposal in proposals.found] if keep else []
    ids = [record.id for record in (*merged, *(source for proposal in proposals.found for source in proposal.sources))]
    return upkeep_reports.consolidation(proposals, merged, numbers_of(memory, ids))


def _schema(memory: Memory) -> int:
    return int(memory.store.setting("schema"))
