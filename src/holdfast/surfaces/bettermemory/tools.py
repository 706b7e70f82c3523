"""bettermemory's tools. Names and parameters follow its contract; each calls one verb."""

from pathlib import Path
from typing import Any

from holdfast.model.query import Query
from holdfast.model.record import Record
from holdfast.surfaces.bettermemory import arguments, health_shapes, shapes
from holdfast.surfaces.bettermemory.feedback import drop_answered, feedback_of, mute, next_turn, shown, unmute
from holdfast.surfaces.bettermemory.health_data import chores, curated
from holdfast.surfaces.bettermemory.staleness import staleness_of, staleness_of_many
from holdfast.surfaces.bettermemory.tombstones import tombstones
from holdfast.surfaces.contract import read_contract
from holdfast.surfaces.tool import Call
from holdfast.verbs.memory import find
from holdfast.verbs.records import lifecycle
from holdfast.verbs.records.amend import amend
from holdfast.verbs.records.browse import browse
from holdfast.verbs.records.read import in_use, list_scopes, note_reading
from holdfast.verbs.records.write import confirm, drop_pending, write
from holdfast.verbs.search.recall import recall
from holdfast.verbs.truth import verify

CONTRACT = read_contract(Path(__file__).parent)
MOST_LISTED = 1_000


def memory_search(
    call: Call,
    query: str,
    expand_top: bool,
    auto_scope: bool,
    scopes: tuple[str, ...] = (),
    max_results: int | None = None,
) -> list[dict[str, Any]]:
    """Find memories that answer a question, with their staleness."""
    memory = next_turn(call.memory)
    if arguments.asks_nothing(query):
        return []
    request = arguments.query(
        query,
        scopes=scopes,
        muted=list(feedback_of(memory).muted),
        limit=memory.config.recall_limit if max_results is None else max_results,
        everywhere=not auto_scope or arguments.is_anywhere(memory),
    )
    hits = recall(memory, request).hits
    stale = staleness_of_many(memory, [hit.record for hit in hits])
    rows = [shapes.hit(hit, stale[hit.record.id], query, shown(memory, hit.record.id)) for hit in hits]
    if expand_top and rows and rows[0]["relevance"] == "high":
        rows[0] = shapes.expanded(rows[0], hits[0].record, staleness_of(memory, hits[0].record))
    return rows


def memory_show(call: Call, id_: str) -> dict[str, Any]:
    """Return one memory in full."""
    memory = next_turn(call.memory)
    record = in_use(memory, id_)
    note_reading(memory, [record.id])
    return {**shapes.full(record, staleness_of(memory, record)), "use_token": shown(memory, record.id)}


def memory_write(call: Call, **memory_: Any) -> dict[str, Any]:
    """Save a memory, or return why it was refused."""
    memory = next_turn(call.memory)
    outcome = write(memory, arguments.draft(memory, memory_), waivers=arguments.waivers(memory_))
    return shapes.with_snippets(shapes.written(outcome), memory_["content"])


def memory_write_confirm(call: Call, pending_id: str) -> dict[str, Any]:
    """Approve a pending memory; admission checks it again."""
    return shapes.written(confirm(next_turn(call.memory), arguments.record_id_of(pending_id)))


def memory_write_cancel(call: Call, pending_id: str) -> dict[str, Any]:
    """Reject a pending memory."""
    return {
        "cancelled": pending_id,
        "existed": drop_pending(next_turn(call.memory), arguments.record_id_of(pending_id)),
    }


def memory_update(call: Call, id_: str, **changed: Any) -> dict[str, Any]:
    """Change a memory in place."""
    memory = next_turn(call.memory)
    record = find(memory, id_).record
    outcome = amend(memory, record.id, arguments.revision(record, changed), waivers=arguments.waivers(changed))
    if isinstance(outcome, Record):
        return shapes.committed(outcome)
    return shapes.with_snippets(shapes.refused(outcome), changed.get("content", ""))


