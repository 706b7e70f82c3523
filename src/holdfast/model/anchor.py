"""Anchors: the places in code that a record cites, and the content recorded for each of them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

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
class CodeMark:
    """The content at a cited place: blob id of the file, hash and size of the cited part, its lines, or a value."""

    there: bool | None = True  # None if the place could not be read
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
class CodeSnapshot:
    """One look at the code: the commit, and a mark for each cited place."""

    commit: str = ""
    marks: Mapping[str, CodeMark]


def parse_anchor(text: str) -> Anchor:
    """Parse an anchor; text that has no other form is a path."""
    anchor = text.strip()
    if not anchor or len(anchor) > LONGEST_ANCHOR or "\n" in anchor or "\0" in anchor:
        hint = "Cite a place: path, path::symbol, path:L3-L9, path::NAME=5."
        raise Invalid(f"{anchor[:60]!r} is not an anchor.", hint=hint)
    if anchor.startswith("!"):
        return Anchor(kind="absent", path=_path(anchor[1:]))
    if anchor.startswith(COMMIT):
        return Anchor(kind="commit", value=anchor.removeprefix(COMMIT).strip())
    if anchor.startswith(VERSION):
        match = _VERSION.fullmatch(anchor.removeprefix(VERSION).strip())
        return Anchor(kind="version", name=match["name"], value=match["value"]) if match else Anchor(kind="version")
    path, separator, name = anchor.partition("::")
    if separator and name.strip():
        if match := _VALUE.fullmatch(name.strip()):
            return Anchor(kind="value", path=_path(path), name=match["name"], value=match["value"].strip())
        return Anchor(kind="symbol", path=_path(path), name=name.strip().replace("::", "."))
    if (match := _LINES.fullmatch(anchor)) and not re.fullmatch(r"[A-Za-z]", match["path"]):
        first = int(match["first"])
        return Anchor(kind="lines", path=_path(match["path"]), first=first, last=int(match["last"] or first))
    return Anchor(kind="path", path=_path(anchor))


def bare_value(text: str) -> str:
    """Return a value without quotes, spaces, trailing separators and comments."""
    value = re.sub(r"\s+(?:#|//|/\*)\s.*$", "", text.strip()).rstrip(",;").strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'`":
        value = value[1:-1]
    return re.sub(r"(?<=\d)_(?=\d)", "", re.sub(r"\s+", "", value))


def check_anchors(anchors: tuple[str, ...]) -> tuple[str, ...]:
    """Return the anchors without duplicates; raise Invalid if one cannot be parsed."""
    unique = tuple(dict.fromkeys(anchor.strip() for anchor in anchors if anchor.strip()))
    if len(unique) > MOST_ANCHORS:
        raise Invalid(f"{len(unique)} anchors are too many; {MOST_ANCHORS} is the most.")
    for anchor in unique:
        parse_anchor(anchor)
    return unique


def snapshot_to_json(snapshot: CodeSnapshot) -> dict[str, Any]:
    """Return a snapshot as JSON, without the fields of a mark that have their default."""
    parts = [(spec.name, spec.default) for spec in fields(CodeMark)]
    marks: dict[str, dict[str, Any]] = {anchor: {} for anchor in snapshot.marks}
    for anchor, mark in snapshot.marks.items():
        marks[anchor] = {name: value for name, default in parts if (value := getattr(mark, name)) != default}
    return {"commit": snapshot.commit, "marks": marks}


def snapshot_from_json(value: Any) -> CodeSnapshot | None:
    """Parse a snapshot; None if the value is not one."""
    marks = value.get("marks") if isinstance(value, Mapping) else None
    if not isinstance(marks, Mapping):
        return None
    parsed = dict[str, CodeMark]()
    for anchor, part in marks.items():
        if isinstance(part, Mapping):
            said = {name: part[name] for name in ("blob", "hash", "value") if isinstance(part.get(name), str)}
            places = {name: part[name] for name in ("size", "first", "last") if isinstance(part.get(name), int)}
            there = part.get("there", True)
            parsed[str(anchor)] = CodeMark(there=there if isinstance(there, bool) else None, **said, **places)
    commit = value.get("commit")
    return CodeSnapshot(commit=commit if isinstance(commit, str) else "", marks=parsed)


def _path(text: str) -> str:
    return text.strip().replace("\\", "/").removeprefix("./")


# `exists`: a place that is only named is still there, which says nothing about its content. `unverified`: no content was
# recorded. `unknown`: it could not be read. None of these is ever reported as fresh.
State = Literal["fresh", "exists", "unverified", "unknown", "changed", "missing"]
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The state of a cited place. `commits` is None if it is unknown how many changed it."""

    anchor: str
    state: State
    note: str = ""
    moved_to: str = ""
    now: CodeMark | None = None
    commits: int | None = None
    last: Touch | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """Whether a record is still true according to its anchors, and how many days ago it was checked."""

    state: State
    findings: tuple[Finding, ...] = ()
    days: float | None = None

    @property
    def problems(self) -> tuple[Finding, ...]:
        """The findings that contradict the record."""
        return tuple(finding for finding in self.findings if finding.state in ("changed", "missing"))

    @property
    def moved(self) -> tuple[Finding, ...]:
        """The findings that are still true at another place."""
        return tuple(finding for finding in self.findings if finding.moved_to)
