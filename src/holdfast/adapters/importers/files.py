"""Read the files of other systems as far as they are intact: JSON, markdown with front matter, SQLite."""

import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from holdfast.adapters.importers.maps import Row, check_shape, plain
from holdfast.model.errors import Invalid
from holdfast.model.files import open_regular, read_regular
from holdfast.model.foreign import Remark
from holdfast.model.foreign_json import TooDeep, parse_json

Entry = tuple[str, Row]  # its place in the file, its content
LONGEST_FRONT = 64_000
LONGEST_ROW = 10_000_000  # bytes
# The loader and dumper in C are ten times as fast, but not in every build.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")


def read_text(path: Path) -> str:
    """Return the text of a file; invalid UTF-8 becomes surrogates, which later checks reject."""
    try:
        content = read_regular(path).decode("utf-8-sig", errors="surrogateescape")
    except OSError as problem:
        raise Invalid(f"{path} cannot be read ({problem.strerror}).") from problem
    return content.replace("\r\n", "\n").replace("\r", "\n")


def entries(path: Path) -> Iterator[Entry | Remark]:
    """Yield the objects of an array in a file, or of the only array in an object; damaged ones as remarks."""
    if not path.is_file():
        return
    content = read_text(path)
    try:
        value = parse_json(content)
    except ValueError:
        items = _as_far_as_possible(path.name, content)
    else:
        lists = [item for item in value.values() if isinstance(item, list)] if isinstance(value, dict) else [value]
        whole = len(lists) == 1 and isinstance(lists[0], list)
        damage = [Remark(where=path.name, why="it contains no list")] if value else []
        items = iter(lists[0] if whole else damage)
    for place, item in enumerate(items, start=1):
        yield item if isinstance(item, Remark) else sound(f"{path.name} #{place}", item)


def one_object(path: Path) -> Row | Remark | None:
    """Return the object of a file; None if the file does not exist."""
    if not path.is_file():
        return None
    try:
        entry = sound(path.name, parse_json(read_text(path)))
    except ValueError as problem:
        return Remark(where=path.name, why=f"it is not JSON ({problem})")
    return entry if isinstance(entry, Remark) else entry[1]


def json_lines(name: str, content: Iterable[str]) -> Iterator[Entry | Remark]:
    """Yield the objects of JSON lines; damaged lines as remarks."""
    for place, line in enumerate(content, start=1):
        if line.strip():
            try:
                yield sound(f"{name}:{place}", parse_json(line))
            except ValueError as problem:
                yield Remark(where=f"{name}:{place}", why=f"it is not JSON ({problem})")


def sound(where: str, value: Any) -> Entry | Remark:
    """Return an object with its place, or a remark if it cannot be used."""
    if not isinstance(value, dict):
        return Remark(where=where, why="it is not an object")
    try:
        check_shape(value)
    except Invalid as problem:
        return Remark(where=where, why=problem.message)
    return where, value


def _as_far_as_possible(name: str, content: str) -> Iterator[Any]:
    """Yield the items of a damaged or truncated array, up to the damage."""
    decoder, place = json.JSONDecoder(), content.find("[") + 1
    while place:
        while place < len(content) and content[place] in " \t\r\n,":
            place += 1
        try:
            value, place = decoder.raw_decode(content, place)
        except RecursionError:
            yield Remark(where=name, why=f"from character {place} on {TooDeep()}")
            return
        except ValueError as problem:
            yield Remark(where=name, why=f"from character {place} on it is damaged ({problem})")
            return
        yield value
    yield Remark(where=name, why="it is not JSON")


def front_matter(content: str) -> tuple[dict[str, Any], str]:
    """Return the front matter of a markdown text and the text after it; {} if there is no front matter."""
    front, body = split_front(content.replace("\r\n", "\n"))
    return ({}, content) if front is None else (read_yaml(front), body.strip("\n"))


def split_front(content: str) -> tuple[str | None, str]:
    """Return the text of the front matter, None if there is none or it has no end, and the text after it."""
    lines = content.split("\n")
    ends = [place for place, line in enumerate(lines) if place and line.rstrip() == "---"]
    if lines[0].strip() != "---" or not ends:
        return None, content
    return "\n".join(lines[1 : ends[0]]), "\n".join(lines[ends[0] + 1 :])


def with_front(front: Row, body: str) -> str:
    """Return a markdown text with front matter."""
    return f"---\n{dump_yaml(front)}---\n\n{body}\n"


def dump_yaml(value: Row, width: int = 80) -> str:
    """Return a mapping as YAML, in its order."""
    options: dict[str, Any] = {"sort_keys": False, "allow_unicode": True, "default_flow_style": False}
    return str(yaml.dump(value, Dumper=_DUMPER, width=width, **options))


