"""Memory MCP's tools for how memories hang together: links, trust, contradictions, sessions, predictions, merging."""

from typing import Any

from holdfast.engine.views.links import Arrow
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
from holdfast.verbs.sessions.session import entitle, find_session, left_by, list_sessions
from holdfast.verbs.sessions.topics import patterns, sessions_shown
from holdfast.verbs.truth import contradictions
from holdfast.verbs.truth.trust import change_trust, trust_of
from holdfast.verbs.upkeep.maintain import metrics

HOW = {"supersedes": "supersede", "delete": "remove", "weaken": "weaken"}
LASTED_DAYS = 7.0


def link_memories(call: Call, from_memory_id: int, to_memory_id: int, relation_type: str) -> dict[str, Any]:
    """Point one memory at another."""
    source, target = id_of(call.memory, from_memory_id), id_of(call.memory, to_memory_id)
    link(call.memory, source, relation_type, target)
    at = linked_at(call.memory, Arrow(source=source, relation=relation_type, target=target))
    return shapes.link(from_memory_id, relation_type, to_memory_id, at)


def unlink_memories(call: Call, from_memory_id: int, to_memory_id: int, relation_type: str = "") -> dict[str, Any]:
    """Take links between two memories away."""
    source, target = id_of(call.memory, from_memory_id), id_of(call.memory, to_memory_id)
    return shapes.unlinked(unlink_all(call.memory, source, target, relation=relation_type))


def get_related_memories(call: Call, memory_id: int, direction: str, relation_type: str = "") -> list[dict[str, Any]]:
    """Give what a memory is linked to."""
    found = related(call.memory, id_of(call.memory, memory_id), relation=relation_type, direction=direction)
    return shapes.related(call.memory, found)


def relationship_stats(call: Call) -> dict[str, Any]:
    """Count links."""
    found = relations(call.memory)
    return {
        "total_relationships": found.total,
        "by_type": found.by_relation,
        "linked_memories": found.linked,
    }


def validate_memory(
    call: Call, memory_id: int, reason: str = "", boost: float | None = None, note: str = ""
) -> dict[str, Any]:
    """Raise the trust in a memory."""
    found = change_trust(call.memory, id_of(call.memory, memory_id), reason, delta=boost, note=note)
    return reports.trust_changed(found, memory_id)


def invalidate_memory(
    call: Call, memory_id: int, reason: str = "", penalty: float | None = None, note: str = ""
) -> dict[str, Any]:
    """Lower the trust in a memory, whichever sign the penalty has."""
    found = change_trust(call.memory, id_of(call.memory, memory_id), reason, raises=False, delta=penalty, note=note)
    return reports.trust_changed(found, memory_id)


def get_trust_history(call: Call, memory_id: int, limit: int) -> dict[str, Any]:
    """Give every change of trust."""
    return reports.trust_history(trust_of(call.memory, id_of(call.memory, memory_id)), memory_id, limit)


def find_contradictions(call: Call, memory_id: int, similarity_threshold: float, limit: int) -> list[dict[str, Any]]:
    """Give what a memory seems to contradict."""
    found = contradictions.conflicts(call.memory, id_of(call.memory, memory_id))
    sure = [one for one in found if one.found.strength >= similarity_threshold]
    return shapes.clashes(call.memory, memory_id, sure[:limit])


def get_contradictions(call: Call) -> list[dict[str, Any]]:
    """Give the pairs somebody marked."""
    return shapes.disputes(call.memory, contradictions.marked(call.memory))


def mark_contradiction(call: Call, memory_id_a: int, memory_id_b: int) -> dict[str, Any]:
    """Say that two memories contradict each other."""
    dispute = contradictions.mark(call.memory, id_of(call.memory, memory_id_a), id_of(call.memory, memory_id_b))
    pair = shapes.disputes(call.memory, [dispute])[0]
    return {"success": True, **pair["relationship"]}


