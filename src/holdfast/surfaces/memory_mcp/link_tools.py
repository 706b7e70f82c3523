"""Memory MCP's tools for links, trust, contradictions, sessions and predictions."""

from typing import Any

from holdfast.engine.views.links import Arrow
from holdfast.model.text import counted
from holdfast.surfaces.memory_mcp import digest, reports, shapes
from holdfast.surfaces.memory_mcp.numbered import id_of, numbers_of
from holdfast.surfaces.memory_mcp.relations import linked_at, related, relations, unlink_all
from holdfast.surfaces.tool import Call
from holdfast.verbs.capture.mining import outputs_logged
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import link
from holdfast.verbs.records.project import in_project, project_at
from holdfast.verbs.records.vitals import vitals_by_id
from holdfast.verbs.search import predict
from holdfast.verbs.sessions.session import contents_of, entitle, find_session, list_sessions
from holdfast.verbs.sessions.topics import patterns, sessions_shown
from holdfast.verbs.truth import contradictions
from holdfast.verbs.truth.trust import change_trust, trust_of
from holdfast.verbs.upkeep.maintain import metrics

HOW = {"supersedes": "supersede", "delete": "remove", "weaken": "weaken"}
DONE = {"supersedes": "is superseded by it", "delete": "is removed", "weaken": "has less trust"}
LASTED_DAYS = 7.0


def link_memories(call: Call, from_memory_id: int, to_memory_id: int, relation_type: str) -> dict[str, Any]:
    """Link one memory to another."""
    source, target = id_of(call.memory, from_memory_id), id_of(call.memory, to_memory_id)
    link(call.memory, source, relation_type, target)
    at = linked_at(call.memory, Arrow(source=source, relation=relation_type, target=target))
    numbers = numbers_of(call.memory, [source, target])
    return shapes.link(numbers[source], relation_type, numbers[target], at)


def unlink_memories(call: Call, from_memory_id: int, to_memory_id: int, relation_type: str = "") -> dict[str, Any]:
    """Remove links between two memories."""
    source, target = id_of(call.memory, from_memory_id), id_of(call.memory, to_memory_id)
    return shapes.unlinked(unlink_all(call.memory, source, target, relation=relation_type))


def get_related_memories(call: Call, memory_id: int, direction: str, relation_type: str = "") -> list[dict[str, Any]]:
    """Return what a memory is linked to."""
    links = related(call.memory, id_of(call.memory, memory_id), relation=relation_type, direction=direction)
    return shapes.related(call.memory, links)


def relationship_stats(call: Call) -> dict[str, Any]:
    """Count links."""
    counts = relations(call.memory)
    return {
        "total_relationships": counts.total,
        "by_type": counts.by_relation,
        "linked_memories": counts.linked,
    }


def validate_memory(
    call: Call, memory_id: int, reason: str = "", boost: float | None = None, note: str = ""
) -> dict[str, Any]:
    """Raise the trust in a memory."""
    trust = change_trust(call.memory, id_of(call.memory, memory_id), reason, delta=boost, note=note)
    return reports.trust_changed(trust, memory_id)


def invalidate_memory(
    call: Call, memory_id: int, reason: str = "", penalty: float | None = None, note: str = ""
) -> dict[str, Any]:
    """Lower the trust in a memory, whichever sign the penalty has."""
    trust = change_trust(call.memory, id_of(call.memory, memory_id), reason, raises=False, delta=penalty, note=note)
    return reports.trust_changed(trust, memory_id)


def get_trust_history(call: Call, memory_id: int, limit: int) -> dict[str, Any]:
    """Return every change of trust."""
    return reports.trust_history(trust_of(call.memory, id_of(call.memory, memory_id)), memory_id, limit)


def find_contradictions(call: Call, memory_id: int, similarity_threshold: float, limit: int) -> list[dict[str, Any]]:
    """Return what a memory seems to contradict."""
    clashes = contradictions.conflicts(call.memory, id_of(call.memory, memory_id))
    sure = [clash for clash in clashes if clash.found.strength >= similarity_threshold]
    return shapes.likely_conflicts(call.memory, memory_id, sure[:limit])


def get_contradictions(call: Call) -> list[dict[str, Any]]:
    """Return the pairs marked as contradictions."""
    return shapes.disputes(call.memory, contradictions.marked(call.memory))


