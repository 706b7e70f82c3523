"""The viewer as a web application: a table of pages and actions, one place that presents errors, and its server."""

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

from anyio import to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Scope

from holdfast.compose import open_memory
from holdfast.compose.settings import Settings
from holdfast.hosts.loopback import HOST, listening, serve
from holdfast.hosts.web import endpoints, render
from holdfast.hosts.web.guard import OPEN, Guard, Keys
from holdfast.hosts.web.live import Watcher
from holdfast.hosts.web.pages import activity, code, home, insights, memories, record, review  # noqa: F401  each adds its pages
from holdfast.hosts.web.render import Answer
from holdfast.hosts.web.viewer import Form, Viewer, answering, as_person, asked, status_of
from holdfast.model.errors import HoldfastError, Invalid
from holdfast.verbs.memory import Memory
from holdfast.verbs.search.embed import keeping_up

FOREVER = "public, max-age=31536000, immutable"
DEFAULT_PORT = 4654
log = logging.getLogger(__name__)

PAGES, ACTS = render.PAGES, render.ACTS
FOREIGN = "This form is out of date or comes from another site. Reload the page and try again."
# Where pages of earlier versions are now.
MOVED: dict[str, Answer] = {
    "/search": lambda ask: RedirectResponse(render.address(ask, "/memories", **ask.given), 301),
    "/health": lambda ask: RedirectResponse(render.address(ask, "/review", **ask.given), 301),
}


def main(reload: Callable[[], Settings], *, token: str, port: int | None, announce: Callable[[str], None]) -> None:
    """Serve the viewer until stopped; `announce` gets the link that opens it. Without a port it is the default one, or any free one."""
    keys = Keys(token=token)
    with ExitStack() as stack:
        try:
            listener = stack.enter_context(listening(DEFAULT_PORT if port is None else port))
        except Invalid:
            if port is not None:
                raise
            listener = stack.enter_context(listening(0))
        memory = stack.enter_context(open_memory(reload()))
        if memory.embedder is not None:
            stack.enter_context(keeping_up(memory))
        bound = listener.getsockname()[1]
        app = make_app(memory, reload, keys=keys, port=bound)
        serve(app, listener, announce=lambda: announce(f"http://{HOST}:{bound}/?key={keys.link}"))


def make_app(memory: Memory, reload: Callable[[], Settings], *, keys: Keys, port: int) -> ASGIApp:
    """Return the viewer of an open memory as an application."""
    memory = as_person(memory)
    watcher = Watcher(memory)
    inner = pages_and_api(watcher)
    inner.state.viewer = Viewer(memory=memory, settings=reload(), keys=keys, watcher=watcher, reload=reload)
    return Guard(inner=inner, keys=keys, port=port)


def pages_and_api(watcher: Watcher) -> Starlette:
    """Return the application with every page and endpoint; `viewer_of` finds the viewer of a request."""

    @asynccontextmanager
    async def living(_: Starlette) -> AsyncIterator[None]:
        yield
        watcher.close()

    return Starlette(
        routes=[
            Mount("/assets", _Assets(directory=render.HERE / "assets")),
            *(Route(path, answering(page)) for path, page in (PAGES | MOVED).items()),
            *(Route(path, answering(act, form_of, FOREIGN), methods=["POST"]) for path, act in ACTS.items()),
            *endpoints.routes(),
        ],
        exception_handlers=dict.fromkeys((HoldfastError, HTTPException, Exception), _presented),
        lifespan=living,
    )


class _Assets(StaticFiles):
    """Our static files: the URL changes with the content, so browsers may cache them."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        answer = await super().get_response(path, scope)
        if b"v=" in scope["query_string"]:
            answer.headers["cache-control"] = FOREVER
        return answer


def form_of(body: bytes) -> dict[str, list[str]]:
    """Parse a form."""
    try:
        return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=500, errors="strict")
    except (ValueError, UnicodeDecodeError) as problem:
        raise Invalid("The form cannot be read.") from problem


def form_again(path: str, form: Form, key: str, status: int = 200) -> Response:
    """Return a page with what was typed in a form that was refused; its button sends the form again, with the right key."""
    return HTMLResponse(render.filled("again.html", path=path, form=form, csrf=key), status)


async def _presented(request: Request, problem: Exception) -> Response:
    """Present a refusal with its reason, or a bug without its internals: as JSON, as text, or on a page."""
    headers: Mapping[str, str] = {}
    if isinstance(problem, HoldfastError):
        status = status_of(problem)
        named = request.path_params.get("id")
        if status == 400 and request.url.path in (f"/r/{named}", f"/sessions/{named}"):
            status = 404  # an address that no memory or session can have
        error, message, hint = problem.code, problem.message, problem.hint
    elif isinstance(problem, HTTPException):
        status, error, message, hint, headers = problem.status_code, "http", problem.detail, "", problem.headers or {}
    else:
        log.error("%s %s failed", request.method, request.url.path, exc_info=problem)
        status, error, message = 500, "internal", "Something unexpected went wrong."
        hint = "See the log in the terminal."
    answer = await _said(request, status, error, message, hint)
    answer.headers.update(headers)
    return answer


async def _said(request: Request, status: int, error: str, message: str, hint: str) -> Response:
    if request.url.path.startswith(("/api", "/stream")):
        return JSONResponse({"error": error, "message": message, "hint": hint}, status)
    if request.url.path.startswith(OPEN):  # static files are served without a key
        return PlainTextResponse(f"{message}\n", status)
    try:
        ask = asked(request)
    except HoldfastError:
        return PlainTextResponse(f"{message}\n", status)
    if message == FOREIGN and not ask.fragment:
        return form_again(render.here(ask), form_of(await request.body()), ask.viewer.keys.form, status)
    came = urlsplit(request.headers.get("referer", ""))
    is_ours = came.netloc == request.headers.get("host") and came.path != request.url.path
    back = came._replace(scheme="", netloc="", fragment="").geturl() if is_ours else ""
    shown: dict[str, Any] = {"title": message, "message": message, "hint": hint, "back": back}
    template, target = "problem.html" if ask.fragment else "error.html", request.headers.get("hx-target", "")
    if ask.fragment and target.startswith("item-"):  # next to the buttons of the item that was refused
        shown["headers"] = {"hx-retarget": f"#{target} .problem", "hx-reswap": "innerHTML"}
    return await to_thread.run_sync(lambda: render.page(ask, template, status=status, **shown))
