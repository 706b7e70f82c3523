"""What callers of Memory MCP get of memories: JSON objects with the fields its document names, ids as integers."""

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
from holdfast.policy.ranking.heat import uses_of
from holdfast.surfaces.contract import read_contract, text_or_json
from holdfast.surfaces.memory_mcp.join import Joined
from holdfast.surfaces.memory_mcp.memory_types import EPISODIC, kinds_of, tags_of, type_of
from holdfast.surfaces.memory_mcp.numbered import id_of, numbers_of
from holdfast.surfaces.memory_mcp.relations import Relation
from holdfast.surfaces.memory_mcp.relations import related as relations_of
from holdfast.surfaces.phrases import content
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.conflicts import Clash
from holdfast.verbs.records.vitals import Vitals, vitals_by_id, vitals_of
from holdfast.verbs.search.predict import Habit, Prediction
from holdfast.verbs.sessions.topics import Pattern
from holdfast.verbs.truth.contradictions import Dispute

CONTRACT = read_contract(Path(__file__).parent)
LIMITS: Mapping[str, int] = {"precision": 3, "balanced": 5, "exploratory": 10}
FARTHER = 0.8  # what a step along a link leaves of a score
SUMMARY, CACHE_LINE, CACHE_TAGS = 150, 150, 3
RANKING = (
    "How well the words and the meaning fit, weighed by freshness, trust, severity, scope and what became of it before."
)
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
    """Write an error as an object that says it failed."""
    said = "; ".join(problem.problems) + "." if problem.problems else problem.message
    return text_or_json({"success": False, "error": f"{said} {problem.hint}".strip()})


def done(message: str, **more: Any) -> dict[str, Any]:
    """Give what a call that succeeded says."""
    return {"success": True, "message": message, **more}


def memory(one: Vitals, hit: Hit | None = None, *, share: float = 1.0) -> dict[str, Any]:
    """Give a memory with everything measured about it; `hit` is how it was found, `share` how far from what was asked."""
    record = one.record
    mined = record.source == "mined"
    return {
        "id": one.number,
        "content": content(record),
        "memory_type": type_of(record),
        "source": "mined" if mined else "manual",
        "is_hot": one.hot,
        "is_pinned": one.pinned,
        "promotion_source": _PROMOTED.get(one.why, "manual") if one.hot else None,
        "tags": [tag for tag in record.tags if tag != EPISODIC],
        "access_count": one.usage.surfaced + uses_of(one.usage),
        "trust_score": round(one.trust, 3),
        "source_log_id": None,
        "extracted_at": record.created_at if mined else None,
        "session_id": record.by.session or None,
        "project_id": record.project or None,
        "similarity": round(hit.fit * share, 3) if hit else None,
        "hot_score": round(one.heat, 3),
        "salience_score": one.salience,
        "recency_score": round(one.freshness, 3),
        "trust_score_decayed": round(one.trust_now, 3),
        "composite_score": round(hit.score * share, 4) if hit else None,
        "created_at": record.created_at,
        "ref": record.id,
    }


