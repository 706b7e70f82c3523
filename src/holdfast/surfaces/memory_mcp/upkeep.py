"""Memory MCP's tools for mining and for keeping the store in order."""

from typing import Any

from holdfast.model.query import Query
from holdfast.surfaces.memory_mcp import ledger, reports, shapes
from holdfast.surfaces.memory_mcp.candidates import approve_as, reject_sort
from holdfast.surfaces.memory_mcp.memory_types import type_of_kind
from holdfast.surfaces.memory_mcp.numbered import id_of, numbers_of
from holdfast.surfaces.tool import Call
from holdfast.verbs.capture import mining
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.browse import census
from holdfast.verbs.records.hot import hot_ids, hot_set
from holdfast.verbs.sessions.session import current_session, in_session
from holdfast.verbs.truth import consolidate
from holdfast.verbs.upkeep import doctor as keeping
from holdfast.verbs.upkeep.maintain import maintain, metrics, taken_away

ENOUGH = 3


def log_output(call: Call, content: str, session_id: str = "") -> dict[str, Any]:
    """Keep what a session wrote, for mining."""
    memory = in_session(call.memory, session_id)
    kept = mining.log_output(memory, content)
    said = "Output logged." if kept else "Too short to be worth mining; nothing was logged."
    return shapes.done(said, characters=kept, session_id=memory.actor.session)


def run_mining(call: Call, **_: Any) -> dict[str, Any]:
    """Mine what was logged since the last run."""
    return ledger.mining_run(mining.mine_outputs(call.memory))


def mining_status(call: Call) -> dict[str, Any]:
    """Tell how mining stands."""
    lately = mining.outputs_logged(call.memory, days=1)
    return ledger.mining(mining.output_status(call.memory), _candidates(call.memory), least=ENOUGH, lately=lately)


def review_candidates(call: Call) -> list[dict[str, Any]]:
    """List what was mined and waits for a yes."""
    return _candidates(call.memory)


def approve_candidate(call: Call, pattern_id: int, memory_type: str, tags: tuple[str, ...] = ()) -> dict[str, Any]:
    """Say yes to something mined."""
    joined = approve_as(call.memory, id_of(call.memory, pattern_id), memory_type, tags)
    return shapes.remembered(call.memory, joined)


def reject_candidate(call: Call, pattern_id: int) -> dict[str, Any]:
    """Say no to something mined, for good."""
    mining.reject(call.memory, [id_of(call.memory, pattern_id)])
    return shapes.done(f"Pattern #{pattern_id} is rejected and will not be offered again.", pattern_id=pattern_id)


def bulk_reject_candidates(
    call: Call, pattern_ids: tuple[int, ...] = (), pattern_type_prefix: str = ""
) -> dict[str, Any]:
    """Say no to several things mined: those named, and those of a sort."""
    named = [id_of(call.memory, one) for one in pattern_ids]
    gone = mining.reject(call.memory, named) if named else []
    gone += reject_sort(call.memory, pattern_type_prefix) if pattern_type_prefix else []
    return shapes.done(f"{len(gone)} patterns rejected.", rejected_count=len(gone))


def preview_consolidation(call: Call, memory_type: str = "") -> dict[str, Any]:
    """Show what could be merged."""
    return _merged(call.memory, memory_type, keep=False)


def run_consolidation(call: Call, dry_run: bool, memory_type: str = "") -> dict[str, Any]:
    """Merge what says the same; what it was made of stays, retired."""
    return _merged(call.memory, memory_type, keep=not dry_run)


def db_maintenance(call: Call) -> dict[str, Any]:
    """Give space back and cool the hot cache."""
    memory = call.memory
    done = maintain(memory, retiring=False)
    numbers = numbers_of(memory, [record.id for record in done.cooled])
    return ledger.maintained(done, keeping.status(memory), numbers, _schema(memory))


def run_cleanup(call: Call) -> dict[str, Any]:
    """Retire what has served its time."""
    before = mining.output_status(call.memory).waiting
    done = maintain(call.memory)
    return ledger.cleaned(done, max(0, before - mining.output_status(call.memory).waiting))


def validate_embeddings(call: Call) -> dict[str, Any]:
    """Tell whether the vectors fit the embedder."""
    return ledger.embeddings(keeping.status(call.memory), call.memory.store.setting("embedder"))


def db_info(call: Call) -> dict[str, Any]:
    """Tell where the store is and what it holds."""
    memory = call.memory
    counted = reports.stats(census(memory, Query(text="")), len(hot_ids(memory)), type_of_kind)
    return ledger.database(keeping.status(memory), counted, _schema(memory))


def embedding_info(call: Call) -> dict[str, Any]:
    """Tell what makes vectors here."""
    now, embedder = keeping.status(call.memory), call.memory.embedder
    size = embedder.size if embedder else 0
    waiting = {"waiting_for_vectors": now.lagging, "note": now.note or None}
    return {"provider": now.embedder, "dimension": size, "cache_size": 0, "cache_max_size": 0, **waiting}


def audit_history(call: Call, limit: int, operation: str = "") -> dict[str, Any]:
    """Give what was taken away or put back."""
    found = [one for one in taken_away(call.memory) if operation in ("", ledger.operation(one))][:limit]
    return ledger.audited(found, numbers_of(call.memory, [one.about for one in found]))


def db_rebuild_vectors(call: Call, **_: Any) -> dict[str, Any]:
    """Make all vectors anew."""
    before = keeping.status(call.memory)
    done = keeping.rebuild_vectors(call.memory, call.progress)
    return ledger.rebuilt(before, keeping.status(call.memory), done, call.memory.store.setting("embedder"))


def metrics_status(call: Call) -> dict[str, Any]:
    """Give what was counted."""
    memory, session = call.memory, current_session(call.memory)
    began, capacity = session.started_at if session else "", memory.config.hot_capacity
    return ledger.metrics(metrics(memory), hot_set(memory), capacity=capacity, began=began, now=memory.clock.now())


def _candidates(memory: Memory) -> list[dict[str, Any]]:
    found = mining.mined(memory)
    numbers = numbers_of(memory, [one.record.id for one in found])
    return [ledger.mined(one, numbers[one.record.id]) for one in found]


def _merged(memory: Memory, memory_type: str, *, keep: bool) -> dict[str, Any]:
    found = ledger.of_type(consolidate.proposals(memory), memory_type)
    kept = [consolidate.consolidate(memory, one) for one in found.found] if keep else []
    ids = [record.id for record in (*kept, *(source for one in found.found for source in one.sources))]
    return ledger.consolidation(found, kept, numbers_of(memory, ids))


def _schema(memory: Memory) -> int:
    return int(memory.store.setting("schema"))
