"""The JSON API: the content of the pages for programs, and the paths claude-mem's users script against.

A decorator derives an endpoint from a function; the OpenAPI document describes them all.
"""

import json
import re
import types
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from holdfast import __version__
from holdfast.hosts.to_json import plain, recalled_to_json
from holdfast.hosts.web.pages.activity import wanted_of
from holdfast.hosts.web.render import table
from holdfast.hosts.web.viewer import EVERYWHERE, WORDS, Ask, Form, answering, asked
from holdfast.model.anchor import Freshness
from holdfast.model.errors import Invalid
from holdfast.model.event import Event, event_to_json
from holdfast.model.files import read_regular
from holdfast.model.foreign_json import parse_json
from holdfast.model.kinds import KINDS
from holdfast.model.query import Mode, Query, Usage
from holdfast.model.record import Record, record_to_json
from holdfast.model.session import Session
from holdfast.policy.ranking.health import Measure
from holdfast.policy.sessions.session_brief import Prepared
from holdfast.surfaces.claude_mem import tools as claude_mem
from holdfast.surfaces.maps import Row
from holdfast.surfaces.schema import TYPES, Schema, check_arguments, schema_of
from holdfast.surfaces.tool import description_of, parameter_name, schema_in
from holdfast.verbs.memory import find
from holdfast.verbs.records.actions import ACTIONS, act_on
from holdfast.verbs.records.freshness import freshness
from holdfast.verbs.records.read import browse, get, history
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.opening_brief import brief_of
from holdfast.verbs.sessions.scars import effects
from holdfast.verbs.sessions.session import contents_of, list_sessions
from holdfast.verbs.sessions.thread import triage
from holdfast.verbs.upkeep.doctor import status
from holdfast.verbs.upkeep.health import Days as ByDay
from holdfast.verbs.upkeep.health import Health, Project, day_by_day, health, projects
from holdfast.verbs.upkeep.stream import Item, Wanted, older, place_of

