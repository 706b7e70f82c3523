"""Shared by the HTTP servers: the loopback socket, allowed host names, the token, timeouts and a clean shutdown."""

import asyncio
import hmac
import logging
import secrets
import signal
import socket
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import anyio
import h11
import uvicorn
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from holdfast.compose.settings import keep_out_of_git
from holdfast.model.errors import Invalid, StoreError, StoreUnwritable
from holdfast.model.files import read_regular, write_new

HOST = "127.0.0.1"
LEAVING = 2  # seconds: how long running requests may take after a stop signal
DRAINED_TIMES = 3  # times the longest body: how much of a body that is too long is still read
BODY_SECONDS = 30.0  # how long a body may take to arrive: no local program needs that long
TOKEN_FILE = "http-token"  # noqa: S105  a file name
Refuse = Callable[[Request], Response | None]
log = logging.getLogger(__name__)
K = TypeVar("K")
V = TypeVar("V")


class Latest(OrderedDict[K, V]):
    """The values used last, at most as many as it may have; for any thread."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most, self._lock = most, threading.Lock()

    def use(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key, made if there is none; the one not used for longest makes room."""
        with self._lock:
            value = self[key] = self.pop(key) if key in self else make()
            while len(self) > self._most:
                self.popitem(last=False)
            return value


def serve(
    app: ASGIApp, listener: socket.socket, *, announce: Callable[[], None], seconds: int = LEAVING, **options: Any
) -> None:
    """Serve until SIGTERM or SIGINT, then let requests finish for some seconds; `announce` is called once it answers."""

    class Announcing(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:  # and stop signals are handled: one that comes earlier leaves a loop open
                announce()

    config = uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        log_level=logging.CRITICAL,  # it logs errors for streams closed at shutdown; the hosts log failures
        lifespan="on",
        http=_Bounded,  # the same parser everywhere, whatever else is installed
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=seconds,
        **options,
    )
    # After its shutdown uvicorn raises the signal again; as an exception it lets the caller close the memory.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        Announcing(config).run(sockets=[listener])
    except KeyboardInterrupt:
        log.info("stopped")


def listening(port: int, host: str = HOST) -> socket.socket:
    """Return a socket that listens on an address, the loopback one by default; port 0 means any free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as problem:
        hint = "--port 0 takes any that is free."
        raise Invalid(f"{host} port {port} cannot be used ({problem}).", hint=hint) from problem


def names_at(port: int) -> list[str]:
    """Return the allowed Host headers: any other name may be DNS rebinding by a web page."""
    return [f"{name}:{port}" for name in (HOST, "localhost")]


def is_bearer(header: str, token: str) -> bool:
    """True if an Authorization header carries the token."""
    scheme, _, shown = header.partition(" ")
    return hmac.compare_digest(shown.strip().encode("latin-1"), token.encode()) and scheme.lower() == "bearer"


async def admit(inner: ASGIApp, scope: Scope, receive: Receive, send: Send, *, longest: int, refuse: Refuse) -> None:
    """Let an application answer a request once its body has arrived, unless the request or its body is refused."""
    if scope["type"] != "http":  # its start and end
        await inner(scope, receive, send)
        return
    found = refuse(Request(scope)) or await with_body(scope, receive, longest)
    if isinstance(found, Response):
        await found(scope, receive, send)
    else:
        await inner(scope, found, send)


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
        waiting: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

        async def replayed() -> Message:  # the body once, then what the connection sends after it
            return waiting.pop() if waiting else await receive()

        return too_long if size > longest else replayed
    return PlainTextResponse("The rest of the request did not come in time.\n", 408)


class _Bounded(H11Protocol):
    """A connection that is dropped if its headers are late; `waiting` are those without, by address, the oldest first."""

    seconds: ClassVar[float] = 30.0  # as long as a body may take
    most: ClassVar[int] = 200  # connections of one address whose request headers are incomplete
    waiting: ClassVar[dict[str, dict["_Bounded", None]]] = {}
    _deadline: asyncio.TimerHandle | None = None
    _peer = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._peer = self.client[0] if self.client else ""
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._deadline is None and not self.transport.is_closing():
            self._wait()  # the next request on the same connection began to arrive

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        waiting = self.waiting.setdefault(self._peer, {})
        waiting[self] = None
        self._deadline = self.loop.call_later(self.seconds, self.transport.abort)
        if len(waiting) > self.most:  # the oldest has had its time; the newest may be a complete request
            oldest = next(iter(waiting))
            oldest._stop_waiting()  # noqa: SLF001  the same class
            oldest.transport.abort()

    def _stop_waiting(self) -> None:
        if self._deadline is None:
            return
        self._deadline.cancel()
        self._deadline = None
        del self.waiting[self._peer][self]
        if not self.waiting[self._peer]:
            del self.waiting[self._peer]


def kept_token(folder: Path) -> str:
    """Return the token that clients must send, from a store's folder; the first time it is created, for its owner only."""
    path = folder / TOKEN_FILE
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        keep_out_of_git(folder)
        if not path.exists():
            write_new(path, secrets.token_urlsafe(32) + "\n")
        token = read_regular(path).decode().strip()
    except OSError as problem:
        raise StoreUnwritable(f"{path} cannot be used ({problem.strerror}).", hint="Or set http_token.") from problem
    if not token:
        raise StoreError(f"{path} holds no token.", hint="Remove that file; the next start makes another.")
    return token
