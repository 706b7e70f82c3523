"""Memory MCP's types and categories of a memory, as kinds of ours and back. Pure."""

from collections.abc import Iterable, Mapping

from holdfast.model.kinds import KINDS
from holdfast.model.record import Draft, Record, Source

SYSTEM = "memory-mcp"
TYPES = ("project", "pattern", "reference", "conversation", "episodic")
EPISODIC = "episodic"  # an observation with this tag: bound to its session
# Kinds that have no name there, by what they are nearest to.
_UNNAMED = {"decision": "project", "preference": "project", "scar": "pattern", "thread": "conversation"}
_KINDS: Mapping[str, str] = {
    "project": "fact",
    "pattern": "pattern",
    "reference": "reference",
    "conversation": "observation",
    EPISODIC: "observation",
}
_BY_CATEGORY: Mapping[str, str] = {
    "antipattern": "anti_pattern",
    "landmine": "anti_pattern",
    "decision": "decision",
    "convention": "pattern",
    "workflow": "pattern",
    "preference": "preference",
    "lesson": "learning",
    "snippet": "reference",
    "command": "reference",
}
_CATEGORIES = {"anti_pattern": "antipattern", "scar": "landmine", "learning": "lesson", "win": "lesson"}
_SAME_NAME = ("decision", "preference", "reference", "observation")


def type_of_kind(kind: str) -> str:
    """Give what a kind is called there."""
    named = KINDS[kind].names.get(SYSTEM, "") if kind in KINDS else ""
    return named or _UNNAMED.get(kind, "project")


def type_of(record: Record) -> str:
    """Give the type a memory has there."""
    is_episode = record.kind == "observation" and EPISODIC in record.tags
    return EPISODIC if is_episode else type_of_kind(record.kind)


def kinds_of(memory_type: str) -> tuple[str, ...]:
    """Give the kinds a type stands for; none of them for no type."""
    if memory_type == EPISODIC:
        return ("observation",)
    return tuple(kind for kind in KINDS if type_of_kind(kind) == memory_type)


def tags_of(memory_type: str) -> tuple[str, ...]:
    """Give the tags that tell a type apart from others of its kind."""
    return (EPISODIC,) if memory_type == EPISODIC else ()


def category_of(record: Record) -> str:
    """Give the category of a memory: what was said of it, else what its kind says."""
    said = record.fields.get("category") or record.extra.get("category")
    if isinstance(said, str) and said:
        return said
    return record.kind if record.kind in _SAME_NAME else _CATEGORIES.get(record.kind, "")


def draft_of(
    content: str, memory_type: str, *, category: str = "", tags: Iterable[str] = (), source: Source = "explicit"
) -> Draft:
    """Give the draft of a memory of that type; a category makes its kind finer where the type stays the same."""
    finer = _BY_CATEGORY.get(category, "")
    kind = finer if finer and type_of_kind(finer) == memory_type else _KINDS[memory_type]
    beside = {"category": category} if category else {}
    return Draft(
        body=content,
        kind=kind,
        fields=beside if kind == "fact" else {},
        extra={} if kind == "fact" else beside,
        tags=(*tags, *tags_of(memory_type)),
        confidence="high",
        source=source,
    )
