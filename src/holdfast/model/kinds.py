"""The table of record kinds: fields, what is required, half-life, icon and the name in each compatible system."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from holdfast.model.errors import Invalid

FieldType = Literal["text", "list", "choice", "number", "flag"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a kind."""

    name: str
    type: FieldType = "text"
    required: bool = False
    choices: tuple[str, ...] = ()
    least: int = 0
    longest: int = 5_000
    default: str = ""
    help: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of record."""

    name: str
    icon: str
    help: str
    fields: tuple[Field, ...] = ()
    half_life: float | None = None  # days; None: it does not age
    pending: bool = False
    separate: bool = False  # its records are no memories of their project: only who asks for their kind reads them
    names: Mapping[str, str]


SEVERITIES = ("critical", "high", "medium", "low")
# Name, type, choices or the longest, whether it is required and the least, default, help.
_FIELD = re.compile(r"(\w+) (\w+)(?::([\w,]+))?(\*(\d*))?(?:=(\w+))?  (.+)")


def _kinds() -> Iterator[Kind]:
    _, *blocks = (Path(__file__).parent / "kinds.txt").read_text(encoding="utf-8").strip().split("\n\n")
    shared: dict[str, tuple[Field, ...]] = {}
    for block in blocks:
        head, *lines = block.split("\n  ")
        if head.startswith("+"):
            shared[head] = tuple(map(_field, lines))
            continue
        (name, icon, half_life, *marks), (help_, names, *fields) = head.split(" "), lines
        yield Kind(
            name=name,
            icon=icon,
            help=help_,
            fields=tuple(field for line in fields for field in shared.get(line) or (_field(line),)),
            half_life=None if half_life == "-" else float(half_life),
            pending="pending" in marks,
            separate="separate" in marks,
            names=dict(pair.split("=") for pair in names.split(" | ")),
        )


def _field(line: str) -> Field:
    said = _FIELD.fullmatch(line)
    assert said, line
    name, kind, bound, required, least, default, help_ = said.groups("")
    texts: dict[str, Any] = {"name": name, "type": kind, "default": default, "help": help_}
    choices, longest = (tuple(bound.split(",")), 5_000) if kind == "choice" else ((), int(bound or 5_000))
    return Field(**texts, required=bool(required), choices=choices, least=int(least or 0), longest=longest)


KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _kinds()}
SEPARATE = frozenset(kind.name for kind in KINDS.values() if kind.separate)
NOTES = ("observation", "summary")  # what rules record about sessions, at every turn
# Fields whose values are codes, not words: they are neither displayed as text nor searched.
CODED = frozenset(field.name for kind in KINDS.values() for field in kind.fields if field.type not in ("text", "list"))


def check_kind(name: str) -> Kind:
    """Return the kind with this name; raise Invalid with the nearest name as a hint."""
    if kind := KINDS.get(name):
        return kind
    near = get_close_matches(name, KINDS, n=1)
    hint = f"Did you mean {near[0]}?" if near else f"Kinds are: {', '.join(KINDS)}."
    raise Invalid(f"There is no kind {name[:40]!r}.", hint=hint)


def name_in(system: str, kind: str) -> str:
    """Return what a compatible system calls a kind; "" if it has no such kind."""
    return KINDS[kind].names.get(system, "") if kind in KINDS else ""


def check_fields(kind: Kind, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the cleaned fields of a kind; raise Invalid with every problem at once."""
    known, problems, values = {spec.name for spec in kind.fields}, list[str](), dict[str, Any]()
    for name in (name for name in fields if name not in known):
        near = get_close_matches(name, known, n=1)
        problems.append(f"{name} is not a field of {kind.name}" + (f" (did you mean {near[0]}?)" if near else ""))
    for spec in kind.fields:
        value = fields.get(spec.name)
        if value in (None, "", [], ()):
            if spec.required:
                least = f": at least {spec.least}" if spec.least else ""
                wanted = f": one of {', '.join(spec.choices)}" if spec.choices else least
                problems.append(f"{spec.name} is required{wanted}")
            elif spec.default:
                values[spec.name] = spec.default
        elif problem := _problem(spec, value):
            problems.append(problem)
        else:
            values[spec.name] = [item.strip() for item in value] if spec.type == "list" else value
    if problems:
        raise Invalid(f"This {kind.name} cannot be saved: {'; '.join(problems)}.", problems=problems)
    return values


def fit_fields(kind: Kind, fields: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split foreign fields into those that a kind can hold and the rest; required ones may be missing."""
    known = {spec.name: replace(spec, least=0) for spec in kind.fields}
    rest = {name: value for name, value in fields.items() if value not in (None, "", [], (), {})}
    own = {name: _coerced(known[name], value) for name, value in rest.items() if name in known}
    fitting = {name: value for name, value in own.items() if not _problem(known[name], value)}
    return fitting, {name: value for name, value in rest.items() if name not in fitting}


def _coerced(spec: Field, value: Any) -> Any:
    match spec.type, value:
        case "list", str():
            return [value]
        case "list", list() | tuple():
            return [item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in value]
        case "text", list() | tuple() if all(isinstance(item, str) for item in value):
            return "\n".join(value)
        case "choice", str():
            return value.lower()
        case "flag", 0 | 1:
            return bool(value)
    return value


def _problem(spec: Field, value: Any) -> str:
    match spec.type:
        case "list" if not (isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)):
            return f"{spec.name} must be a list of texts"
        case "list" if len([item for item in value if item.strip()]) < spec.least:
            return f"{spec.name} needs at least {spec.least}"
        case "list" if any(len(item) > spec.longest for item in value):
            return f"an item of {spec.name} is longer than {spec.longest} characters"
        case "choice" if value not in spec.choices:
            return f"{spec.name} must be one of {', '.join(spec.choices)}"
        case "number" if isinstance(value, bool) or not isinstance(value, int | float):
            return f"{spec.name} must be a number"
        case "flag" if not isinstance(value, bool):
            return f"{spec.name} must be true or false"
        case "text" if not isinstance(value, str):
            return f"{spec.name} must be text"
        case "text" if len(value) > spec.longest:
            return f"{spec.name} is longer than {spec.longest} characters"
    return ""
