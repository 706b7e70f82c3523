"""The MCP server over the real protocol: the official client on a real process, raw frames on a pipe, and the tables of a surface."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from holdfast.hosts.mcp.protocol import (
    Progress,
    ProtocolError,
    joined,
    meta_of,
    offer_of,
    written_offer,
)
from holdfast.hosts.mcp.serving import SURFACES, surface_named
from holdfast.model.ids import short
from holdfast.surfaces.tool import Call, Surface
from tests.hosts import toy
from tests.hosts.running import ROOT, Forked
from tests.rows import each, examples
from tests.serving import server_of

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
    assert text_of(second.call("forget", id=record_id, reason="done")).startswith("Retired")
    assert text_of(second.call("recall", query="migrations")).startswith("No memory fits")
    assert text_of(second.call("forget", id=record_id, restore_it=True)).startswith("Restored")
    second.close()


def test_a_refusal_says_how_to_go_on(peer: Peer) -> None:
    assert "force=true" in text_of(peer.call("remember", text="I am halfway through renaming OrderService."))
    assert "redact=true" in text_of(peer.call("remember", text="The key is AKIA" + "IOSFODNN7EXAMPLQ"))
    held = text_of(peer.call("remember", text="Likes short answers.", kind="preference", inferred=True))
    judged = peer.call("judge", judgements=[{"id": held.split()[2], "verdict": "confirmed"}])
    assert text_of(judged).startswith(f"confirmed: {short(held.split()[2])}")


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


# Resources and prompts as tables of a surface, asked for in both protocol eras.
SERVER = server_of(toy.surface, Call(open=toy.no_memory))
ERAS = each("envelope", [{}, {"_meta": META}])


def ask(method: str, **params: Any) -> dict[str, Any]:
    return SERVER.answer(method, params)


def refusal(method: str, **params: Any) -> ProtocolError:
    with pytest.raises(ProtocolError) as refused:
        ask(method, **params)
    return refused.value


@ERAS
def test_fixed_addresses_and_templates_are_listed_apart(envelope: dict[str, Any]) -> None:
    news = {"uri": "toy://news", "name": "news", "title": "News", "description": "What is new."}
    book = {"name": "shelf", "title": "A book", "description": "One book in full.", "mimeType": "text/markdown"}
    assert ask("resources/list", **envelope)["resources"] == [{**news, "mimeType": "text/plain"}]
    templates = ask("resources/templates/list", **envelope)["resourceTemplates"]
    assert templates == [{"uriTemplate": "toy://shelf/{book}/text", **book}]


@examples
def test_what_is_at_an_address_can_be_read(uri: str, mime: str, text: str) -> None:
    for envelope in ({}, {"_meta": META}):
        assert ask("resources/read", uri=uri, **envelope)["contents"] == [{"uri": uri, "mimeType": mime, "text": text}]


@each(
    "uri", ["toy://nothing", "toy://shelf/lost/text", "toy://shelf/a/b/text", "toy://shelf//text", "toy://shelf/a", ""]
)
def test_a_missing_resource_has_another_code_in_each_era(uri: str) -> None:
    assert refusal("resources/read", uri=uri).code == -32002
    assert refusal("resources/read", uri=uri, _meta=META).code == -32602
    assert refusal("resources/read", uri=uri).data == {"uri": uri}


@ERAS
def test_a_prompt_is_listed_with_its_arguments_and_becomes_one_message(envelope: dict[str, Any]) -> None:
    book = {"name": "book", "description": "Its title.", "required": True}
    tone = {"name": "tone", "description": "How it should sound.", "required": False}
    review = {"name": "review", "title": "Review a book", "description": "Ask for a review.", "arguments": [book, tone]}
    assert ask("prompts/list", **envelope)["prompts"] == [review]
    got = ask("prompts/get", name="review", arguments={"book": "Emma", "tone": None}, **envelope)
    text = "Review Emma in a friendly tone."
    assert got["messages"] == [{"role": "user", "content": {"type": "text", "text": text}}]
    assert (got["description"], "ttlMs" in got) == ("Ask for a review.", False)


@ERAS
def test_what_is_asked_for_wrongly_or_cannot_be_read_is_refused(envelope: dict[str, Any]) -> None:
    assert "book is required" in refusal("prompts/get", name="review", **envelope).message
    assert refusal("prompts/get", name="nope", **envelope).data == {"prompts": ["review"]}
    assert refusal("prompts/get", name="review", arguments=[1], **envelope).code == -32602
    assert refusal("resources/read", **envelope).code == -32602
    busy = refusal("resources/read", uri="toy://shelf/lent/text", **envelope)
    assert (busy.code, busy.data) == (-32603, {"code": "store_busy"})


def test_only_what_a_surface_has_is_announced_and_answered() -> None:
    everything = {name: {"listChanged": False} for name in ("tools", "resources", "prompts")}
    assert ask("initialize", **INITIALIZE)["capabilities"] == everything
    assert ask("server/discover", _meta=META)["capabilities"] == everything
    bare = server_of(Surface(name="bare", tools=toy.surface.tools), Call(open=toy.no_memory))
    assert bare.answer("initialize", INITIALIZE)["capabilities"] == {"tools": {"listChanged": False}}
    for method in ("resources/list", "resources/templates/list", "resources/read", "prompts/list", "prompts/get"):
        with pytest.raises(ProtocolError, match="Method not found"):
            bare.answer(method, {})


@examples
def test_the_newer_era_says_how_long_an_answer_holds(method: str, params: dict[str, Any], *, lasts: bool) -> None:
    result = ask(method, **params, _meta=META)
    assert (result["ttlMs"] > 0, result["cacheScope"], result["resultType"]) == (lasts, "private", "complete")


def test_what_is_written_down_is_what_the_surfaces_offer() -> None:
    for name in SURFACES:
        forgotten = "a tool has changed: run `python3 dev.py uv run python scripts/offers.py`"
        assert written_offer(name) == offer_of(surface_named(name)), forgotten


def test_several_surfaces_are_one_offer() -> None:
    toys = offer_of(toy.surface)
    both = joined([toys, offer_of(Surface(name="bare", instructions="Another.")), toys])
    assert both.instructions == "A toy.\n\nAnother.\n\nA toy."
    assert both.tools == toys.tools * 2


# Progress: told to who asked for it, only in long calls, a little at a time, and never after the answer.


def test_nothing_is_told_in_the_first_second_then_a_few_reports_a_second_each_further_than_the_last() -> None:
    sent, now = list[tuple[object, ...]](), [0.0]
    progress = Progress("t", lambda _, params: sent.append(tuple(params.values())), lambda: now[0])
    steps = [(1 + step / 128, step + 1) for step in range(99)]
    for now[0], done in [
        (0.0, 0.1),
        (0.99, 0.2),
        *steps,
        (2.5, 100),
        (5, 79),
        (6, 12),
    ]:  # that it is done says the answer
        progress.report(done, 100, "half way")
    assert sent == [("t", done, 100, "half way") for done in (1, 40, 79)]
    progress.close()
    now[0] = 60
    progress.report(99, 100)
    assert len(sent) == 3


@each("params", [{}, {"_meta": None}, {"_meta": {}}, {"_meta": {"progressToken": [1]}}])
def test_nothing_is_told_to_who_did_not_ask(params: dict[str, Any]) -> None:
    token, minutes = meta_of(params).get("progressToken"), count(0, 60)
    Progress(token, lambda *_: pytest.fail("told"), lambda: next(minutes)).report(1, 2)


@pytest.fixture
def toys() -> Iterator[Peer]:
    one = Peer({"PYTHONPATH": str(ROOT)}, ROOT, ("-m", "tests.hosts.toy"))
    yield one
    if one.process.poll() is None:
        one.close()


def work(seconds: float, request: int = 1, **meta: Any) -> dict[str, Any]:
    params = {"name": "work", "arguments": {"seconds": seconds}, "_meta": meta}
    return {"jsonrpc": "2.0", "id": request, "method": "tools/call", "params": params}


def test_a_long_call_reports_and_then_answers(toys: Peer) -> None:
    began = time.monotonic()
    toys.send(work(1.8, progressToken=7))
    heard = [toys.receive()]
    while "id" not in heard[-1]:
        heard.append(toys.receive())
    *told, answer = heard
    assert text_of(answer["result"]) == "Done."
    assert 1 <= len(told) <= toy.most_told(time.monotonic() - began)
    assert {(one["method"], one["params"]["progressToken"]) for one in told} == {("notifications/progress", 7)}
    places = [one["params"]["progress"] for one in told]
    assert places == sorted(set(places))
    assert told[0]["params"]["message"] == f"step {places[0]}"


def test_a_short_call_one_without_a_token_and_a_cancelled_one_report_nothing(toys: Peer) -> None:
    toys.send(work(0.2, request=1, progressToken=7))
    toys.send(work(1.3, request=2))
    toys.send(work(1.3, request=3, progressToken=7))
    toys.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}})
    toys.send({"jsonrpc": "2.0", "id": 4, "method": "tools/list"})
    assert [toys.receive()["id"] for _ in range(3)] == [1, 2, 4]


def test_a_client_that_leaves_in_the_middle_is_no_error(toys: Peer) -> None:
    toys.send(work(1.2, progressToken=7))
    assert toys.process.stdin
    assert toys.process.stdout
    assert toys.process.stderr
    toys.process.stdout.close()
    toys.process.stdin.close()
    assert toys.process.wait(timeout=120) == 0
    with toys.process.stderr as said:
        assert said.read() == b""
