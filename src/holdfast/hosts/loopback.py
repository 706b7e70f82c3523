"""Shared by the HTTP servers: the loopback socket, allowed host names, the token check and a clean shutdown."""

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

from holdfast.hosts.header_timeout import heads_within
from holdfast.model.errors import Invalid

HOST = "127.0.0.1"
LEAVING_SECONDS = 2  # how long running requests may take after a stop signal
DRAINED_TIMES = 3  # times the longest body: how much of a body that is too long is still read
BODY_SECONDS = 30.0  # how long a body may take to arrive: no local program needs that long
log = logging.getLogger(__name__)


class Announcing(uvicorn.Server):
    """A server that calls `announce` when it answers and stop signals are handled: one that comes earlier leaves a loop open."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then announce it."""
        await super().startup(sockets)
        if self.started:
            self._announce()


def serve(app: ASGIApp, listener: socket.socket, *, announce: Callable[[], None]) -> None:
    """Serve until SIGTERM or SIGINT; `announce` is called once the address can be reached."""
    config = uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        log_level=logging.CRITICAL,  # it logs errors for streams closed at shutdown; the hosts log failures
        lifespan="on",
        http=heads_within(),  # the same parser everywhere, whatever else is installed
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=LEAVING_SECONDS,
    )
    # After its shutdown uvicorn raises the signal again; as an exception it lets the caller close the memory.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        Announcing(config, announce).run(sockets=[listener])
    except KeyboardInterrupt:
        log.info("asked to stop")


def listening(port: int) -> socket.socket:
    """Return a socket that listens on the loopback address; port 0 means any free port."""
    try:
        return socket.create_server((HOST, port))
    except (OSError, OverflowError) as problem:
        raise Invalid(f"Port {port} cannot be used ({problem}).", hint="--port 0 takes any that is free.") from problem


def port_of(listener: socket.socket) -> int:
    """Return the port that a socket listens on."""
    return int(listener.getsockname()[1])


def names_at(port: int) -> list[str]:
    """Return the allowed Host headers: any other name may be DNS rebinding by a web page."""
    return [f"{name}:{port}" for name in (HOST, "localhost")]


def is_bearer(header: str, token: str) -> bool:
    """True if an Authorization header carries the token."""
    scheme, _, shown = header.partition(" ")
    return hmac.compare_digest(shown.strip().encode("latin-1"), token.encode()) and scheme.lower() == "bearer"


async def with_body(scope: Scope, receive: Receive, longest: int) -> Receive | Response:
    """Read a request's body before the application runs; refuse one that is too long or too slow.

    A body up to `DRAINED_TIMES` times too long is read and discarded: a client cut off while sending may miss the response.
    """
    too_long = PlainTextResponse(f"A request may have {longest:,} bytes.\n", 413)
    if int(Headers(scope=scope).get("content-length", "0")) > DRAINED_TIMES * longest:
        return too_long
    body, size, more = bytearray(), 0, True
    with anyio.move_on_after(BODY_SECONDS):
        while more and size <= DRAINED_TIMES * longest:
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
    """Return a `receive` that replays the body once, then passes on later messages of the connection."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed
