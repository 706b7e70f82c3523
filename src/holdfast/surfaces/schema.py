"""Derive a JSON Schema from a function's signature, and check the arguments of tools and web endpoints against it."""

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, get_origin

from holdfast.model.errors import Invalid
from holdfast.model.kinds import REQUIRED, Parameter, parameters_of
from holdfast.model.text import counted

Schema = dict[str, Any]
MISSING = "{name} is required ({wanted})"
TYPES: dict[type, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_PYTHON = {"string": str, "integer": int, "number": int | float, "boolean": bool, "array": list, "object": dict}


def schema_of(function: Callable[..., Any], *, brief: bool = True) -> Schema:
    """Return the schema of a function's arguments: its parameters after the first; `brief` describes them for a model."""
    parameters = list(parameters_of(function))[1:]
    properties = {parameter.name: _property(parameter, brief=brief) for parameter in parameters}
    required = [parameter.name for parameter in parameters if parameter.default is REQUIRED]
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": required} if required else {})


def check_arguments(schema: Schema, arguments: Mapping[str, Any], tool: str) -> dict[str, Any]:
    """Return the arguments if they fit the schema; raise Invalid with every problem otherwise."""
    if problems := list(problems_of(schema, arguments)):
        message, hint = f"Invalid arguments for {tool}: {'; '.join(problems)}.", "Correct the arguments and call again."
        raise Invalid(message, hint=hint, problems=problems)
    return dict(arguments)


def _property(parameter: Parameter, *, brief: bool) -> Schema:
    asked = parameter.asked
    described = {
        "description": asked.brief if brief else asked.help,
        "minimum": asked.least,
        "maximum": asked.most,
        "default": parameter.default if parameter.default is not REQUIRED else None,  # an empty one is of no use
    }
    said = {name: value for name, value in described.items() if value or (name == "minimum" and value is not None)}
    is_object = get_origin(parameter.item) in (dict, Mapping)
    typed: Schema = {"type": "object" if is_object else TYPES.get(parameter.item, "string")}
    typed |= {"enum": list(parameter.choices)} if parameter.choices else {}
    if get_origin(parameter.kind) in (list, tuple):
        typed = {"type": "array", "items": typed}
    return typed | said | dict(parameter.schema)


def problems_of(schema: Schema, value: Any, missing: str = MISSING, path: str = "") -> Iterator[str]:
    """Yield every way in which arguments do not fit a schema; `missing` is the message for one that is left out."""
    name = path or "the arguments"
    wanted = schema.get("type")
    if wanted and not is_a(wanted, value):
        yield f"{name} must be {_spoken(schema)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{name} must be one of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, str) and not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        yield f"{name} must have {_bounds(schema.get('minLength'), schema.get('maxLength'))} characters"
    if isinstance(value, dict):
        yield from _object_problems(schema, value, path, missing)
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield f"{name} must have at least {counted(schema['minItems'], 'item')}"
        for place, item in enumerate(value):
            yield from problems_of(schema.get("items", {}), item, missing, f"{path}[{place}]")
    if isinstance(value, int | float) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield f"{name} must be {_bounds(schema.get('minimum'), schema.get('maximum'))}"


def _object_problems(schema: Schema, value: Mapping[str, Any], path: str, missing: str) -> Iterator[str]:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if value.get(name) is None:
            yield missing.format(name=f"{path}.{name}" if path else name, wanted=_spoken(known[name]))
    for name, item in value.items():
        if name in known:
            if item is not None:  # models often send null for what they leave out
                yield from problems_of(known[name], item, missing, f"{path}.{name}" if path else name)
        elif schema.get("additionalProperties") is False:
            near = get_close_matches(name, known, n=1)
            yield f"unknown argument {name}" + (f", did you mean {near[0]}?" if near else "")


def _bounds(least: Any, most: Any) -> str:
    if least is None or most is None:
        return f"at most {most}" if least is None else f"at least {least}"
    return f"between {least} and {most}"


def is_a(wanted: str | list[str], value: Any) -> bool:
    """True if a value is of a type of JSON Schema, or of one of several."""
    if isinstance(wanted, list):
        return any(is_a(kind, value) for kind in wanted)
    if isinstance(value, bool):
        return wanted == "boolean"
    if wanted == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _PYTHON[wanted])


def _spoken(schema: Schema) -> str:
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    kind = schema.get("type", "given")
    if isinstance(kind, list):
        return " or ".join(_spoken({**schema, "type": part}) for part in kind)
    if kind == "array":
        return f"a list of {schema.get('items', {}).get('type', 'value')}s"
    return f"a{'n' if kind[0] in 'aeio' else ''} {kind}"
