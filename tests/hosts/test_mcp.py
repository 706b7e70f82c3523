"""The MCP server over the real protocol: the official client on a real process, and raw frames on a pipe."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.running import Forked
from tests.rows import examples

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}
TOOLS = "recall read remember revise judge forget session thread brief absorb explore help".split()
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


class Peer:
    """A client that writes frames by hand."""

    def __init__(
        self,
        environment: dict[str, str],
        folder: Path,
        command: Sequence[str] = ("-m", "holdfast", "mcp"),
        program: str = "",
    ) -> None:
        """Start `-m MODULE ARGUMENTS` in a forked process, or another program."""
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.process: Forked | subprocess.Popen[bytes] = (
            subprocess.Popen([program, *command], cwd=folder, env=environment, **pipes)
            if program
            else Forked(command, folder, environment, text=False)
        )

    def send(self, data: bytes | dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data if isinstance(data, bytes) else json.dumps(data).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, method: str, params: dict[str, Any] | None = None, request: int | str = 1) -> Any:
        self.send({"jsonrpc": "2.0", "id": request, "method": method, "params": params or {}})
        return self.receive()

    def call(self, name: str, **arguments: Any) -> Any:
        return self.ask("tools/call", {"name": name, "arguments": arguments})["result"]

    def close(self) -> tuple[str, str]:
        out, error = self.process.communicate(timeout=120)
        return out.decode(), error.decode()


@pytest.fixture
def peer(environment: dict[str, str], tmp_path: Path) -> Iterator[Peer]:
    one = Peer(environment, tmp_path)
    yield one
    if one.process.poll() is None:
        one.close()


def text_of(result: Any) -> str:
    return str(result["content"][0]["text"])


def test_the_older_era_begins_with_initialize(peer: Peer) -> None:
    result = peer.ask("initialize", INITIALIZE)["result"]
    assert (result["protocolVersion"], result["serverInfo"]["name"]) == ("2025-11-25", "holdfast")
    assert len(result["instructions"]) < 2_000
    peer.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert peer.ask("ping")["result"] == {}
    assert "resultType" not in peer.ask("tools/list")["result"]
    older = peer.ask("initialize", {**INITIALIZE, "protocolVersion": "1999-01-01"})["result"]
    assert older["protocolVersion"] == "2025-11-25"


def test_the_newer_era_needs_no_session_but_an_envelope(peer: Peer) -> None:
    found = peer.ask("server/discover", {"_meta": META})["result"]
    assert found["supportedVersions"] == ["2026-07-28"]
    listed = peer.ask("tools/list", {"_meta": META})["result"]
    assert (listed["resultType"], listed["cacheScope"], listed["ttlMs"] > 0) == ("complete", "private", True)
    assert listed["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "holdfast"
    other = {**META, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    assert peer.ask("tools/list", {"_meta": other})["error"]["code"] == -32022
    bare = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    assert peer.ask("tools/list", {"_meta": bare})["error"]["code"] == -32602
    assert peer.ask("ping", {"_meta": META})["error"]["code"] == -32601


def test_what_one_session_keeps_the_next_one_finds(environment: dict[str, str], tmp_path: Path) -> None:
    first, second = Peer(environment, tmp_path), Peer(environment, tmp_path)
    assert text_of(first.call("remember", text="Run the migrations before the seed script.")).startswith("Saved as ")
    first.close()
    index = text_of(second.call("recall", query="seed script migrations"))
    assert index.startswith("1 memory fits")
    record_id = index.splitlines()[1].split()[0]
    assert text_of(second.call("revise", id=record_id, text="Run the migrations twice.")).startswith("Revised")
    judged = second.call("judge", judgements=[{"id": record_id, "verdict": one} for one in ("applied", "verified")])
    assert text_of(judged).startswith(f"applied: {record_id} Run the migrations twice.\nverified: {record_id}")
    second.close()


@examples
def test_a_wrong_call_is_a_tool_error_that_says_how_to_correct_it(
    peer: Peer, name: str, arguments: dict[str, Any], says: str
) -> None:
    result = peer.call(name, **arguments)
    assert result["isError"] is True
    assert says in text_of(result)


def test_broken_frames_are_answered_and_do_not_end_the_session(peer: Peer) -> None:
    for frame, code in (
        (b"nonsense\n", -32700),
        (b"[]\n", -32600),
        (b'{"jsonrpc": "1.0", "id": 3, "method": "ping"}\n', -32600),
        (b"[" * 5_000 + b"\n", -32700),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}\n', -32600),
    ):
        peer.send(frame)
        assert peer.receive()["error"]["code"] == code
    peer.send(b'"' + b"x" * 10_000_001 + b'"\n')
    assert peer.receive()["error"]["code"] == -32700
    assert peer.ask("no/such/method")["error"]["code"] == -32601
    assert peer.ask("tools/call", {"name": "nope"})["error"]["code"] == -32602
    assert peer.ask("tools/call", {"name": ["recall"]})["error"]["code"] == -32602
    peer.send(b"\n\n")
    assert peer.ask("ping", request="last")["id"] == "last"


def test_a_cancelled_request_is_not_answered(peer: Peer) -> None:
    peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
    recall = {"name": "recall", "arguments": {"query": "x"}}
    peer.send({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": recall})
    peer.send({"jsonrpc": "2.0", "id": 8, "method": "tools/list"})
    assert peer.receive()["id"] == 8


def test_stdout_carries_protocol_only_and_the_end_of_input_ends_the_server(peer: Peer) -> None:
    peer.call("remember", text="Something worth keeping here.")
    peer.send({"jsonrpc": "2.0", "id": 9, "method": "tools/list"})
    out, error = peer.close()
    assert [json.loads(line)["id"] for line in out.splitlines()] == [9]
    assert (peer.process.returncode, error) == (0, "")


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_official_client_works_in_both_eras(environment: dict[str, str], tmp_path: Path, mode: str) -> None:
    from mcp import Client, StdioServerParameters

    async def session() -> tuple[list[str], str]:
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "holdfast", "mcp"], env=environment, cwd=tmp_path
        )
        async with Client(command, mode=mode) as client:
            await client.call_tool("remember", {"text": "The official client keeps this."})
            listed = await client.list_tools()
            answer = await client.call_tool("recall", {"query": "official client"})
            return [tool.name for tool in listed.tools], str(getattr(answer.content[0], "text", ""))

    names, answer = asyncio.run(session())
    assert names == TOOLS
    assert "The official client keeps this." in answer
