"""Map Memory MCP's types, categories and integer ids to kinds and ids, and back."""

from collections.abc import Iterable

from holdfast.engine.views import records
from holdfast.model.errors import NotFound
from holdfast.model.kinds import KINDS, SEPARATE
from holdfast.model.record import Draft, Record, Source
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.read import called, entries_called

SYSTEM = "memory-mcp"
TYPES = ("project", "pattern", "reference", "conversation", "episodic")
EPISODIC = "episodic"  # an observation with this tag: bound to its session
# Kinds without a Memory MCP type, mapped to the nearest one.
_UNNAMED = {"decision": "project", "preference": "project", "scar": "pattern", "thread": "conversation"}
_KINDS = {"project": "fact", "pattern": "pattern", "reference": "reference"}
_KINDS |= {"conversation": "observation", EPISODIC: "observation"}
_BY_CATEGORY = {"decision": "decision", "preference": "preference", "lesson": "learning"}
_BY_CATEGORY |= dict.fromkeys(("antipattern", "landmine"), "anti_pattern")
_BY_CATEGORY |= dict.fromkeys(("convention", "workflow"), "pattern")
_BY_CATEGORY |= dict.fromkeys(("snippet", "command"), "reference")
_CATEGORIES = {"anti_pattern": "antipattern", "scar": "landmine", "learning": "lesson", "win": "lesson"}
_SAME_NAME = ("decision", "preference", "reference", "observation")


def type_of_kind(kind: str) -> str:
    """Return the Memory MCP type of a kind."""
    named = KINDS[kind].names.get(SYSTEM, "") if kind in KINDS else ""
    return named or _UNNAMED.get(kind, "project")


def type_of(record: Record) -> str:
    """Return the Memory MCP type of a record."""
    return EPISODIC if record.kind == "observation" and EPISODIC in record.tags else type_of_kind(record.kind)


def kinds_of(memory_type: str) -> tuple[str, ...]:
    """Return the kinds of a type; none for an empty type."""
    if memory_type == EPISODIC:
        return ("observation",)
    return tuple(kind for kind in KINDS if type_of_kind(kind) == memory_type and kind not in SEPARATE)


def tags_of(memory_type: str) -> tuple[str, ...]:
    """Return the tags that distinguish a type from others of the same kind."""
    return (EPISODIC,) if memory_type == EPISODIC else ()


def category_of(record: Record) -> str:
    """Return the category of a record: the stored one, or the one its kind implies."""
    stored = record.fields.get("category") or record.extra.get("category")
    if isinstance(stored, str) and stored:
        return stored
    return record.kind if record.kind in _SAME_NAME else _CATEGORIES.get(record.kind, "")


def draft_of(
    content: str, memory_type: str, *, category: str = "", tags: Iterable[str] = (), source: Source = "explicit"
) -> Draft:
    """Return the draft of a memory of that type; a category refines the kind if the type stays the same."""
    finer = _BY_CATEGORY.get(category, "")
    kind = finer if finer and type_of_kind(finer) == memory_type else _KINDS[memory_type]
    beside = {"category": category} if category else {}
    fields, extra = (beside, {}) if kind == "fact" else ({}, beside)
    tags = (*tags, *tags_of(memory_type))
    return Draft(body=content, kind=kind, fields=fields, extra=extra, tags=tags, confidence="high", source=source)


def id_of(memory: Memory, number: int, what: str = "Memory", lists: str = "list_memories") -> str:
    """Return the id of the record with this number, or with this number in an imported Memory MCP store; `what` it should be."""
    for entry in entries_called(memory, [number], SYSTEM).get(number, ()):
        return entry.record.id
    raise NotFound(f"{what} not found: {number}.", hint=f"{lists} lists the ids.")


def numbers_of(memory: Memory, ids: Iterable[str]) -> dict[str, int]:
    """Return the number of each record."""
    return {entry.record.id: entry.number for entry in called(memory, records.by_ids(memory.store, ids).values())}
