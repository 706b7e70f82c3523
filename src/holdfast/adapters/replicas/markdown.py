"""A folder of markdown files as a replica: people read, edit, add and remove them, and review them in pull requests."""

import json
import os
import sqlite3
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from holdfast.adapters.git import WHO, Repository, one_line
from holdfast.adapters.replicas import record_file
from holdfast.adapters.replicas.record_file import ABSENT, NEVER, Stamp
from holdfast.model.errors import Invalid, ReplicaError
from holdfast.model.event import Json
from holdfast.model.files import digest, read_regular, write_whole
from holdfast.model.ports import Replica
from holdfast.model.replica import (
    DeletedFile,
    Edit,
    ReadOutcome,
    Remark,
    ReplicaChanges,
    ReplicaUpdate,
    WriteCounts,
    parts_of,
)

_SCHEMA = Path(__file__).with_suffix(".sql")
_UNKNOWN = ("", NEVER)  # the record and stamp of a file that was not there before


class Manifest:
    """The content of a markdown folder when it was last read or written, beside the store. An unusable file is made again."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._db = _opened(path)
        except sqlite3.DatabaseError:
            path.unlink(missing_ok=True)
            self._db = _opened(path)

    def stamps(self) -> dict[str, tuple[str, Stamp]]:
        """Return record id and stamp of every file."""
        rows = self._db.execute("select path, id, mtime, ctime, size from files")
        return {path: (about, (mtime, ctime, size)) for path, about, mtime, ctime, size in rows}

    def said(self, path: str) -> Json | None:
        """Return the content of a file as it was last read or written."""
        row = self._db.execute("select said from files where path = ?", (path,)).fetchone()
        return dict(json.loads(row[0])) if row else None

    def note(self, name: str) -> str:
        """Return the value stored under a name."""
        row = self._db.execute("select value from notes where name = ?", (name,)).fetchone()
        return str(row[0]) if row else ""

    def change(self, put: Mapping[str, tuple[Stamp, Json]], drop: Iterable[str], notes: dict[str, str]) -> None:
        """Add and remove files and set notes, in a single transaction."""
        rows = [(path, said["id"], *stamp, json.dumps(said, ensure_ascii=False)) for path, (stamp, said) in put.items()]
        try:
            with self._db:
                self._db.executemany("delete from files where path = ?", [(path,) for path in drop])
                self._db.executemany("insert or replace into files values (?, ?, ?, ?, ?, ?)", rows)
                self._db.executemany("insert or replace into notes values (?, ?)", list(notes.items()))
        except sqlite3.Error as problem:
            raise ReplicaError(f"The state of the folder cannot be saved ({problem}).") from problem

    def close(self) -> None:
        """Close the database."""
        self._db.close()


def _opened(path: Path) -> sqlite3.Connection:
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    db = sqlite3.connect(path, timeout=30)
    try:
        db.execute("pragma secure_delete = on")  # what was erased must not stay here
        db.executescript(read_regular(_SCHEMA).decode())
    except sqlite3.DatabaseError:
        db.close()
        raise
    return db


@dataclass(slots=True)
class _State:
    """The folder as it was read: stamps of all files, the content of changed ones; then what a write did."""

    known: dict[str, tuple[str, Stamp]] = field(default_factory=dict)  # the record of each file, as last stored
    stamps: dict[str, Stamp] = field(default_factory=dict)
    parts: dict[str, Json] = field(default_factory=dict)
    before: dict[str, Json | None] = field(default_factory=dict)  # their content as last synced
    unread: dict[str, str] = field(default_factory=dict)  # why files could not be parsed
    homes: dict[str, str] = field(default_factory=dict)  # the file of each record, if known
    jumped: bool = False
    put: dict[str, Json] = field(default_factory=dict)  # the content of files as it is now
    dropped: set[str] = field(default_factory=set)
    written: int = 0
    removed: int = 0
    owed: set[str] = field(default_factory=set)  # records whose file is still to be written
    remarks: list[Remark] = field(default_factory=list)


class MarkdownFolder(Replica):
    """A folder with a file for each record. `implied` holds the parts that its location implies.

    In a repository, a missing or old file on another branch is no edit, and an edit is by the author of the file's last commit.
    """

    stores_events = False

    def __init__(
        self,
        folder: Path,
        states: Path,
        *,
        name: str = "folder",
        implied: Mapping[str, str] | None = None,
        repository: Repository | None = None,
    ) -> None:
        self.name = name
        self._folder, self._states, self._implied, self._repository = folder, states, implied or {}, repository
        self._state = _State()

    @property
    def cursor(self) -> int:
        return int(self._manifest.note("cursor") or 0)

    def read(self, *, afresh: bool = False) -> ReplicaChanges:
        known, before, now = self._manifest.stamps(), self._manifest.note("head"), self._head()
        self._state = state = _State(known=known, stamps=record_file.memory_files(self._folder))
        state.jumped = bool(self._repository and before and now and not self._repository.holds(before, now))
        state.homes = {about: path for path, (about, _) in known.items()}
        # Other files are not opened.
        touched = [name for name, stamp in state.stamps.items() if afresh or known.get(name, _UNKNOWN)[1] != stamp]
        edits = [edit for name in sorted(touched) if (edit := self._edit(name))]
        present = {parts.get("id") for parts in state.parts.values()}
        left = [(name, about) for name, (about, stamp) in known.items() if name not in state.stamps and stamp != ABSENT]
        gone = [DeletedFile(where=name, about=about) for name, about in left if about not in present]
        by = self._committers([*(edit.where for edit in edits), *(file.where for file in gone)])
        return ReplicaChanges(
            edits=tuple(replace(edit, **by.get(edit.where, {})) for edit in edits),
            gone=tuple(replace(file, **by.get(file.where, {})) for file in gone),
            remarks=tuple(Remark(name, why) for name, why in state.unread.items()),
            owed=tuple(self._manifest.note("owed").split()),
            files=sum(1 for _, stamp in known.values() if stamp != ABSENT),
            vanished=bool(known) and not self._folder.is_dir(),
            jumped=state.jumped,
        )

    def write(self, updates: Sequence[ReplicaUpdate], settled: ReadOutcome, *, cursor: int) -> WriteCounts:
        # A file that was rejected, or was edited since it was read, is left alone and read again next time.
        state = self._state
        parsed = {path: parts for path, parts in state.parts.items() if path not in settled.refused and parts.get("id")}
        self._state = state = replace(state, put=parsed, dropped=set(), written=0, removed=0, owed=set(), remarks=[])
        for update in updates:
            path = update.where or state.homes.get(update.record.id, "")
            if path in settled.refused or path in state.unread:
                state.owed.add(update.record.id)
                continue
            try:
                self._write_record(update, path, settled)
            except Invalid as problem:
                state.remarks.append(Remark(path or update.record.id, problem.message))
            except OSError as problem:
                raise ReplicaError(f"{self._folder} cannot be written ({problem.strerror}).") from problem
        owned = {parts["id"] for parts in state.put.values()}
        missing = [path for path in state.known if path not in state.stamps and path not in state.dropped]
        moved = [path for path in missing if state.known[path][0] in owned]
        away = [path for path in missing if state.jumped and path not in moved]
        rows = {**state.put, **{path: self._manifest.said(path) or {} for path in away}}
        notes = {"cursor": str(cursor), "head": self._head(), "owed": " ".join(sorted(state.owed))}
        if not settled.refused and not state.unread:
            notes["settled"] = notes["head"]  # from here on, what no commit changes is edited here
        notes["folder"] = str(self._folder.absolute())  # erasing must find it from any folder
        put = {path: (state.stamps.get(path, ABSENT), parts) for path, parts in rows.items()}
        self._manifest.change(put, [*state.dropped, *moved], notes)
        return WriteCounts(records=state.written, removed=state.removed, remarks=tuple(state.remarks))

    def close(self) -> None:
        if manifest := self.__dict__.pop("_manifest", None):
            manifest.close()

    def _head(self) -> str:
        return self._repository.head() if self._repository else ""

    @cached_property
    def _manifest(self) -> Manifest:
        return Manifest(self._states / f"{self.name}-{digest(str(self._folder.absolute()))}.db")

    def _edit(self, name: str) -> Edit | None:
        """Read a changed file; None if its content is the same as before, or cannot be parsed."""
        state, owner = self._state, self._state.known.get(name, _UNKNOWN)[0]
        try:
            parts = self._parts(read_regular(self._folder / name, record_file.LONGEST_FILE, links=False))
        except (Invalid, OSError) as problem:
            state.unread[name] = problem.message if isinstance(problem, Invalid) else str(problem.strerror)
            return None
        about = parts.setdefault("id", owner) or parts.pop("id")
        home = state.homes.get(about, name)
        if owner and about != owner:
            state.unread[name] = f"Its id was changed; it is the file of {owner}."
            return None
        if home != name and home in state.stamps:
            state.unread[name] = f"{home} is the file of {about} already. Remove the id to make it a separate memory."
            return None
        state.parts[name] = parts
        before = state.before[name] = self._manifest.said(state.homes.get(about, "")) if about else None
        if about:
            state.homes[about] = name
        known = None if state.jumped else before
        return None if before == parts else Edit(where=name, about=about, said=parts, before=known)

    def _parts(self, content: bytes) -> Json:
        """Parse a file without the parts that its location implies."""
        parts = record_file.file_parts(content)
        for part, expected in self._implied.items():
            if (value := parts.pop(part, expected)) != expected:
                raise Invalid(f"It has {part}: {value}, but this folder is for {expected}.")
        return parts

    def _committers(self, names: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return author and doubt of the commit that changed or deleted each file; nothing if that was done here."""

        def differs(synced: Json, content: bytes) -> bool:
            try:
                return self._parts(content) != synced
            except Invalid:
                return True

        settled, by = self._manifest.note("settled"), dict[str, dict[str, Any]]()
        commits = committed_files(self._repository, self._folder, names, settled) if self._repository else {}
        for name, (who, contents, has_changed) in commits.items():
            brought = not contents if name not in self._state.parts else True  # deleted there, or new
            if synced := self._state.before.get(name):
                brought = has_changed and any(differs(synced, content) for content in contents)
            by |= {name: who} if brought else {}
        return by

    def _write_record(self, update: ReplicaUpdate, path: str, settled: ReadOutcome) -> None:
        record, state = update.record, self._state
        if not update.carried or record.state != "active":
            if path:
                self._leave(path, update)
            return
        parts, exists = parts_of(record, frozenset(self._implied)), path in state.stamps
        content = state.parts.get(path) or (self._manifest.said(path) if path else None)
        if path in settled.old or (exists and content == parts):
            return
        elsewhere = state.jumped or state.known.get(path, _UNKNOWN)[1] == ABSENT
        if path and not exists and record.id not in settled.put_back and not (elsewhere and content != parts):
            return  # it was deleted, and it is not decided yet what that means
        if not path:
            path = record_file.file_name(record)
            path = path if path not in state.stamps else f"{path.removesuffix('.md')}-{record.id.lower()}.md"
        text, place = record_file.file_text(parts), self._folder / path
        if exists and self._was_edited(path, record.id):
            state.put.pop(path, None)
            return
        is_own = self._repository is None
        self._folder.mkdir(mode=0o700 if is_own else 0o777, parents=True, exist_ok=True)
        write_whole(place, text, 0o600 if is_own else 0o666)
        state.stamps[path] = record_file.stamp_of(place)
        state.put[path] = parts
        state.written += 1

    def _leave(self, path: str, update: ReplicaUpdate) -> None:
        """Remove the file of a record that is no longer in use; leave that of one that is private now."""
        state, record, why = self._state, update.record, ""
        if record.state == "active":
            why = "it is private now; its file was already shared and is left in place: remove it yourself"
        elif record.state == "erased" and self._head():
            why = "its file is removed; older commits of the repository still contain its text"
        state.remarks += [Remark(path, why)] if why else []
        if record.state != "active":
            if path in state.stamps:
                if self._was_edited(path, record.id):
                    return
                (self._folder / path).unlink(missing_ok=True)
                state.removed += 1
            state.put.pop(path, None)
        state.dropped.add(path)

    def _was_edited(self, path: str, about: str) -> bool:
        """True if a file changed since it was read; then its record is written next time."""
        if record_file.stamp_of(self._folder / path) == self._state.stamps[path]:
            return False
        self._state.owed.add(about)
        self._state.remarks.append(Remark(path, "it was edited just now; the next sync reads it"))
        return True


