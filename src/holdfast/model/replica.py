"""What goes between the store and a replica: records to tell of, events that arrived, files that somebody changed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from holdfast.model.event import Event, Json
from holdfast.model.foreign import Remark
from holdfast.model.record import Record, record_to_json

# What the journal alone knows; a file that said it would change with every machine that reads it.
BOOKKEEPING = frozenset({"state", "reason", "updated_at", "head", "revision"})
# How a record came to be: told once, never revised.
BIRTH = frozenset({"id", "project", "origin", "source", "by", "created_at"})
# Where fields of a file that no record has are kept.
FRONT = "front"


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """A record as a replica should tell it: as it is now, with the events that made it so.

    `carried` is false for what the replica told before and shall no longer follow.
    """

    record: Record
    events: tuple[Event, ...] = ()
    carried: bool = True
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A file that says something else than before. `before` None: nobody remembers what it said; `about` empty: it is new."""

    where: str
    about: str
    said: Json
    before: Json | None = None
    author: str = ""  # who committed it; empty: it was done here


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """A file that was there and is not."""

    where: str
    about: str
    author: str = ""  # who committed that


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """What a replica holds that the store may not know; remarks tell what was not understood and is left alone."""

    events: tuple[Event, ...] = ()
    edits: tuple[Edit, ...] = ()
    gone: tuple[Gone, ...] = ()
    remarks: tuple[Remark, ...] = ()
    owed: tuple[str, ...] = ()  # records it could not be told of last time
    files: int = 0
    vanished: bool = False  # the whole place is gone
    jumped: bool = False  # another line of history is checked out: what is missing or old was not changed by anybody


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What became of the files that were read: those that were refused stay as they are, those that are only old too."""

    refused: frozenset[str] = frozenset()
    old: Mapping[str, str] = field(default_factory=dict)
    put_back: frozenset[str] = frozenset()
    again: bool = False  # some of what arrived waits for more, so it must be read again


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """What was put into a replica."""

    records: int = 0
    events: int = 0
    removed: int = 0
    scrubbed: int = 0  # places where something erased was still told
    remarks: tuple[Remark, ...] = ()


# Tells of a record's id, and of what a file says of it, whether that file must go.
Outdated = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrubbed:
    """Where replicas on this machine still told of erased records: how many of what, which files were removed, and what is out of reach."""

    reached: Mapping[str, int] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    not_reached: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """What became of asking a remote: `problem` says why it could not be asked, `rejected` that it moved on meanwhile."""

    problem: str = ""
    rejected: bool = False
    refs: int = 0


def parts_of(record: Record, without: frozenset[str] = frozenset()) -> Json:
    """Return what a file may say of a record, whatever fields a record has."""
    parts = {name: item for name, item in record_to_json(record).items() if name not in BOOKKEEPING | without}
    parts["body"] = even(record.body)
    if isinstance(by := parts.get("by"), dict):
        parts["by"] = {name: item for name, item in by.items() if name != "session"}  # it means something here only
    return {name: item for name, item in parts.items() if item not in ("", [], {})}


def even(text: str) -> str:
    """Return a text with plain line ends and nothing around it, as every file keeps it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()
