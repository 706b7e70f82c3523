"""Read a record at three depths: its summary, in full with its origin, or with the files it cites as they were."""

from dataclasses import dataclass
from typing import Literal, get_args

from holdfast.model.anchor import Freshness
from holdfast.model.errors import Invalid
from holdfast.model.event import Event
from holdfast.model.files import read_inside
from holdfast.model.record import Record
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import freshness, is_here
from holdfast.verbs.records.read import RecordDetails, get
from holdfast.verbs.truth.verify import cited_files

Level = Literal["summary", "full", "files"]
LEVELS: tuple[str, ...] = get_args(Level)
MOST_FILES, MOST_BYTES = 20, 100_000
LARGEST = 20_000_000  # bytes; a larger file is not read
HEAD = 5  # events of a record's history


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedFile:
    """A file as it was at the record's commit, or as it is now if that is unknown; `cut` counts omitted bytes."""

    path: str
    text: str
    commit: str = ""
    cut: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hydrated:
    """A record with the requested context."""

    shown: RecordDetails
    freshness: Freshness | None = None
    history: tuple[Event, ...] = ()
    commit: tuple[str, str, str] | None = None  # author, date and subject
    files: tuple[CitedFile, ...] = ()
    left_out: tuple[str, ...] = ()  # files beyond the limit, or that do not exist


def hydrate(memory: Memory, reference: str, level: Level = "full") -> Hydrated:
    """Return a record at one of three depths."""
    if level not in LEVELS:
        raise Invalid(f"Unknown level {level!r}.", hint=f"Use one of {', '.join(LEVELS)}.")
    shown = get(memory, reference)
    record = shown.record
    if level == "summary":
        return Hydrated(shown=shown)
    state = freshness(memory, [record]).get(record.id)
    latest = tuple(memory.store.events_about(record.id)[-HEAD:])
    is_local = is_here(memory, record.project)
    commit = memory.checkout.facts_of(_commit_of(record)) if is_local else None
    files, left_out = _files(memory, record) if level == "files" and is_local else ((), ())
    return Hydrated(shown=shown, freshness=state, history=latest, commit=commit, files=files, left_out=left_out)


def _files(memory: Memory, record: Record) -> tuple[tuple[CitedFile, ...], tuple[str, ...]]:
    room, files, left_out = MOST_BYTES, list[CitedFile](), list[str]()
    for path in cited_files(record) or memory.checkout.files_of(_commit_of(record)):
        content = _content(memory, record, path) if len(files) < MOST_FILES and room > 0 else None
        if content is None:
            left_out.append(path)
            continue
        raw, commit = content
        text = raw[:room].decode(errors="replace")
        files.append(CitedFile(path=path, text=text, commit=commit, cut=max(0, len(raw) - room)))
        room -= len(raw)
    return tuple(files), tuple(left_out)


def _content(memory: Memory, record: Record, path: str) -> tuple[bytes, str] | None:
    """Return a file as it was when the record was last checked, by its content or commit; else as it is now."""
    commit = _commit_of(record)
    marks = record.seen.marks.items() if record.seen else ()
    blobs = [mark.blob for anchor, mark in marks if mark.blob and anchor.startswith(path)]
    for revision in (*blobs, *([f"{commit}:{path}"] if commit else ())):
        if (raw := memory.checkout.content(revision)) is not None:
            return raw, commit
    try:
        return read_inside(memory.checkout.top(), path, LARGEST), ""
    except (OSError, ValueError):
        return None  # gone, too large, or outside of the checkout


def _commit_of(record: Record) -> str:
    return (record.seen.commit if record.seen else "") or record.origin.commit
