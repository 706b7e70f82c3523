"""The interface of a SQL database: execute, query, transaction. SQL is written once, in the subset both engines share."""
# A list of values is passed as one parameter: `id in (select value from json_each(:ids))`, with `cast(value as bigint)`
# for numbers. The text of a statement is then always the same, and is prepared once.
# What differs between the engines is a method or attribute here. `dialect` is only for the modules that search words
# and vectors, where the SQL itself differs (`tests/test_layers.py` lists them).

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from holdfast.model.errors import Invalid, StoreCorrupt, StoreError

Params = Mapping[str, Any]
Rows = Iterable[Params]
Dialect = Literal["sqlite", "postgres"]
T = TypeVar("T")
NO_PARAMS: Params = {}
_TESTS = {column: f"{column} = :{column}" for column in ("session", "verb", "agent")}
_TESTS |= {"ids": "id in (select value from json_each(:ids))", "since": "at >= :since"}


class Halves(bytes):
    """The float16 values of a vector, low byte first."""


class Bits(bytes):
    """The sign bits of a vector."""


class Row(Protocol):
    """One row; columns by name or by position."""

    def __getitem__(self, key: str | int, /) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...


class Database(Protocol):
    """One open database, whose failures are StoreErrors. Parameters are `:name`; a list is passed as JSON, not in `many`."""

    dialect: Dialect
    guarded: bool = False  # row-level security is on: a query returns only rows that the user may see
    shared: bool = False  # several users store their records in it
    path: Path | None = None  # the file of an embedded database; None on a server
    place: str  # where it is, for messages

    @property
    def size(self) -> int:
        """Bytes on disk, indexes included."""

    @property
    def version(self) -> str:
        """The engine and its version."""

    def execute(self, sql: str, params: Params = ..., /) -> int:
        """Run one statement and return the number of rows it changed."""

    def many(self, sql: str, rows: Iterable[Params], /) -> None:
        """Run one statement for each set of parameters."""

    def query(self, sql: str, params: Params = ..., /) -> Sequence[Row]:
        """Return all rows of a select."""

    def script(self, sql: str | Mapping[Dialect, str], /) -> None:
        """Run the statements of a schema; a mapping has them per engine. Inside a transaction they are part of it."""

    def has_table(self, name: str, /) -> bool:
        """True if the table exists."""

    def drop_table(self, name: str, /) -> None:
        """Drop a table if it exists, with the row policies of other tables that refer to it."""
        self.script(f"drop table if exists {name}")

    def restore_policies(self) -> bool:
        """Apply the row policies to tables that were created again; False if the database has none."""
        return False

    def transaction(self) -> AbstractContextManager[None]:
        """Take the write lock; commit at the end, roll back on an error. Nested calls join the open transaction."""

    def compact(self) -> bool:
        """Reclaim deleted space and update planner statistics. False if the write-ahead log could not be emptied."""

    def forget_deleted(self, *, free_pages: bool = False) -> bool:  # noqa: ARG002  a server does this itself
        """Remove deleted text from index segments, the log and, if asked, free pages; False if the log is in use."""
        return True

    def damage(self) -> list[str]:
        """Return up to 20 problems that a check of every page finds. A server checks itself."""
        return []

    def in_memory(self, problem: StoreError, /) -> AbstractContextManager[None]:
        """Switch to a copy in memory, read-only once the context ends; raise `problem` if that is impossible, as on a server."""
        raise problem

    def close(self) -> None:
        """Close every connection."""


def as_params(given: Params) -> Params:
    """Return parameters with each list in them as one JSON text."""
    lists = (list, tuple, set, frozenset)
    return {name: json.dumps([*item]) if isinstance(item, lists) else item for name, item in given.items()}


def value(db: Database, sql: str, params: Params = NO_PARAMS, default: Any = 0) -> Any:
    """Return the first column of the first row of a select, or the default if it has no rows."""
    rows = db.query(sql, params)
    return rows[0][0] if rows else default


def column(db: Database, sql: str, params: Params = NO_PARAMS) -> list[Any]:
    """Return the first column of every row of a select."""
    return [row[0] for row in db.query(sql, params)]


def as_dict(row: Row, kind: type) -> dict[str, Any]:
    """Return the columns of a row that a dataclass has as fields."""
    return {spec.name: row[spec.name] for spec in fields(kind)}


