"""Read team memories straight from a repository: the files of `.holdfast/memories` at a commit, and as they are now."""

from collections.abc import Mapping
from pathlib import Path

from holdfast.adapters.git import git, objects
from holdfast.adapters.replicas.markdown import LONGEST_FILE, is_memory_file, memory_files
from holdfast.adapters.replicas.record_file import file_parts
from holdfast.model.errors import Invalid, ReplicaError
from holdfast.model.event import Event
from holdfast.model.files import read_regular
from holdfast.model.fold import fold
from holdfast.model.ids import named_id
from holdfast.model.record import Record
from holdfast.model.replica import CommittedMemory
from holdfast.model.text import headline

SECONDS = 60.0  # for git to read all files of a commit
UNDATED = "1970-01-01T00:00:00.000Z"


def committed_memories(top: Path, folder: str, commit: str, implied: Mapping[str, str]) -> list[CommittedMemory]:
    """Return the memories of a folder at a commit, each with its current version in the worktree, and those added since."""
    listing = git(top, "ls-tree", "-z", commit, f"{folder}/", seconds=SECONDS)
    if listing is None:
        raise ReplicaError(f"git cannot list {folder} at {commit}.", hint="Check that the commit was fetched.")
    blobs = dict(_blobs(listing))
    batch = git(top, "cat-file", "--batch", stdin="\n".join(blobs.values()).encode() + b"\n", seconds=SECONDS)
    contents = objects(batch or b"") if blobs else {}
    there = [_memory(top, path, contents.get(blob, b""), implied) for path, blob in sorted(blobs.items())]
    added = sorted({f"{folder}/{name}" for name in memory_files(top / folder)} - blobs.keys())
    return [*there, *(_memory(top, path, None, implied) for path in added)]


def _blobs(listing: bytes) -> list[tuple[str, str]]:
    """Return the path and blob of each memory in the output of `git ls-tree -z`; links and folders are left out."""
    entries = [entry.partition("\t") for entry in listing.decode(errors="replace").split("\0") if entry]
    return [
        (path, facts.split()[2])
        for facts, _, path in entries
        if facts.startswith("100") and is_memory_file(path.rpartition("/")[2])
    ]


def _memory(top: Path, path: str, raw: bytes | None, implied: Mapping[str, str]) -> CommittedMemory:
    try:
        before = None if raw is None else _record(path, raw, implied)
    except Invalid as problem:
        return CommittedMemory(file=path, unread=problem.message)
    try:
        now = _record(path, read_regular(top / path, LONGEST_FILE, links=False), implied)
    except FileNotFoundError:
        return CommittedMemory(file=path, before=before)  # forgotten by the change
    except (Invalid, OSError) as problem:
        return CommittedMemory(file=path, before=before, unread=str(problem))
    return CommittedMemory(file=path, before=before, now=now)


def _record(path: str, raw: bytes, implied: Mapping[str, str]) -> Record:
    if len(raw) > LONGEST_FILE:  # a committed one
        raise Invalid(f"It has {len(raw):,} bytes; {LONGEST_FILE:,} is the most.")
    try:
        parts = file_parts(raw.decode())
    except UnicodeDecodeError as problem:
        raise Invalid("It is not valid UTF-8.") from problem
    about = parts.get("id") or named_id(path)  # a file that was written by hand has no id yet
    data = {**parts, **implied}
    data.setdefault("title", headline(parts.get("body", "")) or path.rpartition("/")[2])
    record = fold(None, Event(id=about, about=about, verb="recorded", at=parts.get("created_at", UNDATED), data=data))
    assert record is not None
    return record
