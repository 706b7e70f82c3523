"""The MCP server over the real protocol: the official client on a real process, raw frames on a pipe, and the tables of a surface."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from itertools import count, product
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from holdfast.hosts.mcp.protocol import Progress, ProtocolError, joined, meta_of, offer_of, written_offer
from holdfast.hosts.mcp.serving import SURFACES, surface_named
from holdfast.surfaces.tool import Call, Surface
from tests.conftest import new_folder, ran
from tests.hosts import toy
from tests.hosts.running import ROOT, Forked
from tests.rows import each, examples, missing, opened, some
from tests.serving import server_of

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}
TOOLS = "recall read remember revise judge forget session thread brief absorb explore help".split()
MCP = ("-m", "holdfast", "mcp")
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


class Peer:
    """A client that writes frames by hand."""

    def __init__(
        self, environment: dict[str, str], folder: Path, command: Sequence[str] = MCP, program: str = ""
    ) -> None:
        """Start `-m MODULE ARGUMENTS` in a forked process, or another program."""
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.process: Forked | subprocess.Popen[bytes] = (
            subprocess.Popen([program, *command], cwd=folder, env=environment, **pipes)
            if program
            else Forked(command, folder, environment, text=False)
        )

    def send(self, data: bytes | dict[str, Any]) -> None:
        stdin = some(self.process.stdin)
        stdin.write(data if isinstance(data, bytes) else json.dumps(data).encode() + b"\n")
        stdin.flush()

    def receive(self) -> Any:
        return json.loads(some(self.process.stdout).readline())

    def ask(self, method: str, params: dict[str, Any] | None = None, request: int | str = 1) -> Any:
        self.send({"jsonrpc": "2.0", "id": request, "method": method, "params": params or {}})
        return self.receive()

    def call(self, name: str, **arguments: Any) -> Any:
        return self.ask("tools/call", {"name": name, "arguments": arguments})["result"]

    def close(self) -> tuple[str, str]:
        """End it, if it still runs, and close its files; return what else it printed."""
        is_open = self.process.stdout is not None and not self.process.stdout.closed
        out, error = self.process.communicate(timeout=120) if is_open else (b"", b"")
        return out.decode(), error.decode()


peer = opened(lambda environment, tmp_path: closing(Peer(environment, tmp_path)))
toys = opened(lambda: closing(Peer({}, ROOT, ("-m", "tests.hosts.toy"))))


def text_of(result: Any) -> str:
    return str(result["content"][0]["text"])


def test_the_older_era_begins_with_initialize(peer: Peer) -> None:
    result = peer.ask("initialize", INITIALIZE)["result"]
    assert (result["protocolVersion"], result["serverInfo"]["name"]) == ("2025-11-25", "holdfast")
    assert (isinstance(result["serverInfo"]["version"], str), len(result["instructions"]) < 2_000) == (True, True)
    peer.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert peer.ask("ping")["result"] == {}
    listed = peer.ask("tools/list")["result"]
    assert ([tool["name"] for tool in listed["tools"]], "resultType" in listed) == (TOOLS, False)
    for schema in (tool["inputSchema"] for tool in listed["tools"]):
        Draft202012Validator.check_schema(schema)
        assert (schema["type"], missing(schema["properties"], *schema.get("required", []))) == ("object", [])
    older = peer.ask("initialize", {**INITIALIZE, "protocolVersion": "1999-01-01"})["result"]
    assert older["protocolVersion"] == "2025-11-25"


def test_the_newer_era_needs_no_session_but_an_envelope(peer: Peer) -> None:
    assert peer.ask("server/discover", {"_meta": META})["result"]["supportedVersions"] == ["2026-07-28"]
    listed = peer.ask("tools/list", {"_meta": META})["result"]
    assert (listed["resultType"], listed["cacheScope"], listed["ttlMs"] > 0) == ("complete", "private", True)
    assert listed["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "holdfast"
    other = {**META, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    assert peer.ask("tools/list", {"_meta": other})["error"]["code"] == -32022
    bare = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    assert peer.ask("tools/list", {"_meta": bare})["error"]["code"] == -32602
    assert peer.ask("ping", {"_meta": META})["error"]["code"] == -32601


@examples
def test_a_wrong_call_is_a_tool_error_that_says_how_to_correct_it(
    peer: Peer, name: str, arguments: dict[str, Any], says: str
) -> None:
    result = peer.call(name, **arguments)
    assert result["isError"] is True
    assert says in text_of(result)


def test_broken_frames_are_answered_and_do_not_end_the_session(peer: Peer) -> None:
    unasked = (b"[]", b'{"jsonrpc": "1.0", "id": 3, "method": "ping"}', b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}')
    unread = (b"nonsense", b"[" * 5_000, b'"' + b"x" * 10_000_001 + b'"')
    for code, frame in (*product([-32600], unasked), *product([-32700], unread)):
        peer.send(frame + b"\n")
        assert peer.receive()["error"]["code"] == code, frame[:99]
    for method in ("no/such/method", "completion/complete"):
        assert peer.ask(method)["error"]["code"] == -32601
    for name in ("nope", ["recall"]):
        assert peer.ask("tools/call", {"name": name})["error"]["code"] == -32602
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
        started = {"command": sys.executable, "args": [*MCP], "env": environment, "cwd": tmp_path}
        async with Client(StdioServerParameters.model_validate(started), mode=mode) as client:
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
        SERVER.answer(method, params)
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


@each("uri", ["toy://nothing", *(f"toy://shelf/{rest}" for rest in ("lost/text", "a/b/text", "/text", "a")), ""])
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
    said = {"type": "text", "text": "Review Emma in a friendly tone."}
    assert got["messages"] == [{"role": "user", "content": said}]
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
    # The answer says that it is done.
    for now[0], done in [(0.0, 0.1), (0.99, 0.2), *steps, (2.5, 100), (5, 79), (6, 12)]:
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
    for asked in (work(0.2, 1, progressToken=7), work(1.3, 2), work(1.3, 3, progressToken=7)):
        toys.send(asked)
    toys.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}})
    toys.send({"jsonrpc": "2.0", "id": 4, "method": "tools/list"})
    assert [toys.receive()["id"] for _ in range(3)] == [1, 2, 4]


def test_a_client_that_leaves_in_the_middle_is_no_error(toys: Peer) -> None:
    toys.send(work(1.2, progressToken=7))
    some(toys.process.stdout).close()
    some(toys.process.stdin).close()
    assert toys.process.wait(timeout=120) == 0
    with some(toys.process.stderr) as said:
        assert said.read() == b""


# What a client starts is lean.
HEAVY = {"click", "numpy", "rich", "sqlite3", "platformdirs", "mcp"}
START = """
import atexit, sys
atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))
from holdfast.hosts.cli.entry import main
main()
"""


def messages(*asked: dict[str, Any]) -> str:
    """Return messages to a server, after the one that begins a conversation."""
    begun = [{"method": "initialize", "params": INITIALIZE}, *asked]
    return "".join(json.dumps({"jsonrpc": "2.0", "id": place, **one}) + "\n" for place, one in enumerate(begun))


def tool_call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"method": "tools/call", "params": {"name": name, "arguments": arguments}}


@each("arguments", [("mcp",), ("mcp", "--surface", "core")])
def test_a_list_of_tools_is_given_without_importing_what_they_do(
    environment: dict[str, str], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    asked = [{"method": f"{kind}/list"} for kind in ("tools", "resources", "prompts")]
    done = ran([sys.executable, "-c", START, *arguments], tmp_path, input=messages(*asked), env=environment)
    assert len(done.stdout.splitlines()) == 4
    loaded = set(done.stderr.split())
    unwanted = ("holdfast.verbs", "holdfast.engine", "holdfast.surfaces.core")
    assert [name for name in loaded if name in HEAVY or name.startswith(unwanted)] == []
    assert not (tmp_path / "store").exists()


@pytest.mark.embedded  # a server's driver needs asyncio
def test_a_write_and_a_recall_by_words_load_no_numbers(environment: dict[str, str], tmp_path: Path) -> None:
    calls = (tool_call("remember", text="The staging database is reset."), tool_call("recall", query="staging"))
    done = ran([sys.executable, "-c", START, "mcp"], tmp_path, input=messages(*calls), env=environment)
    assert (done.stdout.count('"isError":false'), "1 memory fits" in done.stdout) == (2, True)
    unwanted = {"numpy", "rich", "click", "onnxruntime", "asyncio", "holdfast.adapters.embedders.wordpiece"}
    assert set(done.stderr.split()) & unwanted == set()


def test_numpy_gets_one_thread_unless_the_user_says_otherwise(environment: dict[str, str], tmp_path: Path) -> None:
    show = "import atexit, os; atexit.register(lambda: print(os.environ['OPENBLAS_NUM_THREADS']))\n" + START
    for chosen, threads in (({}, "1"), ({"OPENBLAS_NUM_THREADS": "4"}, "4")):
        done = ran([sys.executable, "-c", show, "list"], tmp_path, env=environment | chosen)
        assert done.stdout.split()[-1] == threads


def test_a_server_started_in_its_plugins_folder_serves_the_project(environment: dict[str, str], tmp_path: Path) -> None:
    project, plugin = new_folder(tmp_path / "project"), new_folder(tmp_path / "plugin")
    # The client works in the project; it starts the server in the plugin's folder.
    client = "import subprocess, sys; subprocess.run([sys.executable, '-m', 'holdfast', 'mcp'], cwd=sys.argv[1])"
    told = {**environment, "COPILOT_PLUGIN_ROOT": str(plugin), "HOLDFAST_PROJECT": ""}
    given = messages(tool_call("session", action="start", title="x"))
    answers = ran([sys.executable, "-c", client, str(plugin)], project, input=given, env=told).stdout.splitlines()
    assert str(project) in text_of(json.loads(answers[1])["result"])
