"""JSON files of other programs: one place is changed and every other byte, comments included, stays as it was."""

import json
import re
from typing import Any, NamedTuple

from holdfast.model.errors import InvalidFile
from holdfast.model.foreign_json import DEEPEST, TooDeep, parse_json

Step = str | int | None  # the name of a member, the number of an element; None: a new element
MISSING = object()
_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SPACE = "\ufeff \t\r\n"
_CLOSING = {"{": "}", "[": "]"}


class Node(NamedTuple):
    """A value and its position in the text; as a member or element also its key, where that begins, and the comma after it, if any."""

    value: Any
    start: int
    end: int
    inner: tuple["Node", ...] = ()
    key: Step = ""
    begin: int = 0
    comma: int | None = None

    def at(self, step: Step) -> "Node | None":
        """Return a member by its name, or an element by its number."""
        return next((node for node in reversed(self.inner) if node.key == step), None)


def value_of(text: str) -> Any:
    """Parse a text that may have comments and trailing commas; an empty one is an empty object."""
    try:
        return parse_json(text.removeprefix("\ufeff")) if text.strip(_SPACE) else {}
    except TooDeep as problem:
        raise InvalidFile(f"It cannot be edited: {problem}.") from problem
    except ValueError:
        return _Document(text).root.value  # slower, but it accepts comments and reports where an error is


def value_at(text: str, path: tuple[Step, ...]) -> Any:
    """Return the value at a path, or MISSING."""
    return inside(value_of(text), path)


def inside(value: Any, path: tuple[Step, ...]) -> Any:
    """Return what is at a path in a value, or MISSING."""
    for step in path:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return MISSING
    return value


def put(text: str, path: tuple[Step, ...], value: Any) -> str:
    """Set the value at a path, creating the objects on the way."""
    text += "" if text.strip(_SPACE) else "{}\n"
    document = _Document(text)
    node = document.root
    for depth, step in enumerate(path):
        if (inner := node.at(step)) is None:
            if isinstance(step, int) or not isinstance(node.value, list if step is None else dict):
                what = "a list" if step is None else "an object"
                raise InvalidFile(f"{'.'.join(map(str, path[:depth])) or 'The document'} is not {what}.")
            for later in reversed(path[depth + 1 :]):
                value = [value] if later is None else {later: value}
            return document.with_inner(node, step, value)
        node = inner
    tight = "\n" not in text[node.start : node.end] and (bool(node.inner) or document.tight)
    return text[: node.start] + document.written(value, document.lead(node.start), tight=tight) + text[node.end :]


def append(text: str, path: tuple[Step, ...], value: Any) -> str:
    """Append an element to the list at a path, creating the list if there is none."""
    return put(text, (*path, None), value)


def without(text: str, path: tuple[Step, ...]) -> str:
    """Remove the value at a path, with its comma."""
    parent = node = _Document(text).root
    for step in path:
        inner = node.at(step)
        assert inner is not None, path
        parent, node = node, inner
    place = parent.inner.index(node)
    begin, end = len(text[: node.begin].rstrip()), node.end
    if node.comma is not None:
        end = node.comma + 1
        if place == 0 and len(parent.inner) > 1 and "\n" not in text[parent.start : node.begin]:
            begin, end = node.begin, parent.inner[1].begin
    elif place > 0 and (comma := parent.inner[place - 1].comma) is not None:
        text = text[:comma] + text[comma + 1 :]
        begin, end = begin - 1, end - 1
    left = text[:begin] + text[end:]
    if len(parent.inner) > 1:
        return left
    close = parent.end - 1 - (end - begin)
    return left[: parent.start + 1] + left[close:] if not left[parent.start + 1 : close].strip() else left


class _Document:
    """A text, read from left to right, and how it is laid out."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 1 if text.startswith("\ufeff") else 0
        root = self.root = self._node(DEEPEST)
        self._next()
        if self.at != len(text):
            raise self._broken("something follows its end")
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.tight = bool(root.inner) and "\n" not in text[root.start : root.end]  # all of it on one line
        self.colon = ":" if self.tight and re.search(r'":[^\s]', text) else ": "
        self.unit = self._indent(root) or "  "

    def with_inner(self, node: Node, key: str | None, value: Any) -> str:
        """Return the text with a member or element appended, formatted like its neighbours."""
        text, inner = self.text, node.inner
        on_one_line = self.tight or (bool(inner) and "\n" not in text[node.start : node.end])
        if (indent := self._indent(node)) is None:
            indent = self.lead(node.start) + self.unit
        name = "" if key is None else json.dumps(key, ensure_ascii=False) + self.colon
        piece = name + self.written(value, indent, tight=on_one_line)
        lead = "" if on_one_line else self.newline + indent
        until = len(text[: node.end - 1].rstrip())  # behind the last thing inside, comments included
        if not inner:
            has_line = on_one_line or "\n" in text[until : node.end]
            tail = "" if has_line else self.newline + self.lead(node.start)
            return text[:until] + lead + piece + tail + text[until:]
        lead = lead or (" " if self.colon == ": " else "")
        if inner[-1].comma is not None:
            return text[:until] + lead + piece + "," + text[until:]
        end = inner[-1].end
        return text[:end] + "," + text[end:until] + lead + piece + text[until:]

    def written(self, value: Any, indent: str, *, tight: bool) -> str:
        if tight:
            separators = ("," if self.colon == ":" else ", ", self.colon)
            return json.dumps(value, ensure_ascii=False, separators=separators)
        return json.dumps(value, ensure_ascii=False, indent=self.unit).replace("\n", self.newline + indent)

    def lead(self, at: int) -> str:
        """Return the indentation of a line."""
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _indent(self, node: Node) -> str | None:
        """Return the indentation of the first value in a node, if that begins a line."""
        before = re.search(r"\n([ \t]*)\Z", self.text[: node.inner[0].begin]) if node.inner else None
        return before and before[1]

    def _node(self, deeper: int) -> Node:
        opening, start = self._next(), self.at
        if opening not in _CLOSING:
            return Node(self._scalar(opening), start, self.at)
        if not deeper:
            raise self._broken(f"it is nested more than {DEEPEST} levels deep")
        inner = list[Node]()
        self.at += 1
        while (here := self._next()) != _CLOSING[opening]:
            if inner and inner[-1].comma is None:
                raise self._broken("a comma or an end is missing")
            begin = self.at
            key: Step = len(inner)
            if opening == "{":
                key = self._scalar(here) if here == '"' else None
                if not isinstance(key, str) or self._next() != ":":
                    raise self._broken("a name and a colon are missing")
                self.at += 1
            node = self._node(deeper - 1)
            comma = self.at if self._next() == "," else None
            inner.append(node._replace(key=key, begin=begin, comma=comma))
            self.at += comma is not None
        self.at += 1
        items = {node.key: node.value for node in inner}
        return Node(items if opening == "{" else [*items.values()], start, self.at, tuple(inner))

    def _scalar(self, here: str) -> Any:
        if not here:
            raise self._broken("a value is missing")
        try:
            value, self.at = json.JSONDecoder().raw_decode(self.text, self.at)
        except json.JSONDecodeError as problem:
            raise self._broken(problem.msg) from problem
        return value

    def _next(self) -> str:
        """Skip spaces and comments, and return the character there."""
        blank = _BLANK.match(self.text, self.at)
        assert blank
        self.at = blank.end()
        return self.text[self.at : self.at + 1]

    def _broken(self, what: str) -> InvalidFile:
        line = self.text.count("\n", 0, self.at) + 1
        return InvalidFile(f"It is not valid JSON: line {line}: {what}.")
