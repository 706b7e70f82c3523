"""Requests: what a caller may ask for, declared once; the command line, tools, HTTP and Python derive their parameters."""

import inspect
import json
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, MISSING, dataclass, field, fields
from functools import cache
from os import PathLike
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from holdfast.model.errors import Invalid
from holdfast.model.foreign_json import parse_json
from holdfast.model.ids import moment_of

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
