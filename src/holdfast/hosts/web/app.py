"""The viewer as a web application: a table of pages and actions, and one place that presents errors."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import parse_qs

from anyio import to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Scope

from holdfast.compose.settings import Settings
from holdfast.hosts.web import render
from holdfast.hosts.web.api import routes as api_routes
from holdfast.hosts.web.guard import OPEN, SAFE, Guard, Keys
from holdfast.hosts.web.live import Watcher
from holdfast.hosts.web.pages import (
    graph,
    health,
    insights,
    projects,
    record,
    scars,
    search,
    sessions,
    settings,
    stream,
    threads,
)
from holdfast.hosts.web.viewer import Ask, Viewer, as_person, asked, is_our_form, viewer_of
from holdfast.model.errors import Conflict, Forbidden, HoldfastError, Invalid, NotFound, StoreError
from holdfast.verbs.memory import Memory

Page = Callable[[Ask], Response]
STATUS = ((NotFound, 404), (Conflict, 409), (Invalid, 400), (Forbidden, 403), (StoreError, 503))
FOREVER = "public, max-age=31536000, immutable"
log = logging.getLogger(__name__)

PAGES: dict[str, Page] = {
    "/": stream.page,
    "/stream/older": stream.older_items,
    "/stream/newer": stream.newer_items,
    "/search": search.page,
    "/search/hits": search.hits,
    "/r/{id}": record.page,
    "/r/{id}/history": record.history_part,
    "/r/{id}/anchors": record.anchors_part,
    "/sessions": sessions.page,
    "/sessions/{id}": sessions.one,
    "/threads": threads.page,
    "/scars": scars.page,
    "/graph": graph.page,
    "/health": health.page,
    "/health/queue": health.queue_part,
    "/health/disputes": health.disputes_part,
    "/health/duplicates": health.duplicates_part,
    "/insights": insights.page,
    "/insights/plots": insights.plots_part,
    "/settings": settings.page,
    "/settings/preview": settings.preview,
    "/projects": projects.page,
}
ACTS: dict[str, Page] = {
    "/r/{id}/edit": record.edit,
    "/r/{id}/{what}": record.act,
    "/threads/open": threads.open_one,
    "/threads/{id}/{what}": threads.act,
    "/health/resolve": health.resolve_one,
    "/health/{id}/{what}": health.act,
    "/settings": settings.save,
}


def make_app(memory: Memory, reload: Callable[[], Settings], *, keys: Keys, port: int) -> ASGIApp:
    """Return the viewer of an open memory as an application."""
    memory = as_person(memory)
    watcher = Watcher(memory)
    inner = pages_and_api(watcher)
    inner.state.viewer = Viewer(memory=memory, settings=reload(), keys=keys, watcher=watcher, reload=reload)
    return Guard(inner, keys=keys, port=port)


def pages_and_api(watcher: Watcher) -> Starlette:
    """Return the application with every page and endpoint; `viewer_of` finds the viewer of a request."""

    @asynccontextmanager
    async def living(_: Starlette) -> AsyncIterator[None]:
        yield
        watcher.close()

    return Starlette(
        routes=[
            Mount("/assets", _Assets(directory=render.HERE / "assets")),
            *(Route(path, _reading(page)) for path, page in PAGES.items()),
            *(Route(path, _acting(act), methods=["POST"]) for path, act in ACTS.items()),
            *api_routes(),
        ],
        exception_handlers={HoldfastError: _refused, HTTPException: _missed, Exception: _failed},
        lifespan=living,
    )


class _Assets(StaticFiles):
    """Our static files: the URL changes with the content, so browsers may cache them."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        answer = await super().get_response(path, scope)
        if b"v=" in scope["query_string"]:
            answer.headers["cache-control"] = FOREVER
        return answer


def _reading(page: Page) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return await to_thread.run_sync(lambda: page(asked(request)))

    return endpoint


def _acting(act: Page) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        form = await form_of(request)
        if not is_our_form(request, form, viewer_of(request).keys):
            return PlainTextResponse(
                "This form is out of date or comes from another site. Reload the page and try again.\n", 403
            )
        return await to_thread.run_sync(lambda: act(asked(request, form)))

    return endpoint


async def form_of(request: Request) -> dict[str, list[str]]:
    """Parse a form."""
    body = await request.body()
    try:
        return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=500, errors="strict")
    except (ValueError, UnicodeDecodeError) as problem:
        raise Invalid("The form cannot be read.") from problem


async def _refused(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HoldfastError)
    status = next((status for kind, status in STATUS if isinstance(problem, kind)), 500)
    return await _said(request, status, problem.code, problem.message, problem.hint)


async def _missed(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    answer = await _said(request, problem.status_code, "http", problem.detail, "")
    answer.headers.update(problem.headers or {})
    return answer


async def _failed(request: Request, problem: Exception) -> Response:
    """Present a bug: log it, and reveal no internals to the client."""
    log.error("%s %s failed", request.method, request.url.path, exc_info=problem)
    return await _said(request, 500, "internal", "Something unexpected went wrong.", "See the log in the terminal.")


async def _said(request: Request, status: int, code: str, message: str, hint: str) -> Response:
    if request.url.path.startswith(("/api", "/stream")) and request.method in (*SAFE, "POST", "DELETE"):
        return JSONResponse({"error": code, "message": message, "hint": hint}, status)
    if request.url.path.startswith(OPEN):  # static files are served without a key
        return PlainTextResponse(f"{message}\n", status)
    try:
        ask = asked(request)
    except HoldfastError:
        return PlainTextResponse(f"{message}\n", status)
    return await to_thread.run_sync(
        lambda: render.page(ask, "error.html", status=status, title=message, message=message, hint=hint)
    )
