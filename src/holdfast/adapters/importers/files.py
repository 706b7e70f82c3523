"""Read the files of other systems as far as they are intact: JSON, markdown with front matter, SQLite."""

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from holdfast.adapters.importers.maps import Row, check_shape, plain
from holdfast.model.errors import Invalid
from holdfast.model.files import open_regular, read_regular
from holdfast.model.foreign_json import TooDeep, parse_json
from holdfast.model.replica import Remark
from holdfast.model.text import counted

Entry = tuple[str, Row]  # its place in the file, its content
LONGEST_FRONT = 64_000
LONGEST_ROW = 10_000_000  # bytes
# The loader and dumper in C are ten times as fast, but not in every build.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


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
        damage = [Remark(path.name, "it contains no list")] if value else []
        items = iter(lists[0] if len(lists) == 1 and isinstance(lists[0], list) else damage)
    for place, item in enumerate(items, start=1):
        yield item if isinstance(item, Remark) else sound(f"{path.name} #{place}", item)


def _as_far_as_possible(name: str, content: str) -> Iterator[Any]:
    decoder, place, damage = json.JSONDecoder(), content.find("[") + 1, ""
    while place and not damage:
        while place < len(content) and content[place] in " \t\r\n,":
            place += 1
        try:
            value, place = decoder.raw_decode(content, place)
            yield value
        except RecursionError:
            damage = f"from character {place} on {TooDeep()}"
        except ValueError as problem:
            damage = f"from character {place} on it is damaged ({problem})"
    yield Remark(name, damage or "it is not JSON")


def json_lines(name: str, content: Iterable[str]) -> Iterator[Entry | Remark]:
    """Yield the objects of JSON lines; damaged lines as remarks."""
    return (one_object(f"{name}:{place}", line) for place, line in enumerate(content, start=1) if line.strip())


def one_object(where: str, content: str) -> Entry | Remark:
    """Return the object that a text says, with its place; a remark if it cannot be used."""
    try:
        return sound(where, parse_json(content))
    except ValueError as problem:
        return Remark(where, f"it is not JSON ({problem})")


def sound(where: str, value: Any) -> Entry | Remark:
    """Return an object with its place, or a remark if it cannot be used."""
    try:
        return (where, check_shape(value)) if isinstance(value, dict) else Remark(where, "it is not an object")
    except Invalid as problem:
        return Remark(where, problem.message)


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
    if not isinstance(value, dict | None):
        raise Invalid("Its front matter is not a mapping.")
    return dict(plain(value or {}))


def sections(content: str) -> Iterator[tuple[tuple[str, ...], str, int]]:
    """Yield the non-empty sections of markdown in order: the headings that lead to it, its text, its number among such."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  only for markdown

    lines, headings = content.replace("\r\n", "\n").split("\n"), [(0, "", -1)]  # level, text and line of each
    parser = MarkdownIt("zero").enable(["heading", "fence", "code"])  # code is never a heading
    for token, title in pairwise(parser.parse("\n".join(lines))):
        if token.type == "heading_open" and token.map and title.content:
            headings.append((int(token.tag[1:]), title.content, token.map[0]))
    path, seen = list[tuple[int, str]](), Counter[tuple[str, ...]]()
    # A section ends at the next heading of any level.
    for (level, name, line), (_, _, end) in pairwise([*headings, (0, "", len(lines))]):
        path = [*(outer for outer in path if outer[0] < level), (level, name)]
        names = tuple(name for _, name in path if name)
        if body := "\n".join(lines[line + 1 : end]).strip():
            seen[names] += 1
            yield names, body, seen[names]


class Tables:
    """The tables of an open SQLite file, and what of them could not be read."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self.connection, self.name = connection, name
        self.names = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
        self.damage: list[Remark] = []

    def rows(self, table: str) -> Iterator[Row]:
        """Yield the rows of a table in order, if it exists; what is too large or damaged is left out and noted."""
        query = self.connection.execute
        try:
            for (number,) in query(f'select rowid from "{table}" order by rowid') if table in self.names else ():
                try:
                    yield dict(query(f'select * from "{table}" where rowid = ?', (number,)).fetchone())
                except sqlite3.DataError as problem:
                    if problem.sqlite_errorcode != sqlite3.SQLITE_TOOBIG:
                        raise
                    why = f"a row of more than {LONGEST_ROW:,} bytes is too large"
                    self.damage.append(Remark(f"{self.name} {table} {number}", why))
        except (sqlite3.Error, UnicodeDecodeError) as problem:
            self.damage.append(Remark(f"{self.name} {table}", f"the rest of the table cannot be read ({problem})"))

    def unread(self, read: Collection[str], why: Mapping[str, str]) -> Iterator[Remark]:
        """Yield what could not be read, and a remark for each non-empty table that is left out."""
        yield from self.damage
        for table in self.names:
            if table in read or table.startswith("sqlite_") or "_fts" in table or "_vectors" in table:
                continue
            with suppress(sqlite3.Error):  # a table of an extension that is not loaded, such as an index of vectors
                if count := self.connection.execute(f'select count(*) from "{table}"').fetchone()[0]:
                    left = f"{counted(count, 'row')} left out: {why.get(table, 'it contains no memories')}"
                    yield Remark(f"{self.name} {table}", left)

    def insert(self, table: str, row: Row) -> int | None:
        """Add a row by those of its columns that a table has, lists as JSON; return its number, None if it is there already."""
        columns = {column[1] for column in self.connection.execute(f'pragma table_info("{table}")')}
        own = [(name, value, isinstance(value, list | dict)) for name, value in row.items() if name in columns]
        values = {name: json.dumps(value, ensure_ascii=False) if is_list else value for name, value, is_list in own}
        names = ", ".join('"' + name.replace('"', '""') + '"' for name in values)
        query = f'insert into "{table}" ({names}) values ({", ".join("?" * len(values))}) on conflict do nothing'
        cursor = self.connection.execute(query, [*values.values()])
        return cursor.lastrowid if cursor.rowcount > 0 else None


@contextmanager
def tables_of(path: Path, wanted: str, *, write: bool = False) -> Iterator[Tables]:
    """Open a database that must have a table: without disturbing its writer, or to add rows in a single transaction."""
    if not path.is_file():
        hint = "Start the program once, so that it makes its database." if write else "Pass the database file."
        raise Invalid(f"{path} is not a file.", hint=hint)
    try:
        mode = "rw"
        if not write:
            with open_regular(path) as file:
                logged = file.read(20)[18:] == b"\x02\x02"
            # In WAL mode without a writer, a plain read would create files next to the database.
            mode = "ro&immutable=1" if logged and not path.with_name(f"{path.name}-wal").exists() else "ro"
        address = f"{path.resolve().as_uri()}?mode={mode}"
        with closing(sqlite3.connect(address, uri=True, timeout=10)) as connection, connection:
            if not write:
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_ROW)
            connection.row_factory = sqlite3.Row
            connection.text_factory = lambda raw: raw.decode(errors="surrogateescape")
            tables = Tables(connection, path.name)
            if wanted not in tables.names:
                raise Invalid(f"{path} has no table {wanted}.", hint="It may belong to another program.")
            yield tables
    except (sqlite3.Error, UnicodeDecodeError, OSError) as problem:
        done, hint = ("written", "Nothing was added to it.") if write else ("read", "Is it a SQLite file?")
        raise Invalid(f"{path} cannot be {done} ({problem}).", hint=hint) from problem
