"""What importers return: memories, sessions and their events from other systems, in neutral types."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from holdfast.model.event import Actor
from holdfast.model.record import Draft, Origin


class ForeignLink(NamedTuple):
    """An arrow to another memory of the same system, by its key there."""

    relation: str
    key: str
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """A memory of another system; `key` is its id there."""

    key: str
    draft: Draft  # its project is a name as the other system knows it: None means the current project, "" all projects
    where: str = ""
    by: Actor = field(default_factory=lambda: Actor(kind="agent"))
    origin: Origin = field(default_factory=Origin)
    state: Literal["active", "pending", "retired"] = "active"
    reason: str = ""
    retired_at: str = ""
    updated_at: str = ""
    verified_at: str = ""
    links: tuple[ForeignLink, ...] = ()
    trust: float | None = None  # as the other system computed it, between 0 and 1
    # Counters that change with every use: stored, but they do not make the memory a changed one.
    counts: Mapping[str, Any] = field(default_factory=dict)
    # True if the draft's time never changes and so belongs to its identity; a file's date does not.
    dated: bool = True
    aliases: tuple[str, ...] = ()  # further names by which it was known there


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignSession:
    """A session of another system. `left` holds the keys of memories it created, such as its summary."""

    id: str
    at: str
    project: str | None = None
    by: Actor = field(default_factory=lambda: Actor(kind="agent"))
    title: str = ""
    issue: str = ""
    closed_at: str = ""
    close: Mapping[str, Any] = field(default_factory=dict)
    left: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignEvent:
    """An event about memories of another system: returned, used, worked on."""

    key: str
    verb: Literal["used", "surfaced", "touched", "heated"]
    of: tuple[str, ...]
    at: str
    by: Actor = field(default_factory=lambda: Actor(kind="agent"))
    data: Mapping[str, Any] = field(default_factory=dict)
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignTranscript:
    """The conversation of a session of another system, turn by turn: role, content and any other known fields."""

    session: str
    turns: tuple[Mapping[str, Any], ...]
    where: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that was not imported, or was changed on the way, and why."""

    where: str
    why: str


# How many memories an export has `written`, how many were `known` there already, and how many it has `left_out`.
Exported = Counter[str]
Item = Foreign | ForeignSession | ForeignEvent | ForeignTranscript | Remark
