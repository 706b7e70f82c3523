"""A record as a markdown file: YAML front matter in a fixed order, then the text; as it is now, and as it was committed."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from holdfast.adapters.git import Repository
from holdfast.adapters.importers.files import LONGEST_FRONT, dump_yaml, read_yaml, split_front
from holdfast.adapters.process import is_alive
from holdfast.model.errors import Invalid, ReplicaError
from holdfast.model.event import Event, Json
from holdfast.model.files import read_regular
from holdfast.model.foreign_json import texts_in
from holdfast.model.ids import check_id, named_id, parse_instant
from holdfast.model.record import Record, fold
from holdfast.model.replica import BOOKKEEPING, FRONT, CommittedMemory, Outdated, normalized
from holdfast.model.text import headline

LONGEST_FILE = 400_000
UNDATED = "1970-01-01T00:00:00.000Z"
Stamp = tuple[int, int, int]  # shows without reading whether a file changed
ABSENT: Stamp = (0, 0, -1)
NEVER: Stamp = (0, 0, -2)
_NAMES = frozenset(spec.name for spec in fields(Record)) - BOOKKEEPING - {"body"}
_TEXTS = frozenset({"kind", "title", "project", "visibility", "confidence", "source"})
_LISTS = frozenset({"scopes", "tags", "anchors", "triggers", "links"})
_MAPPINGS = frozenset({"fields", "extra", "origin", "by"})
_INSTANTS = frozenset({"created_at", "verified_at"})
_PASSED_OVER = frozenset({"readme.md", "license.md", "contributing.md"})
_ASIDE = re.compile(r"\..+\.(\d+)\.tmp")  # names that `write_whole` uses


def file_text(parts: Json) -> str:
    """Return the content of a record's file; fields that no record has follow ours."""
    extra = dict(parts.get("extra", {}))
    front = extra.pop(FRONT, {})
    values = {name: item for name, item in parts.items() if name not in ("body", "extra")}
    values |= ({"extra": extra} if extra else {}) | {name: item for name, item in front.items() if name not in _NAMES}
    head = dump_yaml(values, width=100)
    if len(head) > LONGEST_FRONT:
        raise Invalid(f"Its front matter would have {len(head):,} characters; {LONGEST_FRONT:,} is the most.")
    return f"---\n{head}---\n\n{parts.get('body', '')}\n"


def file_parts(content: bytes | str) -> Json:
    """Parse the content of a file; raise Invalid if it is malformed."""
    try:
        text = content if isinstance(content, str) else content.decode()
    except UnicodeDecodeError as problem:
        raise Invalid("It is not valid UTF-8.") from problem
    head, body = split_front(normalized(text.removeprefix("\ufeff")))
    if head is None:
        if body.split("\n", 1)[0].rstrip() == "---":
            raise Invalid("Its front matter has no end.")
        return {"body": body}
    front = read_yaml(head)
    parts = {name: _part(name, item) for name, item in front.items() if name in _NAMES and item is not None}
    if rest := {name: item for name, item in front.items() if name not in _NAMES}:
        parts["extra"] = {**parts.get("extra", {}), FRONT: rest}
    parts["body"] = normalized(body)
    return {name: item for name, item in parts.items() if item not in ("", [], {})}


def _part(name: str, item: Any) -> Any:
    if name == "id":
        return check_id(str(item).strip().upper())
    if name in _INSTANTS:
        return parse_instant(str(item))
    if name in _TEXTS:
        if isinstance(item, dict | list):
            raise Invalid(f"{name} must be a text.")
        return str(item).strip()
    if name in _LISTS:
        listed = item if isinstance(item, list) else [item]
        return listed if name == "links" else [str(entry) for entry in listed]
    if name in _MAPPINGS and not isinstance(item, dict):
        raise Invalid(f"{name} must be a mapping.")
    return item


