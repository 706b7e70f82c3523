"""Endpoints of the JSON API: a decorator derives each from a function, and the OpenAPI document describes them all."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_type_hints

from holdfast import __version__
from holdfast.hosts.web.schemas import COMPONENTS, result_of
from holdfast.hosts.web.viewer import EVERYWHERE, Ask
from holdfast.surfaces.schema import Schema, check_arguments, schema_of
from holdfast.surfaces.tool import description_of

Json = dict[str, Any]
LONGEST = 1_000
PROJECT: Schema = {
    "type": "string",
    "description": f"A project by its name or the last part of it; {EVERYWHERE} means all.",
}
PROBLEM: Schema = {
    "type": "object",
    "required": ["error", "message", "hint"],
    "properties": {"error": {"type": "string"}, "message": {"type": "string"}, "hint": {"type": "string"}},
}
_IN_PATH = re.compile(r"\{(\w+)\}")
_INTEGER = re.compile(r"-?[0-9]{1,17}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One path of the API: its method and summary, the schema of its parameters, and the function that answers."""

    path: str
    method: str
    summary: str
    schema: Schema
    answer: Callable[..., Any]
    media: str
    selects_project: bool  # `project` selects the memory of the request and is no argument of the function

    @property
    def in_path(self) -> tuple[str, ...]:
        """The parameters that are parts of the path."""
        return tuple(_IN_PATH.findall(self.path))

    def arguments(self, ask: Ask) -> dict[str, Any]:
        """Return the arguments of a request, checked against the schema; the function's defaults stand for the rest."""
        given: dict[str, Any] = {}
        for name, schema in self.schema["properties"].items():
            if text := ask.parts.get(name, "") if name in self.in_path else self._given(ask, name):
                given[name] = int(text) if schema["type"] == "integer" and _INTEGER.fullmatch(text) else text
        checked = check_arguments(self.schema, given, self.path)
        return {name: value for name, value in checked.items() if name != "project" or not self.selects_project}

    def _given(self, ask: Ask, name: str) -> str:
        """Return a parameter of the query; of a POST also a field of its body."""
        body = ask.form.get(name, [""])[0] if self.method == "POST" else ""
        return ask.text(name) or body.strip()


@dataclass(frozen=True, slots=True)
class Api:
    """The endpoints, in the order in which they were added."""

    endpoints: list[Endpoint] = field(default_factory=list)

    def endpoint(
        self, path: str, *, method: str = "GET", selects_project: bool = False
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Add a function: its signature is the endpoint's parameters, its docstring the summary, its result the media type."""

        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            text = get_type_hints(function)["return"] is str
            self.endpoints.append(
                Endpoint(
                    path=path,
                    method=method,
                    summary=description_of(function),
                    schema=_schema(function, path, selects_project=selects_project),
                    answer=function,
                    media="text/plain" if text else "application/json",
                    selects_project=selects_project,
                )
            )
            return function

        return add


def openapi(endpoints: Sequence[Endpoint]) -> Json:
    """Return the OpenAPI document of the API."""
    paths: dict[str, Json] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Holdfast",
            "version": __version__,
            "description": "The memory as JSON, for programs on this machine. Send the token: `Authorization: Bearer TOKEN`.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Problem": PROBLEM, **COMPONENTS},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _schema(function: Callable[..., Any], path: str, *, selects_project: bool) -> Schema:
    """Return the schema of a function's parameters; every text is bounded, and a part of the path is never empty."""
    schema = schema_of(function, brief=False)
    properties = ({"project": PROJECT} if selects_project else {}) | schema["properties"]
    in_path = _IN_PATH.findall(path)
    return schema | {"properties": {name: _bounded(one, name in in_path) for name, one in properties.items()}}


def _bounded(schema: Schema, in_path: bool) -> Schema:
    if schema["type"] != "string" or "enum" in schema:
        return schema
    return {**schema, "maxLength": LONGEST} | ({"minLength": 1} if in_path else {})


def _operation(endpoint: Endpoint) -> Json:
    result = result_of(endpoint.path, endpoint.media)
    operation: Json = {
        "summary": endpoint.summary,
        "operationId": endpoint.method.lower() + re.sub(r"[{}]", "", endpoint.path).replace("/", "_"),
        "parameters": [
            _parameter(name, schema, "path" if name in endpoint.in_path else "query")
            for name, schema in endpoint.schema["properties"].items()
        ],
        "responses": {
            "200": {"description": "The result.", "content": {endpoint.media: {"schema": result}}},
            **{status: {"description": words, "content": _TEXT} for status, words in _REFUSALS.items()},
            **{status: _problem(words) for status, words in _PROBLEMS.items()},
        },
    }
    return operation | ({"requestBody": _BODY} if endpoint.method == "POST" else {})


def _parameter(name: str, schema: Schema, place: str) -> Json:
    value = {key: part for key, part in schema.items() if key != "description"}
    return {
        "name": name,
        "in": place,
        "required": place == "path",
        "description": schema["description"],
        "schema": value,
    }


_BODY: Json = {
    "required": False,
    "content": {"application/json": {"schema": {"type": "object", "additionalProperties": {"type": "string"}}}},
}
_TEXT: Json = {"text/plain": {"schema": {"type": "string"}}}
# Refused before the request is read.
_REFUSALS: Mapping[str, str] = {
    "401": "The token is missing.",
    "408": "The body arrives too slowly.",
    "413": "The body is too large.",
    "421": "This server is not known by that host name.",
}
_PROBLEMS: Mapping[str, str] = {
    "400": "The request is invalid; the message gives the reason.",
    "403": "Another site sent the request, the form key is wrong, or the user may not do this.",
    "404": "Not found.",
    "409": "Its current state does not allow this.",
    "503": "The store cannot be used; the message gives the reason.",
}


def _problem(words: str) -> Json:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {"description": words, "content": content | _TEXT}
