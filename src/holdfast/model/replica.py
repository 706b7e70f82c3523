"""What is exchanged with others: what importers return, and what goes to a replica or arrives from it."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from holdfast.model.event import Actor, Event, Json
from holdfast.model.record import Draft, Origin, Record, record_to_json


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


# Only the journal knows these; in a file they would differ from machine to machine.
BOOKKEEPING = frozenset({"state", "reason", "updated_at", "head", "revision"})
# Set when a record is created, never revised.
BIRTH = frozenset({"id", "project", "origin", "source", "by", "created_at"})
# Key of a record's `extra` for fields of a file that no record has.
FRONT = "front"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaUpdate:
    """A record to write to a replica, with the events that made it."""

    record: Record
    events: tuple[Event, ...] = ()
    carried: bool = True  # False: the replica holds it and should no longer follow
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedMemory:
    """A memory in a repository's files: as committed, and as it is now."""

    file: str
    before: Record | None = None  # None: the file was added since
    now: Record | None = None  # None: it is gone
    unread: str = ""  # why it cannot be parsed: the current one, or without `before` the only one


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedFile:
    """A file that was deleted."""

    where: str
    about: str
    author: str = ""  # who committed that; empty: done on this machine
    doubt: str = ""  # why that author is not certain


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit(DeletedFile):
    """A file whose content changed. `before` is None if the former content is unknown; `about` is empty for a new file."""

    said: Json
    before: Json | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaChanges:
    """Changes in a replica that the store may not have; remarks name what could not be parsed and is left alone."""

    events: tuple[Event, ...] = ()
    edits: tuple[Edit, ...] = ()
    gone: tuple[DeletedFile, ...] = ()
    remarks: tuple[Remark, ...] = ()
    owed: tuple[str, ...] = ()  # records that could not be written last time
    files: int = 0
    vanished: bool = False  # the whole folder is gone
    jumped: bool = False  # another branch is checked out: missing or old files are no edits


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOutcome:
    """The outcome for the files that were read: rejected and outdated ones stay as they are."""

    refused: frozenset[str] = frozenset()
    old: Mapping[str, str] = field(default_factory=dict)
    put_back: frozenset[str] = frozenset()
    again: bool = False  # some events wait for others, so they must be read again


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteCounts:
    """Counts of what was written to a replica."""

    records: int = 0
    events: int = 0
    removed: int = 0
    scrubbed: int = 0  # places that still held erased text
    remarks: tuple[Remark, ...] = ()


# True if a file with this content about this record id must be removed.
Outdated = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrubbed:
    """Where replicas on this machine still held erased records: counts by place, removed files, and what is out of reach."""

    reached: Mapping[str, int] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    not_reached: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteResult:
    """The outcome of a fetch or push: `problem` if it failed, `rejected` if the remote had changed meanwhile."""

    problem: str = ""
    rejected: bool = False
    refs: int = 0


def parts_of(record: Record, without: frozenset[str] = frozenset()) -> Json:
    """Return the parts of a record that a file may contain."""
    parts = {name: item for name, item in record_to_json(record).items() if name not in BOOKKEEPING | without}
    parts["body"] = normalized(record.body)
    if isinstance(by := parts.get("by"), dict):
        parts["by"] = {name: item for name, item in by.items() if name != "session"}  # sessions are local
    return {name: item for name, item in parts.items() if item not in ("", [], {})}


def normalized(text: str) -> str:
    """Return a text stripped and with plain line ends, as every file has it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()
