"""The JSON interface: a table of endpoints, its description, and the stream as server-sent events."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, get_args

from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from holdfast.hosts.web import answers
from holdfast.hosts.web.endpoint import Endpoint, Json, Parameter, arguments, described
from holdfast.hosts.web.live import sent
from holdfast.hosts.web.pages.record import ACTS
from holdfast.hosts.web.pages.stream import wanted_of
from holdfast.hosts.web.viewer import EVERYWHERE, Ask, asked, is_our_form, viewer_of
from holdfast.model.errors import Invalid
from holdfast.model.foreign_json import parse_json
from holdfast.model.kinds import KINDS
from holdfast.model.query import Mode
from holdfast.verbs.records.subgraph import MOST_NODES
from holdfast.verbs.search.observations import ORDERS
from holdfast.verbs.upkeep.stream import place_of

_PROJECT = Parameter(name="project", help=f"A project by its name or the last part of it; {EVERYWHERE} means all.")
_ID = Parameter(name="id", help="An id, or enough of its beginning.", in_path=True)
_KIND = Parameter(name="kind", help="Only this kind.", choices=tuple(KINDS))


def _number(name: str, help: str, default: int, least: int, most: int) -> Parameter:  # noqa: A002
    return Parameter(name=name, help=help, type="integer", default=default, least=least, most=most)


_LIMIT = _number("limit", "How many at most.", 20, 1, 100)
_OFFSET = _number("offset", "How many to pass over first.", 0, 0, 1_000_000)
_DAYS = _number("days", "How far back.", 30, 1, 365)
_OBJECT: Json = {"type": "object"}


def _text(name: str, help: str) -> Parameter:  # noqa: A002
    return Parameter(name=name, help=help)


OURS = (
    Endpoint(
        path="/api/recall",
        summary="Ask the memory; each hit says why it is there and how fresh it is.",
        answer=answers.found,
        parameters=(
            _PROJECT,
            Parameter(name="q", help="The question.", default="what is known"),
            _KIND,
            _LIMIT,
            _text("as_of", "As it was known on this date."),
            Parameter(name="mode", help="How well an answer must fit.", choices=get_args(Mode), default="balanced"),
        ),
    ),
    Endpoint(
        path="/api/records",
        summary="List memories, newest first.",
        answer=answers.records,
        parameters=(_PROJECT, _KIND, _LIMIT, _OFFSET),
    ),
    Endpoint(path="/api/records/{id}", summary="One memory in full.", answer=answers.one_record, parameters=(_ID,)),
    Endpoint(
        path="/api/records/{id}/history",
        summary="Everything that happened to a memory.",
        answer=answers.record_history,
        parameters=(_ID,),
    ),
    Endpoint(
        path="/api/records/{id}/{what}",
        summary="Verify, retire, restore, pin, share, judge or link a memory.",
        answer=answers.act,
        method="POST",
        parameters=(_ID, Parameter(name="what", help="What to do.", choices=tuple(ACTS), in_path=True)),
        takes={"type": "object", "additionalProperties": {"type": "string"}},
    ),
    Endpoint(
        path="/api/stream",
        summary="What happened, latest first.",
        answer=answers.happenings,
        parameters=(
            _PROJECT,
            _text("before", "Go on from here, as the last answer said."),
            _text("session", "Only this session."),
            _LIMIT,
        ),
    ),
    Endpoint(
        path="/api/sessions",
        summary="List sessions, latest first.",
        answer=answers.sessions,
        parameters=(_PROJECT, _LIMIT, _OFFSET),
    ),
    Endpoint(
        path="/api/sessions/{id}",
        summary="One session with what it left.",
        answer=answers.one_session,
        parameters=(_ID,),
    ),
    Endpoint(
        path="/api/threads",
        summary="Open threads by the stage of their life.",
        answer=answers.threads,
        parameters=(_PROJECT,),
    ),
    Endpoint(
        path="/api/scars",
        summary="What each scar shown lately achieved.",
        answer=answers.scars,
        parameters=(_PROJECT, _DAYS),
    ),
    Endpoint(
        path="/api/graph",
        summary="What hangs together, as nodes and edges.",
        answer=answers.graph,
        parameters=(
            _PROJECT,
            _text("node", "Around this memory; empty: the links of the project."),
            _number("depth", "How many steps away.", 2, 1, 4),
            _number("limit", "How many nodes at most.", MOST_NODES, 1, MOST_NODES),
        ),
    ),
    Endpoint(
        path="/api/health",
        summary="How healthy the memory is, and what to do first.",
        answer=answers.healthy,
        parameters=(_PROJECT, _DAYS),
    ),
    Endpoint(
        path="/api/insights", summary="What happened day by day.", answer=answers.insights, parameters=(_PROJECT, _DAYS)
    ),
    Endpoint(
        path="/api/brief", summary="The brief a session would begin with.", answer=answers.brief, parameters=(_PROJECT,)
    ),
    Endpoint(path="/api/projects", summary="The projects of the store.", answer=answers.every_project),
)
THEIRS = (
    Endpoint(
        path="/api/search",
        summary="Search as claude-mem's users do: observations and session summaries as rows.",
        answer=answers.search,
        parameters=(
            _text("query", "A question or words; empty: everything that passes the filters."),
            _text("project", "Only this project; empty: all."),
            _LIMIT,
            _OFFSET,
            _text("type", "observations, sessions or prompts; else a type of observation."),
            _text("obs_type", "Types of observation, separated by commas."),
            _text("concepts", "Concepts, separated by commas."),
            _text("files", "Files or folders, separated by commas."),
            _text("dateStart", "Not before this date or time."),
            _text("dateEnd", "Not after this date or time."),
            _text("platformSource", "Only what this agent kept."),
            Parameter(name="orderBy", help="Best first, or by date.", choices=ORDERS),
            Parameter(
                name="format",
                help="json: rows; index: also a table to read.",
                choices=("json", "index"),
                default="json",
            ),
        ),
    ),
    Endpoint(
        path="/api/timeline",
        summary="What was kept around an observation, a moment or the best answer to a question.",
        answer=answers.timeline,
        parameters=(
            _text("anchor", "A number, an id or a time."),
            _text("query", "A question whose best answer is the anchor."),
            _text("project", "Only this project; empty: all."),
            _number("depth_before", "How many before it.", 3, 0, 20),
            _number("depth_after", "How many after it.", 3, 0, 20),
        ),
    ),
    Endpoint(
        path="/api/observations",
        summary="List observations, newest first.",
        answer=answers.observations,
        parameters=(_text("project", "Only this project; empty: all."), _LIMIT, _OFFSET),
    ),
    Endpoint(
        path="/api/observation/{id}",
        summary="One observation by its number or id: the stable citation.",
        answer=answers.one_observation,
        parameters=(_ID,),
    ),
    Endpoint(path="/api/stats", summary="What the store holds.", answer=answers.stats),
    Endpoint(
        path="/api/context/inject",
        summary="The index a session begins with, as text.",
        answer=answers.context,
        parameters=(
            _text("project", "The project."),
            _text("projects", "Several, separated by commas."),
            _text("platformSource", "Only what this agent kept."),
        ),
        media="text/plain",
        gives={"type": "string"},
    ),
)
ENDPOINTS = (*OURS, *THEIRS)


def routes() -> list[Route]:
    """Give every address of the interface."""
    made = [Route(one.path, _endpoint(one), methods=[one.method]) for one in ENDPOINTS]
    return [Route("/api/openapi.json", _description), Route("/stream", stream), *made]


async def _description(_: Request) -> Response:
    return JSONResponse(described(ENDPOINTS))


def _endpoint(one: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        form = await _body(request) if one.method == "POST" else {}
        if one.method == "POST" and not is_our_form(request, form, viewer_of(request).keys):
            raise HTTPException(403, "Show the token, or the key of our own forms.")
        return await to_thread.run_sync(lambda: _answered(one, asked(request, form)))

    return answer


def _answered(one: Endpoint, ask: Ask) -> Response:
    given = arguments(one, ask)
    if one in OURS:
        given.pop("project", None)  # read already, with the request itself
    value: Any = one.answer(ask, **given)
    return PlainTextResponse(value) if isinstance(value, str) else JSONResponse(value)


async def _body(request: Request) -> dict[str, list[str]]:
    """Read a JSON object of texts as a form."""
    raw = await request.body()
    try:
        given = parse_json(raw or b"{}")
    except ValueError as problem:
        raise Invalid(f"The body cannot be read as JSON: {problem}.") from problem
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise Invalid("The body must be an object of texts.")
    return {name: [value] for name, value in given.items()}


async def stream(request: Request) -> Response:
    """Send what happens as it happens: one `happened` event for each batch, as JSON."""
    ask = await to_thread.run_sync(asked, request)
    wanted, at = wanted_of(ask), ask.text("after")
    after = place_of(at) if at else None
    allowed: Callable[[], bool] = getattr(request.state, "allowed", lambda: True)

    async def told() -> AsyncIterator[bytes]:
        yield b": holdfast\n\n"
        async for found in ask.viewer.watcher.follow(ask.viewer.memory, wanted, after):
            if not await to_thread.run_sync(allowed):
                return  # whoever may no longer ask is told nothing more
            if found is None:
                yield b": still here\n\n"
            else:
                items = [answers.item_json(item) for item in reversed(found.items)]
                yield sent("happened", {"items": items, "after": str(found.place)})

    return StreamingResponse(told(), media_type="text/event-stream", headers={"x-accel-buffering": "no"})
