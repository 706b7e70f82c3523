"""A folder of markdown files as a replica: people read, edit, add and remove them, and review them in pull requests."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from holdfast.adapters.git import Repository
from holdfast.adapters.replicas import record_file
from holdfast.adapters.replicas.authors import Committed, committed_files
from holdfast.adapters.replicas.states import ABSENT, Manifest, Row, Stamp, state_key
from holdfast.model.errors import Invalid, ReplicaError
from holdfast.model.event import Json
from holdfast.model.files import read_regular, write_whole
from holdfast.model.foreign import Remark
from holdfast.model.replica import DeletedFile, Edit, ReadOutcome, ReplicaChanges, ReplicaUpdate, WriteCounts, parts_of

_UNKNOWN = ("", record_file.NEVER)  # the record and stamp of a file that was not there before


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
    """What a write did: files written and removed, and records whose file is still to be written."""

    rows: dict[str, Row]
    dropped: set[str] = field(default_factory=set)
    written: int = 0
    removed: int = 0
    owed: set[str] = field(default_factory=set)
    remarks: list[Remark] = field(default_factory=list)


class MarkdownFolder:
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
        self._state = _Read()

    @property
    def cursor(self) -> int:
        """The journal number up to which it is complete."""
        return int(self._manifest.note("cursor") or 0)

    def read(self, *, afresh: bool = False) -> ReplicaChanges:
        """Return the files whose content changed, and those that are gone. Other files are not opened."""
        known = self._manifest.stamps()
        before, now = self._manifest.note("head"), self._head()
        jumped = bool(self._repository and before and now and not self._repository.holds(before, now))
        homes = {about: path for path, (about, _) in known.items()}
        self._state = state = _Read(
            known=known, stamps=record_file.memory_files(self._folder), jumped=jumped, homes=homes
        )
        touched = [name for name, stamp in state.stamps.items() if afresh or known.get(name, _UNKNOWN)[1] != stamp]
        edits = [edit for name in sorted(touched) if (edit := self._edit(name))]
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
        state = self._state
        parsed = {path: parts for path, parts in state.parts.items() if path not in settled.refused and parts.get("id")}
        done = _Done(rows={path: self._row(path, parts) for path, parts in parsed.items()})
        for update in updates:
            path = update.where or state.homes.get(update.record.id, "")
            if path in settled.refused or path in state.unread:
                done.owed.add(update.record.id)
                continue
            try:
                self._write_record(update, path, settled, done)
            except Invalid as problem:
                done.remarks.append(Remark(where=path or update.record.id, why=problem.message))
            except OSError as problem:
                raise ReplicaError(f"{self._folder} cannot be written ({problem.strerror}).") from problem
        owned = {row.id for row in done.rows.values()}
        missing = [path for path in state.known if path not in state.stamps and path not in done.dropped]
        moved = [path for path in missing if state.known[path][0] in owned]
        away = [path for path in missing if state.jumped and path not in moved]
        rows = [*done.rows.values(), *(self._row(path, self._manifest.said(path) or {}) for path in away)]
        notes = {"cursor": str(cursor), "head": self._head(), "owed": " ".join(sorted(done.owed))}
        if not settled.refused and not state.unread:
            notes["settled"] = notes["head"]  # from here on, what no commit changes is edited here
        notes["folder"] = str(self._folder.absolute())  # erasing must find it from any folder
        self._manifest.change(rows, [*done.dropped, *moved], notes)
        return WriteCounts(records=done.written, removed=done.removed, remarks=tuple(done.remarks))

    def close(self) -> None:
        """Close the stored state."""
        if manifest := self.__dict__.pop("_manifest", None):
            manifest.close()

    def _head(self) -> str:
        return self._repository.head() if self._repository else ""

    @cached_property
    def _manifest(self) -> Manifest:
        return Manifest(self._states / f"{self.name}-{state_key(str(self._folder.absolute()))}.db")

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
        if before == parts:
            return None
        return Edit(where=name, about=about, said=parts, before=None if state.jumped else before)

    def _parts(self, content: bytes) -> Json:
        """Parse a file without the parts that its location implies."""
        parts = record_file.file_parts(content)
        for part, expected in self._implied.items():
            if (value := parts.pop(part, expected)) != expected:
                raise Invalid(f"It has {part}: {value}, but this folder is for {expected}.")
        return parts

    def _committers(self, names: Sequence[str]) -> dict[str, Committed]:
        """Return the commit that changed or deleted each file; without an author if that was done here."""

        def differs(synced: Json, content: bytes) -> bool:
            try:
                return self._parts(content) != synced
            except Invalid:
                return True

        by, settled = dict.fromkeys(names, Committed()), self._manifest.note("settled")
        commits = committed_files(self._repository, self._folder, names, settled) if self._repository else {}
        for name, committed in commits.items():
            if name not in self._state.parts:  # deleted
                brought = not committed.contents
            elif synced := self._state.before[name]:
                brought = committed.changed and any(differs(synced, content) for content in committed.contents)
            else:
                brought = True
            by |= {name: committed} if brought else {}
        return by

    def _write_record(self, update: ReplicaUpdate, path: str, settled: ReadOutcome, done: _Done) -> None:
        record, state = update.record, self._state
        if not update.carried and record.state == "active":
            if path:
                done.dropped.add(path)
                why = "it is private now; its file was already shared and is left in place: remove it yourself"
                done.remarks.append(Remark(where=path, why=why))
            return
        if not update.carried or record.state != "active":
            if path:
                self._remove(path, update, done)
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
        if exists and self._was_edited(path, record.id, done):
            done.rows.pop(path, None)
            return
        is_own = self._repository is None
        self._folder.mkdir(mode=0o700 if is_own else 0o777, parents=True, exist_ok=True)
        write_whole(place, text, 0o600 if is_own else 0o666)
        state.stamps[path] = record_file.stamp_of(place)
        done.rows[path] = self._row(path, parts)
        done.written += 1

    def _remove(self, path: str, update: ReplicaUpdate, done: _Done) -> None:
        if update.record.state == "erased" and self._head():
            why = "its file is removed; older commits of the repository still contain its text"
            done.remarks.append(Remark(where=path, why=why))
        if path in self._state.stamps:
            if self._was_edited(path, update.record.id, done):
                return
            (self._folder / path).unlink(missing_ok=True)
            done.removed += 1
        done.rows.pop(path, None)
        done.dropped.add(path)

    def _was_edited(self, path: str, about: str, done: _Done) -> bool:
        """True if a file changed since it was read; then its record is written next time."""
        if record_file.stamp_of(self._folder / path) == self._state.stamps[path]:
            return False
        done.owed.add(about)
        done.remarks.append(Remark(where=path, why="it was edited just now; the next sync reads it"))
        return True

    def _row(self, path: str, parts: Json) -> Row:
        return Row(path=path, id=parts["id"], stamp=self._state.stamps.get(path, ABSENT), said=parts)