def chosen(given: Params) -> str:
    """Return the conditions of those parameters that have a value, for columns of their name; `since` is about `at`."""
    return " and ".join(["1 = 1", *(test for name, test in _TESTS.items() if given.get(name) not in (None, ""))])


def insert(
    db: Database, table: str, rows: Rows, *, keeping: str = "", replacing: str = "", adding: str = "", latest: str = ""
) -> None:
    """Insert rows that are given by column; `keeping` or `replacing` is a key by which a stored row is kept or replaced."""
    # Of a replaced row, the columns in `adding` are added to the stored ones, and `latest` becomes the later of both.
    given = list(rows)
    if given:
        db.many(_insert(table, tuple(given[0]), keeping, replacing, adding, latest), given)


@lru_cache(maxsize=128)
def _insert(table: str, names: tuple[str, ...], keeping: str, replacing: str, adding: str, latest: str) -> str:
    sql = f"insert into {table} ({', '.join(names)}) values ({', '.join(f':{name}' for name in names)})"
    if keeping:
        return f"{sql} on conflict ({keeping}) do nothing"
    changed = {name: f"excluded.{name}" for name in names if name not in replacing.split(", ")}
    changed |= {name: f"{table}.{name} + excluded.{name}" for name in adding.split()}
    if latest:
        new, old = f"excluded.{latest}", f"{table}.{latest}"
        changed[latest] = f"case when {new} > {old} then {new} else {old} end"
    sets = ", ".join(f"{name} = {value}" for name, value in changed.items())
    return f"{sql} on conflict ({replacing}) do update set {sets}" if replacing else sql


def query_each(db: Database, sql: str, each: Sequence[Params], shared: Params | None = None) -> list[list[Row]]:
    """Run one select for each set of parameters and those they share, all in one statement; return the rows of each."""
    # A column `place`, the position in `each`, is added after the others.
    if not each:
        return []
    own = {f"{name}{place}": value for place, one in enumerate(each) for name, value in one.items()}
    found: list[list[Row]] = [[] for _ in each]
    for row in db.query(_united(sql, tuple(each[0]), len(each)), {**(shared or {}), **own}):
        found[row["place"]].append(row)
    return found


@lru_cache(maxsize=128)
def _united(sql: str, names: tuple[str, ...], times: int) -> str:
    own = re.compile(rf":({'|'.join(names)})\b")
    asked = (own.sub(rf":\g<1>{place}", sql) for place in range(times))
    selects = (f"select found.*, {place} as place from ({one}) as found" for place, one in enumerate(asked))
    return "\nunion all\n".join(selects)


class Queries(dict[str, str]):
    """The SQL of a module by name: the file `x.queries.sql` beside `x.py`, read at the first use."""

    # A line `-- name` begins a query. `{name}` in it stands for an earlier one, or for a part that the module passes.

    def __init__(self, module: str, **parts: str) -> None:
        super().__init__()
        self._file, self._parts = Path(module).with_suffix(".queries.sql"), parts

    def __missing__(self, wanted: str) -> str:
        known = dict(self._parts)
        for text in re.split(r"^-- (?=\w+$)", self._file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            name, *lines = text.splitlines()
            sql = "\n".join(line for line in lines if not line.startswith("-- "))
            known[name] = re.sub(r"\{(\w+)\}", lambda part: known.get(part[1], part[0]), sql)
        self.update(known)
        return known[wanted]


@cache
def statements(file: Path) -> Mapping[Dialect, str]:
    """Return the statements of a SQL file, by engine: those below a line `-- postgres`, if there is one, are PostgreSQL's."""
    sqlite, _, postgres = file.read_text(encoding="utf-8").partition("-- postgres\n")
    return {"sqlite": sqlite, "postgres": postgres or sqlite}


def stored(text: Any, read: Callable[[Any], T]) -> T:
    """Parse JSON that the store itself wrote; raise StoreCorrupt if that fails."""
    try:
        return read(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
        hint = "`holdfast doctor` says more; `holdfast store recover` saves what can be read."
        raise StoreCorrupt("The store is damaged: a text in it makes no sense any more.", hint=hint) from problem


def unusable(problem: OverflowError | UnicodeEncodeError) -> Invalid:
    """Return the error for a value that cannot be a parameter: a number too large, or text that is not UTF-8."""
    if isinstance(problem, OverflowError):
        return Invalid("A number is too large.", hint="Nothing here is counted beyond 63 bits.")
    return Invalid("The text is not valid UTF-8.", hint="Check its encoding and try again.")
