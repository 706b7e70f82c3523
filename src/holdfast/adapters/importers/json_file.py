"""Read JSON files of other systems as far as they are intact."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from holdfast.adapters.importers.values import check_shape
from holdfast.model.errors import Invalid
from holdfast.model.files import read_regular
from holdfast.model.foreign import Remark
from holdfast.model.foreign_json import TooDeep, parse_json

Entry = tuple[str, Mapping[str, Any]]  # its place in the file, its content


def read_text(path: Path) -> str:
    """Return the text of a file; invalid UTF-8 becomes surrogates, which later checks reject."""
    try:
        return (
            read_regular(path).decode("utf-8-sig", errors="surrogateescape").replace("\r\n", "\n").replace("\r", "\n")
        )
    except OSError as problem:
        raise Invalid(f"{path} cannot be read ({problem.strerror}).") from problem


def entries(path: Path) -> Iterator[Entry | Remark]:
    """Yield the objects of an array in a file, or of the only array in an object; damaged ones as remarks."""
    if not path.is_file():
        return
    for place, value in enumerate(_array(path), start=1):
        where = f"{path.name} #{place}"
        yield value if isinstance(value, Remark) else sound(where, value)


def one_object(path: Path) -> Mapping[str, Any] | Remark | None:
    """Return the object of a file; None if the file does not exist."""
    if not path.is_file():
        return None
    try:
        value = parse_json(read_text(path))
    except ValueError as problem:
        return Remark(where=path.name, why=f"it is not JSON ({problem})")
    entry = sound(path.name, value)
    return entry if isinstance(entry, Remark) else entry[1]


def lines(path_name: str, content: Iterator[str]) -> Iterator[Entry | Remark]:
    """Yield the objects of JSON lines; damaged lines as remarks."""
    for place, line in enumerate(content, start=1):
        if not line.strip():
            continue
        where = f"{path_name}:{place}"
        try:
            value = parse_json(line)
        except ValueError as problem:
            yield Remark(where=where, why=f"it is not JSON ({problem})")
            continue
        yield sound(where, value)


def sound(where: str, value: Any) -> Entry | Remark:
    """Return an object with its place, or a remark if it cannot be used."""
    if not isinstance(value, dict):
        return Remark(where=where, why="it is not an object")
    try:
        check_shape(value)
    except Invalid as problem:
        return Remark(where=where, why=problem.message)
    return where, value


def _array(path: Path) -> Iterator[Any]:
    content = read_text(path)
    try:
        value = parse_json(content)
    except ValueError:
        yield from _as_far_as_possible(path.name, content)
        return
    lists = [item for item in value.values() if isinstance(item, list)] if isinstance(value, dict) else [value]
    if len(lists) == 1 and isinstance(lists[0], list):
        yield from lists[0]
    elif value:
        yield Remark(where=path.name, why="it contains no list")


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
