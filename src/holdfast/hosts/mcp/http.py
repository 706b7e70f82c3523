"""The HTTP host: streamable HTTP by the official SDK, with the same handlers as stdio, for local programs.

It listens on the loopback address only, refuses other host names and origins (against DNS rebinding by web pages),
and rejects requests without the token.
"""

import asyncio
import concurrent.futures
import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from anyio import from_thread, to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server as Transport
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import RequestParams
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.hosts.loopback import HOST, Latest, admit, is_bearer, listening, names_at, serve
from holdfast.hosts.mcp import protocol
from holdfast.hosts.mcp.serving import Opened
from holdfast.model.event import NO_ACCESS, Access, asking
from holdfast.surfaces.tool import Call, Client
from holdfast.verbs.memory import Memory

PATH = "/mcp"
MOST_SESSIONS = 200
REMEMBERED = 1_000  # sessions whose actor is kept; the SDK does not say when one ends
Context = ServerRequestContext[Any, Any]
CallOf = Callable[[Context], tuple[Call, Access]]
log = logging.getLogger(__name__)


def main(server: protocol.Server, *, token: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT; `announce` gets the URL once it can be reached."""
    with listening(port) as listener:
        bound = listener.getsockname()[1]
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

    def refuse(request: Request) -> Response | None:
        unknown = PlainTextResponse("The token is missing or wrong.\n", 401, {"www-authenticate": "Bearer"})
        return None if is_bearer(request.headers.get("authorization", ""), token) else unknown

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await admit(inner, scope, receive, send, longest=protocol.LONGEST_MESSAGE, refuse=refuse)
        except Exception:
            log.exception("a request failed")
            raise

    return guarded


def transport(server: protocol.Server, call_and_access: CallOf | None = None) -> Transport[Any]:
    """Return the SDK's server: it speaks the protocol, our handlers answer, in threads, since the core is synchronous.

    Each session of the older era gets a call with an actor of its own; requests of the newer era share one.
    """
    sessions = Latest[str, Call](REMEMBERED)

    def own_call(ctx: Context) -> tuple[Call, Access]:
        session, client = session_and_client(ctx)

        def own() -> Memory:  # everything is shared except the actor and the session
            memory = server.call.memory
            host = replace(memory.host, session="")  # the process that started this server is not one of its clients
            return replace(memory.acting_in(memory.config.session), host=host)

        opened = Opened(own, client, keeps=False)
        return sessions.use(session, lambda: Call(opened, client)) if session else server.call, NO_ACCESS

    schemas = {tool["name"]: tool["inputSchema"] for tool in server.offer.tools}
    about: protocol.Json = protocol.SERVER | {"instructions": server.offer.instructions}
    made: Transport[Any] = Transport(**about, get_tool_input_schema=schemas.get)

    async def answer(ctx: Context, _: RequestParams) -> protocol.Json:
        call, access = (call_and_access or own_call)(ctx)

        def tell(_method: str, params: protocol.Json) -> None:
            report = partial(ctx.session.report_progress, params["progress"], params.get("total"))
            try:
                from_thread.check_cancelled()
                from_thread.run(report, params.get("message"))
            except (asyncio.CancelledError, concurrent.futures.CancelledError):
                log.debug("the client no longer waits for %s", ctx.method)

        def answered() -> protocol.Json:
            with asking(access):
                return replace(server, call=call).answer(ctx.method, dict(ctx.params or {}), tell)

        try:
            return await to_thread.run_sync(answered)
        except protocol.ProtocolError as problem:
            raise MCPError(problem.code, problem.message, problem.data) from problem

    for method in ("server/discover", *server.methods):
        made.add_request_handler(method, RequestParams, answer)
    return made


def session_and_client(ctx: Context) -> tuple[str, Client]:
    """Return the session of the older era that a request belongs to, "" for none, and its client."""
    headers = ctx.request.headers if ctx.request is not None and ctx.protocol_version not in protocol.MODERN else {}
    params = ctx.session.client_params
    client = Client(params.client_info.name[: protocol.LONGEST_NAME] if params is not None else "")
    return headers.get("mcp-session-id", ""), client
