"""The PostgreSQL side of the database seam (psycopg 3): a few connections, lent to whichever thread asks."""

import re
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from struct import pack
from typing import Any, TypeVar

import psycopg
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.pq import Format
from psycopg.rows import RowMaker
from psycopg.sql import SQL, Identifier
from psycopg.types.numeric import NumericBinaryLoader

from holdfast.engine.database import Bits, Dialect, Halves, Params, unusable
from holdfast.engine.postgres.roles import MEMBER, Access, who_asks
from holdfast.engine.postgres.timeouts import CONNECT_SECONDS, Patient
from holdfast.model.errors import Forbidden, Invalid, StoreBusy, StoreError, StoreFull, StoreUnwritable, Unreachable

MOST_CONNECTIONS = 16
BUSY_SECONDS = 30
_LOCK = 0x484F4C44  # "HOLD": our half of an advisory lock's key; the other half is the schema
_NO_PARAMS: Params = {}
_BIT_VARYING = 1562
# The schema is written with SQLite's type names; these are the same widths here. Texts are compared byte by byte, as
# SQLite does: ids are looked up by ranges.
_TYPES = {"integer": "bigint", "blob": "bytea", "real": "double precision"}
_SESSION = f"""
set timezone = 'UTC'; set lock_timeout = '{BUSY_SECONDS}s'; set jit = off;
set hnsw.iterative_scan = 'relaxed_order'; set hnsw.ef_search = 1000; set hnsw.max_scan_tuples = 60000
"""
_INTRODUCE = """
select set_config('holdfast.user', %s, false), set_config('holdfast.role', %s, false), set_config('holdfast.projects', %s, false)
"""
_HOME = "select cast(oid as bigint), nspname from pg_namespace where nspname = current_schema()"
_SIZE = """
select coalesce(sum(pg_total_relation_size(oid)), 0) from pg_class
where relkind = 'r' and relnamespace = cast(current_schema() as regnamespace)
"""

Connection = psycopg.Connection["_Row"]
T = TypeVar("T")


