"""The HTTP host: streamable HTTP by the official SDK, with the same handlers as stdio, for local programs.

It listens on the loopback address only, refuses other host names and origins (against DNS rebinding by web pages),
and rejects requests without the token.
"""

import asyncio
import concurrent.futures
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from anyio import from_thread, to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server as Transport
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import RequestParams
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.hosts.loopback import HOST, admit, is_bearer, listening, names_at, port_of, serve
from holdfast.hosts.mcp import protocol
from holdfast.hosts.mcp.serving import Opened
from holdfast.model.access import NO_ACCESS, Access, asking
from holdfast.surfaces.tool import Acting, Call, Client
from holdfast.verbs.memory import Memory

PATH = "/mcp"
MOST_SESSIONS = 200
REMEMBERED = 1_000  # sessions whose actor is kept; the SDK does not say when one ends
CallOf = Callable[[ServerRequestContext[Any, Any]], tuple[Call, Access]]
log = logging.getLogger(__name__)


def main(server: protocol.Server, *, token: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT; `announce` gets the URL once it can be reached."""
    with listening(port) as listener:
        bound = port_of(listener)
        serve(app(server, token=token, port=bound), listener, announce=lambda: announce(f"http://{HOST}:{bound}{PATH}"))


def app(server: protocol.Server, *, token: str, port: int) -> ASGIApp:
    """Return the web application: token, then host and origin, then size, then the protocol in either era."""
    names = names_at(port)
    security = TransportSecuritySettings(allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names])
    inner = transport(server).streamable_http_app(
        streamable_http_path=PATH,
        transport_security=security,
        max_request_body_size=protocol.LONGEST_MESSAGE,
        max_sessions=MOST_SESSIONS,
    )
    return _Guarded(inner, token)


def transport(server: protocol.Server, call_and_access: CallOf | None = None) -> Transport[Any]:
    """Return the SDK's server: it speaks the protocol, our handlers answer."""
    sessions = _Sessions(server.call)
    call_of: CallOf = call_and_access or (lambda ctx: (sessions.call_of(ctx), NO_ACCESS))
    made: Transport[Any] = Transport(
        protocol.SERVER["name"],
        version=protocol.SERVER["version"],
        title=protocol.SERVER["title"],
        instructions=server.offer.instructions,
        get_tool_input_schema={tool["name"]: tool["inputSchema"] for tool in server.offer.tools}.get,
    )

    async def answer(ctx: ServerRequestContext[Any, Any], _: RequestParams) -> protocol.Json:
        call, access = call_of(ctx)
        return await _answer(replace(server, call=call), ctx, access)

    for method in ("server/discover", *server.methods):
        made.add_request_handler(method, RequestParams, answer)
    return made


async def _answer(server: protocol.Server, ctx: ServerRequestContext[Any, Any], access: Access) -> protocol.Json:
    """Run a handler in a thread, since the core is synchronous; notifications are sent at once."""

    def tell(_method: str, params: protocol.Json) -> None:
        try:
            from_thread.check_cancelled()
            from_thread.run(ctx.session.report_progress, params["progress"], params.get("total"), params.get("message"))
        except (asyncio.CancelledError, concurrent.futures.CancelledError):
            log.debug("the client no longer waits for %s", ctx.method)

    def answer() -> protocol.Json:
        with asking(access):
            return server.answer(ctx.method, dict(ctx.params or {}), tell)

    try:
        return await to_thread.run_sync(answer)
    except protocol.ProtocolError as problem:
        raise MCPError(problem.code, problem.message, problem.data) from problem
    except Exception as problem:
        # The outermost loop of a host: a bug must not end the session, nor reveal internals.
        log.exception("%s failed", ctx.method)
        raise MCPError(protocol.INTERNAL, "Internal error; see the log") from problem


class _Sessions:
    """A call for each session of the older era, with an actor of its own; requests of the newer era share one."""

    def __init__(self, shared: Call) -> None:
        self._shared = shared
        self._known: OrderedDict[str, Call] = OrderedDict()

    def call_of(self, ctx: ServerRequestContext[Any, Any]) -> Call:
        """Return the call that a request belongs to."""
        session = ctx.request.headers.get("mcp-session-id") if ctx.request is not None else None
        if session is None or ctx.protocol_version in protocol.MODERN:
            return self._shared
        if session not in self._known:
            params = ctx.session.client_params
            client = Client(name=params.client_info.name[: protocol.LONGEST_NAME] if params is not None else "")
            acting = Acting()
            opened = Opened(lambda: _own(self._shared.memory), client, acting, keeps=False)
            self._known[session] = replace(self._shared, open=opened, client=client, acting=acting)
        self._known.move_to_end(session)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return self._known[session]


def _own(memory: Memory) -> Memory:
    """Return the memory for one more client: everything is shared except the actor and the session."""
    host = replace(memory.host, session="")  # the process that started this server is not one of its clients
    return replace(memory.acting_in(memory.config.session), host=host)


class _Guarded:
    """A web application that requires the token."""

    def __init__(self, inner: ASGIApp, token: str) -> None:
        self._inner = inner
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if scope["type"] != "http":
                await self._inner(scope, receive, send)
                return
            known = is_bearer(Headers(scope=scope).get("authorization", ""), self._token)
            refusal = None if known else _REFUSAL
            await admit(self._inner, scope, receive, send, longest=protocol.LONGEST_MESSAGE, refusal=refusal)
        except Exception:
            log.exception("a request failed")
            raise


_REFUSAL = PlainTextResponse("The token is missing or wrong.\n", 401, {"www-authenticate": "Bearer"})
