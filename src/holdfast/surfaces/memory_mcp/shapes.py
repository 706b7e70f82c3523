"""Format memories of Memory MCP as JSON objects with the fields its documentation names; ids are integers."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from holdfast.engine.views import Entry
from holdfast.model.errors import HoldfastError, NotFound
from holdfast.model.ids import days_between
from holdfast.model.query import Hit, Query, Recalled
from holdfast.model.record import Record
from holdfast.model.text import counted, shorten
from holdfast.policy.ranking.hot_set import uses_of
from holdfast.surfaces.contract import read_contract, text_or_json
from holdfast.surfaces.memory_mcp.memory_types import EPISODIC, kinds_of, tags_of, type_of
from holdfast.surfaces.memory_mcp.numbered import id_of, numbers_of
from holdfast.surfaces.memory_mcp.relations import Relation
from holdfast.surfaces.memory_mcp.relations import related as relations_of
from holdfast.surfaces.memory_mcp.save import Joined
from holdfast.surfaces.phrases import content
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.conflicts import LikelyConflict
from holdfast.verbs.records.vitals import Vitals, vitals_by_id, vitals_of
from holdfast.verbs.search.predict import Habit, Prediction
from holdfast.verbs.sessions.topics import Pattern
from holdfast.verbs.truth.contradictions import Dispute

CONTRACT = read_contract(Path(__file__).parent)
LIMITS: Mapping[str, int] = {"precision": 3, "balanced": 5, "exploratory": 10}
FARTHER = 0.8  # factor on the score of a linked memory
SUMMARY, CACHE_LINE, CACHE_TAGS = 150, 150, 3
RANKING = "How well the words and the meaning fit, weighed by freshness, trust, severity, scope and earlier outcomes."
_GUIDANCE = {
    "high": "HIGH CONFIDENCE: this fits closely and can be relied on.",
    "medium": "MEDIUM CONFIDENCE: this probably applies; check it where it matters.",
    "low": "LOW CONFIDENCE: this fits loosely; take it as a hint and check it.",
}
_PROMOTED = {
    "used": "auto_threshold",
    "predicted": "predicted",
    "mined_approved": "mined_approved",
    "session_end": "session_end",
}


def present_error(problem: HoldfastError) -> str:
    """Format an error as an object with success false."""
    message = "; ".join(problem.problems) + "." if problem.problems else problem.message
    return text_or_json({"success": False, "error": f"{message} {problem.hint}".strip()})


def done(message: str, **more: Any) -> dict[str, Any]:
    """Return the result of a call that succeeded."""
    return {"success": True, "message": message, **more}


def memory(vitals: Vitals, hit: Hit | None = None, *, share: float = 1.0) -> dict[str, Any]:
    """Return a memory with its measurements; `hit` is its search result, `share` the factor for linked memories."""
    record = vitals.record
    counts = record.extra.get("counts") if record.source == "imported" else None
    there = counts.get("access_count", 0) if isinstance(counts, dict) else 0
    mined = "mined" in (record.source, record.extra.get("source") if record.source == "imported" else "")
    return {
        "id": vitals.number,
        "content": content(record),
        "memory_type": type_of(record),
        "source": "mined" if mined else "manual",
        "is_hot": vitals.hot,
        "is_pinned": vitals.pinned,
        "promotion_source": _PROMOTED.get(vitals.why, "manual") if vitals.hot else None,
        "tags": [tag for tag in record.tags if tag != EPISODIC] + ["starter"] * (record.source == "starter"),
        "access_count": max(there, vitals.usage.surfaced + uses_of(vitals.usage)),
        "trust_score": round(vitals.trust, 3),
        "source_log_id": None,
        "extracted_at": record.created_at if mined else None,
        "session_id": record.by.session or None,
        "project_id": record.project or None,
        "similarity": round(hit.fit * share, 3) if hit else None,
        "hot_score": round(vitals.heat, 3),
        "salience_score": vitals.salience,
        "recency_score": round(vitals.freshness, 3),
        "trust_score_decayed": round(vitals.trust_now, 3),
        "composite_score": round(hit.score * share, 4) if hit else None,
        "created_at": record.created_at,
        "ref": record.id,
    }


def memories(memory_: Memory, entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return records as memories."""
    return [memory(vitals) for vitals in vitals_of(memory_, entries)]


