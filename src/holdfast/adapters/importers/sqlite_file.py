"""Read SQLite files of other systems."""

import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.files import open_regular
from holdfast.model.foreign import Remark

Row = Mapping[str, Any]
LONGEST = 10_000_000  # bytes of a row


class Tables:
    """The tables of an open file."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection = connection
        self.name = name
        rows = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
        self.names = [row[0] for row in rows]

    def rows(self, table: str, damage: list[Remark]) -> Iterator[Row]:
        """Yield the rows of a table in order, if it exists; what is too large or damaged is left out and noted in `damage`."""
        if table not in self.names:
            return
        try:
            for (number,) in self._connection.execute(f'select rowid from "{table}" order by rowid'):
                try:
                    yield dict(
                        self._connection.execute(f'select * from "{table}" where rowid = ?', (number,)).fetchone()
                    )
                except sqlite3.DataError as problem:
                    if problem.sqlite_errorcode != sqlite3.SQLITE_TOOBIG:
                        raise
                    why = f"a row of more than {LONGEST:,} bytes is too large"
                    damage.append(Remark(where=f"{self.name} {table} {number}", why=why))
        except (sqlite3.Error, UnicodeDecodeError) as problem:
            damage.append(Remark(where=f"{self.name} {table}", why=f"the rest of the table cannot be read ({problem})"))

    def by(self, table: str, column: str, damage: list[Remark]) -> dict[Any, list[Row]]:
        """Return the rows of a table by the value of a column."""
        groups: dict[Any, list[Row]] = {}
        for row in self.rows(table, damage):
            groups.setdefault(row.get(column), []).append(row)
        return groups

    def unread(self, read: Collection[str], why: Mapping[str, str]) -> Iterator[Remark]:
        """Yield a remark for each non-empty table that is left out."""
        for table in self.names:
            if table in read or table.startswith("sqlite_") or "_fts" in table or "_vectors" in table:
                continue
            try:
                count = self._connection.execute(f'select count(*) from "{table}"').fetchone()[0]
            except sqlite3.Error:
                continue  # a table of an extension that is not loaded, such as an index of vectors
            if count:
                reason = why.get(table, "it contains no memories")
                yield Remark(where=f"{self.name} {table}", why=f"{count} rows are left out: {reason}")


@contextmanager
def tables_of(path: Path, wanted: str) -> Iterator[Tables]:
    """Open a database that must have a table, without disturbing its writer."""
    if not path.is_file():
        raise Invalid(f"{path} is not a file.", hint="Pass the database file.")
    try:
        with closing(sqlite3.connect(_address(path), uri=True, timeout=10)) as connection:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
            connection.row_factory = sqlite3.Row
            connection.text_factory = lambda raw: raw.decode(errors="surrogateescape")
            tables = Tables(connection, path.name)
            if wanted not in tables.names:
                raise Invalid(f"{path} has no table {wanted}.", hint="It may belong to another program.")
            yield tables
    except (sqlite3.Error, UnicodeDecodeError, OSError) as problem:
        raise Invalid(f"{path} cannot be read ({problem}).", hint="Is it a SQLite file?") from problem


def _address(path: Path) -> str:
    """Return the URI to open for reading. In WAL mode without a writer, a plain read would create files next to the database."""
    with open_regular(path) as file:
        logged = file.read(20)[18:] == b"\x02\x02"
    idle = logged and not path.with_name(f"{path.name}-wal").exists()
    return f"{path.resolve().as_uri()}?{'immutable=1' if idle else 'mode=ro'}"