class Postgres:
    """A database of a server, reached by a few connections. Writers take turns, as they do on SQLite; readers never wait."""

    dialect: Dialect = "postgres"

    def __init__(self, url: str, *, role: str = "", most: int = MOST_CONNECTIONS, patience: float = 0.0) -> None:
        self._url = url
        self._role = role
        self._patience = patience  # seconds an answer may take; 0: as long as the server is there
        self.guarded = role == MEMBER
        self._told: dict[Connection, Access] = {}  # who each connection was told that asks
        self._idle: list[Connection] = []
        self._closed = False
        self._room = threading.BoundedSemaphore(most)
        self._own = threading.local()  # the connection a thread is in a transaction on
        self._halfvec = 0  # what this server calls the type of vectors
        rows = self.query(_HOME)
        if not rows:
            self.close()
            raise StoreError("The database has no schema to work in.", hint="Create it, or name another search_path.")
        self._schema, self._name = int(rows[0][0]), str(rows[0][1])

    @property
    def place(self) -> str:
        """Where the store is, without the password."""
        told = psycopg.conninfo.conninfo_to_dict(self._url)
        where = f"PostgreSQL {told.get('dbname', '')} at {told.get('host', 'localhost')}"
        return where if self._name == "public" else f"{where}, schema {self._name}"

    def execute(self, sql: str, params: Params = _NO_PARAMS, /) -> int:
        """Run one statement and give the number of rows it changed."""
        with self.transaction(), _translated():
            return self._held.execute(_native(sql), params).rowcount

    def many(self, sql: str, rows: Iterable[Params], /) -> None:
        """Run one statement for each set of parameters, without waiting for each answer."""
        if given := list(rows):
            with self.transaction(), _translated(), self._held.cursor() as cursor:
                cursor.executemany(_native(sql), given)

    def query(self, sql: str, params: Params = _NO_PARAMS, /) -> Sequence["_Row"]:
        """Give all rows of a select."""
        with _translated():
            return self._ask(lambda connection: connection.execute(_native(sql), params, binary=True).fetchall())

    def script(self, sql: str, /) -> None:
        """Run several statements of a schema."""
        typed = re.sub(r"\b(integer|blob|real)\b", lambda match: _TYPES[match[0]], sql)
        typed = re.sub(r"\btext (not null|primary key)", r'text collate "C" \1', typed)
        with self.transaction(), _translated():
            for statement in typed.split(";\n"):
                if statement.strip():
                    self._held.execute(statement.encode())
            self._teach(self._held)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the write lock; commit at the end and tell whoever watches, or leave everything as it was."""
        if getattr(self._own, "connection", None):
            yield
            return
        with self._lent(self._begin) as connection:
            self._own.connection = connection
            try:
                yield
                with _translated():
                    connection.execute(f"select pg_notify('{self._channel}', ''); commit")
            except BaseException:
                if not connection.closed:
                    connection.execute("rollback")
                raise
            finally:
                self._own.connection = None

    @contextmanager
    def changes(self) -> Iterator[Callable[[float], bool]]:
        """Give a function that waits so many seconds for somebody's commit, and tells whether there was one."""
        with _translated():
            connection = self._connect()
            connection.execute(SQL("listen {}").format(Identifier(self._channel)))

        def changed(seconds: float) -> bool:
            with _translated():
                return len(list(connection.notifies(timeout=seconds, stop_after=1))) > 0

        try:
            yield changed
        finally:
            connection.close()

    @property
    def size(self) -> int:
        """Bytes on disk, indexes included."""
        return int(self.query(_SIZE)[0][0])

    def compact(self) -> bool:
        """Give back the space of what is gone, and let the engine look at its tables anew; tell whether nothing of it is left."""
        self.outside("vacuum (analyze)")
        return True

    def outside(self, sql: str) -> None:
        """Run a statement that may not stand in a transaction."""
        with _translated():
            self._ask(lambda connection: connection.execute(sql.encode()))

    def close(self) -> None:
        """Let go of every connection; of those in use once they are given back."""
        self._closed = True
        self._drop_idle()

    def _drop_idle(self) -> None:
        while self._idle:
            connection = self._idle.pop()
            self._told.pop(connection, None)
            connection.close()

    @property
    def _channel(self) -> str:
        return f"holdfast_{self._schema}"

    @property
    def _held(self) -> Connection:
        connection: Connection = self._own.connection
        return connection

    def _ask(self, step: Callable[[Connection], T]) -> T:
        """Run what only reads, in the thread's transaction or on a connection of its own."""
        if connection := getattr(self._own, "connection", None):
            return step(connection)
        answers: list[T] = []
        with self._lent(lambda connection: answers.append(step(connection))):
            return answers[0]

    def _begin(self, connection: Connection) -> None:
        connection.execute(f"begin; select pg_advisory_xact_lock({_LOCK}, {self._schema % 2**31})")

    @contextmanager
    def _lent(self, first: Callable[[Connection], object]) -> Iterator[Connection]:
        """Lend a connection on which the first step was done: the one place where connections are taken.

        Servers restart. A connection found dead by a first step that changed nothing is replaced, and so are the
        others that were idle meanwhile.
        """
        if self._closed:
            raise StoreError("The store was closed.")
        if not self._room.acquire(timeout=BUSY_SECONDS):
            raise StoreBusy
        try:
            with _translated():
                connection = self._idle.pop() if self._idle else self._connect()
                try:
                    self._introduce(connection)
                    first(connection)
                except BaseException as problem:
                    self._settle(connection)
                    if not connection.closed or not isinstance(problem, psycopg.OperationalError):
                        raise
                    self._drop_idle()
                    connection = self._connect()
                    self._introduce(connection)
                    first(connection)
            try:
                yield connection
            finally:
                self._settle(connection)
        finally:
            self._room.release()

    def _introduce(self, connection: Connection) -> None:
        """Tell a guarded database who asks: its policies let nobody else's rows through."""
        if self.guarded and self._told.get(connection) != (access := who_asks()):
            self._told.pop(connection, None)
            connection.execute(_INTRODUCE, [access.user, access.role, "\n".join(access.projects)])
            self._told[connection] = access

    def _settle(self, connection: Connection) -> None:
        """Keep a connection for the next who asks, unless it is broken or in the middle of something."""
        if connection.closed:
            self._told.pop(connection, None)
            return
        if connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE and not self._closed:
            self._idle.append(connection)
        else:
            self._told.pop(connection, None)
            connection.close()

    def _connect(self) -> Connection:
        """Open a connection and set what every session of ours needs."""
        told = {"connect_timeout": CONNECT_SECONDS, **psycopg.conninfo.conninfo_to_dict(self._url)}
        url = psycopg.conninfo.make_conninfo("", **told)
        connection = Patient.connect(url, autocommit=True, row_factory=_rows)
        connection.url, connection.most = url, self._patience
        connection.execute(_SESSION)
        if self._role:
            connection.execute(SQL("set role {}").format(Identifier(self._role)))
        for form in (_TextNumber, _BinaryNumber):
            connection.adapters.register_loader("numeric", form)
        connection.adapters.register_loader(_BIT_VARYING, _BitsLoader)
        connection.adapters.register_dumper(Bits, _BitsDumper)
        self._teach(connection)
        return connection

    def _teach(self, connection: Connection) -> None:
        """Let a connection read and write vectors, once the extension is there."""
        if not self._halfvec:
            rows = connection.execute("select cast(oid as bigint) from pg_type where typname = 'halfvec'").fetchall()
            self._halfvec = int(rows[0][0]) if rows else 0
        if self._halfvec:
            connection.adapters.register_loader(self._halfvec, _HalvesLoader)
            connection.adapters.register_dumper(Halves, type("_Halves", (_HalvesDumper,), {"oid": self._halfvec}))


