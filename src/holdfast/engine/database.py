"""The thin seam to a SQL engine: execute, query, transaction. SQL is written once, in the subset both engines share.

A list of values travels as one JSON parameter: `id in (select value from json_each(:ids))`, with `cast(value as bigint)`
for numbers. The text of a statement is then always the same, and is prepared once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

Params = Mapping[str, Any]
Dialect = Literal["sqlite", "postgres"]


class Row(Protocol):
    """One row; columns by name or by position."""

    def __getitem__(self, key: str | int, /) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...


class Database(Protocol):
    """One open database. Parameters are written `:name`; failures come out as StoreError."""

    dialect: Dialect

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

    def close(self) -> None:
        """Let go of the database."""