def mark_contradiction(call: Call, memory_id_a: int, memory_id_b: int) -> dict[str, Any]:
    """Mark two memories as contradicting each other."""
    dispute = contradictions.mark(call.memory, id_of(call.memory, memory_id_a), id_of(call.memory, memory_id_b))
    pair = shapes.disputes(call.memory, [dispute])[0]
    return {"success": True, **pair["relationship"]}


def resolve_contradiction(
    call: Call, memory_id_a: int, memory_id_b: int, keep_id: int, resolution: str
) -> dict[str, Any]:
    """Resolve a contradiction in favour of one memory."""
    first, second, kept = (id_of(call.memory, number) for number in (memory_id_a, memory_id_b, keep_id))
    contradictions.resolve(call.memory, first, second, HOW[resolution], keep=kept)
    other = memory_id_b if keep_id == memory_id_a else memory_id_a
    return shapes.done(
        f"Memory #{keep_id} is kept; #{other} {DONE[resolution]}.",
        kept_id=keep_id,
        other_id=other,
        resolution=resolution,
    )


def get_sessions(call: Call, limit: int, project_path: str = "") -> list[dict[str, Any]]:
    """List sessions, latest first."""
    memory = in_project(call.memory, project_at(call.memory, project_path))
    return [_session(memory, session.id) for session in list_sessions(memory, limit=limit)]


def get_session(call: Call, session_id: str) -> dict[str, Any]:
    """Return one session."""
    return _session(call.memory, session_id)


def get_session_memories(call: Call, session_id: str, limit: int) -> list[dict[str, Any]]:
    """Return what a session saved."""
    left = contents_of(call.memory, session_id)
    active = [record.id for record in left.records if record.state == "active"][:limit]
    vitals = vitals_by_id(call.memory, active)
    return [shapes.memory(vitals[id_]) for id_ in active]


def cross_session_patterns(call: Call, min_sessions: int) -> list[dict[str, Any]]:
    """Return the memories that recur in several sessions."""
    recurring = patterns(call.memory, days=LASTED_DAYS, least=min_sessions, most=50).memories
    shown = sessions_shown(call.memory, [pattern.record.id for pattern in recurring], days=LASTED_DAYS)
    return shapes.recurring(call.memory, recurring, shown)


def set_session_topic(call: Call, session_id: str, topic: str) -> dict[str, Any]:
    """Set the topic of a session."""
    session = entitle(call.memory, session_id, topic)
    return shapes.done(f"Session {session.id} is about: {topic}", session_id=session.id, topic=topic)


def summarize_session(call: Call, session_id: str) -> dict[str, Any]:
    """Group what a session saved."""
    return reports.digested(digest.digest(call.memory, session_id))


def end_session(call: Call, session_id: str, promote_top: bool, promote_type: str) -> dict[str, Any]:
    """Close a session and make the best of its episodic memories lasting."""
    session = find_session(call.memory, session_id).id
    return reports.ended(digest.end_session(call.memory, session, keep=promote_top, memory_type=promote_type))


def access_patterns(call: Call, min_count: int, limit: int, memory_id: int = 0) -> list[dict[str, Any]]:
    """Return which memories sessions read after which."""
    start = id_of(call.memory, memory_id) if memory_id else ""
    return shapes.habits(call.memory, predict.habits(call.memory, start, least=min_count, limit=limit))


def predict_next(
    call: Call, memory_id: int, threshold: float = predict.LEAST, limit: int = predict.MOST
) -> list[dict[str, Any]]:
    """Predict which memories will be needed after one."""
    predictions = predict.predict(call.memory, id_of(call.memory, memory_id), least=threshold, limit=limit)
    return shapes.predictions(call.memory, predictions, memory_id)


def warm_cache(call: Call, memory_id: int) -> dict[str, Any]:
    """Put the predicted memories into the hot cache."""
    guesses = [prediction.record.id for prediction in predict.predict(call.memory, id_of(call.memory, memory_id))]
    predict.warm(call.memory, id_of(call.memory, memory_id))
    numbers = list(numbers_of(call.memory, guesses).values())
    return shapes.done(
        f"{counted(len(numbers), 'predicted memory')} added to the hot cache.",
        promoted_count=len(numbers),
        promoted_ids=numbers,
    )


def predictive_cache_status(call: Call) -> dict[str, Any]:
    """Return how predictions are made."""
    return reports.predictive(metrics(call.memory), call.memory.config.hot_capacity)


def _session(memory: Memory, reference: str) -> dict[str, Any]:
    left = contents_of(memory, reference)
    return reports.session(left, outputs_logged(memory, session=left.session.id))
