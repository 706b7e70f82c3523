"""A real HTTP server in a process of its own, and two ways to talk to it: by hand and as the official client does."""

import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, closing
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.hosts.running import Forked
from tests.hosts.test_mcp import META

SERVE = ("-m", "holdfast", "mcp", "--http", "--port", "0")


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    body: str
    headers: dict[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Served(AbstractContextManager["Served"]):
    """A server that is stopped when the test is over."""

    def __init__(
        self, environment: dict[str, str], folder: Path, command: Sequence[str] = SERVE, token: str = ""
    ) -> None:
        self.process = Forked(command, folder, environment, text=True)
        self.stderr: IO[str] = self.process.stderr
        first = self.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/mcp", first)
        assert found, first + self.stderr.read()
        self.url = found[0]
        self.token = token or (Path(environment["HOLDFAST_HOME"]) / "http-token").read_text().strip()

    def post(self, body: bytes | dict[str, Any], **changed: str | None) -> Reply:
        """Send one message of the newer era; headers are named with underscores, and None leaves one out."""
        message = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers: dict[str, str | None] = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        headers |= {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28"}
        headers |= {name.replace("_", "-"): value for name, value in changed.items()}
        given = {name: value for name, value in headers.items() if value is not None}
        with closing(HTTPConnection(urlsplit(self.url).netloc, timeout=120)) as connection:
            connection.request("POST", "/mcp", message, given)
            reply = connection.getresponse()
            told = {name.lower(): value for name, value in reply.getheaders()}
            return Reply(reply.status, reply.read().decode(), told)

    def ask(self, method: str, params: dict[str, Any] | None = None, **changed: str | None) -> Reply:
        given = {**(params or {}), "_meta": META}
        named = {"mcp_name": str(given["name"])} if "name" in given else {}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": given}
        return self.post(message, **{"mcp_method": method, **named, **changed})

    def call(self, name: str, **arguments: Any) -> str:
        return str(self.ask("tools/call", {"name": name, "arguments": arguments}).json["result"]["content"][0]["text"])

    @asynccontextmanager
    async def client(self, mode: str) -> AsyncIterator[Client]:
        async with (
            httpx2.AsyncClient(headers={"authorization": f"Bearer {self.token}"}, timeout=120) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=mode) as client,
        ):
            yield client

    def __exit__(self, *_: object) -> None:
        self.process.close()