def read_yaml(content: str) -> dict[str, Any]:
    """Return a YAML mapping as plain values."""
    if len(content) > LONGEST_FRONT:
        raise Invalid(f"Its front matter has {len(content):,} characters; {LONGEST_FRONT:,} is the most.")
    try:
        value = yaml.load(content, Loader=_LOADER)  # noqa: S506  a safe loader, in C if available
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        mark = getattr(problem, "problem_mark", None)
        message = getattr(problem, "problem", None) or type(problem).__name__
        place = f", line {mark.line + 1}" if mark else ""
        raise Invalid(f"Its front matter is not YAML ({message}{place}).") from problem
    check_shape(value)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Invalid("Its front matter is not a mapping.")
    mapping: dict[str, Any] = plain(value)
    return mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The text under a heading, up to the next heading of any level."""

    path: tuple[str, ...]
    body: str
    nth: int = 1  # of those with the same path


def sections(content: str) -> Iterator[Section]:
    """Yield the non-empty sections of markdown in order; text before the first heading has no path."""
    path: list[tuple[int, str]] = []
    lines: list[str] = []
    seen: dict[tuple[str, ...], int] = {}
    for line, level, title in (*_lines(content), ("", 1, "")):
        if not level:
            lines.append(line)
            continue
        if body := "\n".join(lines).strip():
            names = tuple(name for _, name in path)
            seen[names] = seen.get(names, 0) + 1
            yield Section(path=names, body=body, nth=seen[names])
        path = [*((depth, name) for depth, name in path if depth < level), (level, title)]
        lines = []


def _lines(content: str) -> Iterator[tuple[str, int, str]]:
    """Yield each line with level and text if it is a heading, else level 0; code is never a heading."""
    fence = ""
    for line in content.replace("\r\n", "\n").split("\n"):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and fence and mark[1].startswith(fence) and line.strip() == mark[1]:
            fence = ""
        heading = None if fence or mark else _HEADING.fullmatch(line)
        yield (line, len(heading[1]), heading[2]) if heading and heading[2] else (line, 0, "")


class Tables:
    """The tables of an open SQLite file, and what of them could not be read."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection = connection
        self.name = name
        self.names = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
        self.damage: list[Remark] = []

    def rows(self, table: str) -> Iterator[Row]:
        """Yield the rows of a table in order, if it exists; what is too large or damaged is left out and noted."""
        if table not in self.names:
            return
        query = self._connection.execute
        try:
            for (number,) in query(f'select rowid from "{table}" order by rowid'):
                try:
                    yield dict(query(f'select * from "{table}" where rowid = ?', (number,)).fetchone())
                except sqlite3.DataError as problem:
                    if problem.sqlite_errorcode != sqlite3.SQLITE_TOOBIG:
                        raise
                    why = f"a row of more than {LONGEST_ROW:,} bytes is too large"
                    self.damage.append(Remark(where=f"{self.name} {table} {number}", why=why))
        except (sqlite3.Error, UnicodeDecodeError) as problem:
            why = f"the rest of the table cannot be read ({problem})"
            self.damage.append(Remark(where=f"{self.name} {table}", why=why))

    def by(self, table: str, column: str) -> dict[Any, list[Row]]:
        """Return the rows of a table by the value of a column."""
        groups: dict[Any, list[Row]] = {}
        for row in self.rows(table):
            groups.setdefault(row.get(column), []).append(row)
        return groups

    def unread(self, read: Collection[str], why: Mapping[str, str]) -> Iterator[Remark]:
        """Yield what could not be read, and a remark for each non-empty table that is left out."""
        yield from self.damage
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
        with open_regular(path) as file:
            logged = file.read(20)[18:] == b"\x02\x02"
        # In WAL mode without a writer, a plain read would create files next to the database.
        idle = logged and not path.with_name(f"{path.name}-wal").exists()
        address = f"{path.resolve().as_uri()}?{'immutable=1' if idle else 'mode=ro'}"
        with closing(sqlite3.connect(address, uri=True, timeout=10)) as connection:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_ROW)
            connection.row_factory = sqlite3.Row
            connection.text_factory = lambda raw: raw.decode(errors="surrogateescape")
            tables = Tables(connection, path.name)
            if wanted not in tables.names:
                raise Invalid(f"{path} has no table {wanted}.", hint="It may belong to another program.")
            yield tables
    except (sqlite3.Error, UnicodeDecodeError, OSError) as problem:
        raise Invalid(f"{path} cannot be read ({problem}).", hint="Is it a SQLite file?") from problem


@contextmanager
def database_of(path: Path, wanted: str) -> Iterator[sqlite3.Connection]:
    """Open a database that its program made, to add rows in a single transaction."""
    if not path.is_file():
        raise Invalid(f"{path} is not a file.", hint="Start the program once, so that it makes its database.")
    try:
        with closing(sqlite3.connect(path, timeout=10)) as connection, connection:
            connection.text_factory = lambda raw: raw.decode(errors="surrogateescape")
            if not connection.execute("select 1 from sqlite_master where name = ?", (wanted,)).fetchone():
                raise Invalid(f"{path} has no table {wanted}.", hint="It may belong to another program.")
            yield connection
    except (sqlite3.Error, OSError) as problem:
        raise Invalid(f"{path} cannot be written ({problem}).", hint="Nothing was added to it.") from problem


def insert(connection: sqlite3.Connection, table: str, row: Row) -> int | None:
    """Add a row by those of its columns that a table has, lists as JSON; return its number, None if it is there already."""
    columns = {column[1] for column in connection.execute(f'pragma table_info("{table}")')}
    values = {name: value for name, value in row.items() if name in columns}
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in values)
    cursor = connection.execute(
        f'insert into "{table}" ({names}) values ({", ".join("?" for _ in values)}) on conflict do nothing',
        [
            json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
            for value in values.values()
        ],
    )
    return cursor.lastrowid if cursor.rowcount > 0 else None
