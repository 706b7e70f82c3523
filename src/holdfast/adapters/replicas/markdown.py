"""A folder of markdown files as a replica: people read, edit, add and remove them, and review them in pull requests."""

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from holdfast.adapters.replicas.authors import Committed
from holdfast.adapters.replicas.manifest import ABSENT, Manifest, Row, Stamp
from holdfast.adapters.replicas.record_file import file_name, file_parts, file_text
from holdfast.adapters.replicas.states import state_key
from holdfast.model.errors import Invalid, ReplicaError
from holdfast.model.event import Json
from holdfast.model.files import read_regular, write_whole
from holdfast.model.foreign import Remark
from holdfast.model.record import Record
from holdfast.model.replica import DeletedFile, Edit, ReadOutcome, ReplicaChanges, ReplicaUpdate, WriteCounts, parts_of

LONGEST_FILE = 400_000
_PASSED_OVER = frozenset({"readme.md", "license.md", "contributing.md"})
_NEVER: Stamp = (0, 0, -2)


@dataclass(slots=True)
class _Read:
    """The folder as it was read: stamps of all files, the content of changed ones, and those that could not be parsed."""

    known: dict[str, tuple[str, Stamp]] = field(default_factory=dict)  # the record of each file, as last stored
    stamps: dict[str, Stamp] = field(default_factory=dict)
    parts: dict[str, Json] = field(default_factory=dict)
    before: dict[str, Json | None] = field(default_factory=dict)  # their content as last synced
    unread: dict[str, str] = field(default_factory=dict)
    homes: dict[str, str] = field(default_factory=dict)  # the file of each record, if known
    jumped: bool = False


@dataclass(slots=True)
class _Done:
    rows: dict[str, Row] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    written: int = 0
    removed: int = 0
    settled: bool = False  # nothing that was read is left for the next time
    owed: set[str] = field(default_factory=set)
    remarks: list[Remark] = field(default_factory=list)


class MarkdownFolder:
    """A folder with a file for each record. `implied` holds the parts that its location implies.

    `head` returns the commit checked out there and `follows` whether a commit comes after another: on another branch
    a missing or old file is no edit. `commits` returns the last commits of files, compared with an
    earlier HEAD.
    """

    stores_events = False

    def __init__(
        self,
        folder: Path,
        states: Path,
        *,
        name: str = "folder",
        implied: Mapping[str, str] | None = None,
        head: Callable[[], str] = str,
        follows: Callable[[str, str], bool] = lambda _earlier, _later: True,
        commits: Callable[[Collection[str], str], Mapping[str, Committed]] = lambda _names, _since: {},
        mode: int = 0o600,
    ) -> None:
        self.name = name
        self._folder, self._states, self._implied, self._mode = folder, states, implied or {}, mode
        self._head, self._follows, self._commits = head, follows, commits
        self._state = _Read()

    @property
    def cursor(self) -> int:
        """The journal number up to which it is complete."""
        return int(self._manifest.note("cursor") or 0)

    def read(self, *, afresh: bool = False) -> ReplicaChanges:
        """Return the files whose content changed, and those that are gone. Other files are not opened."""
        known = self._manifest.stamps()
        before, now = self._manifest.note("head"), self._head()
        jumped = bool(before and now) and not self._follows(before, now)
        homes = {about: path for path, (about, _) in known.items()}
        self._state = state = _Read(known=known, stamps=memory_files(self._folder), jumped=jumped, homes=homes)
        touched = [name for name, stamp in state.stamps.items() if afresh or known.get(name, ("", _NEVER))[1] != stamp]
        edits = [edit for name in sorted(touched) if (edit := self._edit(name, known))] if touched else []
        present = {parts.get("id") for parts in state.parts.values()}
        gone = [
            DeletedFile(where=name, about=about)
            for name, (about, stamp) in known.items()
            if name not in state.stamps and stamp != ABSENT and about not in present
        ]
        by = self._committers([*(edit.where for edit in edits), *(file.where for file in gone)])
        return ReplicaChanges(
            edits=tuple(replace(edit, author=by[edit.where].author, doubt=by[edit.where].doubt) for edit in edits),
            gone=tuple(replace(file, author=by[file.where].author, doubt=by[file.where].doubt) for file in gone),
            remarks=tuple(Remark(where=name, why=why) for name, why in state.unread.items()),
            owed=tuple(self._manifest.note("owed").split()),
            files=sum(1 for _, stamp in known.values() if stamp != ABSENT),
            vanished=bool(known) and not self._folder.is_dir(),
            jumped=jumped,
        )

    def carriers(self, ids: Collection[str]) -> dict[str, str]:  # noqa: ARG002
        """Return nothing: files hold no events, and each edit names its committer."""
        return {}

    def write(self, updates: Sequence[ReplicaUpdate], settled: ReadOutcome, *, cursor: int) -> WriteCounts:
        """Write the files of records that changed, and remove those of records no longer in use.

        A file that was rejected, or was edited since it was read, is left alone and read again next time.
        """
        known, done = self._state.known, self._noted(settled)
        paths = self._state.homes
        for update in updates:
            path = update.where or paths.get(update.record.id, "")
            if path in settled.refused or path in self._state.unread:
                done.owed.add(update.record.id)
                continue
            try:
                self._write_record(update, path, known.get(path, ("", _NEVER))[1], settled, done)
            except Invalid as problem:
                done.remarks.append(Remark(where=path or update.record.id, why=problem.message))
            except OSError as problem:
                raise ReplicaError(f"{self._folder} cannot be written ({problem.strerror}).") from problem
        self._remember(known, done, cursor)
        return WriteCounts(records=done.written, removed=done.removed, remarks=tuple(done.remarks))

    def close(self) -> None:
        """Close the stored state."""
        if manifest := self.__dict__.pop("_manifest", None):
            manifest.close()

    @cached_property
    def _manifest(self) -> Manifest:
        return Manifest(self._states / f"{self.name}-{state_key(str(self._folder.absolute()))}.db")

    def _edit(self, name: str, known: Mapping[str, tuple[str, Stamp]]) -> Edit | None:
        """Read a changed file; None if its content is the same as before, or cannot be parsed."""
        owner = known.get(name, ("", _NEVER))[0]
        try:
            parts = self._parts(name)
            about = parts.setdefault("id", owner) or parts.pop("id")
            self._check_owner(name, about, owner)
        except (Invalid, OSError) as problem:
            self._state.unread[name] = problem.message if isinstance(problem, Invalid) else str(problem.strerror)
            return None
        self._state.parts[name] = parts
        before = self._state.before[name] = self._manifest.said(self._state.homes.get(about, "")) if about else None
        if about:
            self._state.homes[about] = name
        if before == parts:
            return None
        return Edit(where=name, about=about, said=parts, before=None if self._state.jumped else before)

    def _committers(self, names: Sequence[str]) -> dict[str, Committed]:
        """Return the commit that changed or deleted each file; without an author if that was done here."""
        by = dict.fromkeys(names, Committed())
        for name, committed in self._commits(names, self._manifest.note("settled")).items():
            if name not in self._state.parts:  # deleted
                brought = not committed.contents
            elif synced := self._state.before[name]:
                brought = committed.changed and any(self._differs(synced, one) for one in committed.contents)
            else:
                brought = True
            by |= {name: committed} if brought else {}
        return by

    def _differs(self, synced: Json, content: bytes) -> bool:
        try:
            return self._said(content) != synced
        except Invalid:
            return True

    def _parts(self, name: str) -> Json:
        return self._said(read_regular(self._folder / name, LONGEST_FILE, links=False))

    def _said(self, content: bytes) -> Json:
        try:
            parts = file_parts(content.decode())
        except UnicodeDecodeError as problem:
            raise Invalid("It is not UTF-8.") from problem
        for part, expected in self._implied.items():
            if (value := parts.pop(part, expected)) != expected:
                raise Invalid(f"It has {part}: {value}, but this folder is for {expected}.")
        return parts

    def _check_owner(self, name: str, about: str, owner: str) -> None:
        if owner and about != owner:
            raise Invalid(f"Its id was changed; it is the file of {owner}.")
        home = self._state.homes.get(about, name)
        if home != name and home in self._state.stamps:
            raise Invalid(f"{home} is the file of {about} already. Remove the id to make it a separate memory.")

    def _noted(self, settled: ReadOutcome) -> _Done:
        """Return a result that begins with the files that were read and parsed."""
        parts = {path: content for path, content in self._state.parts.items() if path not in settled.refused}
        rows = {path: self._row(path, content) for path, content in parts.items() if content.get("id")}
        return _Done(rows=rows, settled=not settled.refused and not self._state.unread)

    def _write_record(self, update: ReplicaUpdate, path: str, stamp: Stamp, settled: ReadOutcome, done: _Done) -> None:
        record = update.record
        if not update.carried and record.state == "active":
            if path:
                done.dropped.add(path)
                why = "it is private now; its file was already shared and is left in place: remove it yourself"
                done.remarks.append(Remark(where=path, why=why))
            return
        if not update.carried or record.state != "active":
            if path and record.state == "erased" and self._head():
                why = "its file is removed; older commits of the repository still contain its text"
                done.remarks.append(Remark(where=path, why=why))
            self._remove(path, record.id, done)
            return
        parts, exists = parts_of(record, frozenset(self._implied)), path in self._state.stamps
        content = self._content_of(path)
        if path in settled.old or (exists and content == parts):
            return
        elsewhere = self._state.jumped or stamp == ABSENT
        if path and not exists and record.id not in settled.put_back and not (elsewhere and content != parts):
            return  # it was deleted, and it is not decided yet what that means
        self._put(path or self._fresh_name(record), parts, done)

    def _put(self, path: str, parts: Json, done: _Done) -> None:
        content, place = file_text(parts), self._folder / path
        if path in self._state.stamps and _stamp(place) != self._state.stamps[path]:
            done.rows.pop(path, None)
            done.owed.add(parts["id"])
            done.remarks.append(Remark(where=path, why="it was edited just now; the next sync reads it"))
            return
        self._folder.mkdir(mode=0o700 if self._mode == 0o600 else 0o777, parents=True, exist_ok=True)
        write_whole(place, content, self._mode)
        self._state.stamps[path] = _stamp(place)
        done.rows[path] = self._row(path, parts)
        done.written += 1

    def _remove(self, path: str, about: str, done: _Done) -> None:
        if not path:
            return
        place = self._folder / path
        if path in self._state.stamps:
            if _stamp(place) != self._state.stamps[path]:
                done.owed.add(about)
                done.remarks.append(Remark(where=path, why="it was edited just now; the next sync reads it"))
                return
            place.unlink(missing_ok=True)
            done.removed += 1
        done.rows.pop(path, None)
        done.dropped.add(path)

    def _remember(self, known: Mapping[str, tuple[str, Stamp]], done: _Done, cursor: int) -> None:
        owned = {row.id for row in done.rows.values()}
        missing = [path for path in known if path not in self._state.stamps and path not in done.dropped]
        moved = [path for path in missing if known[path][0] in owned]
        away = [path for path in missing if self._state.jumped and path not in moved]
        rows = [*done.rows.values(), *(self._row(path, self._manifest.said(path) or {}) for path in away)]
        notes = {"cursor": str(cursor), "head": self._head(), "owed": " ".join(sorted(done.owed))}
        if done.settled:
            notes["settled"] = notes["head"]  # from here on, what no commit changes is edited here
        notes["folder"] = str(self._folder.absolute())  # erasing must find it from any folder
        self._manifest.change(rows, [*done.dropped, *moved], notes)

    def _row(self, path: str, parts: Json) -> Row:
        return Row(path=path, id=parts["id"], stamp=self._state.stamps.get(path, ABSENT), said=parts)

    def _content_of(self, path: str) -> Json | None:
        return self._state.parts.get(path) or (self._manifest.said(path) if path else None)

    def _fresh_name(self, record: Record) -> str:
        name = file_name(record)
        return name if name not in self._state.stamps else f"{name.removesuffix('.md')}-{record.id.lower()}.md"


def memory_files(folder: Path) -> dict[str, Stamp]:
    """Return the stamp of every file that could be a record's."""
    try:
        with os.scandir(folder) as entries:
            return {entry.name: _stamp_of(entry.stat(follow_symlinks=False)) for entry in _candidates(entries)}
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise ReplicaError(f"{folder} cannot be read ({problem.strerror}).") from problem


def _candidates(entries: Iterable["os.DirEntry[str]"]) -> Iterable["os.DirEntry[str]"]:
    for entry in entries:
        if is_memory_file(entry.name) and entry.is_file(follow_symlinks=False):
            yield entry


def is_memory_file(name: str) -> bool:
    """True if a file of this name could be a record's."""
    return name.endswith(".md") and name[0] not in "._" and name.lower() not in _PASSED_OVER


def _stamp(path: Path) -> Stamp:
    try:
        return _stamp_of(path.stat(follow_symlinks=False))
    except OSError:
        return _NEVER


def _stamp_of(stat: os.stat_result) -> Stamp:
    return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size