Json = dict[str, Any]
LONGEST = 1_000
FOREIGN = "Send the token, or the key of a Holdfast form."
PROJECT = {"type": "string", "description": f"A project by its name or the last part of it; {EVERYWHERE} means all."}
_INTEGER = re.compile(r"-?[0-9]{1,17}")
_NAMED = {**{name: kind for kind, name in TYPES.items()}, "object": Json}
_TEXT: Json = {"text/plain": {"schema": {"type": "string"}}}
Id = Annotated[str, "An id as it is shown, or the whole id."]
Question = Annotated[str, "The question."]
AsOf = Annotated[str, "As it was known on this date."]
Fit = Annotated[Mode, "How well an answer must fit."]
Before = Annotated[str, "Continue from here: `before` of the last answer."]
OfSession = Annotated[str, "Only this session."]
Kind = Annotated[str, "Only this kind.", {"enum": list(KINDS)}]
Limit = Annotated[int, "The most to return.", {"minimum": 1, "maximum": 100}]
Offset = Annotated[int, "How many to skip.", {"minimum": 0, "maximum": 1_000_000, "default": 0}]
Days = Annotated[int, "How many days back.", {"minimum": 1, "maximum": 365}]
# The document about the API, and shapes that several results have: records with their links are not what `plain` makes of them.
DOCUMENT, SHAPES = parse_json(read_regular(Path(__file__).with_name("api.json"))).values()
COMPONENTS: Json = SHAPES | {"Freshness": Freshness, "Session": Session, "Event": Event}
COMPONENTS |= {"Usage": Usage, "Judged": Freshness | None, "Entry": get_type_hints(Item) | {"records": [Json]}}
_HEALTH = get_type_hints(Health) | {"measures": [get_type_hints(Measure) | {"cost": float}]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One path of the API: its method, the schemas of its parameters and its result, and the function that answers."""

    path: str
    summary: str
    schema: Schema
    result: Schema
    answer: Callable[..., Any]
    method: str = "GET"
    selects_project: bool = False  # `project` selects the memory of the request and is no argument of the function

    def respond(self, ask: Ask) -> Response:
        """Answer a request with its arguments, checked against the schema; the function's defaults stand for the rest."""
        given: dict[str, Any] = {}
        for name, schema in self.schema["properties"].items():
            if text := ask.parts.get(name) or ask.text(name) or ask.field(name):
                given[name] = int(text) if schema["type"] == "integer" and _INTEGER.fullmatch(text) else text
        checked = check_arguments(self.schema, given, self.path)
        if self.selects_project:
            checked.pop("project", None)
        result = self.answer(ask, **checked)
        return PlainTextResponse(result) if isinstance(result, str) else JSONResponse(result)


ENDPOINTS: list[Endpoint] = []


def add(path: str, schema: Schema, returns: Any, answer: Callable[..., Any], summary: str, **more: Any) -> None:
    """Add an endpoint; `returns` is the shape of its result. Every text is bounded, a part of the path is never empty."""
    project, properties = {"project": PROJECT} if more.get("selects_project") else {}, dict[str, Schema]()
    for name, one in (project | schema["properties"]).items():
        is_text, in_path = one["type"] == "string" and "enum" not in one, f"{{{name}}}" in path
        bounds = {"maxLength": LONGEST} | ({"minLength": 1} if in_path else {})
        properties[name] = one | bounds if is_text else one
    schema, result = schema | {"properties": properties}, result_schema(returns)
    ENDPOINTS.append(Endpoint(path=path, schema=schema, result=result, answer=answer, summary=summary, **more))


def endpoint(path: str, returns: Any = Json, **more: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add a function: its signature is the endpoint's parameters, its docstring the summary, its result the media type."""

    def added(function: Callable[..., Any]) -> Callable[..., Any]:
        shape = str if get_type_hints(function)["return"] is str else returns
        add(path, schema_of(function, brief=False), shape, function, description_of(function), **more)
        return function

    return added


def routes() -> list[Route]:
    """Return the routes of the API, and of the stream of activity."""
    made = [Route("/stream", stream), Route("/api/openapi.json", lambda _: JSONResponse(openapi(ENDPOINTS)))]
    for one in ENDPOINTS:
        respond = answering(one.respond, _form_of if one.method == "POST" else None, FOREIGN)
        made.append(Route(one.path, respond, methods=[one.method]))
    return made


def _form_of(body: bytes) -> Form:
    """Return a JSON object of texts, numbers and lists of them as a form; a list becomes one text, separated by commas."""
    try:
        fields = parse_json(body or b"{}")
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


def openapi(endpoints: Sequence[Endpoint]) -> Json:
    """Return the OpenAPI document of the API."""
    texts = {"application/json": {"schema": {"type": "object", "additionalProperties": {"type": "string"}}}}
    refused = {"application/json": {"schema": result_schema("Problem")}, **_TEXT}
    others = {status: {"description": why, "content": _TEXT} for status, why in WORDS["refused"].items()}
    others |= {status: {"description": why, "content": refused} for status, why in WORDS["problems"].items()}
    paths: dict[str, Json] = {}
    for endpoint in endpoints:
        method, parameters = endpoint.method.lower(), list[Json]()
        for name, schema in endpoint.schema["properties"].items():
            place = "path" if f"{{{name}}}" in endpoint.path else "query"
            own = {part: value for part, value in schema.items() if part != "description"}
            needed = place == "path" or name in endpoint.schema.get("required", ())
            parameter = {"name": name, "in": place, "required": needed, "description": schema["description"]}
            parameters.append(parameter | {"schema": own})
        media = "text/plain" if endpoint.result == {"type": "string"} else "application/json"
        result = {"description": "The result.", "content": {media: {"schema": endpoint.result}}}
        paths.setdefault(endpoint.path, {})[method] = {
            "summary": endpoint.summary,
            "operationId": method + re.sub(r"[{}]", "", endpoint.path).replace("/", "_"),
            "parameters": parameters,
            "responses": {"200": result, **others},
        } | ({"requestBody": {"required": False, "content": texts}} if method == "post" else {})
    schemas = {name: result_schema(shape) for name, shape in COMPONENTS.items()}
    info = DOCUMENT["info"] | {"version": __version__}
    return {**DOCUMENT, "info": info, "paths": paths, "components": DOCUMENT["components"] | {"schemas": schemas}}


def result_schema(shape: Any) -> Schema:
    """Return the schema of what `plain` makes of a value: of a type, `{"name": shape}`, `[shape]` or the name of a component.

    A type may be named as JSON Schema does. A name that ends in `?` may be missing, `*` stands for any name.
    """
    if isinstance(shape, str):
        return result_schema(_NAMED[shape]) if shape in _NAMED else {"$ref": f"#/components/schemas/{shape}"}
    if isinstance(shape, list):
        return {"type": "array", "items": result_schema(shape[0])}
    if is_dataclass(shape) and shape is not Record:
        shape = get_type_hints(shape)
    if isinstance(shape, dict) and "*" in shape:
        return {"type": "object", "additionalProperties": result_schema(shape["*"])}
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


def cited(record: Record) -> Json:
    """Return a record with its permanent link."""
    return {**record_to_json(record), "url": f"/r/{record.id}"}


@endpoint("/api/recall", SHAPES["Recalled"], selects_project=True)
def recalled(
    ask: Ask, q: Question, kind: Kind = "", limit: Limit = 20, as_of: AsOf = "", mode: Fit = "balanced"
) -> Json:
    """Search the memory; each hit has the reasons why it matched and how fresh it is. Reads only, counts no use."""
    asked = {"everywhere": ask.everywhere, "limit": limit, "as_of": as_of, "mode": mode}
    query = Query.of(q, now=ask.memory.clock.now(), kinds=kind.split(), **asked)
    return recalled_to_json(recall(ask.memory, query, surface=False), cited)


@endpoint("/api/records", {"records": ["Record"], "total": int}, selects_project=True)
def records(ask: Ask, kind: Kind = "", limit: Limit = 20, offset: Offset = 0) -> Json:
    """List memories, newest first."""
    page = browse(ask.memory, Query.of(everywhere=ask.everywhere, kinds=kind.split(), limit=limit), offset=offset)
    return {"records": [cited(entry.record) for entry in page.entries], "total": page.total}


@endpoint("/api/records/{id}", SHAPES["Record"] | SHAPES["Shown"])
def record(ask: Ask, id: Id) -> Json:
    """Return one memory in full, with its links and uses."""
    shown = get(ask.memory, id)
    judged = freshness(ask.memory, [shown.record]).get(shown.record.id)
    more = {"links": plain(shown.links), "usage": plain(shown.usage), "freshness": plain(judged)}
    return cited(shown.record) | more | {"number": shown.number, "superseded_by": shown.superseded_by}


@endpoint("/api/records/{id}/history", {"events": ["Event"]})
def record_history(ask: Ask, id: Id) -> Json:
    """List every event of a memory."""
    return {"events": [event_to_json(event) for event in sorted(history(ask.memory, id), key=lambda event: event.id)]}


@endpoint("/api/records/{id}/{what}", {"id": str, "done": str, "message": str, "url": str}, method="POST")
def act(ask: Ask, id: Id, what: Annotated[str, "The action.", {"enum": list(ACTIONS)}]) -> Json:
    """Verify, retire, restore, pin, share, judge or link a memory."""
    target = find(ask.memory, id).record
    done = act_on(ask.memory, target.id, what, ask.fields)
    return {"id": target.id, "done": what, "message": done.message, "url": f"/r/{target.id}"}


@endpoint("/api/stream", {"items": ["Entry"], "before": str}, selects_project=True)
def activity(ask: Ask, before: Before = "", session: OfSession = "", limit: Limit = 20) -> Json:
    """List activity, latest first."""
    wanted, place = Wanted(project=ask.project, session=session), place_of(before) if before else None
    page = older(ask.memory, wanted, before=place, limit=limit)
    return {"items": [item_json(item) for item in page.items], "before": str(page.place) if page.place else ""}


def item_json(item: Any) -> Json:
    """Return an item of the stream, its records as links."""
    return {**plain(replace(item, records=())), "records": table(item.records, "links")}


@endpoint("/api/sessions", {"sessions": ["Session"]}, selects_project=True)
def sessions(ask: Ask, limit: Limit = 20, offset: Offset = 0) -> Json:
    """List sessions, latest first."""
    return {"sessions": plain(list_sessions(ask.memory, limit=limit, offset=offset, everywhere=ask.everywhere))}


@endpoint("/api/sessions/{id}", SHAPES["Left"])
def session(ask: Ask, id: Id) -> Json:
    """Return one session with what it left."""
    left = contents_of(ask.memory, id)
    return {**plain(left), "records": [cited(record) for record in left["records"]]}


@endpoint("/api/threads", {"stages": dict[str, list[Json]]}, selects_project=True)
def threads(ask: Ask) -> Json:
    """List open threads by the stage of their life."""
    stages = triage(ask.memory).items()
    return {"stages": {stage: [{**plain(one), "record": cited(one.record)} for one in some] for stage, some in stages}}


@endpoint("/api/scars", {"scars": [SHAPES["Effect"]]}, selects_project=True)
def scars(ask: Ask, days: Days = 30) -> Json:
    """List the effect of each scar shown recently."""
    return {"scars": table(effects(ask.memory, days=days), "effects", cited=cited)}


@endpoint("/api/health", _HEALTH, selects_project=True)
def health_report(ask: Ask, days: Days = 30) -> Json:
    """Report how healthy the memory is, and what to do first."""
    report = health(ask.memory, days=days)
    return {**plain(report), "measures": [{**plain(measure), "cost": measure.cost} for measure in report.measures]}


@endpoint("/api/insights", ByDay, selects_project=True)
def insights(ask: Ask, days: Days = 30) -> Any:
    """Count activity day by day."""
    return plain(day_by_day(ask.memory, days=days, everywhere=ask.everywhere))


_BRIEF, _ALL = "Return the brief a session of the project would begin with.", "List the projects of the store."
_NOTHING: Schema = {"type": "object", "properties": {}, "additionalProperties": False}
add("/api/brief", _NOTHING, Prepared, lambda ask: plain(brief_of(ask.memory)), _BRIEF, selects_project=True)
add("/api/projects", _NOTHING, {"projects": [Project]}, lambda ask: {"projects": plain(projects(ask.memory))}, _ALL)
add("/api/version", _NOTHING, {"version": str}, lambda _: {"version": __version__}, "Return the version of Holdfast.")


@endpoint("/api/stats", {"database": Json})
def stats(ask: Ask) -> Json:
    """Count what the store holds."""
    counts = status(ask.memory)
    (database,) = table([counts], "database")
    return {"worker": {"version": "holdfast", "running": True}, "database": database, "holdfast": plain(counts)}


def _by_row(row: Row, schema: Schema, ask: Ask, **given: Any) -> Any:
    """Answer by a row of claude-mem's; what a request leaves out has its default, or is empty."""
    defaults = {name: one.get("default", "") for name, one in schema["properties"].items()}
    named = {parameter_name(name): value for name, value in (defaults | given).items()}
    return row.run(ask.viewer.memory, named, claude_mem.TERMS)


_file = parse_json(read_regular(claude_mem.PATHS))
for _one in _file["paths"]:
    _path, _schema, _more = _one["path"], schema_in(_one, _file["shared"]), {"method": _one.get("method", "GET")}
    _answer = partial(_by_row, claude_mem.ROWS[_path], _schema)
    add(_path, _schema, _file["results"][_one["returns"]], _answer, _one["summary"], **_more)


async def stream(request: Request) -> Response:
    """Send activity as it happens: one `happened` event for each batch, as JSON."""
    ask = await to_thread.run_sync(asked, request)
    wanted, at = wanted_of(ask), ask.text("after")
    after = place_of(at) if at else None
    allowed: Callable[[], bool] = getattr(request.state, "allowed", lambda: True)

    async def events() -> AsyncIterator[bytes]:
        yield b": holdfast\n\n"
        async for page in ask.viewer.watcher.follow(ask.viewer.memory, wanted, after):
            if not await to_thread.run_sync(allowed):
                return  # access was revoked while the stream was open
            if page is None:
                yield b": still here\n\n"
            else:
                news = {"items": [item_json(item) for item in reversed(page.items)], "after": str(page.place)}
                yield f"event: happened\ndata: {json.dumps(news, ensure_ascii=False)}\n\n".encode()

    return StreamingResponse(events(), media_type="text/event-stream", headers={"x-accel-buffering": "no"})
