"""Back up a store while other processes write to it, compare the copy with the original, and restore it."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from ulid_transform import ulid_to_timestamp

from holdfast.engine.changes import note_anything
from holdfast.engine.journal import COLUMNS, event_of
from holdfast.engine.recovery.copy_store import fill
from holdfast.engine.sqlite import APPLICATION_ID, PROGRAMS, SQLite, translated
from holdfast.engine.store import Store, open_store
from holdfast.model.errors import (
    Conflict,
    NotAStore,
    NotFound,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreUnwritable,
)
from holdfast.model.event import Event
from holdfast.model.files import read_regular
from holdfast.model.ids import instant

FOLDER = "backups"
ELSEWHERE = "elsewhere.txt"  # paths of backups outside this folder, one a line
NAMED = "holdfast-"  # prefix of the backups that `rotate` may remove
SHARED = (0x40000002, 510)  # offset and length of the bytes that SQLite locks while a process has the file open
_WAIT = 6.0  # seconds to wait for other processes to close the store


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalMark:
    """Summary of the journal in a file: equal marks mean equal journals."""

    events: int
    last_at: str
    digest: str


def back_up(source: Path, target: Path) -> JournalMark:
    """Copy a snapshot of a store to a new file with mode 0600, check the copy, and return its mark."""
    try:
        with _opened(source, "rw") as connection:
            return _copied(connection, target)
    except (StoreFull, StoreUnwritable):  # a store that cannot be written can be read
        has_log = source.with_name(f"{source.name}-wal").exists()
        with _opened(source, "ro&readonly_shm=1" if has_log else "ro") as connection:
            return _copied(connection, target)


def rotate(folder: Path, keep: int, newest: Path) -> list[Path]:
    """Delete all but the newest `keep` backups of a folder; return the deleted ones."""
    # `newest` is the newest, whatever the names say: a clock may have been ahead when others were made.
    old = sorted(folder.glob(f"{NAMED}*.db"), key=lambda path: (path == newest, path), reverse=True)[keep:]
    for path in old:
        path.unlink()
    return old


def note_elsewhere(home: Path, file: Path) -> None:
    """Record the path of a backup written outside the store's folder, so that erasing can list it; not in a store that cannot be written."""
    with suppress(OSError):
        (home / FOLDER).mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(home / FOLDER / ELSEWHERE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(f"{file.absolute()}\n")


def known(home: Path) -> list[Path]:
    """Return the known copies of the store: backups, stores replaced by a restore, and damaged stores."""
    noted, copies = home / FOLDER / ELSEWHERE, (f"{FOLDER}/*.db", f"{FOLDER}/*/*.db*", "damaged-*/*.db*")
    elsewhere = map(Path, read_regular(noted).decode().splitlines()) if noted.is_file() else ()
    own = (path for pattern in copies for path in sorted(home.glob(pattern)))
    return [path for path in dict.fromkeys((*own, *elsewhere)) if path.is_file()]


def events_in(file: Path, abouts: Collection[str]) -> list[Event]:
    """Return the events about some records in a backup, which is not changed."""
    sql = f"select {COLUMNS} from events where about = ?"
    with _opened(file, "ro") as connection:
        connection.row_factory = sqlite3.Row
        return [event_of(row) for about in abouts for row in connection.execute(sql, (about,))]


def rewrite(file: Path, change: Callable[[Store], object]) -> JournalMark:
    """Apply `change` to a backup and return its new mark."""
    # The change is made in a copy with this version's schema. The copy replaces the backup only after it was checked.
    fresh = file.with_name(f".{file.name}.{os.getpid()}.part")
    fresh.unlink(missing_ok=True)
    try:
        with _opened(file, "ro") as source:
            _copied(source, fresh)
        with closing(open_store(SQLite(fresh))) as store:
            change(store)
            store.forget_deleted(free_pages=True)
        leave_one_file(fresh)
        mark = look_at(fresh)
        _flush(fresh)
        fresh.replace(file)
        _remove_logs(file)
    finally:
        fresh.unlink(missing_ok=True)
        _remove_logs(fresh)
    return mark


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


def _remove_logs(file: Path) -> None:
    for end in ("-wal", "-shm", "-journal"):
        file.with_name(file.name + end).unlink(missing_ok=True)


def look_at(file: Path) -> JournalMark:
    """Check a store file without changing it and return its mark; raise NotFound, NotAStore or StoreCorrupt."""
    if not file.is_file():
        raise NotFound(f"There is no file {file}.", hint="`holdfast store backup` says where it puts them.")
    with _opened(file, "ro") as connection:
        return _checked(connection, file)


def restore(file: Path, store: Path, *, now: str) -> tuple[JournalMark, Path | None]:
    """Replace the store with a backup, brought to this version's schema and views."""
    # The current store is copied to the folder of backups first. A store that can no longer be read is copied unchanged
    # into a folder of that name without its suffix. Returns the new mark, and where the former store is or None if
    # there was none.
    look_at(file)
    former = store.parent / FOLDER / f"before-restore-{now}.db"
    folder = store.parent / f".restoring-{os.getpid()}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        raise StoreUnwritable(f"{store.parent} cannot be written ({problem.strerror}).") from problem
    with ExitStack() as leaving:
        leaving.callback(shutil.rmtree, folder, ignore_errors=True)
        copy, ready = folder / "backup.db", folder / store.name
        with _opened(file, "ro") as source:
            mark = _copied(source, copy)
        with closing(open_store(SQLite(copy))) as backup, closing(open_store(SQLite(ready))) as fresh:
            fill(backup, fresh)
        leave_one_file(ready)
        _compare(mark, look_at(ready), ready)
        kept: Path | None = former if store.exists() and store.stat().st_size else None
        try:
            if kept is None:
                put_in_place(ready, store)
            else:
                with _opened(store, "rw") as connection:
                    _claim(connection)
                    _copied(connection, kept)
                    with _opened(ready, "ro") as source:
                        source.backup(connection)
        except (StoreCorrupt, NotAStore):
            kept = set_aside(store, former.with_suffix(""))
            with unshared(store):
                put_in_place(ready, store)
    note_anything(store.parent)
    _compare(mark, look_at(store), store)
    return mark, kept


def _claim(connection: sqlite3.Connection) -> None:
    """Lock a store that no other process has open, as one file without a log; processes that open it meanwhile wait."""
    for setting in ("secure_delete = on", "locking_mode = exclusive"):
        connection.execute(f"pragma {setting}")
    try:
        connection.execute("pragma journal_mode = delete").fetchone()
        connection.execute("begin exclusive")
        connection.execute("commit")
    except sqlite3.OperationalError as problem:
        if (problem.sqlite_errorcode or 0) & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        raise _busy() from problem


@contextmanager
def unshared(store: Path) -> Iterator[None]:
    """Lock a file that SQLite can no longer read; raise StoreBusy if another process has it open."""
    try:
        import fcntl  # noqa: PLC0415  not on Windows, where an open file cannot be replaced anyway
    except ImportError:
        yield
        return
    first, length = SHARED
    with store.open("rb+") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, length, first)
        except OSError as problem:
            raise _busy() from problem
        yield


