"""The JSON API over HTTP: a route for each endpoint, the OpenAPI document, and the stream as server-sent events."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from holdfast.hosts.web import endpoints
from holdfast.hosts.web.live import sent
from holdfast.hosts.web.openapi import Endpoint, openapi
from holdfast.hosts.web.pages.activity import wanted_of
from holdfast.hosts.web.viewer import Ask, asked, is_our_form, viewer_of
from holdfast.model.errors import Invalid
from holdfast.model.foreign_json import parse_json
from holdfast.verbs.upkeep.stream import place_of

ENDPOINTS = tuple(endpoints.API.endpoints)


def routes() -> list[Route]:
    """Return the routes of the API."""
    endpoints = [Route(endpoint.path, _route(endpoint), methods=[endpoint.method]) for endpoint in ENDPOINTS]
    return [Route("/api/openapi.json", _document), Route("/stream", stream), *endpoints]


async def _document(_: Request) -> Response:
    return JSONResponse(openapi(ENDPOINTS))


def _route(endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        form = await _body(request) if endpoint.method == "POST" else {}
        if endpoint.method == "POST" and not is_our_form(request, form, viewer_of(request).keys):
            raise HTTPException(403, "Send the token, or the key of a Holdfast form.")
        return await to_thread.run_sync(lambda: _answered(endpoint, asked(request, form)))

    return answer


def _answered(endpoint: Endpoint, ask: Ask) -> Response:
    result: Any = endpoint.answer(ask, **endpoint.arguments(ask))
    return PlainTextResponse(result) if isinstance(result, str) else JSONResponse(result)


async def _body(request: Request) -> dict[str, list[str]]:
    """Return a JSON object of texts, numbers and lists of them as a form; a list becomes one text, separated by commas."""
    raw = await request.body()
    try:
        fields = parse_json(raw or b"{}")
    except ValueError as problem:
        raise Invalid(f"The body is not valid JSON: {problem}.") from problem
    if not isinstance(fields, dict):
        raise Invalid("The body must be a JSON object.")
    return {name: [_as_text(value)] for name, value in fields.items()}


def _as_text(value: Any) -> str:
    items = value if isinstance(value, list) else [value]
    if not all(isinstance(item, str | int) for item in items):
        raise Invalid("The values of the body must be texts, numbers, or lists of them.")
    return ",".join(map(str, items))


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
                items = [endpoints.item_json(item) for item in reversed(page.items)]
                yield sent("happened", {"items": items, "after": str(page.place)})

    return StreamingResponse(events(), media_type="text/event-stream", headers={"x-accel-buffering": "no"})
