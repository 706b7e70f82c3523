"""What every server of ours stands on: the loopback address, the names it may be called by, a token, an orderly end."""

import hmac
import logging
import signal
import socket
from collections.abc import Callable

import anyio
import uvicorn
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope

from holdfast.hosts.heads import heads_within
from holdfast.model.errors import Invalid

HOST = "127.0.0.1"
LEAVING_SECONDS = 2  # how long requests may take to end once we are asked to stop
HEARD_OUT = 3  # times the longest body
BODY_SECONDS = 30.0  # how long a body may take to arrive: no program of this machine needs so long
log = logging.getLogger(__name__)


def serve(app: ASGIApp, listener: socket.socket, *, announce: Callable[[], None]) -> None:
    """Serve until asked to stop by SIGTERM or SIGINT; `announce` is called once the address can be reached."""
    config = uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        log_level=logging.CRITICAL,  # it complains of streams cut off when we leave; failures are logged by the hosts
        lifespan="on",
        http=heads_within(),  # the same parser everywhere, whatever else is installed
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=LEAVING_SECONDS,
    )
    # When it has left, uvicorn sends itself the signal again; as an exception it lets the memory be closed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        announce()
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        log.info("asked to stop")


def listening(port: int) -> socket.socket:
    """Give a socket that listens on the loopback address; port 0 means any that is free."""
    try:
        return socket.create_server((HOST, port))
    except (OSError, OverflowError) as problem:
        raise Invalid(f"Port {port} cannot be used ({problem}).", hint="--port 0 takes any that is free.") from problem


def port_of(listener: socket.socket) -> int:
    """Give the port a socket listens on."""
    return int(listener.getsockname()[1])


def names_at(port: int) -> list[str]:
    """Give what a client may call us: any other name means that somebody else's page found its way here."""
    return [f"{name}:{port}" for name in (HOST, "localhost")]


def is_bearer(header: str, token: str) -> bool:
    """Tell whether an Authorization header shows the token."""
    scheme, _, shown = header.partition(" ")
    return hmac.compare_digest(shown.strip().encode("latin-1"), token.encode()) and scheme.lower() == "bearer"


async def taken_in(scope: Scope, receive: Receive, longest: int) -> Receive | Response:
    """Read a request's body before anybody works on it; one too long, or that never ends, is refused.

    A little too much is still read and thrown away: who is cut off while talking may not hear why.
    """
    too_long = PlainTextResponse(f"A request may have {longest:,} bytes.\n", 413)
    if int(Headers(scope=scope).get("content-length", "0")) > HEARD_OUT * longest:
        return too_long
    body, size, more = bytearray(), 0, True
    with anyio.move_on_after(BODY_SECONDS):
        while more and size <= HEARD_OUT * longest:
            message = await receive()
            if message["type"] != "http.request":
                return PlainTextResponse("The rest of the request did not come.\n", 400)
            part, more = message.get("body", b""), message.get("more_body", False)
            size += len(part)
            if size <= longest:
                body += part
        return too_long if size > longest else _again(bytes(body), receive)
    return PlainTextResponse("The rest of the request did not come in time.\n", 408)


def _again(body: bytes, receive: Receive) -> Receive:
    """Give a body that was read to who asks first; after that what else happens to the connection."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed
