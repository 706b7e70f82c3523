"""Records as observations: a type, concepts, files and what it costs to read them, whatever kind they are of. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from holdfast.model.kinds import KINDS
from holdfast.model.record import Record
from holdfast.model.text import tokens_of

SYSTEM = "claude-mem"
# Each type with the sign it has in a list.
TYPES: Mapping[str, str] = {
    "bugfix": "●",
    "feature": "◆",
    "refactor": "↻",
    "change": "✓",
    "discovery": "○",
    "decision": "⚖",
    "security_alert": "⚠",
    "security_note": "⚷",
    "sensitive": "⊘",
}
SESSION = "summary"
# What tells of a session as a whole, or of work to do, is no observation.
OBSERVED = tuple(name for name in KINDS if name not in (SESSION, "retrospective", "thread"))
_CONCEPTS: Mapping[str, tuple[str, ...]] = {
    "scar": ("gotcha", "problem-solution"),
    "anti_pattern": ("gotcha",),
    "pattern": ("pattern",),
    "win": ("problem-solution",),
    "decision": ("why-it-exists", "trade-off"),
    "fact": ("how-it-works",),
    "learning": ("how-it-works",),
    "progress": ("what-changed",),
}
_SHOWN_ELSEWHERE = frozenset(
    "type subtitle facts narrative concepts files_read files_modified documents discovery_tokens".split()
)
_PLACE = re.compile(r"[#:@].*$")


def type_of(record: Record) -> str:
    """Give the type of an observation: what it says itself, else what its kind is called there."""
    said = record.fields.get("type")
    if isinstance(said, str) and said in TYPES:
        return said
    named = KINDS[record.kind].names.get(SYSTEM, "") if record.kind in KINDS else ""
    return named if named in TYPES else "discovery" if record.kind == "observation" else "change"


def concepts_of(record: Record) -> list[str]:
    """Give the ideas a record illustrates: its own, its tags, and those of its kind."""
    return list(dict.fromkeys((*texts(record, "concepts"), *record.tags, *_CONCEPTS.get(record.kind, ()))))


def files_read(record: Record) -> list[str]:
    """Give the files that were read; places a record cites count as such."""
    return list(dict.fromkeys((*texts(record, "files_read"), *(_PLACE.sub("", one) for one in record.anchors))))


def files_modified(record: Record) -> list[str]:
    """Give the files that were changed."""
    return list(dict.fromkeys((*texts(record, "files_modified"), *texts(record, "documents"))))


def touches(record: Record, wanted: str) -> bool:
    """Tell whether a record has to do with a file or folder."""
    path = wanted.strip().strip("/")
    files = (*files_read(record), *files_modified(record))
    return any(path in (one, one.rpartition("/")[2]) or f"/{path}" in f"/{one}" for one in files) if path else True


def facts_of(record: Record) -> list[str]:
    """Give the single facts of a record; of other kinds, what their own fields say."""
    told = {name: value for name, value in record.fields.items() if name not in _SHOWN_ELSEWHERE}
    more = [f"{name.replace('_', ' ')}: {_joined(value)}" for name, value in told.items()]
    return [*texts(record, "facts"), *more]


def narrative_of(record: Record) -> str:
    """Give what happened, told."""
    told = record.fields.get("narrative")
    return told if isinstance(told, str) and told else record.body


def reading_cost(record: Record) -> int:
    """Give the tokens it takes to read a record in full."""
    return tokens_of(record.text)


def texts(record: Record, name: str) -> list[str]:
    """Give a field that is a list of texts."""
    value: Any = record.fields.get(name)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _joined(value: Any) -> str:
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)