def memory_verify(call: Call, id_: str, note: str = "", **looked_at: Any) -> dict[str, Any]:
    """Record that a memory was checked and is still true."""
    memory = next_turn(call.memory)
    record = in_use(memory, id_)
    anchors = arguments.anchors(record, looked_at, staleness_of(memory, record).missing)
    return shapes.verified(verify.verify(memory, record.id, note=note, anchors=anchors))


def memory_list(call: Call, with_bodies: bool, auto_scope: bool, scopes: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """List memories, newest first."""
    memory = next_turn(call.memory)
    request = Query(
        text="",
        kinds=arguments.KNOWN,
        any_scopes=scopes,
        everywhere=not auto_scope or arguments.is_anywhere(memory),
        limit=MOST_LISTED,
    )
    records = [entry.record for entry in browse(memory, request).entries]
    if not with_bodies:
        return [shapes.row(record, memory.clock.now()) for record in records]
    stale = staleness_of_many(memory, records)
    return [shapes.full(record, stale[record.id]) for record in records]


def memory_remove(call: Call, id_: str, reason: str) -> dict[str, Any]:
    """Take a memory out of use."""
    record = lifecycle.retire(next_turn(call.memory), id_, reason)
    return {"removed": record.id, "removed_reason": record.reason, "tombstone_path": None}


def memory_restore(call: Call, id_: str) -> dict[str, Any]:
    """Put a removed memory back into use."""
    return shapes.committed(lifecycle.restore(next_turn(call.memory), id_))


def memory_list_tombstones(call: Call, auto_scope: bool, scopes: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """List removed memories, and why they were removed."""
    memory = next_turn(call.memory)
    removed = tombstones(
        memory, kinds=arguments.KNOWN, scopes=scopes, everywhere=not auto_scope or arguments.is_anywhere(memory)
    )
    return [shapes.tombstone(tombstone) for tombstone in removed]


def memory_rename_scope(call: Call, old_scope: str, new_scope: str, include_tombstones: bool) -> dict[str, Any]:
    """Rename a scope."""
    records = lifecycle.rename_scope(next_turn(call.memory), old_scope, new_scope, retired=include_tombstones)
    return shapes.renamed(old_scope, new_scope, records)


def memory_record_use(call: Call, memory_ids: list[str], outcome: str, note: str = "") -> dict[str, Any]:
    """Record the outcome of memories."""
    used = [find(call.memory, id_).record.id for id_ in memory_ids]
    drop_answered(call.memory, used)
    return {"recorded": lifecycle.record_use(next_turn(call.memory), used, outcome, note=note), "outcome": outcome}


def memory_health(call: Call, window_days: int, heavily_used_top_k: int, min_applied: int) -> dict[str, Any]:
    """Report what makes this memory less useful."""
    memory = next_turn(call.memory)
    curation_ = curated(memory, arguments.KNOWN, days=window_days, top=heavily_used_top_k, least=min_applied)
    return health_shapes.report(memory, curation_)


def memory_scope_overview(call: Call, auto_scope: bool) -> dict[str, Any]:
    """Count memories by scope; cheap."""
    memory = next_turn(call.memory)
    request = Query(text="", kinds=arguments.KNOWN, everywhere=not auto_scope or arguments.is_anywhere(memory), limit=1)
    scopes, total = (
        list_scopes(memory, everywhere=not auto_scope or arguments.is_anywhere(memory)),
        browse(memory, request).total,
    )
    todo, muted = chores(memory, arguments.KNOWN), list(feedback_of(memory).muted)
    return health_shapes.overview(memory, scopes, total, todo, muted, auto_scope=auto_scope)


def memory_scope_disable(call: Call, scope: str) -> dict[str, Any]:
    """Exclude a scope for the rest of this session."""
    return {"disabled_scopes": mute(next_turn(call.memory), scope)}


def memory_scope_enable(call: Call, scope: str) -> dict[str, Any]:
    """Include a scope again."""
    return {"disabled_scopes": unmute(next_turn(call.memory), scope)}