def committed_files(
    repository: Repository, folder: Path, names: Collection[str], since: str = ""
) -> dict[str, tuple[dict[str, Any], list[bytes], bool]]:
    """Return for files who last committed each and what is doubtful about that, what HEAD has there, whether it changed since.

    Files that were never committed are left out; names that differ only in case have several contents.
    """
    # Git's own answer depends on attributes that a repository sets, and asks filters that its settings name.
    if not names or not repository.head():
        return {}
    place = folder.resolve().relative_to(Path(repository.ask("rev-parse", "--show-toplevel")).resolve()).as_posix()
    wanted, commits, folders, latest = {_key(name) for name in names}, dict[str, tuple[str, str]](), {place}, ("", "")
    # A merge counts if its content differs from both sides.
    command = ("log", "--no-renames", "--name-only", "-c", "-z", f"--format=%x01%H %{WHO}")
    for part in repository.ask_bytes(*command, "--", f":(top,icase){place}").split(b"\0"):
        if part.startswith(b"\1"):  # paths begin with the folder, so this is a commit
            made, _, named = part[1:].decode(errors="replace").partition(" ")
            latest = (made, one_line(named))
            continue
        where, _, name = part.removeprefix(b"\n").decode(errors="surrogateescape").rpartition("/")
        if where.casefold() == place.casefold() and _key(name) in wanted:
            commits.setdefault(_key(name), latest)
            folders.add(where)
    now, then = dict[str, list[str]](), dict[str, list[str]]()
    for commit, blobs in (("HEAD", now), (since, then)):
        for path, blob in (repository.files(commit, *sorted(folders)) or {} if commit else {}).items():
            if (key := _key(path)) in wanted:
                blobs.setdefault(key, []).append(blob)
    contents = repository.blobs(sorted(set().union(*now.values())))
    doubts = _doubts(repository, {commit for commit, _ in commits.values()})
    found = {}
    for name in names:
        if (key := _key(name)) in commits.keys() | now.keys():
            commit, author = commits.get(key, ("", ""))
            who = {"author": author, "doubt": doubts.get(commit, "")}
            found[name] = who, [contents.get(blob, b"") for blob in now.get(key, ())], now.get(key) != then.get(key)
    return found


def _doubts(repository: Repository, commits: set[str]) -> dict[str, str]:
    """Return why the author of a commit is not certain: anyone can write a name into a commit, but not push it."""
    doubts = {"": "git names no author of it"}
    if commits and repository.remotes():
        unpushed = repository.ask("rev-list", *sorted(commits), "--not", "--remotes", "--").split()
        doubts |= dict.fromkeys(unpushed, "its commit is on no branch of a remote yet; it is imported when it is")
    if (cut := repository.common / "shallow").exists():
        why = "git's history is cut off at its commit, which hides the author: run `git fetch --unshallow`"
        doubts |= dict.fromkeys(read_regular(cut).decode().split(), why)
    return doubts


def _key(path: str) -> str:
    """Return the name of a file as file systems that ignore case compare it."""
    return unicodedata.normalize("NFC", path.rpartition("/")[2]).casefold()
