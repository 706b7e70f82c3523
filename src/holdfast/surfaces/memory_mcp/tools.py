"""Memory MCP's tools: the verb of each, and the maps of its arguments and results. Ids are integers."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from holdfast.engine.views.links import Arrow
from holdfast.model.query import Recalled
from holdfast.model.record import Record
from holdfast.model.session import Session
from holdfast.model.text import counted, shorten
from holdfast.model.times import ago
from holdfast.policy.ranking.hot_set import helpfulness, uses_of
from holdfast.surfaces.contract import read_contract
from holdfast.surfaces.maps import Row, Terms, mapped
from holdfast.surfaces.memory_mcp import verbs
from holdfast.surfaces.memory_mcp.memory_types import (
    EPISODIC,
    category_of,
    draft_of,
    id_of,
    numbers_of,
    pattern_of,
    type_of,
)
from holdfast.surfaces.phrases import content
from holdfast.verbs.capture import mining
from holdfast.verbs.exchange.bootstrap import bootstrap, confined, seed_file, seed_text
from holdfast.verbs.memory import Memory
from holdfast.verbs.records import hot
from holdfast.verbs.records.lifecycle import record_use
from holdfast.verbs.records.vitals import Vitals, vitals_by_id
from holdfast.verbs.search import predict
from holdfast.verbs.sessions.session import context, entitle
from holdfast.verbs.truth.trust import change_trust
from holdfast.verbs.upkeep import doctor
from holdfast.verbs.upkeep.erasing import erase
from holdfast.verbs.upkeep.maintain import metrics, quality

CONTRACT = read_contract(Path(__file__).parent)
LINE = 150  # characters of a memory in the hot cache and in summaries
PROMOTED = {
    "used": "auto_threshold",
    "predicted": "predicted",
    "mined_approved": "mined_approved",
    "session_end": "session_end",
}
GUIDANCE = {
    "high": "HIGH CONFIDENCE: this fits closely and can be relied on.",
    "medium": "MEDIUM CONFIDENCE: this probably applies; check it where it matters.",
    "low": "LOW CONFIDENCE: this fits loosely; take it as a hint and check it.",
}

MEMORY = """
    id=number, content=record|content, memory_type=record|type, source=record|source, is_hot=hot, is_pinned=pinned,
    promotion_source=.|promoted, tags=record|tags, access_count=.|accesses, trust_score=trust|3, source_log_id=null,
    extracted_at=record|extracted, session_id=record.by.session|none, project_id=record.project|none, similarity=fit|3,
    hot_score=heat|3, salience_score=salience, recency_score=freshness|3, trust_score_decayed=trust_now|3,
    composite_score=score|4, created_at=record.created_at, ref=record.id"""
LINK = """
    id=arrow|link_id, from_memory_id=arrow.source|number, to_memory_id=arrow.target|number,
    relation_type=arrow.relation, created_at=at"""
NEIGHBOUR = f"memory={{{MEMORY}}}, relationship={{{LINK}}}"
RECALLED = f"""
    memories=listed[{MEMORY}], confidence=results.confidence, gated_count=results.gated, mode=mode|or:balanced,
    guidance=results|guidance,
    ranking_factors='How well the words and the meaning fit, weighed by freshness, trust, severity, scope and earlier outcomes.',
    formatted_context=hits[
        summary=record|content|{LINE}, memory_type=record|type, tags=record|own_tags, age=record.created_at|ago,
        confidence=confidence|relevance, source_hint="{{hot|if:hot cache:cold storage}}"
    ]|none,
    context_summary=.|summary,
    promotion_suggestions=earned[
        memory_id=number, content=record|content|{LINE}, access_count=.|uses, salience_score=salience
    ]|none,
    related_memories=neighbours[{NEIGHBOUR}]"""
PAIR = f"memory_a=newer{{{MEMORY}}}, memory_b=older{{{MEMORY}}}, relationship={{{LINK}}}"
TRUST = """
    memory_id, old_trust=.|before|3, new_trust=value|3,
    message="Trust of memory #{memory_id}: {.|before|fixed} → {value|fixed} ({.|reason})." """
SESSION = """
    id=session.id, started_at=session.started_at, last_activity_at=last, topic=session|topic,
    project_path=session.project|none, memory_count=memories, log_count=logs"""
GROUP = "[id=number, content=record|content|300, memory_type=record|type, category=record|category|none]"
CONSOLIDATION = """
    success=true, dry_run=merged|not, cluster_count=chosen|len, total_memories_in_clusters=inside,
    memories_to_delete=gone, space_savings_pct=share|1,
    clusters=chosen[representative_id=base|number, member_ids=sources|numbers, merged_content=text, size=sources|len],
    merged_ids=merged|numbers"""
SEEDED = "memories_created=kept|len, memories_skipped=known, errors=problems|list"
MINING_RUN = """
    success=true, outputs_processed=run.outputs, patterns_found=run.found, new_patterns=new, updated_patterns=updated,
    auto_approved=approved, new_memories=approved, promoted_to_hot=approved"""
QUALITY = """
    days, sessions, total_retrievals=recalls, empty_retrievals=empty, memories_shown=shown,
    used_count=declared.applied|zero, usage_rate=helped|3, declared, observed"""
RETRIEVAL = """
    memory_id=number, retrieved_count=usage.surfaced, used_count=usage|used, utility_score=usage|helpfulness|3,
    last_used_at=usage.last_used_at|none"""


def hot_cache(memory: Memory) -> str:
    """Return the hot cache as context to prepend to a session."""
    lines = []
    for record in verbs.hot_cache(memory):
        tags = ", ".join(own_tags(record)[:3])
        lines.append(f"- {shorten(content(record), LINE)}" + (f" [{tags}]" if tags else ""))
    if not lines:
        return "[MEMORY: Hot cache empty - no recent activity]"
    return "\n".join(["[MEMORY: Hot Cache - High-confidence patterns]", *lines])


def project_context(memory: Memory) -> str:
    """Return the state of the project."""
    opened, members = context(memory), hot.hot_set(memory)
    lines = [f"[MEMORY: Project context ({opened.session.project})]", f"Hot memories: {len(members)}"]
    if last := opened.last:
        lines.append(f"Last session: {last.closed_at[:10]} {shorten(topic(last) or 'untitled', 80)}")
    lines += [f"Open thread: {shorten(thread.record.title, 100)}" for thread in opened.threads[:3]]
    lines += [f"Decision: {shorten(decision.title, 100)}" for decision in opened.decisions]
    return "\n".join([*lines, *(f"- {shorten(member.record.title, LINE)}" for member in members[:5])])


def retrieval_quality(memory: Memory, days: int, memory_id: int = 0) -> dict[str, Any]:
    """Return how often results helped: of one memory, or of all."""
    if memory_id:
        (vitals,) = vitals_by_id(memory, [id_of(memory, memory_id)]).values()
        return mapped(RETRIEVAL, vitals, memory, TERMS)
    return mapped(QUALITY, (quality(memory, days=days), {"days": days}), memory, TERMS)


def saved(memory: Memory, joined: verbs.Joined) -> dict[str, Any]:
    """Return the outcome of saving a memory."""
    number = number_of(memory, joined.record)
    if joined.known:
        message = f"Already known as memory #{number}; its tags were added."
        return {"success": True, "message": message, "memory_id": number, "was_duplicate": True}
    message = f"Stored as memory #{number}.{' It is pending approval.' if joined.waits else ''}"
    return {"success": True, "message": message, "memory_id": number, "project_id": joined.record.project or None}


def guidance(results: Recalled) -> str:
    """Return how far the results of a recall can be relied on."""
    notes = "".join(f" {note}" for note in results.notes)
    if results.hits:
        return GUIDANCE[results.confidence] + notes
    if results.gated:
        return f"NO CONFIDENT MATCH: {results.gated} weaker matches left out. Work it out from the code and do not guess.{notes}"
    return f"NO MATCH FOUND: try other words or mode=exploratory; nothing is known about this, so do not guess.{notes}"


def accesses(vitals: Vitals) -> int:
    """Return how often a memory was read or used, here or where it was imported from."""
    counts = vitals.record.extra.get("counts") if vitals.record.source == "imported" else None
    there = counts.get("access_count", 0) if isinstance(counts, dict) else 0
    return max(there, vitals.usage.surfaced + uses_of(vitals.usage))


def is_mined(record: Record) -> bool:
    """True if a memory was mined, here or where it was imported from."""
    return "mined" in (record.source, record.extra.get("source") if record.source == "imported" else "")


def own_tags(record: Record) -> list[str]:
    """Return the tags of a memory without the one that marks its type."""
    return [tag for tag in record.tags if tag != EPISODIC]


def topic(session: Session) -> str | None:
    """Return the topic of a session."""
    return str(session.close.get("title") or session.title or "") or None


def number_of(memory: Memory, record: Record | str) -> int:
    """Return the number of a record."""
    id_ = record if isinstance(record, str) else record.id
    return numbers_of(memory, [id_])[id_]


def numbers(memory: Memory, records: Sequence[Record]) -> list[int]:
    """Return the numbers of records, in their order."""
    known = numbers_of(memory, [record.id for record in records])
    return [known[record.id] for record in records]


def link_id(memory: Memory, arrow: Arrow) -> int:
    """Return the id of a link, which is derived from its ends."""
    return crc32(f"{number_of(memory, arrow.source)} {arrow.relation} {number_of(memory, arrow.target)}".encode())


TERMS = Terms(
    filters={
        "accesses": accesses,
        "before": lambda trust: trust.history[-2].value if len(trust.history) > 1 else trust.base,
        "category": category_of,
        "draft": lambda memory_type: draft_of("", memory_type),
        "extracted": lambda record: record.created_at if is_mined(record) else None,
        "first_seen": lambda record: record.extra["pattern"].get("first_at", record.created_at),
        "guidance": guidance,
        "helpfulness": helpfulness,
        "imported": lambda given: draft_of("", given["memory_type"], tags=given.get("tags") or (), source="imported"),
        "own_tags": own_tags,
        "promoted": lambda vitals: PROMOTED.get(vitals.why, "manual") if vitals.hot else None,
        "reason": lambda trust: trust.history[-1].reason,
        "schema": lambda memory: int(memory.store.setting("schema")),
        "seeded": lambda done: str(done) if done.found else "No documents found.",
        "sort": lambda record: str(record.extra["pattern"].get("kind", "")),
        "source": lambda record: "mined" if is_mined(record) else "manual",
        "summary": lambda results: (
            f"{counted(len(results['hits']), 'memory')}, the best: {shorten(results['best'].record.title, 80)}"
            if results["best"]
            else None
        ),
        "tags": lambda record: own_tags(record) + ["starter"] * (record.source == "starter"),
        "topic": topic,
        "type": type_of,
        "used": uses_of,
        "uses": lambda vitals: vitals.usage.surfaced + uses_of(vitals.usage),
    },
    lookups={
        "ago": lambda memory, at: ago(at, memory.clock.now()),
        "confined": confined,
        "id": lambda memory, number: None if number is None else id_of(memory, number),
        "link_id": link_id,
        "number": number_of,
        "numbers": numbers,
        "pattern": pattern_of,
        "patterns": lambda memory, numbers_: [pattern_of(memory, number) for number in numbers_ or ()],
        "saved": saved,
        "vitals": lambda memory, record: vitals_by_id(memory, [record.id])[record.id],
    },
    constants={"fit": None, "score": None},
)


def _done(message: str, more: str = "memory_id") -> str:
    return f'success=true, message="{message}", {more}'


def _by_id(verb: Callable[..., Any], message: str) -> Row:
    """Return the row of a tool that does something with one memory."""
    return Row(verb, "reference=memory_id|id", _done(message))


ROWS = {
    "remember": Row(verbs.remember, None, "*.|saved"),
    "recall": Row(verbs.recall, None, RECALLED),
    "recall_with_fallback": Row(verbs.recall_with_fallback, None, RECALLED),
    "recall_by_tag": Row(verbs.list_memories, "tags=tag|one, limit", f"[{MEMORY}]"),
    "list_memories": Row(verbs.list_memories, None, f"[{MEMORY}]"),
    "forget": _by_id(erase, "Deleted memory #{memory_id}."),
    "memory_stats": Row(verbs.stats),
    "hot_cache_status": Row(
        verbs.hot_status,
        None,
        f"""items=items[{MEMORY}], max_items=memory.config.hot_capacity, current_count=items|len, pinned_count=pinned,
        avg_hot_score=average|3,
        metrics={{hits=counts.hits, misses=counts.misses, evictions=counts.evictions, promotions=counts.promotions}},
        effectiveness={{total_accesses=accesses, estimated_tool_calls_saved=counts.hits, hit_rate_percent=rate|1,
        most_accessed_id=most, least_accessed_id=least}}""",
    ),
    "promote": _by_id(hot.promote, "Memory #{memory_id} is in the hot cache."),
    "demote": _by_id(hot.demote, "Memory #{memory_id} left the hot cache."),
    "pin": _by_id(hot.pin, "Memory #{memory_id} is pinned."),
    "unpin": _by_id(hot.unpin, "Memory #{memory_id} is no longer pinned."),
    "mark_memory_used": Row(
        record_use,
        "references=memory_id|id|one, outcome='applied', note=feedback",
        _done("Recorded that memory #{memory_id} helped."),
    ),
    "retrieval_quality_stats": Row(retrieval_quality),
    "bootstrap_project": Row(
        bootstrap,
        "like=.|imported, root=root_path, files=file_patterns, hot=promote_to_hot",
        """success=true, files_found=found, files_processed=read, memories_created=kept|len, memories_skipped=known,
        hot_cache_promoted=hot, errors=problems|list, message=.|seeded""",
    ),
    "seed_from_text": Row(seed_text, "text=content, like=memory_type|draft, hot=promote_to_hot", SEEDED),
    "seed_from_file": Row(seed_file, "path=file_path|confined, like=.|imported, hot=promote_to_hot", SEEDED),
    "link_memories": Row(
        verbs.link_memories, "source=from_memory_id|id, target=to_memory_id|id, relation=relation_type", LINK
    ),
    "unlink_memories": Row(
        verbs.unlink_memories,
        "source=from_memory_id|id, target=to_memory_id|id, relation=relation_type",
        _done("{removed|counted:link} removed.", "removed_count=removed"),
    ),
    "get_related_memories": Row(
        verbs.related, "reference=memory_id|id, relation=relation_type, direction", f"[{NEIGHBOUR}]"
    ),
    "relationship_stats": Row(
        verbs.relation_counts, None, "total_relationships=total, by_type=by_relation, linked_memories=linked"
    ),
    "validate_memory": Row(change_trust, "reference=memory_id|id, reason, delta=boost, note", TRUST),
    "invalidate_memory": Row(change_trust, "reference=memory_id|id, reason, raises=false, delta=penalty, note", TRUST),
    "get_trust_history": Row(
        verbs.trust_steps,
        "reference=memory_id|id, limit",
        """memory_id, entries=steps[
            id=place, memory_id, reason=step.reason, old_trust=before|3, new_trust=step.value|3, delta=step.delta|3,
            similarity=null, note=step.note|none, created_at=step.at
        ], current_trust=trust.value|3, total_changes=total""",
    ),
    "find_contradictions": Row(
        verbs.likely_conflicts,
        "reference=memory_id|id, least=similarity_threshold, limit",
        f"""[memory_a=one{{{MEMORY}}}, memory_b=other{{{MEMORY}}}, similarity=found.strength|3, already_linked=marked,
        reason=found.explain]""",
    ),
    "get_contradictions": Row(verbs.marked, None, f"[{PAIR}]"),
    "mark_contradiction": Row(verbs.mark, "first=memory_id_a|id, second=memory_id_b|id", f"success=true, {LINK}"),
    "resolve_contradiction": Row(
        verbs.resolve,
        None,
        _done("Memory #{keep_id} is kept; #{other} {done}.", "kept_id=keep_id, other_id=other, resolution"),
    ),
    "get_sessions": Row(verbs.sessions, None, f"[{SESSION}]"),
    "get_session": Row(verbs.session_of, "reference=session_id", SESSION),
    "get_session_memories": Row(verbs.session_memories, None, f"[{MEMORY}]"),
    "cross_session_patterns": Row(
        verbs.recurring,
        "least=min_sessions",
        """[content=record|content|200, memory_type=record|type, session_count=times, total_accesses=usage.surfaced,
        sessions=in|list, memory_id=number]""",
    ),
    "set_session_topic": Row(
        entitle,
        "reference=session_id, title=topic",
        _done("Session {id} is about: {topic}", "session_id=id, topic"),
    ),
    "summarize_session": Row(
        verbs.digest,
        None,
        f"""success=true, session_id=session.id, topic=session|topic, memory_count=total, decisions=decisions{GROUP},
        insights=insights{GROUP}, action_items=action_items{GROUP}, context=context{GROUP}""",
    ),
    "end_session": Row(
        verbs.end_session,
        None,
        """success=true, session_id=session.id, episodic_count=episodes|len, promoted_count=promoted|len,
        promoted_ids=promoted, top_memories=best[id=number, content=record.body|100, salience]""",
    ),
    "access_patterns": Row(
        predict.habits,
        "reference=memory_id|id, least=min_count, limit",
        """[from_memory_id=source|number, to_memory_id=target|number, count=times, probability=probability|3,
        last_seen=last_at]""",
    ),
    "predict_next": Row(
        predict.predict,
        "reference=memory_id|id, least=threshold, limit",
        f"[memory=record|vitals{{{MEMORY}}}, probability=probability|3, source_memory_id=memory_id]",
    ),
    "warm_cache": Row(
        verbs.warm,
        "reference=memory_id|id",
        _done(
            "{records|len|counted:predicted memory} added to the hot cache.",
            "promoted_count=records|len, promoted_ids=records|numbers",
        ),
    ),
    "predictive_cache_status": Row(
        metrics,
        None,
        f"""enabled=true, config={{prediction_threshold={predict.LEAST}, max_predictions={predict.MOST},
        sequence_decay_days={predict.HALF_LIFE_DAYS}, hot_cache_max_items=memory.config.hot_capacity}},
        stats={{total_sequences=steps, total_transitions=steps_taken}}""",
    ),
    "log_output": Row(
        verbs.log_output,
        None,
        _done(
            "{characters|if:Output logged.:Too short to be worth mining; nothing was logged.}",
            "characters, session_id=session",
        ),
    ),
    "run_mining": Row(verbs.run_mining, "", MINING_RUN),
    "mining_status": Row(
        verbs.mining_status,
        None,
        f"""enabled=true, promotion_threshold={verbs.ENOUGH}, candidates_ready=ready, candidates_pending=status.waiting,
        outputs_last_24h=recent, outputs_unmined=status.held.unmined, last_run_at=status.held.ran_at|none,
        candidates=first[id=record|number, pattern=record.body|100, type=record|sort, occurrences]""",
    ),
    "review_candidates": Row(
        mining.mined,
        None,
        """[id=record|number, pattern=record.body, type=record|sort, occurrences, confidence, score, sessions,
        first_seen=record|first_seen, last_seen=last_at]""",
    ),
    "approve_candidate": Row(verbs.approve_as, "reference=pattern_id|pattern, memory_type, tags", "*.|saved"),
    "reject_candidate": Row(
        mining.reject,
        "references=pattern_id|pattern|one",
        _done("Pattern #{pattern_id} is rejected and will not be offered again.", "pattern_id"),
    ),
    "bulk_reject_candidates": Row(
        verbs.bulk_reject,
        "references=pattern_ids|patterns, prefix=pattern_type_prefix",
        _done("{.|len|counted:pattern} rejected.", "rejected_count=.|len"),
    ),
    "preview_consolidation": Row(verbs.consolidation, None, CONSOLIDATION),
    "run_consolidation": Row(verbs.consolidation, None, CONSOLIDATION),
    "db_maintenance": Row(
        verbs.db_maintenance,
        None,
        """size_before_bytes=done.bytes_before, size_after_bytes=done.bytes_after, bytes_reclaimed=freed,
        memory_count=now.everywhere, vector_count=vectors, schema_version=memory|schema,
        auto_demoted_count=done.cooled|len, auto_demoted_ids=done.cooled|numbers""",
    ),
    "run_cleanup": Row(
        verbs.cleanup,
        None,
        """success=true, hot_cache_demoted=done.cooled|len, patterns_expired=expired, logs_deleted=0,
        memories_deleted=done.retired|len, memories_deleted_by_type=types, injections_deleted=0, low_utility_penalized=0""",
    ),
    "validate_embeddings": Row(
        verbs.embeddings,
        None,
        """success=valid, valid, stored_model=name|none, stored_dim=dimension, current_model=now.embedder,
        waiting=now.lagging, warning?=warning""",
    ),
    "db_info": Row(
        verbs.database,
        None,
        """db_path=now.place, db_size_bytes=now.bytes, db_size_mb=megabytes|2, schema_version=memory|schema, *stats,
        project=now.project, memories_everywhere=now.everywhere, events=now.events""",
    ),
    "embedding_info": Row(
        doctor.status,
        None,
        """provider=embedder, dimension=memory.embedder.size|zero, cache_size=0, cache_max_size=0,
        waiting_for_vectors=lagging, note=note|none""",
    ),
    "audit_history": Row(
        verbs.audited,
        None,
        """entries=[id=place, operation, target_type='memory', target_id=number, details=details|none, timestamp=event.at],
        count=.|len""",
    ),
    "db_rebuild_vectors": Row(
        verbs.rebuild,
        "progress=call.progress",
        """success=true, vectors_cleared=cleared, memories_total=total, memories_embedded=done,
        memories_failed=now.lagging, new_dimension=dimension|zero, new_model=model,
        message="{done} of {total} memories embedded with {model}." """,
    ),
    "metrics_status": Row(verbs.metrics_status),
    "hot_cache": Row(hot_cache),
    "project_context": Row(project_context),
}
