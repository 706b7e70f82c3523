"""JSON files of other programs: one place is changed and every other byte, comments included, stays as it was."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from holdfast.model.errors import InvalidFile
from holdfast.model.foreign_json import DEEPEST, TooDeep, parse_json

Step = str | int
MISSING = object()
_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_DECODER = json.JSONDecoder()
_CLOSING = {"{": "}", "[": "]"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A value and its position in the text."""

    kind: Literal["object", "array", "scalar"]
    start: int
    end: int
    slots: tuple["Slot", ...] = ()
    scalar: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A member (with its key) or an element of a node, and the position of the comma after it, if any."""

    key: str | None
    start: int
    node: Node
    comma: int | None = None


def value_of(text: str) -> Any:
    """Parse a text that may have comments and trailing commas; an empty one is an empty object."""
    try:
        return parse_json(text.removeprefix("\ufeff")) if _has_content(text) else {}
    except TooDeep as problem:
        raise InvalidFile(f"It cannot be edited: {problem}.") from problem
    except ValueError:
        return plain(_Reader(text).document())  # slower, but it accepts comments and reports where an error is


def value_at(text: str, path: tuple[Step, ...]) -> Any:
    """Return the value at a path, or MISSING."""
    value = value_of(text)
    for step in path:
        within = isinstance(value, dict) and step in value
        within = within or (isinstance(value, list) and isinstance(step, int) and step < len(value))
        if not within:
            return MISSING
        value = value[step]
    return value


def put(text: str, path: tuple[Step, ...], value: Any) -> str:
    """Set the value at a path, creating the objects on the way."""
    if not _has_content(text):
        return text + json.dumps(_nested(path, value), indent=2, ensure_ascii=False) + "\n"
    root = _Reader(text).document()
    node = root
    for depth, step in enumerate(path):
        slot = _slot(node, step)
        if slot is None and (node.kind != "object" or isinstance(step, int)):
            raise InvalidFile(f"{_spelled(path[:depth])} is not an object.")
        if slot is None:
            return _inserted(text, root, node, str(step), _nested(path[depth + 1 :], value))
        node = slot.node
    style = _Style.of(text, root)
    tight = "\n" not in text[node.start : node.end] and (bool(node.slots) or style.tight)
    written = _written(value, style, _lead(text, node.start), tight=tight)
    return text[: node.start] + written + text[node.end :]


def append(text: str, path: tuple[Step, ...], value: Any) -> str:
    """Append an element to the list at a path, creating the list if there is none."""
    if value_at(text, path) is MISSING:
        return put(text, path, [value])
    root = _Reader(text).document()
    node = _node_at(root, path)
    if node.kind != "array":
        raise InvalidFile(f"{_spelled(path)} is not a list.")
    return _inserted(text, root, node, None, value)


def without(text: str, path: tuple[Step, ...]) -> str:
    """Remove the value at a path, with its comma."""
    parent = _node_at(_Reader(text).document(), path[:-1])
    slot = _slot(parent, path[-1])
    assert slot is not None, path
    place = parent.slots.index(slot)
    begin, end = len(text[: slot.start].rstrip()), slot.node.end
    if slot.comma is not None:
        end = slot.comma + 1
        if place == 0 and len(parent.slots) > 1 and "\n" not in text[parent.start : slot.start]:
            begin, end = slot.start, parent.slots[1].start
    elif place > 0 and (comma := parent.slots[place - 1].comma) is not None:
        text = text[:comma] + text[comma + 1 :]
        begin, end = begin - 1, end - 1
    left = text[:begin] + text[end:]
    if len(parent.slots) > 1:
        return left
    close = parent.end - 1 - (end - begin)
    return left[: parent.start + 1] + left[close:] if not left[parent.start + 1 : close].strip() else left


def plain(node: Node) -> Any:
    """Return the value of a node."""
    match node.kind:
        case "object":
            return {slot.key: plain(slot.node) for slot in node.slots}
        case "array":
            return [plain(slot.node) for slot in node.slots]
    return node.scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class _Style:
    """How a text is laid out."""

    newline: str
    unit: str
    tight: bool  # the whole document on one line
    colon: str

    @staticmethod
    def of(text: str, root: Node) -> "_Style":
        unit = _lead(text, root.slots[0].start) if root.slots and _begins_line(text, root.slots[0].start) else ""
        tight = bool(root.slots) and "\n" not in text[root.start : root.end]
        return _Style(
            newline="\r\n" if "\r\n" in text else "\n",
            unit=unit or "  ",
            tight=tight,
            colon=":" if tight and re.search(r'":[^\s]', text) else ": ",
        )


def _inserted(text: str, root: Node, node: Node, key: str | None, value: Any) -> str:
    """Append a member or element, formatted like its neighbours."""
    style = _Style.of(text, root)
    on_one_line = style.tight or (bool(node.slots) and "\n" not in text[node.start : node.end])
    indent = _lead(text, node.start) + style.unit
    if node.slots and _begins_line(text, node.slots[0].start):
        indent = _lead(text, node.slots[0].start)
    piece = ("" if key is None else json.dumps(key, ensure_ascii=False) + style.colon) + _written(
        value, style, indent, tight=on_one_line
    )
    lead = "" if on_one_line else style.newline + indent
    until = len(text[: node.end - 1].rstrip())  # behind the last thing inside, comments included
    if not node.slots:
        has_line = on_one_line or "\n" in text[until : node.end]
        tail = "" if has_line else style.newline + _lead(text, node.start)
        return text[:until] + lead + piece + tail + text[until:]
    last = node.slots[-1]
    lead = lead or (" " if style.colon == ": " else "")
    if last.comma is not None:
        return text[:until] + lead + piece + "," + text[until:]
    return text[: last.node.end] + "," + text[last.node.end : until] + lead + piece + text[until:]


def _written(value: Any, style: _Style, indent: str, *, tight: bool) -> str:
    if tight:
        return json.dumps(value, ensure_ascii=False, separators=("," if style.colon == ":" else ", ", style.colon))
    return json.dumps(value, ensure_ascii=False, indent=style.unit).replace("\n", style.newline + indent)


def _lead(text: str, at: int) -> str:
    """Return the indentation of a line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _begins_line(text: str, at: int) -> bool:
    line = text.rfind("\n", 0, at)
    return line >= 0 and not text[line + 1 : at].strip(" \t")


