"""What readers of other systems give: memories, sessions and what happened to them, told in our words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from holdfast.model.event import Actor
from holdfast.model.record import Draft, Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignLink:
    """An arrow to another memory of the same system, by its key there."""

    relation: str
    key: str
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """One memory of another system; `key` is its id there.

    The draft's project is a name as the other system knows it: None means the project at hand, "" everywhere.
    """

    key: str
    draft: Draft
    where: str = ""
    by: Actor = field(default_factory=lambda: Actor(kind="agent"))
    origin: Origin = field(default_factory=Origin)
    state: Literal["active", "pending", "retired"] = "active"
    reason: str = ""
    retired_at: str = ""
    updated_at: str = ""
    verified_at: str = ""
    links: tuple[ForeignLink, ...] = ()
    # Figures that move with every use there: kept, but no reason to call the memory changed.
    counts: Mapping[str, Any] = field(default_factory=dict)
    # Whether the draft's time never changes there and so belongs to its identity; a file's date does not.
    dated: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignSession:
    """One session of another system. `left` names memories it left behind by their keys, such as its summary."""

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
class Happened:
    """Something that happened to memories of another system: shown, used, worked on."""

    key: str
    verb: Literal["used", "surfaced", "touched"]
    of: tuple[str, ...]
    at: str
    by: Actor = field(default_factory=lambda: Actor(kind="agent"))
    data: Mapping[str, Any] = field(default_factory=dict)
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What was said in a session of another system, turn by turn: each has a role, content and whatever else is known."""

    session: str
    turns: tuple[Mapping[str, Any], ...]
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something that was not taken, or not as it was, and why."""

    where: str
    why: str


Item = Foreign | ForeignSession | Happened | Said | Remark
