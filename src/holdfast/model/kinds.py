"""The table of record kinds, and requests: what a caller may ask for, declared once."""

import inspect
import json
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, MISSING, dataclass, field, fields, replace
from difflib import get_close_matches
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from holdfast.model.errors import Invalid
from holdfast.model.foreign_json import parse_json
from holdfast.model.ids import moment_of

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


REQUIRED: Any = inspect.Parameter.empty
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Asked:
    """A field of a request: what it means for people, and how it is typed on the command line."""

    help: str
    brief: str = ""  # for a model, where every word costs; empty: the name is enough
    _: KW_ONLY
    flag: str = ""  # its names on the command line, as in "-o --output"; empty: by its own name
    form: str = ""  # what completes it in a shell: memory, kind, scope, date, client, relation
    metavar: str | None = None
    choices: tuple[str, ...] = ()  # the only values; empty: those of its Literal type, if it is one
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a request that a function takes as keyword arguments: `**asked: Annotated[Any, Fields(Query, "kinds limit")]`."""

    request: type
    names: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of a function, with what was declared about it; `schema` is what else JSON Schema says."""

    name: str
    type: Any
    default: Any
    asked: Asked
    positional: bool = False
    schema: Mapping[str, Any] = field(default_factory=dict)

    @property
    def optional(self) -> bool:
        """True if None is a value of it."""
        return get_origin(self.type) in (Union, types.UnionType) and type(None) in get_args(self.type)

    @property
    def kind(self) -> Any:
        """Its type without None."""
        return next(part for part in get_args(self.type) if part is not type(None)) if self.optional else self.type

    @property
    def item(self) -> Any:
        """The type of one of its values, if it has many; else its type."""
        return get_args(self.kind)[0] if get_origin(self.kind) in (tuple, list) else self.kind

    @property
    def choices(self) -> tuple[str, ...]:
        """The only values that are allowed; empty for any."""
        return self.asked.choices or (get_args(self.item) if get_origin(self.item) is Literal else ())


def parameters_of(function: Callable[..., Any]) -> Iterator[Parameter]:
    """Yield what a function takes after its first parameter: positional ones, the fields of a request, keyword-only ones."""
    hints = get_type_hints(function, include_extras=True)
    taken = list(inspect.signature(function).parameters.values())
    positional = [one for one in taken if one.kind is one.POSITIONAL_OR_KEYWORD]
    yield from (_parameter(one.name, hints[one.name], one.default, positional=True) for one in positional)
    for one in taken:
        if one.kind is one.VAR_KEYWORD:
            asked = next(note for note in get_args(hints[one.name]) if isinstance(note, Fields))
            declared, specs = _declared(asked.request), {spec.name: spec for spec in fields(asked.request)}
            for spec in (specs[name] for name in asked.names.split()):
                made = REQUIRED if spec.default_factory is MISSING else spec.default_factory()
                yield _parameter(spec.name, declared[spec.name], made if spec.default is MISSING else spec.default)
    yield from (_parameter(one.name, hints[one.name], one.default) for one in taken if one.kind is one.KEYWORD_ONLY)


def _parameter(name: str, hint: Any, default: Any, *, positional: bool = False) -> Parameter:
    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    asked, schema = Asked(""), dict[str, Any]()
    for note in notes:
        match note:
            case Asked():
                asked = note
            case str():
                asked = Asked(note, note)
            case dict():
                schema |= note
    return Parameter(name=name, type=kind, default=default, asked=asked, positional=positional, schema=schema)


@cache
def _declared(request: Callable[..., Any]) -> dict[str, Any]:
    return get_type_hints(request, include_extras=True)


def built(request: Callable[..., _Value], given: Mapping[str, Any], now: str = "") -> _Value:
    """Build a request from what a caller passed, each value of its declared type; None is the default; with `now`, dates may be spans."""
    values, declared = {name: value for name, value in given.items() if value is not None}, _declared(request)
    for name, value in [pair for pair in values.items() if pair[0] in declared]:
        parameter = _parameter(name, declared[name], None)
        is_moment = parameter.asked.form == "date" and value and now
        values[name] = moment_of(value, now) if is_moment else fitting(name, parameter.kind, value)
    return request(**values)


def fitting(name: str, kind: Any, given: Any) -> Any:
    """Return what a caller passed, a list as a tuple; raise Invalid if it is not of the declared type."""
    plain = str if get_origin(kind) is Literal else get_origin(kind) or kind
    accepted: Any = {float: int | float, PathLike: str | PathLike, tuple: Iterable}.get(plain, plain)
    is_text = accepted is Iterable and isinstance(given, str | bytes)  # it would be taken letter by letter
    if is_text or not isinstance(given, accepted) or isinstance(given, bool) != (plain is bool):
        hint = f"Pass {name}=[{given!r:.40}]." if plain is tuple else ""
        raise Invalid(f"{name} must be {_NOUNS.get(plain, f'a {plain.__name__}')}, not {given!r:.40}.", hint=hint)
    if plain is Mapping:
        try:
            return parse_json(json.dumps(dict(given)))
        except (TypeError, ValueError, RecursionError) as problem:
            raise Invalid(f"{name} cannot be written as JSON: {problem}.") from problem
    return tuple(fitting(f"each of {name}", get_args(kind)[0], each) for each in given) if plain is tuple else given


_NOUNS = {str: "a text", int: "a whole number", float: "a number", bool: "True or False", tuple: "a list of texts"}
_NOUNS |= {Mapping: "a dict", PathLike: "a path", Iterable: "lines of text, such as an open file"}