def memories(memory_: Memory, entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Give records as memories."""
    return [memory(one) for one in vitals_of(memory_, entries)]


def query(
    text: str,
    *,
    mode: str = "",
    limit: int = 0,
    least: float | None = None,
    memory_type: str = "",
    related: bool = False,
) -> Query:
    """Give the question a caller means; what they leave out follows from the mode."""
    meant: Any = mode or "balanced"
    return Query(
        text=text,
        kinds=kinds_of(memory_type) if memory_type else (),
        tags=tags_of(memory_type),
        mode=meant,
        limit=limit or LIMITS[meant],
        least=least,
        related=related,
        starters=False,
    )


def recalled(
    memory_: Memory, found: Recalled, mode: str, *, expand: bool = False, related_: bool = False
) -> dict[str, Any]:
    """Give what a recall found, with how far it can be relied on."""
    known = vitals_by_id(memory_, [*(hit.record.id for hit in found.hits), *(one.record.id for one in found.related)])
    hits = {hit.record.id: hit for hit in found.hits}
    listed = [memory(known[hit.record.id], hit) for hit in found.hits]
    if expand:
        listed += [memory(known[one.record.id], hits[one.source], share=FARTHER) for one in found.related]
    earned = [known[one] for one in hits if known[one].deserves_heat]
    return {
        "memories": listed,
        "confidence": found.confidence,
        "gated_count": found.gated,
        "mode": mode or "balanced",
        "guidance": _guidance(found),
        "ranking_factors": RANKING,
        "formatted_context": [_formatted(known[hit.record.id], hit, memory_.clock.now()) for hit in found.hits] or None,
        "context_summary": _summary(found),
        "promotion_suggestions": [_suggestion(one) for one in earned] or None,
        "related_memories": _linked(memory_, found, known) if related_ else None,
    }


def related(memory_: Memory, found: Sequence[Relation]) -> list[dict[str, Any]]:
    """Give what a memory is linked to, each with its link."""
    known = vitals_by_id(memory_, [one.other.record.id for one in found])
    return [{"memory": memory(known[one.other.record.id]), "relationship": relationship(memory_, one)} for one in found]


def relationship(memory_: Memory, one: Relation) -> dict[str, Any]:
    """Give a link."""
    numbers = numbers_of(memory_, [one.arrow.source, one.arrow.target])
    return link(numbers[one.arrow.source], one.arrow.relation, numbers[one.arrow.target], one.at)


def link(source: int, relation: str, target: int, at: str) -> dict[str, Any]:
    """Give a link by its ends; its id follows from them."""
    return {
        "id": crc32(f"{source} {relation} {target}".encode()),
        "from_memory_id": source,
        "to_memory_id": target,
        "relation_type": relation,
        "created_at": at,
    }


def unlinked(count: int) -> dict[str, Any]:
    """Give how many links went; raises where there was none."""
    if not count:
        raise NotFound("There is no such link between the two.", hint="get_related_memories shows the links there are.")
    return done(f"{counted(count, 'link')} removed.", removed_count=count)


def clashes(memory_: Memory, number: int, found: Sequence[Clash]) -> list[dict[str, Any]]:
    """Give what a memory seems to contradict, and why."""
    own = id_of(memory_, number)
    known = vitals_by_id(memory_, [own, *(one.record.id for one in found)])
    marked = {one.other.record.id for one in relations_of(memory_, own, relation="contradicts")}
    return [
        {
            "memory_a": memory(known[own]),
            "memory_b": memory(known[one.record.id]),
            "similarity": round(one.found.strength, 3),
            "already_linked": one.record.id in marked,
            "reason": one.found.explain,
        }
        for one in found
    ]


def disputes(memory_: Memory, found: Sequence[Dispute]) -> list[dict[str, Any]]:
    """Give pairs of memories that are marked as contradicting each other."""
    known = vitals_by_id(memory_, [record.id for one in found for record in (one.older, one.newer)])
    return [
        {
            "memory_a": memory(known[one.newer.id]),
            "memory_b": memory(known[one.older.id]),
            "relationship": link(known[one.newer.id].number, "contradicts", known[one.older.id].number, one.marked_at),
        }
        for one in found
    ]


def recurring(memory_: Memory, found: Sequence[Pattern], shown: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """Give memories that several sessions came back to."""
    known = vitals_by_id(memory_, [one.record.id for one in found])
    return [
        {
            "content": shorten(content(one.record), 200),
            "memory_type": type_of(one.record),
            "session_count": one.sessions,
            "total_accesses": known[one.record.id].usage.surfaced,
            "sessions": list(shown[one.record.id]),
            "memory_id": known[one.record.id].number,
        }
        for one in found
    ]


def habits(memory_: Memory, found: Sequence[Habit]) -> list[dict[str, Any]]:
    """Give which memories sessions turn to after which."""
    numbers = numbers_of(memory_, [record.id for one in found for record in (one.source, one.target)])
    return [
        {
            "from_memory_id": numbers[one.source.id],
            "to_memory_id": numbers[one.target.id],
            "count": one.times,
            "probability": round(one.probability, 3),
            "last_seen": one.last_at,
        }
        for one in found
    ]


def predictions(memory_: Memory, found: Sequence[Prediction], source: int) -> list[dict[str, Any]]:
    """Give what will likely be wanted next."""
    known = vitals_by_id(memory_, [one.record.id for one in found])
    return [
        {
            "memory": memory(known[one.record.id]),
            "probability": round(one.probability, 3),
            "source_memory_id": source,
        }
        for one in found
    ]


def remembered(memory_: Memory, joined: Joined) -> dict[str, Any]:
    """Give what became of something to remember."""
    number = numbers_of(memory_, [joined.record.id])[joined.record.id]
    if joined.known:
        return done(f"Known already as memory #{number}; its tags were added.", memory_id=number, was_duplicate=True)
    waits = " It waits for a yes." if joined.waits else ""
    return done(f"Stored as memory #{number}.{waits}", memory_id=number, project_id=joined.record.project or None)


def hot_cache(found: Iterable[Record]) -> str:
    """Write the hot cache as a context that is put before a session."""
    lines = [_cache_line(record) for record in found]
    if not lines:
        return "[MEMORY: Hot cache empty - no recent activity]"
    return "\n".join(["[MEMORY: Hot Cache - High-confidence patterns]", *lines])


def _cache_line(record: Record) -> str:
    tags = [tag for tag in record.tags if tag != EPISODIC][:CACHE_TAGS]
    return f"- {shorten(content(record), CACHE_LINE)}" + (f" [{', '.join(tags)}]" if tags else "")


def _guidance(found: Recalled) -> str:
    notes = "".join(f" {note}" for note in found.notes)
    if found.hits:
        return _GUIDANCE[found.confidence] + notes
    if found.gated:
        return f"NO CONFIDENT MATCH: {found.gated} weaker left out. Work it out anew, and do not guess what was meant.{notes}"
    return f"NO MATCH FOUND: try other words or mode=exploratory; nothing is known here, so do not make it up.{notes}"


def _summary(found: Recalled) -> str | None:
    if not found.hits:
        return None
    return f"{counted(len(found.hits), 'memory')}, the best: {shorten(found.hits[0].record.title, 80)}"


def _formatted(one: Vitals, hit: Hit, now: str) -> dict[str, Any]:
    return {
        "summary": shorten(content(one.record), SUMMARY),
        "memory_type": type_of(one.record),
        "tags": [tag for tag in one.record.tags if tag != EPISODIC],
        "age": age(one.record.created_at, now),
        "confidence": {"strong": "high", "fair": "medium", "weak": "low"}[hit.confidence],
        "source_hint": "hot cache" if one.hot else "cold storage",
    }


def age(at: str, now: str) -> str:
    """Say how old something is, in the largest unit that fits."""
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


def _suggestion(one: Vitals) -> dict[str, Any]:
    return {
        "memory_id": one.number,
        "content": shorten(content(one.record), SUMMARY),
        "access_count": one.usage.surfaced + uses_of(one.usage),
        "salience_score": one.salience,
    }


def _linked(memory_: Memory, found: Recalled, known: Mapping[str, Vitals]) -> list[dict[str, Any]]:
    numbers = numbers_of(memory_, [one.source for one in found.related])
    return [
        {
            "memory": memory(known[one.record.id]),
            "relationship": link(numbers[one.source], one.relation, known[one.record.id].number, one.record.created_at),
        }
        for one in found.related
    ]
