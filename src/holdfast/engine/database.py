"""The thin seam to a SQL engine: execute, query, transaction. SQL is written once, in the subset both engines share.

A list of values travels as one JSON parameter: `id in (select value from json_each(:ids))`, with `cast(value as bigint)`
for numbers. The text of a statement is then always the same, and is prepared once.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, Literal, Protocol, TypeVar

from holdfast.model.errors import Invalid, StoreCorrupt

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

    @property
    def place(self) -> str:
        """Where it is, in words."""

    @property
    def size(self) -> int:
        """Bytes on disk, indexes included."""

    def execute(self, sql: str, params: Params = ..., /) -> int:
        """Run one statement and give the number of rows it changed."""

    def many(self, sql: str, rows: Iterable[Params], /) -> None:
        """Run one statement for each set of parameters."""

    def query(self, sql: str, params: Params = ..., /) -> Sequence[Row]:
        """Give all rows of a select."""

    def script(self, sql: str, /) -> None:
        """Run several statements of a schema; inside a transaction they are part of it."""

    def transaction(self) -> AbstractContextManager[None]:
        """Hold the write lock; commit at the end, or leave everything as it was. Joins one already open."""

    def changes(self) -> AbstractContextManager[Callable[[float], bool]]:
        """Give a function that waits so many seconds for somebody's commit, and tells whether there was one."""

    def compact(self) -> bool:
        """Give back the space of what is gone, and let the engine look at its tables anew; tell whether nothing of it is left."""

    def close(self) -> None:
        """Let go of the database."""


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
