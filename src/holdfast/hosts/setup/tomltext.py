"""TOML files of other programs: one table is added, updated or removed, and every other line stays as it was."""

import re
import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.model.errors import InvalidFile

if TYPE_CHECKING:
    from tomlkit import TOMLDocument
    from tomlkit.items import Item

BOM = "\ufeff"
_HEADER = re.compile(r"\s*\[")


def value_of(text: str) -> dict[str, Any]:
    """Parse a text."""
    try:
        return tomllib.loads(text.removeprefix(BOM))
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise InvalidFile(f"It is not valid TOML: {problem}.") from problem


def table_of(text: str, path: tuple[str, ...]) -> Any:
    """Return the table at a path, or None."""
    value: Any = value_of(text)
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def add_table(text: str, path: tuple[str, ...], value: Mapping[str, Any]) -> str:
    """Add a new table at the end."""
    newline = _newline(text)
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return _checked(text + gap + table_text(path, value).replace("\n", newline), path, value)


def update_table(text: str, path: tuple[str, ...], value: Mapping[str, Any]) -> str:
    """Set keys of a table, or remove those with the value None; other keys, comments and their order stay."""
    import tomlkit
    from tomlkit.container import OutOfOrderTableProxy
    from tomlkit.exceptions import TOMLKitError
    from tomlkit.items import Table

    value_of(text)  # tomllib is the judge of what is valid
    try:
        document = tomlkit.parse(text.removeprefix(BOM).replace("\r\n", "\n"))
    except (TOMLKitError, RecursionError) as problem:
        raise InvalidFile(f"It cannot be edited: {problem}.") from problem
    if _text(text, document) != text:
        raise InvalidFile("It cannot be edited without changing other lines.")
    table: Any = document
    for step in path:
        table = table.get(step)
        if not isinstance(table, Table | OutOfOrderTableProxy):
            raise InvalidFile(f"[{'.'.join(path)}] is not written as a table of its own.")
    for key, wanted in value.items():
        if wanted is None:
            del table[key]
        else:
            table[key] = _item(wanted)
    return _checked(_text(text, document), path, value)


def without_table(text: str, path: tuple[str, ...]) -> str:
    """Remove a table with the tables inside it and the empty line before it; comments after its last value stay.

    By lines: tomlkit counts the comments before the next table as part of this one and would remove them too.
    """
    before = value_of(text)
    lines = text.splitlines(keepends=True)
    while table_of("".join(lines), path) is not None:
        begin, end = _span(lines, path)
        if begin > 0 and not lines[begin - 1].strip():
            begin -= 1
        del lines[begin:end]
    left = "".join(lines)
    if _pruned(value_of(left), path) != _pruned(before, path):
        raise InvalidFile(f"[{'.'.join(path)}] cannot be removed line by line.")
    return left


def table_text(path: tuple[str, ...], value: Mapping[str, Any]) -> str:
    """Return a table as lines."""
    import tomlkit

    table = tomlkit.table()
    for key, item in value.items():
        table.add(key, _item(item))
    for step in reversed(path[1:]):
        table = tomlkit.table(is_super_table=True).add(step, table)
    return tomlkit.document().add(path[0], table).as_string()


def _text(before: str, document: "TOMLDocument") -> str:
    """Return an edited document with the byte-order mark and the newlines it had before."""
    return BOM * before.startswith(BOM) + document.as_string().replace("\n", _newline(before))


def _span(lines: list[str], path: tuple[str, ...]) -> tuple[int, int]:
    """Return the first line of a table (or of one inside it) and the line after its last value."""
    name = r"\s*\.\s*".join(rf"[\"']?{re.escape(step)}[\"']?" for step in path)
    header = re.compile(rf"\s*\[\s*{name}\s*[\].]")
    begin = next((at for at, line in enumerate(lines) if header.match(line)), None)
    if begin is None:
        raise InvalidFile(f"[{'.'.join(path)}] is not written as a table of its own.")
    end = last = begin + 1
    while end < len(lines) and not _HEADER.match(lines[end]):
        end += 1
        if lines[end - 1].strip() and not lines[end - 1].lstrip().startswith("#"):
            last = end  # comments after the last value belong to what follows
    return begin, last


def _checked(text: str, path: tuple[str, ...], value: Mapping[str, Any]) -> str:
    table = table_of(text, path)
    if not isinstance(table, dict) or any(table.get(key) != item for key, item in value.items()):
        raise InvalidFile(f"[{'.'.join(path)}] cannot be written there.")
    return text


def _pruned(value: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """Return a document without one table, and without the tables that only held it."""
    first, rest = path[0], path[1:]
    inner = _pruned(value.get(first, {}), rest) if rest else {}
    return {key: item for key, item in value.items() if key != first} | ({first: inner} if inner else {})


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _item(value: Any) -> "Item":
    """Return a value for a line of its own: a mapping becomes an inline table."""
    import tomlkit

    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        table.update({key: _item(part) for key, part in value.items()})
        return table
    item: Item = tomlkit.item(list(value) if isinstance(value, tuple) else value)
    return item