class _Row:
    """A row whose columns are found by name or by position, as SQLite's are."""

    __slots__ = ("_names", "_values")

    def __init__(self, names: dict[str, int], values: Sequence[Any]) -> None:
        self._names = names
        self._values = values

    def __getitem__(self, key: str | int, /) -> Any:
        return self._values[self._names[key] if isinstance(key, str) else key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)


def _rows(cursor: psycopg.Cursor[Any]) -> RowMaker[_Row]:
    names = {column.name: place for place, column in enumerate(cursor.description or ())}
    return lambda values: _Row(names, values)


class _TextNumber(Loader):
    """Sums come as decimals; ours are whole, or good enough as floats."""

    def load(self, data: Buffer) -> int | float:
        """Give a plain number."""
        said = bytes(data)
        return float(said) if b"." in said else int(said)


class _BinaryNumber(NumericBinaryLoader):
    """The same, as it comes from `query`."""

    def load(self, data: Buffer) -> Any:
        """Give a plain number."""
        number = super().load(data)
        return int(number) if number == int(number) else float(number)


class _BitsLoader(Loader):
    """Sign bits come with their count before them."""

    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        """Give the bits as bytes."""
        return bytes(data[4:])


class _BitsDumper(Dumper):
    format = Format.BINARY
    oid = _BIT_VARYING

    def dump(self, obj: Any) -> bytes:
        """Give bytes as so many bits."""
        return pack(">i", 8 * len(obj)) + bytes(obj)


class _HalvesLoader(Loader):
    """Vectors come with their size before them, and the high byte of each value first."""

    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        """Give the values as SQLite keeps them."""
        return _swapped(bytes(data[4:]))


class _HalvesDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Any) -> bytes:
        """Give float16 values as a vector."""
        return pack(">HH", len(obj) // 2, 0) + _swapped(obj)


def _swapped(values: bytes) -> bytes:
    turned = array("H", values)
    turned.byteswap()
    return turned.tobytes()


_IN_LIST = re.compile(r"(?<!not )\bin \(select (value|cast\(value as bigint\)) from json_each\((:\w+)\)\)")


@lru_cache(maxsize=512)
def _native(sql: str) -> bytes:
    """Rewrite `:name` parameters in psycopg's form, and lists in the words PostgreSQL has for them.

    What is in a list is compared with an array, which is made before any row is looked at: joined with its elements, a table
    behind policies would be read as a whole, as reading a number from a text may tell on rows.
    """
    sql = _IN_LIST.sub(r"= any (array(select \1 from json_each(\2)))", sql)
    sql = re.sub(r"json_each\((:\w+)\)", r"json_array_elements_text(cast(\1 as json))", sql)
    sql = re.sub(r"json_group_array\(([^()]+)\)", r"coalesce(cast(json_agg(\1) as text), '[]')", sql)
    return re.sub(r"(?<!:):([a-z_][a-z_0-9]*)", r"%(\1)s", sql.replace("%", "%%")).encode()


@contextmanager
def _translated() -> Iterator[None]:
    """Turn psycopg's errors into ours, once and here."""
    try:
        yield
    except (OverflowError, UnicodeEncodeError) as problem:
        raise unusable(problem) from problem
    except psycopg.DataError as problem:
        raise Invalid(f"The database cannot take a value ({problem}).", hint="Check it and try again.") from problem
    except psycopg.errors.DiskFull as problem:
        raise StoreFull(hint="Free some space on the database server.") from problem
    except psycopg.errors.ReadOnlySqlTransaction as problem:
        raise StoreUnwritable(hint="The database server is read-only.") from problem
    except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected) as problem:
        raise StoreBusy from problem
    except psycopg.errors.InsufficientPrivilege as problem:
        if "row-level security" in str(problem):
            raise Forbidden(hint="Ask for a key that may, or write to a project of yours.") from problem
        raise StoreError(f"The database does not let us ({problem}).") from problem
    except psycopg.OperationalError as problem:
        raise Unreachable(
            f"The database server cannot be reached ({problem}).", hint="Check HOLDFAST_DATABASE."
        ) from problem
    except psycopg.Error as problem:
        raise StoreError(f"The database could not answer ({problem}).") from problem
