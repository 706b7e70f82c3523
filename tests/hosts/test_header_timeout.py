"""A connection that does not say what it wants is hung up on; one that does is answered, however many wait."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import uvicorn

from holdfast.hosts.loopback import _Bounded

HALVES = (b"", b"GET", b"GET /healthz HTTP/1.1\r\nHost: x\r\n", b"POST /mcp HTTP/1.1\r\nContent-Le")
WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def greet(scope: dict[str, object], _receive: object, send: object) -> None:
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})  # type: ignore[operator]
        await send({"type": "http.response.body", "body": b"ok"})  # type: ignore[operator]


@contextmanager
def serving(seconds: float, most: int = 1_000) -> Iterator[tuple[str, int]]:
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        http = type("Own", (_Bounded,), {"seconds": seconds, "most": most, "waiting": {}})
        config = uvicorn.Config(greet, http=http, log_config=None, lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()
        finally:
            server.should_exit = True
            thread.join(20)


def connected(address: tuple[str, int]) -> socket.socket:
    return socket.create_connection(address, timeout=120)


def is_hung_up(line: socket.socket) -> bool:
    """Wait until the other end hangs up; a server that keeps it open runs into the time limit."""
    try:
        return line.recv(1) == b""
    except ConnectionResetError:
        return True


def is_answered(line: socket.socket, request: bytes = WHOLE) -> bool:
    line.sendall(request)
    return line.recv(12) == b"HTTP/1.1 200"


def test_300_half_sent_requests_are_hung_up_on_in_time() -> None:
    with serving(1.0) as address, ExitStack() as lines:
        halves = [lines.enter_context(connected(address)) for _ in range(300)]
        for number, line in enumerate(halves):
            line.sendall(HALVES[number % len(HALVES)])
        second = lines.enter_context(connected(address))
        assert is_answered(second)
        assert b"".join(iter(lambda: second.recv(1), b"k")).endswith(b"\r\no")  # up to the end of "ok"
        second.sendall(HALVES[2])  # the second request on a connection is bounded too
        assert all(is_hung_up(line) for line in (*halves, second))


def test_one_address_keeps_only_so_many_waiting() -> None:
    with serving(60.0, most=20) as address, ExitStack() as lines:
        halves = [lines.enter_context(connected(address)) for _ in range(20)]
        for line in halves:
            line.sendall(b"GET")
        one_more = lines.enter_context(connected(address))
        assert is_hung_up(halves.pop(0))  # the oldest
        assert is_answered(one_more)
        assert all(is_answered(line, WHOLE.removeprefix(b"GET")) for line in halves)
        assert is_answered(lines.enter_context(connected(address)))
