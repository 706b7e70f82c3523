"""One endpoint of the JSON interface as data: where it is, what it takes and gives; checked and described from the same table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast import __version__
from holdfast.hosts.web.viewer import Ask
from holdfast.model.errors import Invalid

Json = dict[str, Any]
LONGEST = 1_000
PROBLEM: Json = {
    "type": "object",
    "required": ["error", "message", "hint"],
    "properties": {"error": {"type": "string"}, "message": {"type": "string"}, "hint": {"type": "string"}},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One thing an endpoint can be given."""

    name: str
    help: str
    type: str = "string"
    choices: tuple[str, ...] = ()
    default: Any = None
    least: int = 0
    most: int = 1_000_000
    in_path: bool = False

    @property
    def schema(self) -> Json:
        """What a value must look like."""
        schema: Json = {"type": self.type}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.type == "integer":
            schema |= {"minimum": self.least, "maximum": self.most}
        if self.type == "string" and not self.choices:
            schema |= {"maxLength": LONGEST} | ({"minLength": 1} if self.in_path else {})
        return schema | ({"default": self.default} if self.default is not None else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One address of the interface; `answer` takes what was asked and the parameters, checked."""

    path: str
    summary: str
    answer: Callable[..., Any]
    parameters: tuple[Parameter, ...] = ()
    method: str = "GET"
    media: str = "application/json"
    gives: Json | None = None
    takes: Json | None = None


def arguments(endpoint: Endpoint, ask: Ask) -> dict[str, Any]:
    """Give the parameters of a request, checked; what is wrong with one is said."""
    return {one.name: _value(one, ask) for one in endpoint.parameters}


def _value(one: Parameter, ask: Ask) -> Any:
    said = ask.parts.get(one.name, "") if one.in_path else ask.text(one.name)
    if not said:
        return one.default if one.default is not None else {"integer": 0, "boolean": False}.get(one.type, "")
    if len(said) > LONGEST:
        raise Invalid(f"{one.name} is longer than {LONGEST:,} characters.")
    if one.choices and said not in one.choices:
        raise Invalid(f"{one.name} must be one of {', '.join(one.choices)}.")
    match one.type:
        case "integer":
            return _number(one, said)
        case "boolean":
            if said.lower() not in ("true", "false", "1", "0"):
                raise Invalid(f"{one.name} must be true or false.")
            return said.lower() in ("true", "1")
    return said


def _number(one: Parameter, said: str) -> int:
    digits = said.removeprefix("-")
    number = int(said) if digits.isascii() and digits.isdecimal() and len(digits) < 18 else None
    if number is None or not one.least <= number <= one.most:
        raise Invalid(f"{one.name} must be a whole number from {one.least} to {one.most}.")
    return number


def described(endpoints: Sequence[Endpoint]) -> Json:
    """Describe the whole interface as OpenAPI."""
    paths: dict[str, Json] = {}
    for one in endpoints:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Holdfast",
            "version": __version__,
            "description": "The memory as JSON, for programs of this machine. Show the token: `Authorization: Bearer TOKEN`.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Problem": PROBLEM},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _operation(one: Endpoint) -> Json:
    said: Json = {
        "summary": one.summary,
        "operationId": f"{one.method.lower()}{one.path.replace('/', '_').replace('{', '').replace('}', '')}",
        "parameters": [_parameter(parameter) for parameter in one.parameters],
        "responses": {
            "200": {"description": "What was asked for.", "content": {one.media: {"schema": one.gives or {}}}},
            **{status: {"description": words, "content": _TEXT} for status, words in _REFUSALS.items()},
            **{status: _problem(words) for status, words in _PROBLEMS.items()},
        },
    }
    if one.takes:
        said["requestBody"] = {"required": False, "content": {"application/json": {"schema": one.takes}}}
    return said


_TEXT: Json = {"text/plain": {"schema": {"type": "string"}}}
# What is said before anybody looks at what is asked.
_REFUSALS: Mapping[str, str] = {
    "401": "The token is missing.",
    "408": "What is sent comes too slowly.",
    "413": "More is sent than is taken.",
    "421": "This address is not known by that name.",
}
_PROBLEMS: Mapping[str, str] = {
    "400": "The request cannot be understood; the message says why.",
    "403": "Another site asks, or a form that is not ours, or somebody who may not do this.",
    "404": "There is no such thing.",
    "409": "It is not in a state that allows this.",
    "503": "The store cannot be used; the message says why.",
}


def _problem(words: str) -> Json:
    said = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {"description": words, "content": said | _TEXT}


def _parameter(one: Parameter) -> Json:
    place = "path" if one.in_path else "query"
    return {"name": one.name, "in": place, "required": one.in_path, "description": one.help, "schema": one.schema}
