"""TOML files of other programs: one table is put in, mended or taken out, and every other line stays as it was."""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from holdfast.model.errors import InvalidFile

_HEADER = re.compile(r"\s*\[")


def value_of(text: str) -> dict[str, Any]:
    """Read a text."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise InvalidFile(f"It is not valid TOML: {problem}.") from problem


def table_of(text: str, path: tuple[str, ...]) -> Any:
    """Give the table at a path, or None."""
    value: Any = value_of(text)
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def add_table(text: str, path: tuple[str, ...], value: Mapping[str, Any]) -> str:
    """Write a new table at the end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return _checked(text + gap + newline.join(table_lines(path, value)) + newline, path, value)


def mend_table(text: str, path: tuple[str, ...], value: Mapping[str, Any]) -> str:
    """Give keys of a table new values, line by line; other keys and comments stay."""
    lines = text.splitlines(keepends=True)
    begin, end = _span(lines, path)
    for key, wanted in value.items():
        at = next((at for at in range(begin + 1, end) if re.match(rf"\s*{re.escape(key)}\s*=", lines[at])), None)
        if at is None:
            lines[begin + 1 : begin + 1] = [f"{key} = {_written(wanted)}\n"]
            end += 1
        elif _is_whole(lines[at]):
            ending = lines[at][len(lines[at].rstrip("\r\n")) :]
            lines[at] = f"{key} = {_written(wanted)}{ending}"
        else:
            raise InvalidFile(f"{key} of [{'.'.join(path)}] takes several lines.")
    return _checked("".join(lines), path, value)


def without_table(text: str, path: tuple[str, ...]) -> str:
    """Take a table out, with the tables inside it and the empty line before it."""
    before = value_of(text)
    lines = text.splitlines(keepends=True)
    while table_of("".join(lines), path) is not None:
        begin, end = _span(lines, path)
        if begin > 0 and not lines[begin - 1].strip():
            begin -= 1
        del lines[begin:end]
    left = "".join(lines)
    if _pruned(value_of(left), path) != _pruned(before, path):
        raise InvalidFile(f"[{'.'.join(path)}] cannot be taken out by lines.")
    return left


def table_lines(path: tuple[str, ...], value: Mapping[str, Any]) -> list[str]:
    """Write a table as lines."""
    return [f"[{'.'.join(path)}]", *(f"{key} = {_written(item)}" for key, item in value.items())]


def _span(lines: list[str], path: tuple[str, ...]) -> tuple[int, int]:
    """Give the first line of a table (or of one inside it) and the line after its last value."""
    name = r"\s*\.\s*".join(rf"[\"']?{re.escape(step)}[\"']?" for step in path)
    header = re.compile(rf"\s*\[\s*{name}\s*[\].]")
    begin = next((at for at, line in enumerate(lines) if header.match(line)), None)
    if begin is None:
        raise InvalidFile(f"[{'.'.join(path)}] is written in another way.")
    end = last = begin + 1
    while end < len(lines) and not _HEADER.match(lines[end]):
        end += 1
        if lines[end - 1].strip() and not lines[end - 1].lstrip().startswith("#"):
            last = end  # comments behind the last value belong to what follows
    return begin, last


def _checked(text: str, path: tuple[str, ...], value: Mapping[str, Any]) -> str:
    table = table_of(text, path)
    if not isinstance(table, dict) or any(table.get(key) != item for key, item in value.items()):
        raise InvalidFile(f"[{'.'.join(path)}] cannot be written there.")
    return text


def _is_whole(line: str) -> bool:
    try:
        tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _pruned(value: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """Give a document without one table, and without the tables that only held it."""
    first, rest = path[0], path[1:]
    inner = _pruned(value.get(first, {}), rest) if rest else {}
    return {key: item for key, item in value.items() if key != first} | ({first: inner} if inner else {})


def _written(value: Any) -> str:
    match value:
        case Mapping():
            return "{ " + ", ".join(f"{key} = {_written(item)}" for key, item in value.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(_written(item) for item in value) + "]"
    # Strings, whole numbers, true and false are written in TOML as in JSON; DEL is the one exception.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
