"""Endpoints of the JSON API: a decorator derives each from a function, and the OpenAPI document describes them all."""

import re
import types
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from holdfast import __version__
from holdfast.hosts.web.viewer import EVERYWHERE, WORDS, Ask, asked, is_our_form, viewer_of
from holdfast.model.errors import Invalid
from holdfast.model.foreign_json import parse_json
from holdfast.model.record import Record
from holdfast.surfaces.schema import TYPES, Schema, check_arguments, schema_of
from holdfast.surfaces.tool import description_of

Json = dict[str, Any]
LONGEST = 1_000
PROJECT: Schema = {
    "type": "string",
    "description": f"A project by its name or the last part of it; {EVERYWHERE} means all.",
}
_IN_PATH = re.compile(r"\{(\w+)\}")
_INTEGER = re.compile(r"-?[0-9]{1,17}")
_NAMED = {**{name: kind for kind, name in TYPES.items()}, "object": Json}
_TEXT: Json = {"text/plain": {"schema": {"type": "string"}}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One path of the API: its method, the schemas of its parameters and its result, and the function that answers."""

    path: str
    method: str
    summary: str
    schema: Schema
    result: Schema
    answer: Callable[..., Any]
    media: str
    selects_project: bool = False  # `project` selects the memory of the request and is no argument of the function

    @property
    def in_path(self) -> tuple[str, ...]:
        """The parameters that are parts of the path."""
        return tuple(_IN_PATH.findall(self.path))

    def arguments(self, ask: Ask) -> dict[str, Any]:
        """Return the arguments of a request, checked against the schema; the function's defaults stand for the rest."""
        given: dict[str, Any] = {}
        for name, schema in self.schema["properties"].items():
            body = ask.field(name) if self.method == "POST" else ""
            if text := ask.parts.get(name, "") if name in self.in_path else ask.text(name) or body:
                given[name] = int(text) if schema["type"] == "integer" and _INTEGER.fullmatch(text) else text
        checked = check_arguments(self.schema, given, self.path)
        return {name: value for name, value in checked.items() if name != "project" or not self.selects_project}

    async def respond(self, request: Request) -> Response:
        """Answer a request."""
        form = await _body(request) if self.method == "POST" else {}
        if self.method == "POST" and not is_our_form(request, form, viewer_of(request).keys):
            raise HTTPException(403, "Send the token, or the key of a Holdfast form.")

        def answered() -> Response:
            ask = asked(request, form)
            result = self.answer(ask, **self.arguments(ask))
            return PlainTextResponse(result) if isinstance(result, str) else JSONResponse(result)

        return await to_thread.run_sync(answered)


@dataclass(frozen=True, slots=True)
class Api:
    """The endpoints, in the order in which they were added."""

    endpoints: list[Endpoint] = field(default_factory=list)

    def endpoint(
        self, path: str, returns: Any = Json, *, method: str = "GET", selects_project: bool = False
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Add a function: its signature is the endpoint's parameters, its docstring the summary, its result the media type.

        `returns` is the shape of the result (`result_schema`).
        """

        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            shape = str if get_type_hints(function)["return"] is str else returns
            schema, more = schema_of(function, brief=False), {"selects_project": selects_project}
            schema["properties"] = ({"project": PROJECT} if selects_project else {}) | schema["properties"]
            self.add(path, schema, shape, function, method=method, summary=description_of(function), **more)
            return function

        return add

    def add(
        self, path: str, schema: Schema, returns: Any, answer: Callable[..., Any], *, method: str = "GET", **more: Any
    ) -> None:
        """Add an endpoint. Every text is bounded, and a part of the path is never empty."""

        def bounded(name: str, one: Schema) -> Schema:
            if one["type"] != "string" or "enum" in one:
                return one
            return {**one, "maxLength": LONGEST} | ({"minLength": 1} if f"{{{name}}}" in path else {})

        schema = schema | {"properties": {name: bounded(name, one) for name, one in schema["properties"].items()}}
        result = result_schema(returns)
        media = "text/plain" if result == {"type": "string"} else "application/json"
        endpoint = Endpoint(path=path, method=method, schema=schema, result=result, answer=answer, media=media, **more)
        self.endpoints.append(endpoint)


def routes(endpoints: Sequence[Endpoint], components: Mapping[str, Any]) -> list[Route]:
    """Return the routes of the API."""

    async def document(_: Request) -> Response:
        return JSONResponse(openapi(endpoints, components))

    listed = [Route(endpoint.path, endpoint.respond, methods=[endpoint.method]) for endpoint in endpoints]
    return [Route("/api/openapi.json", document), *listed]


async def _body(request: Request) -> dict[str, list[str]]:
    """Return a JSON object of texts, numbers and lists of them as a form; a list becomes one text, separated by commas."""
    try:
        fields = parse_json(await request.body() or b"{}")
    except ValueError as problem:
        raise Invalid(f"The body is not valid JSON: {problem}.") from problem
    if not isinstance(fields, dict):
        raise Invalid("The body must be a JSON object.")
    form: dict[str, list[str]] = {}
    for name, value in fields.items():
        items = value if isinstance(value, list) else [value]
        if not all(isinstance(item, str | int) for item in items):
            raise Invalid("The values of the body must be texts, numbers, or lists of them.")
        form[name] = [",".join(map(str, items))]
    return form


def openapi(endpoints: Sequence[Endpoint], components: Mapping[str, Any]) -> Json:
    """Return the OpenAPI document of the API; `components` are the shapes that results name."""
    paths: dict[str, Json] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    problem = {"error": str, "message": str, "hint": str}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Holdfast",
            "version": __version__,
            "description": "The memory as JSON, for programs on this machine. Send the token: `Authorization: Bearer TOKEN`.",
        },
        "paths": paths,
        "components": {
            "schemas": {name: result_schema(shape) for name, shape in {"Problem": problem, **components}.items()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _operation(endpoint: Endpoint) -> Json:
    parameters = [
        {
            "name": name,
            "in": "path" if name in endpoint.in_path else "query",
            "required": name in endpoint.in_path,
            "description": schema["description"],
            "schema": {key: part for key, part in schema.items() if key != "description"},
        }
        for name, schema in endpoint.schema["properties"].items()
    ]
    problem = {"application/json": {"schema": result_schema("Problem")}, **_TEXT}
    texts = {"application/json": {"schema": {"type": "object", "additionalProperties": {"type": "string"}}}}
    return {
        "summary": endpoint.summary,
        "operationId": endpoint.method.lower() + re.sub(r"[{}]", "", endpoint.path).replace("/", "_"),
        "parameters": parameters,
        "responses": {
            "200": {"description": "The result.", "content": {endpoint.media: {"schema": endpoint.result}}},
            **{status: {"description": words, "content": _TEXT} for status, words in WORDS["refused"].items()},
            **{status: {"description": words, "content": problem} for status, words in WORDS["problems"].items()},
        },
    } | ({"requestBody": {"required": False, "content": texts}} if endpoint.method == "POST" else {})


def result_schema(shape: Any) -> Schema:
    """Return the schema of what `plain` makes of a value: of a type, `{"name": shape}`, `[shape]` or the name of a component.

    A type may be named as JSON Schema does. A name that ends in `?` may be missing.
    """
    if isinstance(shape, str):
        return result_schema(_NAMED[shape]) if shape in _NAMED else {"$ref": f"#/components/schemas/{shape}"}
    if isinstance(shape, list):
        return {"type": "array", "items": result_schema(shape[0])}
    if is_dataclass(shape) and shape is not Record:
        shape = get_type_hints(shape)
    if isinstance(shape, dict):
        properties = {name.removesuffix("?"): result_schema(part) for name, part in shape.items()}
        required = [name for name in shape if not name.endswith("?")]
        return {"type": "object", "properties": properties, "required": required}
    outer, inner = get_origin(shape) or shape, get_args(shape)
    if outer in (Union, types.UnionType):
        return {"anyOf": [result_schema(part) for part in inner]}
    if outer in (tuple, list):
        is_uniform = outer is list or inner[1:] == (...,)
        return {"type": "array"} | ({"items": result_schema(inner[0])} if is_uniform else {})
    if outer in (dict, Mapping, Counter) and inner:
        return {"type": "object", "additionalProperties": result_schema(int if outer is Counter else inner[1])}
    if outer is Any:
        return {}
    return {"type": "null" if outer is type(None) else "string" if outer is Literal else TYPES.get(outer, "object")}
