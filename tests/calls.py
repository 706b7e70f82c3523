"""Calls of functions by their names, with arguments as JSON: what scripts of verbs and policies stand on."""

import pkgutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from inspect import isfunction, signature
from pathlib import Path
from typing import Any, get_args

import pytest

from holdfast.model.errors import HoldfastError
from holdfast.model.record import Record


@cache
def functions_in(package: str) -> dict[str, Callable[..., Any]]:
    """Return every public function of a package by its name, if only one module has it, and by the names of module and function."""
    found, times = dict[str, Callable[..., Any]](), Counter[str]()
    for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        for name, function in vars(import_module(module.name)).items():
            if isfunction(function) and function.__module__ == module.name and not name.startswith("_"):
                times[name] += 1
                found |= {name: function, f"{module.name.rpartition('.')[2]}.{name}": function}
    return {name: function for name, function in found.items() if times[name] < 2}


def made(hint: Any, value: Any) -> Any:
    """Return a value of a script as a function takes it: lists are tuples, an object is what its annotation names."""
    kinds = [kind for kind in _types_in(hint) if is_dataclass(kind) or hasattr(kind, "_fields")]  # or a named tuple
    match value:
        case list():
            return tuple(made(hint, item) for item in value)
        case str() if hint is Path:
            return Path(value)
        case Record() if Record not in kinds:
            return value.id
        case dict() if kinds:
            taken = signature(kinds[0]).parameters
            return kinds[0](**{name: made(taken[name].annotation, item) for name, item in value.items()})
    return value


def _types_in(hint: Any) -> Iterator[type]:
    if isinstance(hint, type):
        yield hint
    for part in get_args(hint):
        yield from _types_in(part)


def called(function: Callable[..., Any], first: tuple[Any, ...], arguments: dict[str, Any]) -> Any:
    """Call a function; arguments that are no parameters of it are fields of the value that it takes."""
    taken = {one.name: one.annotation for one in list(signature(function).parameters.values())[len(first) :]}
    given = {name: made(hint, arguments[name]) for name, hint in taken.items() if name in arguments}
    rest = {name: value for name, value in arguments.items() if name not in taken}
    whole = [name for name, hint in taken.items() if name not in given and is_dataclass(hint)]
    if rest or whole:
        given[whole[0]] = made(taken[whole[0]], rest)
    return function(*first, **given)


def refusal_of(function: Callable[..., Any], first: tuple[Any, ...], arguments: dict[str, Any]) -> str:
    """Return the name and the message of the error that a call must raise."""
    with pytest.raises(HoldfastError) as caught:
        called(function, first, arguments)
    return f"{type(caught.value).__name__}: {caught.value}"
