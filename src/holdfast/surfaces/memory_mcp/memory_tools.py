"""Memory MCP's tools for memories: save, recall, list, delete, the hot cache, feedback, documents."""

from typing import Any

from holdfast.model.query import Query
from holdfast.surfaces.memory_mcp import reports, shapes
from holdfast.surfaces.memory_mcp.memory_types import draft_of, kinds_of, tags_of, type_of_kind
from holdfast.surfaces.memory_mcp.numbered import id_of
from holdfast.surfaces.memory_mcp.save import keep_or_join
from holdfast.surfaces.tool import Call
from holdfast.verbs.exchange.bootstrap import bootstrap, confined, seed_file, seed_text
from holdfast.verbs.records import hot
from holdfast.verbs.records.browse import browse, census
from holdfast.verbs.records.lifecycle import record_use
from holdfast.verbs.records.vitals import vitals_by_id
from holdfast.verbs.search.recall import recall as find_answers
from holdfast.verbs.search.recall import recall_with_fallback as find_in_turn
from holdfast.verbs.sessions.session import context, in_session
from holdfast.verbs.upkeep.erasing import erase
from holdfast.verbs.upkeep.maintain import quality

FALLBACK = (kinds_of("pattern"), kinds_of("project"), ())


def remember(
    call: Call, content: str, memory_type: str, tags: tuple[str, ...] = (), category: str = "", session_id: str = ""
) -> dict[str, Any]:
    """Save a memory, or add its tags to the one that already says it."""
    memory = in_session(call.memory, session_id)
    return shapes.remembered(memory, keep_or_join(memory, draft_of(content, memory_type, category=category, tags=tags)))


def recall(
    call: Call,
    query: str,
    include_related: bool,
    mode: str = "",
    limit: int = 0,
    threshold: float | None = None,
    memory_type: str = "",
    expand_relations: bool = False,
) -> dict[str, Any]:
    """Find memories that answer a question."""
    linked = include_related or expand_relations
    most = limit or (0 if mode else call.memory.config.recall_limit)
    request = shapes.query(query, mode=mode, limit=most, least=threshold, memory_type=memory_type, related=linked)
    recalled = find_answers(call.memory, request)
    hot.promote_recalled(call.memory, [hit.record.id for hit in recalled.hits])
    return shapes.recalled(call.memory, recalled, mode, expand=expand_relations, related_=include_related)


def recall_with_fallback(call: Call, query: str, min_results: int, mode: str = "") -> dict[str, Any]:
    """Search patterns, then facts, then everything in the project."""
    recalled = find_in_turn(call.memory, shapes.query(query, mode=mode), FALLBACK, least=min_results)
    hot.promote_recalled(call.memory, [hit.record.id for hit in recalled.hits])
    return shapes.recalled(call.memory, recalled, mode)


def recall_by_tag(call: Call, tag: str, limit: int) -> list[dict[str, Any]]:
    """List the memories with a tag."""
    return shapes.memories(call.memory, browse(call.memory, Query(text="", tags=(tag,), limit=limit)).entries)


def list_memories(call: Call, limit: int, offset: int, memory_type: str = "") -> list[dict[str, Any]]:
    """List memories, newest first."""
    kinds = kinds_of(memory_type) if memory_type else ()
    request = Query(text="", kinds=kinds, tags=tags_of(memory_type), limit=limit)
    return shapes.memories(call.memory, browse(call.memory, request, offset=offset).entries)


def forget(call: Call, memory_id: int) -> dict[str, Any]:
    """Erase a memory for good."""
    erase(call.memory, id_of(call.memory, memory_id))
    return shapes.done(f"Deleted memory #{memory_id}.", memory_id=memory_id)


def memory_stats(call: Call) -> dict[str, Any]:
    """Count memories."""
    return reports.stats(census(call.memory, Query(text="")), len(hot.hot_ids(call.memory)), type_of_kind)


def hot_cache_status(call: Call) -> dict[str, Any]:
    """Return the hot cache and its statistics."""
    memory = call.memory
    members = hot.hot_set(memory)
    vitals = vitals_by_id(memory, [member.record.id for member in members])
    return reports.hot_status(
        [vitals[member.record.id] for member in members], hot.heat_counts(memory), memory.config.hot_capacity
    )


def promote(call: Call, memory_id: int) -> dict[str, Any]:
    """Put a memory into the hot cache."""
    hot.promote(call.memory, id_of(call.memory, memory_id))
    return shapes.done(f"Memory #{memory_id} is in the hot cache.", memory_id=memory_id)


def demote(call: Call, memory_id: int) -> dict[str, Any]:
    """Remove a memory from the hot cache."""
    hot.demote(call.memory, id_of(call.memory, memory_id))
    return shapes.done(f"Memory #{memory_id} left the hot cache.", memory_id=memory_id)


def pin(call: Call, memory_id: int) -> dict[str, Any]:
    """Keep a memory in the hot cache."""
    hot.pin(call.memory, id_of(call.memory, memory_id))
    return shapes.done(f"Memory #{memory_id} is pinned.", memory_id=memory_id)


def unpin(call: Call, memory_id: int) -> dict[str, Any]:
    """Allow a memory to leave the hot cache again."""
    hot.unpin(call.memory, id_of(call.memory, memory_id))
    return shapes.done(f"Memory #{memory_id} is no longer pinned.", memory_id=memory_id)


def mark_memory_used(call: Call, memory_id: int, feedback: str = "") -> dict[str, Any]:
    """Record that a memory helped."""
    record_use(call.memory, [id_of(call.memory, memory_id)], "applied", note=feedback)
    return shapes.done(f"Recorded that memory #{memory_id} helped.", memory_id=memory_id)


def retrieval_quality_stats(call: Call, days: int, memory_id: int = 0) -> dict[str, Any]:
    """Return how often results helped."""
    if not memory_id:
        return reports.quality(quality(call.memory, days=days), days)
    vitals = vitals_by_id(call.memory, [id_of(call.memory, memory_id)])
    return reports.retrieval(next(iter(vitals.values())))


def bootstrap_project(
    call: Call,
    root_path: str,
    promote_to_hot: bool,
    memory_type: str,
    file_patterns: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Import the project's documents."""
    template = draft_of("", memory_type, tags=tags, source="imported")
    return reports.bootstrapped(
        bootstrap(call.memory, template, root=root_path, files=file_patterns, hot=promote_to_hot)
    )


def seed_from_text(call: Call, content: str, memory_type: str, promote_to_hot: bool) -> dict[str, Any]:
    """Save each item and paragraph of a text."""
    return reports.seeded(seed_text(call.memory, content, draft_of("", memory_type), hot=promote_to_hot))


def seed_from_file(call: Call, file_path: str, memory_type: str, promote_to_hot: bool) -> dict[str, Any]:
    """Import a file of the project."""
    template = draft_of("", memory_type, source="imported")
    return reports.seeded(seed_file(call.memory, confined(call.memory, file_path), template, hot=promote_to_hot))


def hot_cache(call: Call) -> str:
    """Return the hot cache as context; an empty one is filled from the project's documents with `auto_bootstrap`."""
    memory = call.memory
    if memory.config.auto_bootstrap and not hot.hot_ids(memory):
        bootstrap(memory, draft_of("", "project", source="imported"), hot=True)
    return shapes.hot_cache(member.record for member in hot.hot_set(memory))


def project_context(call: Call) -> str:
    """Return the state of the project."""
    return reports.project(context(call.memory), hot.hot_set(call.memory))