def _busy() -> StoreBusy:
    hint = "Close the agents that use it (they keep it open while they run), and try again."
    return StoreBusy("Other processes have the store open; nothing was changed.", hint=hint)


def set_aside(store: Path, folder: Path) -> Path:
    """Copy a store that cannot be read, with its log, into a new folder; return the folder."""
    folder.mkdir(mode=0o700, parents=True)
    for path in (store, store.with_name(store.name + "-wal")):  # its index, the `-shm` file, can be rebuilt
        if path.exists():
            shutil.copyfile(path, folder / path.name)
            (folder / path.name).chmod(0o600)
    return folder


def put_in_place(new: Path, store: Path) -> None:
    """Overwrite the store in place rather than renaming a file over it: waiting processes have it open already."""
    with os.fdopen(os.open(store, os.O_CREAT | os.O_RDWR, 0o600), "rb+") as into, new.open("rb") as out:
        _remove_logs(store)
        into.truncate(0)
        shutil.copyfileobj(out, into)
        into.flush()
        os.fsync(into.fileno())


def _copied(source: sqlite3.Connection, target: Path) -> JournalMark:
    """Copy a snapshot of the source, check the copy, and only then rename it to `target`."""
    if target.exists() or target.is_symlink():
        raise Conflict(f"{target} is there already; nothing is overwritten.", hint="Give another name.")
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as problem:
        raise StoreUnwritable(f"{part.parent} cannot be written ({problem.strerror}).") from problem
    try:
        source.execute("begin")
        mark = _mark(source)
        with translated(target), closing(sqlite3.connect(part, isolation_level=None)) as copy:
            source.backup(copy)
            source.execute("rollback")
            for kind, name in copy.execute(f"select type, name {PROGRAMS}").fetchall():  # what a file may do by itself
                quoted = str(name).replace('"', '""')
                copy.execute(f'drop {kind} "{quoted}"')
            copy.execute("pragma journal_mode = delete")  # a single file that any later version or tool can read
            _compare(mark, _checked(copy, target), target)
        _flush(part)
        try:
            os.link(part, target)
        except FileExistsError as problem:
            raise Conflict(f"{target} is there already; nothing is overwritten.") from problem
        except OSError:  # a file system without hard links
            part.rename(target)
        with suppress(OSError):  # not every system can flush a folder
            _flush(target.parent)
    finally:
        part.unlink(missing_ok=True)
        _remove_logs(part)
    return mark


def leave_one_file(path: Path) -> None:
    """Leave a store that no other process has open as one file, without a log."""
    with _opened(path, "rw") as connection:
        connection.execute("pragma journal_mode = delete")


def _checked(connection: sqlite3.Connection, path: Path) -> JournalMark:
    if connection.execute("pragma application_id").fetchone()[0] != APPLICATION_ID:
        raise NotAStore(f"{path} is not a Holdfast store.", hint="Load an export with `holdfast store import`.")
    found = [row[0] for row in connection.execute("pragma integrity_check(5)")]
    if found != ["ok"]:
        hint = f"`holdfast store recover {path}` saves what can be read of it."
        raise StoreCorrupt(f"{path} is damaged ({found[0]}).", hint=hint)
    return _mark(connection)


def _mark(connection: sqlite3.Connection) -> JournalMark:
    digest, events, last = sha256(), 0, ""
    for row in connection.execute(f"select {COLUMNS} from events order by seq"):
        for part in row:
            said = str(part).encode()
            digest.update(b"%d:" % len(said) + said)
        events, last = events + 1, max(last, str(row[0]))
    last_at = instant(ulid_to_timestamp(last) / 1000) if last else ""  # when it was written, whatever date it tells
    return JournalMark(events=events, last_at=last_at, digest=digest.hexdigest())


def _compare(wanted: JournalMark, found: JournalMark, path: Path) -> None:
    if wanted != found:
        raise StoreError(f"The copy {path} has {found.events} events where {wanted.events} were expected, or others.")


@contextmanager
def _opened(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    quiet = mode == "ro" and not path.with_name(path.name + "-wal").exists()
    place = f"file:{quote(str(path.absolute()))}?mode={mode}" + ("&immutable=1" if quiet else "")
    with translated(path), closing(sqlite3.connect(place, uri=True, timeout=_WAIT, isolation_level=None)) as connection:
        yield connection
