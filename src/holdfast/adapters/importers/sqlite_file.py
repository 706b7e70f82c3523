"""SQLite files of other systems, opened for reading only."""

import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.foreign import Remark

Row = Mapping[str, Any]


class Tables:
    """The tables of an open file."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection = connection
        self.name = name
        found = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
        self.names = [row[0] for row in found]

    def rows(self, table: str, damage: list[Remark]) -> Iterator[Row]:
        """Return the rows of a table in their order, none if there is no such table; damage ends it and is noted."""
        if table not in self.names:
            return
        try:
            for row in self._connection.execute(f'select * from "{table}" order by rowid'):
                yield dict(row)
        except (sqlite3.Error, UnicodeDecodeError) as problem:
            damage.append(Remark(where=f"{self.name} {table}", why=f"the rest of the table cannot be read ({problem})"))

    def by(self, table: str, column: str, damage: list[Remark]) -> dict[Any, list[Row]]:
        """Return the rows of a table by the value of a column."""
        found: dict[Any, list[Row]] = {}
        for row in self.rows(table, damage):
            found.setdefault(row.get(column), []).append(row)
        return found

    def unread(self, read: Collection[str], why: Mapping[str, str]) -> Iterator[Remark]:
        """Say which tables that hold something are left out."""
        for table in self.names:
            if table in read or table.startswith("sqlite_") or "_fts" in table or "_vectors" in table:
                continue
            try:
                count = self._connection.execute(f'select count(*) from "{table}"').fetchone()[0]
            except sqlite3.Error:
                continue  # a table of an extension that is not loaded, such as an index of vectors
            if count:
                reason = why.get(table, "nothing in it is a memory")
                yield Remark(where=f"{self.name} {table}", why=f"{count} rows are left out: {reason}")


@contextmanager
def tables_of(path: Path, wanted: str) -> Iterator[Tables]:
    """Open a file that must have a table; whoever writes to it meanwhile is not disturbed."""
    if not path.is_file():
        raise Invalid(f"{path} is no file.", hint="Give the database file.")
    try:
        with closing(sqlite3.connect(_address(path), uri=True, timeout=10)) as connection:
            connection.row_factory = sqlite3.Row
            connection.text_factory = lambda raw: raw.decode(errors="surrogateescape")
            tables = Tables(connection, path.name)
            if wanted not in tables.names:
                raise Invalid(f"{path} has no table {wanted}.", hint="It may be of another program.")
            yield tables
    except (sqlite3.Error, UnicodeDecodeError, OSError) as problem:
        raise Invalid(f"{path} cannot be read ({problem}).", hint="Is it a SQLite file?") from problem


def _address(path: Path) -> str:
    """Return the file to open for reading. With a write-ahead log and nobody writing, SQLite would leave files beside it."""
    with path.open("rb") as file:
        logged = file.read(20)[18:] == b"\x02\x02"
    idle = logged and not path.with_name(f"{path.name}-wal").exists()
    return f"{path.resolve().as_uri()}?{'immutable=1' if idle else 'mode=ro'}"
