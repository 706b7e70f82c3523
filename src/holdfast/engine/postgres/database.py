"""The database interface for PostgreSQL (psycopg 3): connections set up for the store, in a pool that threads share."""

import logging
import re
import threading
from array import array
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from struct import pack
from time import monotonic
from typing import Any, TypeVar

import psycopg
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.pq import Format
from psycopg.rows import RowMaker
from psycopg.sql import SQL, Identifier
from psycopg.types.numeric import NumericBinaryLoader
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from holdfast.engine.database import NO_PARAMS, Bits, Database, Dialect, Halves, Params, Queries, as_params, unusable
from holdfast.engine.postgres.row_security import MEMBER, noted_digest, protect
from holdfast.model import errors
from holdfast.model.event import Access, who_asks
from holdfast.model.patterns import tables

# The schema uses SQLite's type names; these types have the same widths. Texts are compared byte by byte, as in SQLite,
# because ids are looked up by ranges.
_TYPES = {"integer": "bigint", "blob": "bytea", "real": "double precision"}
_TYPE = re.compile(r"\b(integer|blob|real)\b")
_TEXT = re.compile(r"\btext (not null|primary key)")
_IN_LIST = re.compile(r"(?<!not )\bin \(select (value|cast\(value as bigint\)) from json_each\((:\w+)\)\)")
_LIST = re.compile(r"json_each\((:\w+)\)")
_TO_LIST = re.compile(r"json_group_array\(([^()]+)\)")
# Quoted text is matched first, so that nothing in it is mistaken for a parameter; `::` is a cast.
_PARAMETER = re.compile(r"'[^']*'|::|:([a-z_][a-z_0-9]*)")
CONNECT_SECONDS = 5  # the longest time to connect, unless the address gives a connect_timeout
DOUBT_SECONDS = 10.0  # without an answer before we check whether the server accepts connections
ANSWER_SECONDS = 45.0  # the longest time for an answer where a person waits; longer than the timeout for locks
_BIT_VARYING = 1562
Failures = deque[tuple[float, psycopg.Error]]  # the last failure to connect, and when: the pool does not report it
ATTEMPTS = 4  # connections tried before a server counts as unreachable
MOST_CONNECTIONS = 16
BUSY_SECONDS = 30
FIRST_LOOK = 0.05  # seconds until the first check for a failure to connect; each next wait is twice as long
_LOCK = 0x484F4C44  # "HOLD": our half of an advisory lock's key; the other half is the schema
_SQL = Queries(__file__)
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # lost connections are replaced, or reported by an error
T = TypeVar("T")
# What an error of the driver means: our error, its message if it has a better one than the error's own, and a hint.
_MEANING = [
    (getattr(psycopg.errors, name), *(part.strip() for part in row.split("|")))
    for names, row in tables(__file__)["errors"]
    for name in names.split()
]


@lru_cache(maxsize=512)
def statement(sql: str) -> bytes:
    """Return a statement with psycopg's parameters (`%(name)s`) and PostgreSQL's functions."""
    # A list becomes an array, which is built before any row is read. With a join on its elements, PostgreSQL would read
    # a whole table that has row policies: the cast could leak rows through its errors, so it must run after the
    # policies.
    sql = _IN_LIST.sub(r"= any (array(select \1 from json_each(\2)))", sql.replace("%", "%%"))
    sql = _LIST.sub(r"json_array_elements_text(cast(\1 as json))", sql)
    sql = _TO_LIST.sub(r"coalesce(cast(json_agg(\1) as text), '[]')", sql)
    sql = sql.replace("instr(", "strpos(")
    return _PARAMETER.sub(lambda match: f"%({match[1]})s" if match[1] else match[0], sql).encode()


def schema(sql: str) -> str:
    """Return the statements of a schema with PostgreSQL's types."""
    return _TEXT.sub(r'text collate "C" \1', _TYPE.sub(lambda match: _TYPES[match[0]], sql))


class Session(psycopg.Connection[Any]):
    """A connection with our settings, role and types, which gives up on a server that hangs.

    A frozen server or a network that drops packets closes no connection, and the timeouts of the system take hours. So
    a long wait checks whether the server still accepts connections. Where a person waits, the time for an answer is
    limited to `most` seconds (0: no limit).
    """

    url = ""
    most = 0.0
    access: Access | None = None  # the user whose access the row policies currently apply
    has_vectors = False

    @classmethod
    def connect(  # type: ignore[override]  # made for this store only
        cls, conninfo: str = "", *, role: str, patience: float, failures: Failures, **_: Any
    ) -> "Session":
        """Open a connection and set it up; a failure is added to `failures`, since the pool does not report it."""
        connection = None
        try:
            options = {"connect_timeout": CONNECT_SECONDS, **psycopg.conninfo.conninfo_to_dict(conninfo)}
            url = psycopg.conninfo.make_conninfo("", **options)
            connection = super().connect(url, autocommit=True, row_factory=make_rows)
            connection.url, connection.most = url, patience
            connection.execute(_SQL["settings"])
            if role:
                connection.execute(SQL("set role {}").format(Identifier(role)))
            # Sums arrive as decimals, in text or as in `query` in binary form, but ours are integers or may be floats.
            as_text = _loader(lambda text: float(text) if b"." in text else int(text), Format.TEXT)
            for loader in (as_text, _BinaryNumber):
                connection.adapters.register_loader("numeric", loader)
            # A bit string begins with its count of bits.
            connection.adapters.register_loader(_BIT_VARYING, _loader(lambda data: data[4:]))
            write = _dumper(lambda bits: pack(">i", 8 * len(bits)) + bytes(bits), _BIT_VARYING)
            connection.adapters.register_dumper(Bits, write)
            connection.register_vectors()
        except BaseException as problem:
            if connection:
                connection.close()
            if isinstance(problem, psycopg.Error):
                failures.append((monotonic(), problem))
            raise
        return connection

    def register_vectors(self) -> None:
        """Read and write vectors as bytes, if pgvector is installed; the id of their type differs between servers."""
        if not self.has_vectors:
            for (oid,) in self.execute("select cast(oid as bigint) from pg_type where typname = 'halfvec'").fetchall():
                # A vector begins with its count of values and two bytes that are 0.
                self.adapters.register_loader(oid, _loader(lambda data: _swapped(data[4:])))
                write = _dumper(lambda halves: pack(">HH", len(halves) // 2, 0) + _swapped(halves), oid)
                self.adapters.register_dumper(Halves, write)
                self.has_vectors = True

    def wait(self, gen: Generator[Any, Any, T], *given: Any, **named: Any) -> T:
        """Run a generator of the driver to its end; on a timeout close the connection and raise OperationalError."""
        return super().wait(self._bounded(gen), *given, **named)

    def _bounded(self, gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        began = looked = monotonic()
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted  # the driver also resumes us at intervals, with nothing ready
                now = monotonic()
                if not ready and ((self.most and now - began > self.most) or self._hangs(now - looked)):
                    self.pgconn.finish()
                    raise psycopg.OperationalError("the database server does not answer")
                looked = monotonic() if now - looked > DOUBT_SECONDS else looked
                wanted = gen.send(ready)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]

    def _hangs(self, seconds: float) -> bool:
        if not self.url or seconds <= DOUBT_SECONDS:
            return False
        try:
            psycopg.connect(self.url).close()
        except psycopg.OperationalError as problem:  # a refusal (full or starting) is a response too
            return isinstance(problem, psycopg.errors.ConnectionTimeout)
        return False


class Row:
    """A row whose columns are accessed by name or by position, like those of sqlite3.Row."""

    __slots__ = ("_names", "_values")

    def __init__(self, names: dict[str, int], values: Sequence[Any]) -> None:
        self._names, self._values = names, values

    def __getitem__(self, key: str | int, /) -> Any:
        return self._values[self._names[key] if isinstance(key, str) else key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)


def make_rows(cursor: psycopg.Cursor[Any]) -> RowMaker[Row]:
    """Return a function that turns the values of a cursor into a row."""
    names = {column.name: place for place, column in enumerate(cursor.description or ())}
    return lambda values: Row(names, values)


class _BinaryNumber(NumericBinaryLoader):
    def load(self, data: Buffer) -> Any:
        number = super().load(data)
        return int(number) if number == int(number) else float(number)


def _loader(read: Callable[[bytes], Any], form: Format = Format.BINARY) -> type[Loader]:
    return type("_Loader", (Loader,), {"format": form, "load": lambda _, data: read(bytes(data))})


def _dumper(write: Callable[[Any], bytes], oid: int) -> type[Dumper]:
    return type("_Dumper", (Dumper,), {"format": Format.BINARY, "oid": oid, "dump": lambda _, obj: write(obj)})


def _swapped(values: bytes) -> bytes:
    turned = array("H", values)
    turned.byteswap()  # a server's float16 values are big-endian, ours are little-endian
    return turned.tobytes()


class Postgres(Database):
    """A database on a server, with a pool of connections. Writers take turns, as on SQLite; readers never wait."""

    dialect: Dialect = "postgres"
    shared = True

    def __init__(self, url: str, *, role: str = "", most: int = MOST_CONNECTIONS, patience: float = 0.0) -> None:
        self.guarded = role == MEMBER
        self._own = threading.local()  # per thread: the connection of its open transaction
        self._failures = Failures(maxlen=1)
        options = {"role": role, "patience": patience, "failures": self._failures}
        # No `check` or `reset`: each costs a round trip. `_lent` replaces dead connections and sets the user. Without a
        # `reconnect_timeout` the next request tries again.
        self._pool: ConnectionPool[Session] = ConnectionPool(
            url, connection_class=Session, kwargs=options, min_size=0, max_size=most, reconnect_timeout=0, open=True
        )
        try:
            if not (homes := self.query(_SQL["home"])):
                hint = "Create it, or name another search_path."
                raise errors.StoreError("The database has no schema to work in.", hint=hint)  # noqa: TRY301
        except BaseException:
            self.close()  # otherwise the threads of the pool would keep running
            raise
        self._schema, name = homes[0]
        parts = psycopg.conninfo.conninfo_to_dict(url)  # without the password
        where = f"PostgreSQL {parts.get('dbname', '')} at {parts.get('host', 'localhost')}"
        self.place = where if name == "public" else f"{where}, schema {name}"

    @property
    def version(self) -> str:
        """The versions of the server and of its vector extension."""
        return str(self.query(_SQL["version"])[0][0])

    def execute(self, sql: str, params: Params = NO_PARAMS, /) -> int:
        with self.transaction(), _translated():
            return int(self._own.connection.execute(statement(sql), as_params(params)).rowcount)

    def many(self, sql: str, rows: Iterable[Params], /) -> None:
        """Run one statement for each set of parameters, without a round trip for each."""
        if parameters := list(rows):
            with self.transaction(), _translated(), self._own.connection.cursor() as cursor:
                cursor.executemany(statement(sql), parameters)

    def query(self, sql: str, params: Params = NO_PARAMS, /) -> Sequence[Row]:
        given = as_params(params)
        with _translated():
            return self._ask(lambda connection: connection.execute(statement(sql), given, binary=True).fetchall())

    def script(self, sql: str | Mapping[Dialect, str], /) -> None:
        typed = schema(sql if isinstance(sql, str) else sql[self.dialect])
        with self.transaction(), _translated():
            for part in filter(str.strip, typed.split(";\n")):
                self._own.connection.execute(part.encode())
            self._own.connection.register_vectors()

    def has_table(self, name: str, /) -> bool:
        return bool(self.query(_SQL["has_table"], {"name": name}))

    def drop_table(self, name: str, /) -> None:
        """Drop a table if it exists, with the policies of other tables that refer to it."""
        # Without these policies members see no rows of those tables, until `restore_policies` creates them again.
        self.script(f"drop table if exists {name} cascade")

    def restore_policies(self) -> bool:
        if is_protected := bool(noted_digest(self)):
            protect(self)
        return is_protected

    @contextmanager
    def transaction(self) -> Iterator[None]:
        if getattr(self._own, "connection", None):
            yield
            return
        begin = f"begin; select pg_advisory_xact_lock({_LOCK}, {self._schema % 2**31})"
        with self._lent(lambda connection: connection.execute(begin)) as connection:
            self._own.connection = connection
            try:
                yield
                with _translated():
                    connection.execute("commit")
            except BaseException:
                if not connection.closed:
                    connection.execute("rollback")
                raise
            finally:
                self._own.connection = None

    @property
    def size(self) -> int:
        return int(self.query(_SQL["size"])[0][0])

    def compact(self) -> bool:
        """Make the space of deleted rows reusable and refresh the planner's statistics."""
        self.outside("vacuum (analyze)")
        return True

    def outside(self, sql: str) -> None:
        """Run a statement that is not allowed inside a transaction."""
        with _translated():
            self._ask(lambda connection: connection.execute(sql.encode()))

    def close(self) -> None:
        """Close every connection; one in use is closed when it is returned to the pool."""
        self._pool.close(timeout=1.0)

    def _ask(self, step: Callable[[Session], T]) -> T:
        """Run a step that only reads, in the thread's transaction, else on a connection from the pool."""
        if connection := getattr(self._own, "connection", None):
            return step(connection)
        answers: list[T] = []
        with self._lent(lambda connection: answers.append(step(connection))):
            return answers[0]

    @contextmanager
    def _lent(self, first: Callable[[Session], object]) -> Iterator[Session]:
        """Yield a connection from the pool after running the first step on it; every use of the pool goes through here."""
        # Servers restart, so the first step may find the connection dead. It is then repeated on a new connection, and
        # the idle connections are replaced too. The first step must change nothing, so that it can be repeated.
        with _translated():
            for attempt in range(1, ATTEMPTS + 1):
                connection = self._take()
                try:
                    if self.guarded and connection.access != (access := who_asks()):  # for the row policies
                        connection.access = None
                        connection.execute(_SQL["introduce"], [access.user, access.role, "\n".join(access.projects)])
                        connection.access = access
                    first(connection)
                    break
                except BaseException as problem:
                    self._pool.putconn(connection)
                    is_dead = connection.closed and isinstance(problem, psycopg.OperationalError)
                    if attempt == ATTEMPTS or not is_dead:
                        raise
                    self._pool.drain()  # connections made in the background may be dead as well
        try:
            yield connection
        finally:
            self._pool.putconn(connection)

    def _take(self) -> Session:
        """Take a connection from the pool; raise an error if all stay in use or the server cannot be reached."""
        # The pool connects in the background and does not report failures, so `_failures` is checked while waiting.
        began, wait = monotonic(), FIRST_LOOK
        while True:
            left = began + BUSY_SECONDS - monotonic()
            try:
                return self._pool.getconn(timeout=min(wait, left))
            except PoolClosed as problem:
                raise errors.StoreError("The store was closed.") from problem
            except PoolTimeout as problem:
                for at, failure in tuple(self._failures):
                    if at >= began:
                        raise type(failure)(str(failure)) from failure
                if left <= wait:
                    raise errors.StoreBusy from problem
            wait *= 2


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (OverflowError, UnicodeEncodeError) as problem:
        raise unusable(problem) from problem
    except psycopg.Error as problem:
        if isinstance(problem, psycopg.errors.InsufficientPrivilege) and "row-level security" in str(problem):
            raise errors.Forbidden(hint="Ask for a key that may, or write to a project of yours.") from problem
        _, kind, message, hint = next(meaning for meaning in _MEANING if isinstance(problem, meaning[0]))
        raise getattr(errors, kind)(message.format(" ".join(str(problem).split())), hint=hint) from problem
