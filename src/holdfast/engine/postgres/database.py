"""The database interface for PostgreSQL (psycopg 3), with a pool of connections that threads share."""

import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from time import monotonic
from typing import Any, TypeVar

import psycopg
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from holdfast.engine.database import Database, Dialect, Params, Queries, as_params, unusable
from holdfast.engine.postgres.connection import Failures, Row, Session
from holdfast.engine.postgres.row_security import MEMBER, noted_digest, protect
from holdfast.model.access import who_asks
from holdfast.model.errors import Forbidden, Invalid, StoreBusy, StoreError, StoreFull, StoreUnwritable, Unreachable

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


@lru_cache(maxsize=512)
def statement(sql: str) -> bytes:
    """Return a statement with psycopg's parameters (`%(name)s`) and PostgreSQL's functions.

    A list becomes an array, which is built before any row is read. With a join on its elements, PostgreSQL would read a
    whole table that has row policies: the cast could leak rows through its errors, so it must run after the policies.
    """
    sql = _IN_LIST.sub(r"= any (array(select \1 from json_each(\2)))", sql.replace("%", "%%"))
    sql = _LIST.sub(r"json_array_elements_text(cast(\1 as json))", sql)
    sql = _TO_LIST.sub(r"coalesce(cast(json_agg(\1) as text), '[]')", sql)
    sql = sql.replace("instr(", "strpos(")
    return _PARAMETER.sub(lambda match: f"%({match[1]})s" if match[1] else match[0], sql).encode()


def schema(sql: str) -> str:
    """Return the statements of a schema with PostgreSQL's types."""
    typed = _TYPE.sub(lambda match: _TYPES[match[0]], sql)
    return _TEXT.sub(r'text collate "C" \1', typed)


ATTEMPTS = 4  # connections tried before a server counts as unreachable
MOST_CONNECTIONS = 16
BUSY_SECONDS = 30
FIRST_LOOK = 0.05  # seconds until the first check for a failure to connect; each next wait is twice as long
_LOCK = 0x484F4C44  # "HOLD": our half of an advisory lock's key; the other half is the schema
_NO_PARAMS: Params = {}
_SQL = Queries(__file__)

logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # lost connections are replaced, or reported by an error
T = TypeVar("T")


class Postgres(Database):
    """A database on a server, with a pool of connections. Writers take turns, as on SQLite; readers never wait."""

    dialect: Dialect = "postgres"
    shared = True

    def __init__(self, url: str, *, role: str = "", most: int = MOST_CONNECTIONS, patience: float = 0.0) -> None:
        self._url = url
        self.guarded = role == MEMBER
        self._own = threading.local()  # per thread: the connection of its open transaction
        self._failures = Failures(maxlen=1)
        self._options: dict[str, Any] = {"role": role, "patience": patience, "failures": self._failures}
        # No `check` or `reset`: each costs a round trip. `_lent` replaces dead connections, and `_started` sets the user.
        self._pool: ConnectionPool[Session] = ConnectionPool(
            url,
            connection_class=Session,
            kwargs=self._options,
            min_size=0,
            max_size=most,
            reconnect_timeout=0,  # the next request tries again
            open=True,
        )
        try:
            homes = [(int(oid), str(name)) for oid, name in self.query(_SQL["home"])]
        except BaseException:
            self.close()  # otherwise the threads of the pool would keep running
            raise
        if not homes:
            self.close()
            raise StoreError("The database has no schema to work in.", hint="Create it, or name another search_path.")
        self._schema, self._name = homes[0]

    @property
    def place(self) -> str:
        """Where the store is, without the password."""
        parts = psycopg.conninfo.conninfo_to_dict(self._url)
        where = f"PostgreSQL {parts.get('dbname', '')} at {parts.get('host', 'localhost')}"
        return where if self._name == "public" else f"{where}, schema {self._name}"

    @property
    def version(self) -> str:
        """The versions of the server and of its vector extension."""
        return str(self.query(_SQL["version"])[0][0])

    def execute(self, sql: str, params: Params = _NO_PARAMS, /) -> int:
        with self.transaction(), _translated():
            return self._held.execute(statement(sql), as_params(params)).rowcount

    def many(self, sql: str, rows: Iterable[Params], /) -> None:
        """Run one statement for each set of parameters, without a round trip for each."""
        if parameters := list(rows):
            with self.transaction(), _translated(), self._held.cursor() as cursor:
                cursor.executemany(statement(sql), parameters)

    def query(self, sql: str, params: Params = _NO_PARAMS, /) -> Sequence[Row]:
        given = as_params(params)
        with _translated():
            return self._ask(lambda connection: connection.execute(statement(sql), given, binary=True).fetchall())

    def script(self, sql: str | Mapping[Dialect, str], /) -> None:
        typed = schema(sql if isinstance(sql, str) else sql[self.dialect])
        with self.transaction(), _translated():
            for part in typed.split(";\n"):
                if part.strip():
                    self._held.execute(part.encode())
            self._held.register_vectors()

    def has_table(self, name: str, /) -> bool:
        """True if the table exists in the current schema."""
        return bool(self.query(_SQL["has_table"], {"name": name}))

    def drop_table(self, name: str, /) -> None:
        """Drop a table if it exists, with the policies of other tables that refer to it.

        Without these policies members see no rows of those tables, until `restore_policies` creates them again.
        """
        self.script(f"drop table if exists {name} cascade")

    def restore_policies(self) -> None:
        if noted_digest(self):
            protect(self)

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

    @contextmanager
    def in_memory(self, problem: StoreError, /) -> Iterator[None]:
        """Raise the problem: a server's database is not copied into memory."""
        raise problem
        yield

    def outside(self, sql: str) -> None:
        """Run a statement that is not allowed inside a transaction."""
        with _translated():
            self._ask(lambda connection: connection.execute(sql.encode()))

    def close(self) -> None:
        """Close every connection; one in use is closed when it is returned to the pool."""
        self._pool.close(timeout=1.0)

    @property
    def _held(self) -> Session:
        connection: Session = self._own.connection
        return connection

    def _ask(self, step: Callable[[Session], T]) -> T:
        """Run a step that only reads, in the thread's transaction, else on a connection from the pool."""
        if connection := getattr(self._own, "connection", None):
            return step(connection)
        answers: list[T] = []
        with self._lent(lambda connection: answers.append(step(connection))):
            return answers[0]

    @contextmanager
    def _lent(self, first: Callable[[Session], object]) -> Iterator[Session]:
        """Yield a connection from the pool after running the first step on it; every use of the pool goes through here.

        Servers restart, so the first step may find the connection dead. It is then repeated on a new connection, and
        the idle connections are replaced too. The first step must change nothing, so that it can be repeated.
        """
        with _translated():
            connection = self._started(first)
        try:
            yield connection
        finally:
            self._pool.putconn(connection)

    def _started(self, first: Callable[[Session], object]) -> Session:
        for attempt in range(1, ATTEMPTS + 1):
            connection = self._take()
            try:
                if self.guarded and connection.access != (access := who_asks()):  # for the row policies
                    connection.access = None
                    connection.execute(_SQL["introduce"], [access.user, access.role, "\n".join(access.projects)])
                    connection.access = access
                first(connection)
            except BaseException as problem:
                self._pool.putconn(connection)
                if attempt == ATTEMPTS or not connection.closed or not isinstance(problem, psycopg.OperationalError):
                    raise
                self._pool.drain()  # connections made in the background may be dead as well
            else:
                return connection
        raise AssertionError

    def _take(self) -> Session:
        """Take a connection from the pool; raise an error if all stay in use or the server cannot be reached.

        The pool connects in the background and does not report failures, so `_failures` is checked while waiting.
        """
        began, wait = monotonic(), FIRST_LOOK
        while True:
            left = began + BUSY_SECONDS - monotonic()
            try:
                return self._pool.getconn(timeout=min(wait, left))
            except PoolClosed as problem:
                raise StoreError("The store was closed.") from problem
            except PoolTimeout as problem:
                for at, failure in tuple(self._failures):
                    if at >= began:
                        raise type(failure)(str(failure)) from failure
                if left <= wait:
                    raise StoreBusy from problem
            wait *= 2


@contextmanager
def _translated() -> Iterator[None]:
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
            f"The database server cannot be reached ({' '.join(str(problem).split())}).",
            hint="Check that it runs, and its address: --to, --from or HOLDFAST_DATABASE.",
        ) from problem
    except psycopg.Error as problem:
        raise StoreError(f"The database could not answer ({problem}).") from problem
