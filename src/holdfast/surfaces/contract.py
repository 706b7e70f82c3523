"""Read a contract: contract.json lists the tools of another system, rows of ours implement them (`maps.surface_of`).

Clients list the tools from the contract alone, so listing imports nothing. Arguments are read leniently, as in the original
systems: unknown ones are ignored, and values of the wrong type are converted where the meaning is clear.
"""

import builtins
import json
import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.foreign_json import parse_json
from holdfast.model.text import DEEPEST, check_keepable
from holdfast.surfaces.schema import MISSING, Schema, problems_of
from holdfast.surfaces.tool import Resource, Tool

FILE = "contract.json"
_BUILTIN = frozenset(dir(builtins))
_TYPES = {"integer": (int, float), "number": (int, float), "boolean": (bool,), "array": (list,), "object": (dict,)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """The tools and resources of a surface, which can be listed but not run, and its message for a missing argument."""

    name: str
    instructions: str
    tools: Mapping[str, Tool]
    resources: Mapping[str, Resource]
    missing: str = MISSING

    @property
    def aliases(self) -> dict[str, str]:
        """Tool names by alias."""
        return {alias: tool.name for tool in self.tools.values() for alias in tool.aliases}


def read_contract(folder: Path) -> Contract:
    """Read the contract in a surface's folder."""
    raw = json.loads((folder / FILE).read_bytes())
    shared, tools = raw.get("shared", {}), dict[str, Tool]()
    for tool in raw["tools"]:
        own = {name: tool[name] for name in ("name", "title", "description")}
        own |= {"aliases": tuple(tool.get("aliases", ())), "synonyms": tool.get("synonyms", {})}
        hints = {name: tool[name] for name in ("read_only", "destructive", "idempotent") if name in tool}
        hints = {"idempotent": hints.get("read_only", False), **hints}
        tools[tool["name"]] = Tool(**own, **hints, schema=schema_in(tool, shared), run=_not_loaded)
    resources = {
        one["uri"]: Resource(**{"mime": "text/plain", **one}, run=_not_loaded) for one in raw.get("resources", ())
    }
    more = {"missing": raw["missing"]} if "missing" in raw else {}
    return Contract(name=raw["name"], instructions=raw["instructions"], tools=tools, resources=resources, **more)


def schema_in(one: Mapping[str, Any], shared: Mapping[str, Schema]) -> Schema:
    """Return the schema of the arguments of a tool or path as its file has it; a parameter may name a shared one."""
    given = one.get("parameters", {})
    properties = {name: shared[schema] if isinstance(schema, str) else schema for name, schema in given.items()}
    required = {"required": one["required"]} if one.get("required") else {}
    return {"type": "object", "properties": properties} | required


def arguments_of(tool: Tool, arguments: Mapping[str, Any], missing: str = MISSING) -> dict[str, Any]:
    """Return the arguments under the function's parameter names: converted, checked and with the contract's defaults."""
    check_keepable(dict(arguments))
    known = tool.schema["properties"]
    named = {tool.synonyms.get(name, name): value for name, value in arguments.items() if name not in known}
    named |= {name: value for name, value in arguments.items() if name in known}
    values = {
        name: converted(known[name], value) for name, value in named.items() if name in known and value is not None
    }
    if problems := problems_of(tool.schema, values, missing):
        raise Invalid(
            f"Validation failed: invalid arguments for {tool.name}.",
            hint="Correct the arguments and call again.",
            problems=problems,
        )
    defaults = {name: schema["default"] for name, schema in known.items() if "default" in schema}
    return {parameter_name(name): value for name, value in (defaults | values).items()}


def converted(schema: Schema, value: Any, depth: int = 0) -> Any:
    """Convert a value to the type of its schema where the meaning is clear: "3", "High", "[1, 2]", a single item for a list."""
    if depth > DEEPEST:
        raise Invalid(f"An argument is nested more than {DEEPEST} deep.")
    kind = schema.get("type")
    if isinstance(value, str) and kind not in ("string", None):
        value = _parsed(value, kind)
    if isinstance(value, str) and "enum" in schema:
        return next((choice for choice in schema["enum"] if _plain(choice) == _plain(value)), value)
    if kind == "string":  # a number, or a list of texts, is one text
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return ",".join(value) if texts else value
    if isinstance(value, float) and kind == "integer" and value.is_integer():
        return int(value)
    if kind == "array":
        items = schema.get("items", {})
        return [converted(items, item, depth + 1) for item in (value if isinstance(value, list) else [value])]
    if isinstance(value, dict):
        known = schema.get("properties", {})
        return {
            name: converted(known.get(name, {}), item, depth + 1) for name, item in value.items() if item is not None
        }
    return value


def parameter_name(name: str) -> str:
    """Return the Python name of a parameter: snake case, and no keyword or builtin."""
    snake = re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()
    return f"{snake}_" if keyword.iskeyword(snake) or snake in _BUILTIN else snake


def _not_loaded(*_: Any, **__: Any) -> Any:
    raise NotImplementedError


def _parsed(value: str, kind: Any) -> Any:
    """Parse a text as JSON if the result has the wanted type; otherwise return it unchanged."""
    wanted = tuple(type_ for name in (kind if isinstance(kind, list) else [kind]) for type_ in _TYPES.get(name, ()))
    try:
        read = parse_json(value.strip().lower() if bool in wanted else value)
    except ValueError:
        return value
    return read if isinstance(read, wanted) and not (isinstance(read, bool) and bool not in wanted) else value


def _plain(value: Any) -> str:
    return re.sub(r"[^a-z0-9]+", "_", str(value).strip().lower())
