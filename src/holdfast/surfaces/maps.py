"""Maps: which parts of our values are the arguments or the result of another system's tool, and what they are called there.

A map is a text of `name=path|filter` pairs: `id=number, title=record.title|80, hot=true, links=arrows[to=target], by={name=record.by.name}`.
A path starts at the value on hand, then at the values around it (an outer item, the result, the arguments, `memory` and `call`);
`.` is the value itself. `name` alone stands for `name=name`, `name?` is left out where it is empty, `*path` adds all
that a mapping has, `path{…}` maps what is there and `path[…]` each item of it, `'text'` is a constant and `"text {path|filter}"` a text with holes.
"""

import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, is_dataclass, replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from holdfast.model.errors import HoldfastError
from holdfast.model.foreign_json import parse_json
from holdfast.model.text import counted, shorten
from holdfast.surfaces.phrases import RELEVANCE, content

if TYPE_CHECKING:
    from holdfast.surfaces.tool import Call, Surface
    from holdfast.verbs.memory import Memory

Getter = Callable[["Scope"], Any]
_TOKEN = re.compile(r"""\s*("[^"]*"|'[^']*'|[\w.|*?:-]+|[\[\]{},=])""")
_ENTRY = re.compile(r"^(\S+?)(:| =)(.*(?:\n[ ].*)*)", re.MULTILINE)  # of rows.txt
_HOLE = re.compile(r"\{([^{}]+)\}")
_FILTERS: Mapping[str, Callable[..., Any]] = {
    "content": content,
    "counted": counted,
    "date": lambda at: at[:10],
    "fixed": lambda value: f"{value:.2f}",
    "if": lambda value, words: words.split(":")[not value],
    "ids": lambda records: [record.id for record in records],
    "len": len,
    "list": list,
    "minute": lambda at: at[:16],
    "none": lambda value: value or None,
    "not": lambda value: not value,
    "now": lambda memory: memory.clock.now(),
    "one": lambda value: [value] if value else None,
    "or": lambda value, instead: value or instead,
    "percent": lambda value: f"{value:.0%}",
    "relevance": RELEVANCE.__getitem__,
    "text": lambda value: value or "",
    "zero": lambda value: value or 0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What the maps of a surface may name: filters, filters that also need the memory, and fixed values."""

    filters: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    lookups: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Row:
    """A tool: the verb it calls with the memory, the maps of its arguments (None: as they are) and of its result, and its page."""

    verb: Callable[..., Any]
    arguments: str | None = None
    result: str = ""
    page: Callable[..., str] | None = None  # shows the mapped result as text

    def run(self, memory: "Memory", arguments: Mapping[str, Any], terms: Terms, call: "Call | None" = None) -> Any:
        """Call the verb with the mapped arguments, without those that are None, and return its result as mapped."""
        scope = scope_of(memory, terms, arguments, {"call": call})
        given = arguments if self.arguments is None else getter(self.arguments)(scope)
        result = self.verb(memory, **{name: value for name, value in given.items() if value is not None})
        shown = getter(self.result)(scope.within(result)) if self.result else result
        return self.page(**shown) if self.page else shown


def read_rows(folder: Path, own: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Row]]:
    """Return the shapes and the tools of a surface's rows.txt, whose head explains it; `own` are the surface's functions."""
    shapes, rows = dict[str, str](), dict[str, Row]()
    for name, sign, raw in _ENTRY.findall((folder / "rows.txt").read_text(encoding="utf-8")):
        text = Template(" ".join(raw.split())).substitute(shapes).replace("\\n", "\n")
        if sign == " =":
            shapes[name] = text
            continue
        verb, *parts = re.split(r"\s*(<-|->|=>)\s*", text)
        maps = dict(zip(parts[::2], parts[1::2], strict=True))
        shown, _, values = maps.get("=>", "").partition(" ")
        page = partial(own["page"], shown) if shown else None
        module, _, function = verb.rpartition(".")
        run = getattr(import_module(f"holdfast.verbs.{module}"), function) if module else own[verb]
        rows[name] = Row(run, maps.get("<-"), maps.get("->", "") or values, page)
    return shapes, rows


def problem_text(problem: HoldfastError) -> str:
    """Return an error as one line: every problem with the arguments, or the message, and what to do."""
    return f"{'; '.join(problem.problems) + '.' if problem.problems else problem.message} {problem.hint}".strip()


def surface_of(
    contract: "Surface",
    rows: Mapping[str, Row],
    terms: Terms,
    *,
    memory_for: "Callable[[Call, dict[str, Any]], Memory]" = lambda call, _: call.memory,
    present_error: Callable[[HoldfastError], Any] = problem_text,
) -> "Surface":
    """Return the surface that implements a contract with these rows; `memory_for` may take arguments out."""

    def runs(name: str) -> Callable[..., Any]:
        return lambda call, **given: rows[name].run(memory_for(call, given), given, terms, call)

    return replace(
        contract,
        tools={name: replace(tool, run=runs(name)) for name, tool in contract.tools.items()},
        resources={uri: replace(one, run=runs(one.name)) for uri, one in contract.resources.items()},
        present_error=present_error,
    )


@dataclass(frozen=True, slots=True)
class Scope:
    """The values that paths start at, the innermost first, and the filters."""

    values: tuple[Any, ...]
    filters: Mapping[str, Callable[..., Any]]

    def within(self, value: Any) -> "Scope":
        """Return the scope of an item; a tuple counts as several values of one item."""
        return Scope((*(value if isinstance(value, tuple) else (value,)), *self.values), self.filters)

    def get(self, path: str) -> Any:
        """Return the value at a path, filtered; a part that a mapping or None lacks is None."""
        path, *filters = path.split("|")
        first, *rest = path.strip(".").split(".")
        owner = next((value for value in self.values if _has(value, first)), None)
        if first and owner is None:
            raise KeyError(path)
        value = _part(owner, first) if first else self.values[0]
        for name in rest:
            value = _part(value, name)
        for filter_ in filters:
            name, _, word = filter_.partition(":")
            if not name.isdecimal():
                value = self.filters[name](value, *([word] if word else []))
            elif value is not None:
                value = shorten(value, int(name)) if isinstance(value, str) else round(value, int(name))
        return value


def scope_of(memory: "Memory | None", terms: Terms, *values: Any) -> Scope:
    """Return the scope of these values in a memory."""
    lookups = {name: partial(lookup, memory) for name, lookup in terms.lookups.items()}
    return Scope((*values, {"memory": memory}, terms.constants), {**_FILTERS, **terms.filters, **lookups})


def mapped(text: str, value: Any, memory: "Memory | None", terms: Terms) -> dict[str, Any]:
    """Return a value as the object that a map makes of it."""
    made: dict[str, Any] = getter(text)(scope_of(memory, terms).within(value))
    return made


@cache
def getter(text: str) -> Getter:
    """Return the function that reads a map from a scope: a list for `[…]`, a text for `"…"`, otherwise an object."""
    assert not _TOKEN.sub("", text).strip(), text
    tokens = deque(_TOKEN.findall(text))
    read = _value(tokens) if tokens and tokens[0][0] in '["' else _object(tokens, "")
    assert not tokens, f"unread: {' '.join(tokens)} in {text}"
    return read


def _value(tokens: deque[str]) -> Getter:
    word = tokens.popleft()
    if word == "{":
        return _object(tokens, "}")
    if word[0] == '"':
        return lambda scope: _HOLE.sub(lambda hole: str(scope.get(hole[1])), word[1:-1])
    if word[0] == "'" or re.fullmatch(r"true|false|null|-?\d+(\.\d+)?", word):
        constant = word[1:-1] if word[0] == "'" else parse_json(word)
        return lambda _: constant
    opened = "[" if word == "[" else tokens[0] if tokens and tokens[0] in ("[", "{") else ""
    if not opened:
        return lambda scope: scope.get(word)
    path = "" if word == "[" else word
    if path:
        tokens.popleft()
    shown = _object(tokens, "]" if opened == "[" else "}")
    after = tokens.popleft() if tokens and tokens[0][0] == "|" else ""

    def within(scope: Scope) -> Any:
        value = scope.get(path)
        if value is None:
            return None
        made = [shown(scope.within(item)) for item in value] if opened == "[" else shown(scope.within(value))
        return Scope((made,), scope.filters).get(after)

    return within


def _object(tokens: deque[str], end: str) -> Getter:
    parts: list[tuple[str, Getter]] = []
    while tokens and tokens[0] != end:
        name = tokens.popleft()
        if tokens and tokens[0] == "=":
            tokens.popleft()
            parts.append((name, _value(tokens)))
        else:
            parts.append((name, partial(Scope.get, path=name.strip("*?"))))
        if tokens and tokens[0] == ",":
            tokens.popleft()
    if end:
        tokens.popleft()

    def made(scope: Scope) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, read in parts:
            value = read(scope)
            if name[0] == "*":
                values |= value
            elif name[-1] != "?" or not (value is None or value is False or value in ("", [], {})):
                values[name.rstrip("?")] = value
        return values

    return made


def _has(value: Any, name: str) -> bool:
    return name in value if isinstance(value, Mapping) else is_dataclass(value) and hasattr(value, name)


def _part(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name) if value is not None else None
