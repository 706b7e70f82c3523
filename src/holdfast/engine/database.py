"""The interface of a SQL engine: execute, query, transaction. SQL is written once, in the subset both engines share.

A list of values travels as one JSON parameter: `id in (select value from json_each(:ids))`, with `cast(value as bigint)`
for numbers. The text of a statement is then always the same, and is prepared once.

What differs between the engines is a method or attribute here. `dialect` is only for the modules that search words and
vectors, where the SQL itself differs (`tests/test_layers.py` lists them).
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from holdfast.model.errors import Invalid, StoreCorrupt, StoreError

Params = Mapping[str, Any]
Dialect = Literal["sqlite", "postgres"]
T = TypeVar("T")


class Halves(bytes):
    """The float16 values of a vector, low byte first."""


class Bits(bytes):
    """The sign bits of a vector."""


class Row(Protocol):
    """One row; columns by name or by position."""

    def __getitem__(self, key: str | int, /) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...


class Database(Protocol):
    """One open database. Parameters are written `:name`; failures come out as StoreError."""

    dialect: Dialect
    guarded: bool  # whether it answers each user only what is theirs to see
    shared: bool  # whether several users keep their memories in it

    @property
    def path(self) -> Path | None:
        """The file of an embedded database; None on a server."""

    @property
    def place(self) -> str:
        """Where it is, in words."""

    @property
    def size(self) -> int:
        """Bytes on disk, indexes included."""

    @property
    def version(self) -> str:
        """The engine and its version."""

    def execute(self, sql: str, params: Params = ..., /) -> int:
        """Run one statement and give the number of rows it changed."""

    def many(self, sql: str, rows: Iterable[Params], /) -> None:
        """Run one statement for each set of parameters."""

    def query(self, sql: str, params: Params = ..., /) -> Sequence[Row]:
        """Give all rows of a select."""

    def script(self, sql: str | Mapping[Dialect, str], /) -> None:
        """Run several statements of a schema; a mapping has them per engine. Inside a transaction they are part of it."""

    def has_table(self, name: str, /) -> bool:
        """True if the table exists."""

    def drop_table(self, name: str, /) -> None:
        """Drop a table if it exists, with the row policies of other tables that refer to it."""

    def restore_policies(self) -> None:
        """Put tables that were created again behind their row policies, if the database has any."""

    def transaction(self) -> AbstractContextManager[None]:
        """Hold the write lock; commit at the end, or leave everything as it was. Joins one already open."""

    def changes(self) -> AbstractContextManager[Callable[[float], bool]]:
        """Give a function that waits so many seconds for somebody's commit, and tells whether there was one."""

    def compact(self) -> bool:
        """Give back the space of what is gone, and let the engine look at its tables anew; tell whether nothing of it is left."""

    def forget_deleted(self, *, free_pages: bool = False) -> bool:
        """Remove deleted text from index segments and the write-ahead log, and from free pages if asked.

        False if another process is still reading the log. A server does this itself.
        """

    def damage(self) -> list[str]:
        """Return what a check of every page finds wrong. A server checks itself."""

    def in_memory(self, problem: StoreError, /) -> AbstractContextManager[None]:
        """Continue on a copy in memory that can be written inside the context only; raise `problem` if that is impossible."""

    def close(self) -> None:
        """Close every connection."""


def query_each(db: Database, sql: str, each: Sequence[Params], shared: Params | None = None) -> list[list[Row]]:
    """Run one select for each set of parameters, all in one statement, and return the rows of each.

    A column `place` is added behind the others; `shared` parameters are the same for all.
    """
    if not each:
        return []
    given = dict(shared or {}) | {
        f"{name}{place}": value for place, one in enumerate(each) for name, value in one.items()
    }
    found: list[list[Row]] = [[] for _ in each]
    for row in db.query(_united(sql, tuple(each[0]), len(each)), given):
        found[row["place"]].append(row)
    return found


@lru_cache(maxsize=128)
def _united(sql: str, names: tuple[str, ...], times: int) -> str:
    own = re.compile(rf":({'|'.join(names)})\b")
    asked = [own.sub(rf":\g<1>{place}", sql) for place in range(times)]
    return "\nunion all\n".join(
        f"select found.*, {place} as place from ({one}) as found" for place, one in enumerate(asked)
    )


def stored(text: Any, read: Callable[[Any], T]) -> T:
    """Read JSON that the store itself wrote; if it cannot be understood, the store is damaged."""
    try:
        return read(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
        hint = "`holdfast doctor` says more; `holdfast recover` saves what can be read."
        raise StoreCorrupt("The store is damaged: a text in it makes no sense any more.", hint=hint) from problem


def unusable(problem: OverflowError | UnicodeEncodeError) -> Invalid:
    """Say why a value cannot even be asked for."""
    if isinstance(problem, OverflowError):
        return Invalid("A number is too large.", hint="Nothing here is counted beyond 63 bits.")
    return Invalid("The text is not valid UTF-8.", hint="Check its encoding and try again.")
