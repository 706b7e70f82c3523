"""The conformance fixtures behind the production HTTP application. The suite knows no token, so one is put in for it."""

import sys

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.hosts.loopback import listening
from holdfast.hosts.mcp.http import app
from holdfast.surfaces.tool import Call
from tests.hosts.toy import no_memory
from tests.protocol.fixtures import surface
from tests.serving import server_of

TOKEN = "of-the-suite"


class Introduced:
    """An application whose every caller shows the token."""

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        shown = (b"authorization", f"Bearer {TOKEN}".encode())
        known = {**scope, "headers": [*scope["headers"], shown]} if scope["type"] == "http" else scope
        await self._inner(known, receive, send)


if __name__ == "__main__":
    with listening(0) as listener:
        port = int(listener.getsockname()[1])
        served = Introduced(app(server_of(surface, Call(open=no_memory)), token=TOKEN, port=port))
        print(f"http://127.0.0.1:{port}/mcp", file=sys.stderr, flush=True)
        uvicorn.Server(uvicorn.Config(served, log_level="warning", lifespan="on")).run(sockets=[listener])
    sys.exit(0)