def query(
    text: str,
    *,
    mode: str = "",
    limit: int = 0,
    least: float | None = None,
    memory_type: str = "",
    related: bool = False,
) -> Query:
    """Return the query for a caller's question; what is left out follows from the mode."""
    mode_: Any = mode or "balanced"
    return Query(
        text=text,
        kinds=kinds_of(memory_type) if memory_type else (),
        tags=tags_of(memory_type),
        mode=mode_,
        limit=limit or LIMITS[mode_],
        least=least,
        related=related,
    )


def recalled(
    memory_: Memory, results: Recalled, mode: str, *, expand: bool = False, related_: bool = False
) -> dict[str, Any]:
    """Return the results of a recall, with how reliable they are."""
    known = vitals_by_id(
        memory_, [*(hit.record.id for hit in results.hits), *(linked.record.id for linked in results.related)]
    )
    hits = {hit.record.id: hit for hit in results.hits}
    listed = [memory(known[hit.record.id], hit) for hit in results.hits]
    if expand:
        listed += [memory(known[linked.record.id], hits[linked.source], share=FARTHER) for linked in results.related]
    earned = [known[id_] for id_ in hits if known[id_].deserves_heat]
    return {
        "memories": listed,
        "confidence": results.confidence,
        "gated_count": results.gated,
        "mode": mode or "balanced",
        "guidance": _guidance(results),
        "ranking_factors": RANKING,
        "formatted_context": [_formatted(known[hit.record.id], hit, memory_.clock.now()) for hit in results.hits]
        or None,
        "context_summary": _summary(results),
        "promotion_suggestions": [_suggestion(vitals) for vitals in earned] or None,
        "related_memories": _linked(memory_, results, known) if related_ else None,
    }


def related(memory_: Memory, relations: Sequence[Relation]) -> list[dict[str, Any]]:
    """Return what a memory is linked to, each with its link."""
    known = vitals_by_id(memory_, [relation.other.record.id for relation in relations])
    return [
        {"memory": memory(known[relation.other.record.id]), "relationship": relationship(memory_, relation)}
        for relation in relations
    ]


def relationship(memory_: Memory, relation: Relation) -> dict[str, Any]:
    """Return a link."""
    numbers = numbers_of(memory_, [relation.arrow.source, relation.arrow.target])
    return link(numbers[relation.arrow.source], relation.arrow.relation, numbers[relation.arrow.target], relation.at)


def link(source: int, relation: str, target: int, at: str) -> dict[str, Any]:
    """Return a link by its ends; its id is derived from them."""
    return {
        "id": crc32(f"{source} {relation} {target}".encode()),
        "from_memory_id": source,
        "to_memory_id": target,
        "relation_type": relation,
        "created_at": at,
    }


def unlinked(count: int) -> dict[str, Any]:
    """Return how many links were removed; raise if there was none."""
    if not count:
        raise NotFound("There is no such link between the two.", hint="get_related_memories lists the links.")
    return done(f"{counted(count, 'link')} removed.", removed_count=count)


def likely_conflicts(memory_: Memory, number: int, candidates: Sequence[LikelyConflict]) -> list[dict[str, Any]]:
    """Return what a memory seems to contradict, and why."""
    own = id_of(memory_, number)
    known = vitals_by_id(memory_, [own, *(clash.record.id for clash in candidates)])
    marked = {relation.other.record.id for relation in relations_of(memory_, own, relation="contradicts")}
    return [
        {
            "memory_a": memory(known[own]),
            "memory_b": memory(known[clash.record.id]),
            "similarity": round(clash.found.strength, 3),
            "already_linked": clash.record.id in marked,
            "reason": clash.found.explain,
        }
        for clash in candidates
    ]


def disputes(memory_: Memory, pairs: Sequence[Dispute]) -> list[dict[str, Any]]:
    """Return pairs of memories that are marked as contradicting each other."""
    known = vitals_by_id(memory_, [record.id for dispute in pairs for record in (dispute.older, dispute.newer)])
    return [
        {
            "memory_a": memory(known[dispute.newer.id]),
            "memory_b": memory(known[dispute.older.id]),
            "relationship": link(
                known[dispute.newer.id].number, "contradicts", known[dispute.older.id].number, dispute.marked_at
            ),
        }
        for dispute in pairs
    ]