def file_name(record: Record) -> str:
    """Return a readable name that sorts by date; it stays when the title changes."""
    words = re.findall(r"\w+", record.title.lower())[:8]
    stem = "-".join((record.created_at[:10], *words)).encode()[:80].decode(errors="ignore").rstrip("-_")
    return f"{stem}-{record.id[-6:].lower()}.md"


def memory_files(folder: Path) -> dict[str, Stamp]:
    """Return the stamp of every file that could be a record's."""
    try:
        with os.scandir(folder) as entries:
            files = [entry for entry in entries if _is_memory_file(entry.name) and entry.is_file(follow_symlinks=False)]
            return {entry.name: stamp_of(entry) for entry in files}
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise ReplicaError(f"{folder} cannot be read ({problem.strerror}).") from problem


def _is_memory_file(name: str) -> bool:
    return name.endswith(".md") and name[0] not in "._" and name.lower() not in _PASSED_OVER


def outdated_files(folder: Path, is_outdated: Outdated) -> list[Path]:
    """Return the files of erased records, and temporary files of syncs that were killed."""
    outdated = list[Path]()
    for path in (path for path in sorted(folder.glob("*.md")) if path.is_file()):
        with suppress(Invalid):  # it belongs to no record
            parts = file_parts(read_regular(path).decode("utf-8", "replace"))
            if "id" in parts and is_outdated(str(parts["id"]), "\n".join(texts_in(parts))):
                outdated.append(path)
    halves = [(path, left) for path in sorted(folder.glob(".*.tmp")) if (left := _ASIDE.fullmatch(path.name))]
    return [*outdated, *(path for path, left in halves if not is_alive(int(left[1])))]


def stamp_of(file: "Path | os.DirEntry[str]") -> Stamp:
    """Return what changes with a file; NEVER if it is gone."""
    try:
        stat = file.stat(follow_symlinks=False)
    except OSError:
        return NEVER
    return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size


def committed_memories(top: Path, folder: str, commit: str, implied: Mapping[str, str]) -> list[CommittedMemory]:
    """Return the memories of a folder at a commit, each with its current version in the worktree, and those added since."""
    repository = Repository(top)
    files = repository.files(commit, folder)
    if files is None:
        raise ReplicaError(f"git cannot list {folder} at {commit}.", hint="Check that the commit was fetched.")
    blobs = {path: blob for path, blob in files.items() if _is_memory_file(path.rpartition("/")[2])}
    contents = repository.blobs(blobs.values())
    added = sorted({f"{folder}/{name}" for name in memory_files(top / folder)} - blobs.keys())
    there = [_committed(top, path, contents.get(blob, b""), implied) for path, blob in sorted(blobs.items())]
    return [*there, *(_committed(top, path, None, implied) for path in added)]


def _committed(top: Path, path: str, raw: bytes | None, implied: Mapping[str, str]) -> CommittedMemory:
    before, now, unread = None, None, ""
    try:
        before = None if raw is None else _record(path, raw, implied)
        with suppress(FileNotFoundError):  # forgotten by the change
            now = _record(path, read_regular(top / path, LONGEST_FILE, links=False), implied)
    except (Invalid, OSError) as problem:
        unread = str(problem)
    return CommittedMemory(file=path, before=before, now=now, unread=unread)


def _record(path: str, raw: bytes, implied: Mapping[str, str]) -> Record:
    if len(raw) > LONGEST_FILE:  # a committed one
        raise Invalid(f"It has {len(raw):,} bytes; {LONGEST_FILE:,} is the most.")
    parts = file_parts(raw)
    about = parts.get("id") or named_id(path)  # a file that was written by hand has no id yet
    data = {**parts, **implied}
    data.setdefault("title", headline(parts.get("body", "")) or path.rpartition("/")[2])
    record = fold(None, Event(id=about, about=about, verb="recorded", at=parts.get("created_at", UNDATED), data=data))
    assert record is not None
    return record
