"""Anchors: the places in code that a record cites, and what stood there when somebody looked."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from holdfast.model.errors import Invalid

AnchorKind = Literal["path", "symbol", "lines", "value", "absent", "version", "commit"]
LONGEST_ANCHOR, MOST_ANCHORS = 512, 64
COMMIT, VERSION = "commit:", "version:"
_LINES = re.compile(r"(?P<path>.+?):L?(?P<first>[1-9]\d{0,6})(?:-L?(?P<last>[1-9]\d{0,6}))?")
_VALUE = re.compile(r"(?P<name>[\w.$-]+)\s*=\s*(?P<value>.+)")
_VERSION = re.compile(r"(?P<name>[\w.@/+-]+?)(?:\s*(?:==|=|@)\s*|\s+)v?(?P<value>\d[\w.+-]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A cited place: `app.py`, `app.py::Shop.pay`, `app.py:L3-L9`, `app.py::LIMIT=5`, `!old.py`, `version:…`, `commit:…`."""

    kind: AnchorKind
    path: str = ""
    name: str = ""
    value: str = ""
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What stood at a place: which file content it was, hash and size of what the cited part says, where it lay, or a value.

    `there` None means that nobody could tell.
    """

    there: bool | None = True
    blob: str = ""
    hash: str = ""
    size: int = 0
    first: int = 0
    last: int = 0
    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """A commit that changed a file, and the content it had before and after."""

    commit: str
    author: str
    at: str
    subject: str
    path: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What somebody saw of the code: at which commit, and a mark for each place."""

    commit: str = ""
    marks: Mapping[str, Mark]


def parse_anchor(text: str) -> Anchor:
    """Read an anchor; anything that is no other form is a path."""
    said = text.strip()
    if not said or len(said) > LONGEST_ANCHOR or "\n" in said or "\0" in said:
        raise Invalid(
            f"{said[:60]!r} is no anchor.", hint="Cite a place: path, path::symbol, path:L3-L9, path::NAME=5."
        )
    if said.startswith("!"):
        return Anchor(kind="absent", path=_path(said[1:]))
    if said.startswith(COMMIT):
        return Anchor(kind="commit", value=said.removeprefix(COMMIT).strip())
    if said.startswith(VERSION):
        match = _VERSION.fullmatch(said.removeprefix(VERSION).strip())
        return Anchor(kind="version", name=match["name"], value=match["value"]) if match else Anchor(kind="version")
    path, found, name = said.partition("::")
    if found and name.strip():
        if match := _VALUE.fullmatch(name.strip()):
            return Anchor(kind="value", path=_path(path), name=match["name"], value=match["value"].strip())
        return Anchor(kind="symbol", path=_path(path), name=name.strip().replace("::", "."))
    if (match := _LINES.fullmatch(said)) and not re.fullmatch(r"[A-Za-z]", match["path"]):
        first = int(match["first"])
        return Anchor(kind="lines", path=_path(match["path"]), first=first, last=int(match["last"] or first))
    return Anchor(kind="path", path=_path(said))


def bare_value(text: str) -> str:
    """Return a value without the quotes, spaces, separators and remarks it may be written with."""
    said = re.sub(r"\s+(?:#|//)\s.*$", "", text.strip()).rstrip(",;").strip()
    if len(said) > 1 and said[0] == said[-1] and said[0] in "\"'`":
        said = said[1:-1]
    return re.sub(r"(?<=\d)_(?=\d)", "", re.sub(r"\s+", "", said))


def check_anchors(anchors: tuple[str, ...]) -> tuple[str, ...]:
    """Return anchors once each, or say which one cannot be read."""
    kept = tuple(dict.fromkeys(anchor.strip() for anchor in anchors if anchor.strip()))
    if len(kept) > MOST_ANCHORS:
        raise Invalid(f"{len(kept)} anchors are too many; {MOST_ANCHORS} is the most.")
    for one in kept:
        parse_anchor(one)
    return kept


def sight_to_json(sight: Sight) -> dict[str, Any]:
    """Write what was seen as JSON; parts that say nothing are left out."""
    return {"commit": sight.commit, "marks": {anchor: _mark_to_json(mark) for anchor, mark in sight.marks.items()}}


def sight_from_json(value: Any) -> Sight | None:
    """Read what was seen; None if it is nothing of the kind."""
    marks = value.get("marks") if isinstance(value, Mapping) else None
    if not isinstance(marks, Mapping):
        return None
    read = {str(anchor): mark for anchor, given in marks.items() if (mark := _mark_from_json(given))}
    commit = value.get("commit")
    return Sight(commit=commit if isinstance(commit, str) else "", marks=read)


def _path(text: str) -> str:
    return text.strip().replace("\\", "/").removeprefix("./")


def _mark_to_json(mark: Mark) -> dict[str, Any]:
    given = {spec.name: getattr(mark, spec.name) for spec in fields(mark)}
    return {name: value for name, value in given.items() if value != Mark.__dataclass_fields__[name].default}


def _mark_from_json(value: Any) -> Mark | None:
    if not isinstance(value, Mapping):
        return None
    texts = {name: value[name] for name in ("blob", "hash", "value") if isinstance(value.get(name), str)}
    places = {name: value[name] for name in ("size", "first", "last") if isinstance(value.get(name), int)}
    there = value.get("there", True)
    return Mark(there=there if isinstance(there, bool) else None, **texts, **places)