def _node_at(root: Node, path: tuple[Step, ...]) -> Node:
    node = root
    for step in path:
        slot = _slot(node, step)
        assert slot is not None, path
        node = slot.node
    return node


def _slot(node: Node, step: Step) -> Slot | None:
    if isinstance(step, int):
        return node.slots[step] if node.kind == "array" and step < len(node.slots) else None
    return next((slot for slot in reversed(node.slots) if slot.key == step), None)


def _nested(path: tuple[Step, ...], value: Any) -> Any:
    for step in reversed(path):
        value = {step: value}
    return value


def _spelled(path: tuple[Step, ...]) -> str:
    return ".".join(str(step) for step in path) or "The document"


def _has_content(text: str) -> bool:
    return bool(text.strip("\ufeff \t\r\n"))


class _Reader:
    """Reads a text from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1 if text.startswith("\ufeff") else 0
        self.depth = 0

    def document(self) -> Node:
        node = self._value()
        self._skip_blank()
        if self.at != len(self.text):
            raise self._broken("something follows its end")
        return node

    def _value(self) -> Node:
        self._skip_blank()
        start, opening = self.at, self._here()
        if opening in _CLOSING:
            self.at += 1
            self.depth += 1
            if self.depth > DEEPEST:
                raise self._broken(f"it is nested more than {DEEPEST} levels deep")
            slots = tuple(self._slots(opening))
            self.depth -= 1
            kind: Literal["object", "array"] = "object" if opening == "{" else "array"
            return Node(kind=kind, start=start, end=self.at, slots=slots)
        scalar = self._scalar()
        return Node(kind="scalar", start=start, end=self.at, scalar=scalar)

    def _slots(self, opening: str) -> Iterator[Slot]:
        while True:
            self._skip_blank()
            if self._here() == _CLOSING[opening]:
                self.at += 1
                return
            start = self.at
            key = self._key() if opening == "{" else None
            node = self._value()
            self._skip_blank()
            comma = self.at if self._here() == "," else None
            yield Slot(key=key, start=start, node=node, comma=comma)
            if comma is not None:
                self.at += 1
            elif self._here() != _CLOSING[opening]:
                raise self._broken("a comma or an end is missing")

    def _key(self) -> str:
        key = self._scalar() if self._here() == '"' else None
        self._skip_blank()
        if not isinstance(key, str) or self._here() != ":":
            raise self._broken("a name and a colon are missing")
        self.at += 1
        return key

    def _scalar(self) -> Any:
        if self._here() in ("", "{", "["):
            raise self._broken("a value is missing")
        try:
            value, self.at = _DECODER.raw_decode(self.text, self.at)
        except json.JSONDecodeError as problem:
            raise self._broken(problem.msg) from problem
        return value

    def _here(self) -> str:
        return self.text[self.at : self.at + 1]

    def _skip_blank(self) -> None:
        found = _BLANK.match(self.text, self.at)
        assert found
        self.at = found.end()

    def _broken(self, what: str) -> InvalidFile:
        line = self.text.count("\n", 0, self.at) + 1
        return InvalidFile(f"It is not valid JSON: line {line}: {what}.")
