"""A surface that others designed: a contract lists its tools, functions of ours stand behind them.

The contract (contract.json beside a surface's tools.py) is also what clients are told is on offer, so listing it imports
nothing. Its users are used to some freedom: arguments nobody knows are left aside, and what is clearly meant is taken.
"""

import builtins
import json
import keyword
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from holdfast.model.errors import HoldfastError, Invalid
from holdfast.model.foreign_json import parse_json
from holdfast.model.text import DEEPEST, check_keepable
from holdfast.surfaces.schema import MISSING, Schema, problems_of
from holdfast.surfaces.tool import Function, Resource, Surface, Tool

FILE = "contract.json"
_BUILTIN = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """One tool as its users know it: other names for it, and for its parameters, are accepted."""

    name: str
    title: str
    description: str
    schema: Schema
    aliases: tuple[str, ...] = ()
    synonyms: Mapping[str, str] = field(default_factory=dict)
    hints: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What a surface has to offer, and how it speaks of an argument that is missing."""

    name: str
    instructions: str
    promises: tuple[Promise, ...]
    missing: str = MISSING
    resources: tuple[Mapping[str, str], ...] = ()

    @property
    def aliases(self) -> dict[str, str]:
        """The other names of tools."""
        return {alias: promise.name for promise in self.promises for alias in promise.aliases}


def read_contract(folder: Path) -> Contract:
    """Read the contract in a surface's folder."""
    given = json.loads((folder / FILE).read_bytes())
    return Contract(
        name=given["name"],
        instructions=given["instructions"],
        promises=tuple(_promise(tool, given.get("shared", {})) for tool in given["tools"]),
        missing=given.get("missing", MISSING),
        resources=tuple(given.get("resources", ())),
    )


def tools_of(contract: Contract, functions: Mapping[str, Function]) -> dict[str, Tool]:
    """Give the tools of a contract; without functions they can be listed, but not run."""
    return {one.name: _tool(one, functions.get(function_name(one.name), _nothing)) for one in contract.promises}


def resources_of(contract: Contract, functions: Mapping[str, Function]) -> dict[str, Resource]:
    """Give the resources of a contract; without functions they can be listed, but not read."""
    listed = ({"mime": "text/plain", **one} for one in contract.resources)
    return {one["uri"]: Resource(**one, run=functions.get(one["name"], _nothing)) for one in listed}


def text_or_json(result: Any) -> str:
    """Return a text as it is, anything else as JSON."""
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, indent=2)


def surface_of(
    contract: Contract,
    *modules: ModuleType,
    present: Callable[[Any], str] = text_or_json,
    present_error: Callable[[HoldfastError], str],
) -> Surface:
    """Give the surface that keeps a contract with the functions of some modules."""
    functions = {name: value for module in modules for name, value in vars(module).items()}

    def take(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return taken(tool, arguments, contract.missing)

    return Surface(
        name=contract.name,
        instructions=contract.instructions,
        aliases=contract.aliases,
        tools=tools_of(contract, functions),
        resources=resources_of(contract, functions),
        take=take,
        present=present,
        present_error=present_error,
    )


def taken(tool: Tool, arguments: Mapping[str, Any], missing: str = MISSING) -> dict[str, Any]:
    """Give arguments as the function behind a tool names them: mended, checked and with the contract's defaults."""
    check_keepable(dict(arguments))
    known = tool.schema["properties"]
    said = {tool.synonyms.get(name, name): value for name, value in arguments.items() if name not in known}
    said |= {name: value for name, value in arguments.items() if name in known}
    given = {name: mended(known[name], value) for name, value in said.items() if name in known and value is not None}
    if problems := problems_of(tool.schema, given, missing):
        raise Invalid(
            f"Validation failed: invalid arguments for {tool.name}.",
            hint="Correct the arguments and call again.",
            problems=problems,
        )
    defaults = {name: schema["default"] for name, schema in known.items() if "default" in schema}
    return {parameter_name(name): value for name, value in (defaults | given).items()}


def mended(schema: Schema, value: Any, depth: int = 0) -> Any:
    """Give a value in the type its schema wants, where it is clear what is meant: "3", "High", "[1, 2]", one for a list."""
    if depth > DEEPEST:
        raise Invalid(f"An argument is nested more than {DEEPEST} deep.")
    kind = schema.get("type")
    if isinstance(value, str) and kind not in ("string", None):
        value = _parsed(value, kind)
    if isinstance(value, str) and "enum" in schema:
        return next((one for one in schema["enum"] if _plain(one) == _plain(value)), value)
    if kind == "string":
        return _as_text(value)
    if isinstance(value, float) and kind == "integer" and value.is_integer():
        return int(value)
    if kind == "array":
        items = schema.get("items", {})
        return [mended(items, item, depth + 1) for item in (value if isinstance(value, list) else [value])]
    if isinstance(value, dict):
        known = schema.get("properties", {})
        return {name: mended(known.get(name, {}), item, depth + 1) for name, item in value.items() if item is not None}
    return value


def function_name(tool: str) -> str:
    """Give the name of the function behind a tool."""
    return re.sub(r"\W", "_", tool).strip("_").lower()


def parameter_name(name: str) -> str:
    """Give what a function calls a parameter: no camel case, no names that Python has use for."""
    snake = re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()
    return f"{snake}_" if keyword.iskeyword(snake) or snake in _BUILTIN else snake


def _promise(tool: Mapping[str, Any], shared: Mapping[str, Schema]) -> Promise:
    parameters = {
        name: shared[schema] if isinstance(schema, str) else schema
        for name, schema in tool.get("parameters", {}).items()
    }
    schema: Schema = {"type": "object", "properties": parameters}
    return Promise(
        name=tool["name"],
        title=tool["title"],
        description=tool["description"],
        schema=schema | ({"required": tool["required"]} if tool.get("required") else {}),
        aliases=tuple(tool.get("aliases", ())),
        synonyms=tool.get("synonyms", {}),
        hints={name: tool[name] for name in ("read_only", "destructive", "idempotent") if name in tool},
    )


def _tool(promise: Promise, run: Function) -> Tool:
    hints = {"idempotent": promise.hints.get("read_only", False), **promise.hints}
    return Tool(
        name=promise.name,
        title=promise.title,
        description=promise.description,
        schema=promise.schema,
        run=run,
        synonyms=promise.synonyms,
        **hints,
    )


def _nothing(*_: Any, **__: Any) -> Any:
    raise NotImplementedError


def _parsed(value: str, kind: Any) -> Any:
    """Read a text as the JSON it seems to be, if that is of the type wanted."""
    wanted = tuple(_json_types(kind))
    try:
        read = parse_json(value.strip().lower() if bool in wanted else value)
    except ValueError:
        return value
    return read if isinstance(read, wanted) and not (isinstance(read, bool) and bool not in wanted) else value


def _json_types(kind: Any) -> Iterator[type]:
    table = {"integer": (int, float), "number": (int, float), "boolean": (bool,), "array": (list,), "object": (dict,)}
    for one in kind if isinstance(kind, list) else [kind]:
        yield from table.get(one, ())


def _as_text(value: Any) -> Any:
    """Give a number, or a list of texts, as the text it would have been."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    texts = isinstance(value, list) and all(isinstance(one, str) for one in value)
    return ",".join(value) if texts else value


def _plain(value: Any) -> str:
    return re.sub(r"[^a-z0-9]+", "_", str(value).strip().lower())
