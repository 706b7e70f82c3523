"""The PostgreSQL side of the database seam (psycopg 3)."""

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import psycopg
from psycopg.rows import RowMaker

from holdfast.engine.database import Dialect, Params
from holdfast.model.errors import StoreBusy, StoreError, StoreFull, StoreUnwritable

_NO_PARAMS: Params = {}
# The schema is written with SQLite's type names; these are the same widths here.
_TYPES = {"integer": "bigint", "blob": "bytea", "real": "double precision"}


class Postgres:
    """One connection, shared by the threads of this process under a lock."""

    dialect: Dialect = "postgres"

    def __init__(self, url: str) -> None:
        self._lock = threading.RLock()
        self._depth = 0
        with _translated():
            self._connection = psycopg.connect(url, autocommit=True, row_factory=_rows)
            self._connection.execute("set timezone = 'UTC'")

    def execute(self, sql: str, params: Params = _NO_PARAMS, /) -> int:
        """Run one statement and give the number of rows it changed."""
        with self._lock, _translated():
            return self._connection.execute(_native(sql), params).rowcount

    def many(self, sql: str, rows: Iterable[Params], /) -> None:
        """Run one statement for each set of parameters."""
        with self._lock, _translated(), self._connection.cursor() as cursor:
            cursor.executemany(_native(sql), list(rows))

    def query(self, sql: str, params: Params = _NO_PARAMS, /) -> Sequence["_Row"]:
        """Give all rows of a select."""
        with self._lock, _translated():
            return self._connection.execute(_native(sql), params).fetchall()

    def script(self, sql: str, /) -> None:
        """Run several statements of a schema."""
        typed = re.sub(r"\b(integer|blob|real)\b", lambda match: _TYPES[match[0]], sql)
        with self._lock, _translated():
            for statement in typed.split(";\n"):
                if statement.strip():
                    self._connection.execute(statement.encode())

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end, or leave everything as it was; joins a transaction already open."""
        with self._lock:
            if self._depth:
                yield
                return
            self._depth = 1
            try:
                with _translated(), self._connection.transaction():
                    yield
            finally:
                self._depth = 0

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            self._connection.close()


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


@lru_cache(maxsize=512)
def _native(sql: str) -> bytes:
    """Rewrite `:name` parameters in psycopg's form, and lists in the words PostgreSQL has for them."""
    sql = re.sub(r"json_each\((:\w+)\)", r"json_array_elements_text(cast(\1 as json))", sql)
    return re.sub(r"(?<!:):([a-z_][a-z_0-9]*)", r"%(\1)s", sql.replace("%", "%%")).encode()


@contextmanager
def _translated() -> Iterator[None]:
    """Turn psycopg's errors into ours, once and here."""
    try:
        yield
    except psycopg.errors.DiskFull as problem:
        raise StoreFull(hint="Free some space on the database server.") from problem
    except psycopg.errors.ReadOnlySqlTransaction as problem:
        raise StoreUnwritable(hint="The database server is read-only.") from problem
    except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected) as problem:
        raise StoreBusy from problem
    except psycopg.OperationalError as problem:
        raise StoreError(
            f"The database server cannot be reached ({problem}).", hint="Check HOLDFAST_DATABASE."
        ) from problem
    except psycopg.Error as problem:
        raise StoreError(f"The database could not answer ({problem}).") from problem
