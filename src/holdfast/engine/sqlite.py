"""The embedded engine: one SQLite file that many processes share."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from holdfast.engine.database import NO_PARAMS, Database, Dialect, Params, Queries, as_params, unusable
from holdfast.model import errors
from holdfast.model.errors import NotAStore, StoreError, StoreFull, StoreUnwritable
from holdfast.model.files import open_regular, state_of, write_new
from holdfast.model.patterns import tables

BUSY_SECONDS = 30.0
FIRST_LOCK_SECONDS = 0.5  # without the first lock before we check whether the file system refuses locks
IDLE_READERS = 4  # connections for reading that are kept open
LARGEST_COPY = 2_000_000_000  # bytes; a larger store is not copied into memory
MAPPED = 0x7FFF0000  # bytes of the file that are mapped at most: as many as SQLite allows; beyond them reading takes twice as long
_SQL = Queries(__file__, mapped=str(MAPPED))
APPLICATION_ID = 0x484F4C44  # "HOLD": distinguishes our files from those of other programs
PROGRAMS = "from sqlite_master where type in ('trigger', 'view')"  # what runs by itself: a store has none
MOST_LEVELS = 60  # of a word index; the number is the fifth byte of its structure, in more bytes from 128 on

_HINTS = dict(tables(__file__)["hints"])
# What an error means: our error, and a hint if it has a better one than the error's own.
_MEANING: dict[int, tuple[type[StoreError], str]] = {
    sqlite3.SQLITE_FULL: (StoreFull, ""),
    **dict.fromkeys((sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM), (StoreUnwritable, "")),
    **dict.fromkeys((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED), (errors.StoreBusy, "")),
    sqlite3.SQLITE_CORRUPT: (errors.StoreCorrupt, _HINTS["corrupt"]),
    sqlite3.SQLITE_NOTADB: (NotAStore, _HINTS["no database"]),
}
# Error codes when a file cannot grow (the store, its log or the index of the log), and when locks are refused.
_NO_ROOM = [getattr(sqlite3, f"SQLITE_IOERR_{name}") for name in "WRITE TRUNCATE SHMOPEN SHMSIZE".split()]
_LOCKING = "LOCK RDLOCK UNLOCK CHECKRESERVEDLOCK SHMLOCK"
_NO_LOCKS = [sqlite3.SQLITE_PROTOCOL, *(getattr(sqlite3, f"SQLITE_IOERR_{name}") for name in _LOCKING.split())]


class SQLite(Database):
    """A SQLite file: one connection shared by the threads of this process, and more for reading while it is in use.

    A thread that finds the connection in use reads committed data on another one, so readers wait for no writer, of
    this process or another. A thread inside its own transaction keeps using the shared connection.
    """

    dialect: Dialect = "sqlite"
    path: Path

    def __init__(self, path: Path) -> None:
        self.path, self.place = path, str(path)
        self._lock = threading.RLock()
        self._depth = 0
        self._readers: list[sqlite3.Connection] = []  # idle ones only
        self._closed = False
        self._refusal: StoreError | None = None  # why the store is read-only; None if it can be written
        self._in_memory = False
        _make_private(path)
        self._open()

    def _open(self) -> None:
        try:
            self._connect("mode=rw", self._set_up)
            self._refusal = None
        except (StoreFull, StoreUnwritable) as problem:
            if not _has_content(self.path) or not self._is_readable(problem):
                raise
            self._refusal = problem

    def _is_readable(self, problem: StoreError) -> bool:
        """Open an existing store for reading, without growing any file; True if that worked."""
        ways = ["mode=ro&readonly_shm=1"]  # builds the log's index in memory, but its file must exist, if only empty
        with suppress(OSError):
            os.close(os.open(self.path.with_name(self.path.name + "-shm"), os.O_CREAT | os.O_RDONLY, 0o600))
        is_fixed = hasattr(os, "statvfs") and bool(os.statvfs(self.path).f_flag & os.ST_RDONLY)  # mounted read-only
        log = self.path.with_name(self.path.name + "-wal")
        if (is_fixed or not os.access(self.path.parent, os.W_OK)) and not _has_content(log):
            ways.append("immutable=1")  # there is no log
        for way in ways:
            try:
                self._connect(way, self._check_owner)
            except StoreError:
                continue
            if way == "immutable=1" and not is_fixed:  # another user may be able to write: read it all now, and once
                before = state_of(self.path)
                with self.in_memory(problem):
                    pass
                return state_of(self.path) == before and not _has_content(log)
            return True
        return False

    def _connect(self, way: str, set_up: Callable[[], object]) -> None:
        with translated(self.path):
            self._connection = self._connected(way)
            try:
                # Read once, and raise soon if the file system refuses locks: SQLite would wait as if another process held them.
                self._pragma(f"busy_timeout = {FIRST_LOCK_SECONDS * 1000:.0f}")
                try:
                    self._pragma("schema_version")
                except sqlite3.OperationalError as problem:
                    if not _is_busy(problem) or _refuses_locks(self.path):
                        raise
                self._pragma(f"busy_timeout = {BUSY_SECONDS * 1000:.0f}")
                set_up()
            except BaseException:
                self._connection.close()
                raise

    def _connected(self, way: str) -> sqlite3.Connection:
        uri = f"{self.path.absolute().as_uri()}?{way}"
        connection = sqlite3.connect(
            uri, BUSY_SECONDS, uri=True, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        connection.row_factory = sqlite3.Row
        return connection

    def _check_owner(self) -> None:
        """Raise NotAStore if the file belongs to another program, or another program changed what it does."""
        if self._pragma("application_id") != APPLICATION_ID:
            raise NotAStore(f"{self.path} is a database of another program.", hint="Set HOLDFAST_HOME elsewhere.")
        if added := self._connection.execute(f"select name {PROGRAMS}").fetchone():
            hint = "`holdfast store recover` makes a store of its memories, without that."
            raise NotAStore(f"{self.path} has a trigger or view that is not ours ({added[0]!r}).", hint=hint)

    def _set_up(self) -> None:
        self._check_owner()
        deadline = time.monotonic() + BUSY_SECONDS
        while True:  # SQLite does not wait when several processes switch to WAL at once
            try:
                self._pragma("journal_mode = wal")
                break
            except sqlite3.OperationalError as problem:
                if not _is_busy(problem) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        self.script(_SQL["settings"])

    def _pragma(self, text: str) -> int | str | None:
        row = self._connection.execute(f"pragma {text}").fetchone()
        return row[0] if row else None

    def execute(self, sql: str, params: Params = NO_PARAMS, /) -> int:
        with self._writing():
            return self._connection.execute(sql, as_params(params)).rowcount

    def many(self, sql: str, rows: Iterable[Params], /) -> None:
        if given := list(rows):
            with self._writing():
                self._connection.executemany(sql, given)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Hold the connection; raise the reason why the store is read-only, unless it can be opened for writing now."""
        with self._lock, translated(self.path):
            if self._refusal is not None and not self._depth:
                if not self._in_memory:
                    self._connection.close()  # before reopening: connections of one process share the state of the log
                    self._open()
                if self._refusal is not None:
                    raise self._refusal
            yield

    @contextmanager
    def in_memory(self, problem: StoreError, /) -> Iterator[None]:
        """Switch to a copy in memory, writable only inside the context; raise `problem` if the store is too large."""
        if self.size > LARGEST_COPY:
            raise problem
        with self._lock, translated(self.path):
            copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            copy.row_factory = sqlite3.Row
            self._connection.backup(copy)
            self._connection.close()
            self._connection, self._refusal, self._in_memory = copy, None, True
            yield
            self._pragma("query_only = on")
            self._refusal = problem

    def query(self, sql: str, params: Params = NO_PARAMS, /) -> Sequence[sqlite3.Row]:
        """Return all rows of a select, from the shared connection or, if a thread is using it, from another one."""
        # A store that is read-only, or copied into memory, has just one connection: see `_writing`.
        if self._lock.acquire(blocking=self._refusal is not None or self._in_memory):
            try:
                return self._rows(self._connection, sql, params)
            finally:
                self._lock.release()
        reader = self._idle_reader()
        try:
            return self._rows(reader, sql, params)
        finally:
            self._readers.append(reader)
            self._close_readers(keep=0 if self._closed else IDLE_READERS)

    def _idle_reader(self) -> sqlite3.Connection:
        with suppress(IndexError):
            return self._readers.pop()
        with translated(self.path):
            reader = self._connected("mode=rw")  # with `ro` it could not use the write-ahead log
            for text in ("query_only = on", "temp_store = memory", "cache_size = -8000", f"mmap_size = {MAPPED}"):
                reader.execute(f"pragma {text}")
        return reader

    def _close_readers(self, keep: int = 0) -> None:
        while len(self._readers) > keep:
            with suppress(IndexError):  # another thread took it
                self._readers.pop(0).close()

    def _rows(self, connection: sqlite3.Connection, sql: str, params: Params = NO_PARAMS) -> list[sqlite3.Row]:
        with translated(self.path):
            return connection.execute(sql, as_params(params)).fetchall()  # some only fail once their rows are read

    def _maintain(self, sql: str) -> list[sqlite3.Row]:
        with self._lock:
            return self._rows(self._connection, sql)

    def script(self, sql: str | Mapping[Dialect, str], /) -> None:
        """Run the statements of a schema one by one, since `executescript` would commit an open transaction."""
        text = sql if isinstance(sql, str) else sql[self.dialect]
        with self._lock, translated(self.path):
            for statement in filter(str.strip, text.split(";\n")):
                self._connection.execute(statement)

    def has_table(self, name: str, /) -> bool:
        return bool(self.query("select 1 from sqlite_master where type = 'table' and name = :name", {"name": name}))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a transaction that holds the write lock from its start: a later upgrade from reading could fail."""
        with self._lock:
            if is_outer := not self._depth:
                self.execute("begin immediate")
            self._depth += 1
            try:
                yield
                if is_outer:
                    self.execute("commit")
            except BaseException:
                if is_outer and self._connection.in_transaction:
                    self._connection.execute("rollback")
                raise
            finally:
                self._depth -= 1

    def checkpoint(self) -> bool:
        """Move the write-ahead log into the file and empty it; False if another process is still reading it."""
        return not self._maintain("pragma wal_checkpoint(truncate)")[0][0]

    @property
    def version(self) -> str:
        return f"SQLite {sqlite3.sqlite_version}"

    @property
    def size(self) -> int:
        return sum(path.stat().st_size for path in self.path.parent.glob(self.path.name + "*"))

    def compact(self) -> bool:
        self._maintain("vacuum")
        self._maintain("analyze")
        return self.checkpoint()

    def forget_deleted(self, *, free_pages: bool = False) -> bool:
        for row in self.query("select name from sqlite_master where sql like 'create virtual table % using fts5 %'"):
            # Each `optimize` adds a level to the index, and SQLite refuses one of more than 2,000; `rebuild` starts over.
            (structure,) = self.query(f"select block from {row[0]}_data where id = 10")[0]
            how = "rebuild" if structure[4] > MOST_LEVELS else "optimize"
            self.execute(f"insert into {row[0]} ({row[0]}) values ('{how}')")
        return self.compact() if free_pages else self.checkpoint()

    def damage(self) -> list[str]:
        found = [str(row[0]) for row in self.query("pragma quick_check(20)")]
        return [] if found == ["ok"] else found

    def close(self) -> None:
        """Close every connection; a reader in use is closed once its rows are read."""
        with self._lock:
            self._closed = True
            self._close_readers()
            self._connection.close()  # last: closing the last connection empties the write-ahead log


def is_store(path: Path) -> bool:
    """True if a file has our application id in its header; does not open it as a database."""
    with open_regular(path) as file:
        return file.read(72)[68:] == APPLICATION_ID.to_bytes(4, "big")


def _has_content(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _make_private(path: Path) -> None:
    """Create the folder with mode 0700 and a store without tables with mode 0600; raise NotAStore for an empty file."""
    # The file gets its name when it is complete, so an empty one is what is left of a store, and never a new one.
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            with closing(sqlite3.connect(":memory:")) as empty:
                empty.execute(f"pragma application_id = {APPLICATION_ID}")
                write_new(path, empty.serialize())
        elif not path.stat().st_size:
            hint = "`holdfast store restore FILE` puts a backup back. To start with an empty one, remove the file."
            raise NotAStore(f"{path} is empty: what was in it is lost.", hint=hint)
    except (OSError, ValueError) as problem:
        is_file = isinstance(problem, FileExistsError)
        why = "is a file, not a folder" if is_file else f"cannot be written ({getattr(problem, 'strerror', problem)})"
        raise StoreUnwritable(f"{path.parent} {why}.") from problem


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Translate SQLite's errors into ours."""
    try:
        yield
    except (OverflowError, UnicodeEncodeError) as problem:
        raise unusable(problem) from problem
    except sqlite3.Error as problem:
        code = getattr(problem, "sqlite_errorcode", 0) or 0
        if isinstance(problem, sqlite3.ProgrammingError) and "closed" in str(problem):  # by another thread
            raise StoreError("This memory is closed.", hint="Open another.") from problem
        if code in _NO_LOCKS or (_is_busy(problem) and _refuses_locks(path)):
            hint = "Put the store on a local disk (HOLDFAST_HOME); `holdfast doctor` tries the locks."
            raise StoreError(f"The file system of {path} refuses locks; nothing was changed.", hint=hint) from problem
        if found := _MEANING.get(sqlite3.SQLITE_FULL if code in _NO_ROOM else code & 0xFF):
            kind, hint = found
            raise kind(f"{(kind.__doc__ or '').rstrip('.')} ({path}: {problem}).", hint=hint) from problem
        raise StoreError(f"The store could not answer ({path}: {problem}).") from problem


def _is_busy(problem: sqlite3.Error) -> bool:
    return (getattr(problem, "sqlite_errorcode", 0) or 0) & 0xFF == sqlite3.SQLITE_BUSY


def _refuses_locks(path: Path) -> bool:
    """True if the file system refuses locks: SQLite reports that as busy too, as if another process held the lock."""
    from holdfast.engine.locks import problem_with_locks  # noqa: PLC0415  only needed after an error

    try:
        return bool(problem_with_locks(path.parent))
    except OSError:
        return False  # the disk is full or read-only, which does not mean that locks fail
