"""Memory MCP's tools, as rows.txt maps them to verbs: what its maps can name. Ids are integers."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

from holdfast.engine.views.links import Arrow
from holdfast.model.ids import ago
from holdfast.model.record import Record
from holdfast.model.session import Session
from holdfast.model.text import counted, shorten
from holdfast.policy.ranking.hot_set import helpfulness, uses_of
from holdfast.surfaces.maps import Terms, mapped, problem_text, read_rows, surface_of
from holdfast.surfaces.memory_mcp import memory_types, verbs
from holdfast.surfaces.pages import pages_of
from holdfast.surfaces.phrases import content
from holdfast.surfaces.tool import read_contract
from holdfast.verbs.exchange.bootstrap import bootstrap, confined
from holdfast.verbs.memory import Memory
from holdfast.verbs.records import hot
from holdfast.verbs.sessions.session import context
from holdfast.verbs.upkeep.health import quality

HERE = Path(__file__).parent
PROMOTED = {"used": "auto_threshold"} | {name: name for name in ("predicted", "mined_approved", "session_end")}


def hot_cache(memory: Memory) -> str:
    """Return the hot cache as context for a session; an empty one is filled from documents with `auto_bootstrap`."""
    if memory.config.auto_bootstrap and not hot.hot_ids(memory):
        bootstrap(memory, memory_types.draft_of("", "project", source="imported"), hot=True)
    return page("hot_cache", [member.record for member in hot.hot_set(memory)])


def project_context(memory: Memory) -> str:
    """Return the state of the project."""
    return page("project", context(memory), hot.hot_set(memory))


def retrieval_quality(memory: Memory, days: int, memory_id: int = 0) -> dict[str, Any]:
    """Return how often results helped: of one memory, or of all."""
    if memory_id:
        (vitals,) = hot.vitals_by_id(memory, [memory_types.id_of(memory, memory_id)]).values()
        return mapped(SHAPES["RETRIEVAL"], vitals, memory, TERMS)
    return mapped(SHAPES["QUALITY"], (quality(memory, days=days), {"days": days}), memory, TERMS)


def own_tags(record: Record) -> list[str]:
    """Return the tags of a memory without the one that marks its type."""
    return [tag for tag in record.tags if tag != memory_types.EPISODIC]


def topic(session: Session) -> str | None:
    """Return the topic of a session."""
    return str(session.close.get("title") or session.title or "") or None


def numbers(memory: Memory, records: Sequence[Record | str]) -> list[int]:
    """Return the numbers of records, or of ids, in their order."""
    ids = [record if isinstance(record, str) else record.id for record in records]
    known = memory_types.numbers_of(memory, ids)
    return [known[id_] for id_ in ids]


def link_id(memory: Memory, arrow: Arrow) -> int:
    """Return the id of a link, which is derived from its ends."""
    source, target = numbers(memory, [arrow.source, arrow.target])
    return crc32(f"{source} {arrow.relation} {target}".encode())


pattern = partial(memory_types.id_of, what="Pattern", lists="review_candidates")
page = pages_of(HERE, {"content": content, "own_tags": own_tags, "topic": topic})
TERMS = Terms(
    filters={
        "accesses": verbs.accesses,
        "before": lambda trust: trust["history"][-2]["value"] if len(trust["history"]) > 1 else trust["base"],
        "category": memory_types.category_of,
        "draft": lambda memory_type: memory_types.draft_of("", memory_type),
        "extracted": lambda record: record.created_at if verbs.is_mined(record) else None,
        "first_seen": lambda record: record.extra["pattern"].get("first_at", record.created_at),
        "guidance": lambda results: page("guidance", results),
        "heat": verbs.heat,
        "helpfulness": helpfulness,
        "imported": lambda given: memory_types.draft_of(
            "", given["memory_type"], tags=given.get("tags") or (), source="imported"
        ),
        "megabytes": lambda size: size / 1_048_576,
        "own_tags": own_tags,
        "promoted": lambda vitals: PROMOTED.get(vitals.why, "manual") if vitals.hot else None,
        "reason": lambda trust: trust["history"][-1]["reason"],
        "schema": lambda memory: int(memory.store.setting("schema")),
        "seeded": lambda done: str(done) if done.found else "No documents found.",
        "sort": verbs.sort_of,
        "stats": verbs.stats,
        "source": lambda record: "mined" if verbs.is_mined(record) else "manual",
        "summary": lambda results: (
            f"{counted(len(results['hits']), 'memory')}, the best: {shorten(results['best'].record.title, 80)}"
            if results["best"]
            else None
        ),
        "tags": lambda record: own_tags(record) + ["starter"] * (record.source == "starter"),
        "topic": topic,
        "type": memory_types.type_of,
        "used": uses_of,
        "uses": lambda vitals: vitals.usage.surfaced + uses_of(vitals.usage),
    },
    lookups={
        "ago": lambda memory, at: ago(at, memory.clock.now()),
        "confined": confined,
        "id": lambda memory, number: None if number is None else memory_types.id_of(memory, number),
        "link_id": link_id,
        "number": lambda memory, record: numbers(memory, [record])[0],
        "numbers": numbers,
        "pattern": pattern,
        "patterns": lambda memory, numbers_: [pattern(memory, number) for number in numbers_ or ()],
        "vitals": lambda memory, record: hot.vitals_by_id(memory, [record.id])[record.id],
    },
    constants={"fit": None, "score": None, "least": hot.LEAST, "most": hot.MOST} | {"half_life": hot.HALF_LIFE_DAYS},
)


SHAPES, ROWS = read_rows(HERE, {**vars(verbs), **globals()})
surface = surface_of(
    read_contract(HERE), ROWS, TERMS, present_error=lambda problem: {"success": False, "error": problem_text(problem)}
)