def resolve_contradiction(
    call: Call, memory_id_a: int, memory_id_b: int, keep_id: int, resolution: str
) -> dict[str, Any]:
    """End a contradiction in favour of one memory."""
    first, second, kept = (id_of(call.memory, one) for one in (memory_id_a, memory_id_b, keep_id))
    contradictions.resolve(call.memory, first, second, HOW[resolution], keep=kept)
    other = memory_id_b if keep_id == memory_id_a else memory_id_a
    return shapes.done(
        f"Memory #{keep_id} holds; #{other}: {resolution}.", kept_id=keep_id, other_id=other, resolution=resolution
    )


def get_sessions(call: Call, limit: int, project_path: str = "") -> list[dict[str, Any]]:
    """List sessions, latest first."""
    memory = in_project(call.memory, project_at(call.memory, project_path))
    return [_session(memory, one.id) for one in list_sessions(memory, limit=limit)]


def get_session(call: Call, session_id: str) -> dict[str, Any]:
    """Give one session."""
    return _session(call.memory, session_id)


def get_session_memories(call: Call, session_id: str, limit: int) -> list[dict[str, Any]]:
    """Give what a session kept."""
    left = left_by(call.memory, session_id)
    active = [one.id for one in left.records if one.state == "active"][:limit]
    found = vitals_by_id(call.memory, active)
    return [shapes.memory(found[one]) for one in active]


def cross_session_patterns(call: Call, min_sessions: int) -> list[dict[str, Any]]:
    """Give what several sessions came back to."""
    found = patterns(call.memory, days=LASTED_DAYS, least=min_sessions, most=50).memories
    shown = sessions_shown(call.memory, [one.record.id for one in found], days=LASTED_DAYS)
    return shapes.recurring(call.memory, found, shown)


def set_session_topic(call: Call, session_id: str, topic: str) -> dict[str, Any]:
    """Say what a session is about."""
    session = entitle(call.memory, session_id, topic)
    return shapes.done(f"Session {session.id} is about: {topic}", session_id=session.id, topic=topic)


def summarize_session(call: Call, session_id: str) -> dict[str, Any]:
    """Sort what a session kept."""
    return reports.digested(digest.digest(call.memory, session_id))


def end_session(call: Call, session_id: str, promote_top: bool, promote_type: str) -> dict[str, Any]:
    """End a session and keep the best of what was bound to it."""
    meant = find_session(call.memory, session_id).id
    return reports.ended(digest.end_session(call.memory, meant, keep=promote_top, memory_type=promote_type))


def access_patterns(call: Call, min_count: int, limit: int, memory_id: int = 0) -> list[dict[str, Any]]:
    """Give which memories sessions turn to after which."""
    start = id_of(call.memory, memory_id) if memory_id else ""
    return shapes.habits(call.memory, predict.habits(call.memory, start, least=min_count, limit=limit))


def predict_next(
    call: Call, memory_id: int, threshold: float = predict.LEAST, limit: int = predict.MOST
) -> list[dict[str, Any]]:
    """Guess what will be wanted after a memory."""
    found = predict.predict(call.memory, id_of(call.memory, memory_id), least=threshold, limit=limit)
    return shapes.predictions(call.memory, found, memory_id)


def warm_cache(call: Call, memory_id: int) -> dict[str, Any]:
    """Put what will likely be wanted next into the hot cache."""
    guesses = [one.record.id for one in predict.predict(call.memory, id_of(call.memory, memory_id))]
    predict.warm(call.memory, id_of(call.memory, memory_id))
    numbers = list(numbers_of(call.memory, guesses).values())
    return shapes.done(f"{len(numbers)} predicted memories are hot.", promoted_count=len(numbers), promoted_ids=numbers)


def predictive_cache_status(call: Call) -> dict[str, Any]:
    """Tell how predictions are made."""
    return reports.predictive(metrics(call.memory), call.memory.config.hot_capacity)


def _session(memory: Memory, reference: str) -> dict[str, Any]:
    left = left_by(memory, reference)
    return reports.session(left, outputs_logged(memory, session=left.session.id))
