"""TOML files of other programs: one table is added, updated or removed, and every other line stays as it was."""

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from holdfast.hosts.setup.jsontext import MISSING, inside
from holdfast.model.errors import InvalidFile

BOM = "\ufeff"
_EMPTY_LINE = re.compile(r"^[^\S\n]*\n\Z", re.MULTILINE)  # at the end
# A table without the comments that belong to the next one.
_VALUES = re.compile(r"\A.*^[^\S\n]*[^#\s][^\n]*\n?", re.MULTILINE | re.DOTALL)


def value_of(text: str) -> dict[str, Any]:
    """Parse a text."""
    try:
        return tomllib.loads(text.removeprefix(BOM))
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise InvalidFile(f"It is not valid TOML: {problem}.") from problem


def value_at(text: str, path: tuple[str, ...]) -> Any:
    """Return the value at a path, or MISSING."""
    return inside(value_of(text), path)


def put(text: str, path: tuple[str, ...], value: Any) -> str:
    """Add a table at the end, or set those of its keys that differ; or set one key. Other keys, comments and their order stay."""
    import tomlkit

    keys = value if isinstance(value, Mapping) else {path[-1]: value}
    table = path if keys is value else path[:-1]
    if keys is value and value_at(text, path) is MISSING:
        lines = (f"{tomlkit.key(key).as_string()} = {_item(item).as_string()}\n" for key, item in keys.items())
        after = appended(text, f"[{tomlkit.key(path).as_string()}]\n{''.join(lines)}")
    else:
        after = _with_keys(text, table, keys)
    written = value_at(after, table)
    if not isinstance(written, dict) or any(written.get(key) != item for key, item in keys.items()):
        raise InvalidFile(f"[{'.'.join(table)}] cannot be written there.")
    return after


def appended(text: str, lines: str) -> str:
    """Return a text with lines at its end, after an empty line, and with its own line endings."""
    newline = _newline(text)
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return text + gap + lines.replace("\n", newline)


def without(text: str, path: tuple[str, ...]) -> str:
    """Remove a key; or a table with the tables inside it and the empty line before it, comments after its last value stay.

    Tables by lines: tomlkit counts the comments before the next table as part of this one and would remove them too.
    """
    if not isinstance(value_at(text, path), dict):
        return _with_keys(text, path[:-1], {path[-1]: MISSING})
    name, left = r"\s*\.\s*".join(rf"[\"']?{re.escape(step)}[\"']?" for step in path), ""
    for table in re.split(r"^(?=[ \t]*\[)", text, flags=re.MULTILINE):
        if re.match(rf"\s*\[\s*{name}\s*[\].]", table):
            left = _EMPTY_LINE.sub("", left) + _VALUES.sub("", table)
        else:
            left += table
    if left == text:
        raise InvalidFile(f"[{'.'.join(path)}] is not written as a table of its own.")
    if _pruned(value_of(left), path) != _pruned(value_of(text), path) or value_at(left, path) is not MISSING:
        raise InvalidFile(f"[{'.'.join(path)}] cannot be removed line by line.")
    return left


def _with_keys(text: str, path: tuple[str, ...], keys: Mapping[str, Any]) -> str:
    """Set keys of a table where they differ, or remove those that are MISSING."""
    import tomlkit
    from tomlkit.container import OutOfOrderTableProxy
    from tomlkit.exceptions import TOMLKitError
    from tomlkit.items import Table

    current = value_at(text, path)  # tomllib is the judge of what is valid
    bom, newline = BOM * text.startswith(BOM), _newline(text)
    try:
        document = tomlkit.parse(text.removeprefix(BOM).replace("\r\n", "\n"))
    except (TOMLKitError, RecursionError) as problem:
        raise InvalidFile(f"It cannot be edited: {problem}.") from problem
    if bom + document.as_string().replace("\n", newline) != text:
        raise InvalidFile("It cannot be edited without changing other lines.")
    table: Any = document
    for step in path:
        table = table.get(step)
        if not isinstance(table, Table | OutOfOrderTableProxy):
            raise InvalidFile(f"[{'.'.join(path)}] is not written as a table of its own.")
    for key, wanted in keys.items():
        if wanted is MISSING:
            del table[key]
        elif current.get(key, MISSING) != wanted:
            table[key] = _item(wanted)
    return bom + document.as_string().replace("\n", newline)


def _pruned(value: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """Return a document without one table, and without the tables that only held it."""
    first, rest = path[0], path[1:]
    inner = _pruned(value.get(first, {}), rest) if rest else {}
    return {key: item for key, item in value.items() if key != first} | ({first: inner} if inner else {})


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _item(value: Any) -> Any:
    """Return a value for a line of its own: a mapping becomes an inline table."""
    import tomlkit

    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        table.update({key: _item(part) for key, part in value.items()})
        return table
    return tomlkit.item(value)