def recurring(memory_: Memory, patterns: Sequence[Pattern], shown: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """Return memories that recur in several sessions."""
    known = vitals_by_id(memory_, [pattern.record.id for pattern in patterns])
    return [
        {
            "content": shorten(content(pattern.record), 200),
            "memory_type": type_of(pattern.record),
            "session_count": pattern.sessions,
            "total_accesses": known[pattern.record.id].usage.surfaced,
            "sessions": list(shown[pattern.record.id]),
            "memory_id": known[pattern.record.id].number,
        }
        for pattern in patterns
    ]


def habits(memory_: Memory, steps: Sequence[Habit]) -> list[dict[str, Any]]:
    """Return which memories sessions read after which."""
    numbers = numbers_of(memory_, [record.id for habit in steps for record in (habit.source, habit.target)])
    return [
        {
            "from_memory_id": numbers[habit.source.id],
            "to_memory_id": numbers[habit.target.id],
            "count": habit.times,
            "probability": round(habit.probability, 3),
            "last_seen": habit.last_at,
        }
        for habit in steps
    ]


def predictions(memory_: Memory, predicted: Sequence[Prediction], source: int) -> list[dict[str, Any]]:
    """Return what will likely be needed next."""
    known = vitals_by_id(memory_, [prediction.record.id for prediction in predicted])
    return [
        {
            "memory": memory(known[prediction.record.id]),
            "probability": round(prediction.probability, 3),
            "source_memory_id": source,
        }
        for prediction in predicted
    ]


def remembered(memory_: Memory, joined: Joined) -> dict[str, Any]:
    """Return the outcome of saving a memory."""
    number = numbers_of(memory_, [joined.record.id])[joined.record.id]
    if joined.known:
        return done(f"Already known as memory #{number}; its tags were added.", memory_id=number, was_duplicate=True)
    waits = " It is pending approval." if joined.waits else ""
    return done(f"Stored as memory #{number}.{waits}", memory_id=number, project_id=joined.record.project or None)


def hot_cache(records: Iterable[Record]) -> str:
    """Format the hot cache as context to prepend to a session."""
    lines = [_cache_line(record) for record in records]
    if not lines:
        return "[MEMORY: Hot cache empty - no recent activity]"
    return "\n".join(["[MEMORY: Hot Cache - High-confidence patterns]", *lines])


def _cache_line(record: Record) -> str:
    tags = [tag for tag in record.tags if tag != EPISODIC][:CACHE_TAGS]
    return f"- {shorten(content(record), CACHE_LINE)}" + (f" [{', '.join(tags)}]" if tags else "")


def _guidance(results: Recalled) -> str:
    notes = "".join(f" {note}" for note in results.notes)
    if results.hits:
        return _GUIDANCE[results.confidence] + notes
    if results.gated:
        return f"NO CONFIDENT MATCH: {results.gated} weaker matches left out. Work it out from the code and do not guess.{notes}"
    return f"NO MATCH FOUND: try other words or mode=exploratory; nothing is known about this, so do not guess.{notes}"


def _summary(results: Recalled) -> str | None:
    if not results.hits:
        return None
    return f"{counted(len(results.hits), 'memory')}, the best: {shorten(results.hits[0].record.title, 80)}"


def _formatted(vitals: Vitals, hit: Hit, now: str) -> dict[str, Any]:
    return {
        "summary": shorten(content(vitals.record), SUMMARY),
        "memory_type": type_of(vitals.record),
        "tags": [tag for tag in vitals.record.tags if tag != EPISODIC],
        "age": age(vitals.record.created_at, now),
        "confidence": {"strong": "high", "fair": "medium", "weak": "low"}[hit.confidence],
        "source_hint": "hot cache" if vitals.hot else "cold storage",
    }


def age(at: str, now: str) -> str:
    """Return how old something is, in the largest unit that fits."""
    days = days_between(at, now)
    for unit, size in (
        ("year", 365.0),
        ("month", 30.0),
        ("week", 7.0),
        ("day", 1.0),
        ("hour", 1 / 24),
        ("minute", 1 / 1440),
    ):
        if days >= size:
            return counted(int(days / size), unit)
    return "just now"


def _suggestion(vitals: Vitals) -> dict[str, Any]:
    return {
        "memory_id": vitals.number,
        "content": shorten(content(vitals.record), SUMMARY),
        "access_count": vitals.usage.surfaced + uses_of(vitals.usage),
        "salience_score": vitals.salience,
    }


def _linked(memory_: Memory, results: Recalled, known: Mapping[str, Vitals]) -> list[dict[str, Any]]:
    numbers = numbers_of(memory_, [neighbour.source for neighbour in results.related])
    return [
        {
            "memory": memory(known[neighbour.record.id]),
            "relationship": link(
                numbers[neighbour.source],
                neighbour.relation,
                known[neighbour.record.id].number,
                neighbour.record.created_at,
            ),
        }
        for neighbour in results.related
    ]
