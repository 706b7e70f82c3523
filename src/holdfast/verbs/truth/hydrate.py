"""A record at three depths: its line in an index, whole with where it came from, and with the files it cites as they were then."""

from dataclasses import dataclass
from typing import Literal, get_args

from holdfast.model.errors import Invalid
from holdfast.model.event import Event
from holdfast.model.freshness import Freshness
from holdfast.model.record import Record
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import freshness, is_here
from holdfast.verbs.records.read import Shown, get
from holdfast.verbs.truth.verify import cited_files

Level = Literal["summary", "full", "files"]
LEVELS: tuple[str, ...] = get_args(Level)
MOST_FILES, MOST_BYTES = 20, 100_000
LARGEST = 20_000_000  # bytes of a file that is read to show its beginning
HEAD = 5  # events of a record's history


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedFile:
    """A file as it was at the record's commit, or as it is where that cannot be known; and what was cut off it."""

    path: str
    text: str
    commit: str = ""
    cut: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hydrated:
    """A record with as much around it as was asked for."""

    shown: Shown
    freshness: Freshness | None = None
    history: tuple[Event, ...] = ()
    commit: tuple[str, str, str] | None = None  # author, date and subject
    files: tuple[CitedFile, ...] = ()
    left_out: tuple[str, ...] = ()  # files there was no room for, or that are nowhere


def hydrate(memory: Memory, reference: str, level: Level = "full") -> Hydrated:
    """Give a record at one of three depths."""
    if level not in LEVELS:
        raise Invalid(f"There is no level {level!r}.", hint=f"Use one of {', '.join(LEVELS)}.")
    shown = get(memory, reference)
    record = shown.record
    if level == "summary":
        return Hydrated(shown=shown)
    judged = freshness(memory, [record]).get(record.id)
    latest = tuple(memory.store.events_about(record.id)[-HEAD:])
    here = is_here(memory, record.project)
    commit = memory.checkout.facts_of(_commit_of(record)) if here else None
    files, left = _files(memory, record) if level == "files" and here else ((), ())
    return Hydrated(shown=shown, freshness=judged, history=latest, commit=commit, files=files, left_out=left)


def _files(memory: Memory, record: Record) -> tuple[tuple[CitedFile, ...], tuple[str, ...]]:
    room, files, left = MOST_BYTES, list[CitedFile](), list[str]()
    for path in cited_files(record):
        found = _content(memory, record, path) if len(files) < MOST_FILES and room > 0 else None
        if found is None:
            left.append(path)
            continue
        raw, commit = found
        text = raw[:room].decode(errors="replace")
        files.append(CitedFile(path=path, text=text, commit=commit, cut=max(0, len(raw) - room)))
        room -= len(raw)
    return tuple(files), tuple(left)


def _content(memory: Memory, record: Record, path: str) -> tuple[bytes, str] | None:
    """Give a file as it was when the record was last checked, by its content or its commit; else as it is now."""
    commit = _commit_of(record)
    marks = record.seen.marks.items() if record.seen else ()
    blobs = [mark.blob for anchor, mark in marks if mark.blob and anchor.startswith(path)]
    for what in (*blobs, *([f"{commit}:{path}"] if commit else ())):
        if (raw := memory.checkout.content(what)) is not None:
            return raw, commit
    place = memory.checkout.top() / path
    inside = place.resolve().is_relative_to(memory.checkout.top().resolve())
    fits = inside and place.is_file() and place.stat().st_size <= LARGEST
    return (place.read_bytes(), "") if fits else None


def _commit_of(record: Record) -> str:
    return (record.seen.commit if record.seen else "") or record.origin.commit
