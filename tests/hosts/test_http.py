"""The HTTP host over the real protocol: the official client and requests by hand, on a real process."""

import asyncio
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection
from itertools import product
from pathlib import Path
from typing import Any

import anyio
import pytest
import uvicorn
from mcp import Client, MCPError
from starlette.responses import PlainTextResponse

from holdfast.compose.settings import PRIVATE
from holdfast.hosts.loopback import _Bounded, listening
from holdfast.hosts.mcp.http import transport
from holdfast.surfaces.tool import Call
from tests import engines
from tests.conftest import at_once, new_file, new_folder, ran
from tests.hosts import toy
from tests.hosts.conftest import environment_of
from tests.hosts.running import ROOT, ended, preloaded
from tests.hosts.served import SERVE, Served
from tests.hosts.test_mcp import INITIALIZE, Peer
from tests.hosts.test_mcp import text_of as said_by
from tests.rows import each, opened, sampled
from tests.serving import server_of

TOYS = (("-m", "tests.hosts.toy", "--http"), "toy")  # the command, and its token


folder = pytest.fixture(scope="module")(lambda tmp_path_factory: tmp_path_factory.mktemp("served"))
served = opened(lambda folder: Served(environment_of(folder), folder), scope="module")
toys = opened(lambda folder: Served(environment_of(folder / "toys"), ROOT, *TOYS), scope="module")


def text_of(result: Any) -> str:
    return str(result.content[0].text)


@each("mode", ["legacy", "2026-07-28", "auto"])
def test_the_official_client_works_in_both_eras(served: Served, mode: str) -> None:
    async def session() -> tuple[str, str]:
        async with served.client(mode) as client:
            await client.call_tool("remember", {"text": "The official client keeps this."})
            assert "recall" in [tool.name for tool in (await client.list_tools()).tools]
            return client.protocol_version, text_of(await client.call_tool("recall", {"query": "official client"}))

    version, answer = asyncio.run(session())
    assert version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
    assert "The official client keeps this." in answer


@each("mode", ["legacy", "auto"])
def test_the_sdks_server_of_this_host_answers_in_memory_as_ours_does(mode: str) -> None:
    server = server_of(toy.surface, Call(open=toy.no_memory))

    async def session() -> None:
        async with Client(transport(server), mode=mode) as client:
            assert client.instructions == "A toy."
            assert [tool.name for tool in (await client.list_tools()).tools] == list(toy.surface.tools)
            assert [one.uri for one in (await client.list_resources()).resources] == ["toy://news"]
            templates = (await client.list_resource_templates()).resource_templates
            assert [one.uri_template for one in templates] == ["toy://shelf/{book}/text"]
            read: Any = (await client.read_resource("toy://shelf/emma/text")).contents[0]
            assert (read.text, read.mime_type) == ("# emma", "text/markdown")
            prompt: Any = (await client.list_prompts()).prompts[0]
            assert [(one.name, one.required) for one in prompt.arguments] == [("book", True), ("tone", False)]
            message: Any = (await client.get_prompt("review", {"book": "Emma"})).messages[0]
            assert message.content.text == "Review Emma in a friendly tone."
            assert text_of(await client.call_tool("echo", {"text": "Hello."})) == "Hello."
            refused = await client.call_tool("echo", {"txt": "Hello."})
            assert refused.is_error
            assert "did you mean text?" in text_of(refused)
            with pytest.raises(MCPError) as missing:
                await client.read_resource("toy://nothing")
            assert missing.value.code == (-32002 if mode == "legacy" else -32602)
            with pytest.raises(MCPError) as broken:
                await client.call_tool("fail", {})
            assert broken.value.code == -32603
            assert "inside" not in broken.value.message

    asyncio.run(session())


def test_who_does_not_show_the_token_is_told_nothing(served: Served) -> None:
    token = served.token
    wrong = ("Bearer", "Bearer ", "Bearer wrong", f"Basic {token}", token, f"Bearer {token}x", "Bearer é")
    for shown in (None, "", *wrong):
        reply = served.ask("tools/list", authorization=shown)
        assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer"), shown
    assert served.ask("tools/list", authorization=f"bearer {token}").status == 200


def test_a_web_page_cannot_reach_it_under_another_name(served: Served) -> None:
    port = served.url.split(":")[2].removesuffix("/mcp")
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1.evil.example:{port}"):
        assert served.ask("tools/list", host=host).status == 421, host
    for origin in ("http://evil.example", "null", f"http://127.0.0.1.evil.example:{port}", "http://127.0.0.1:1"):
        assert served.ask("tools/list", origin=origin).status == 403, origin
    assert served.ask("tools/list", host=f"localhost:{port}", origin=f"http://localhost:{port}").status == 200
    legacy = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
    assert served.post(legacy, mcp_protocol_version=None, host="evil.example").status == 421
    assert served.post(legacy, mcp_protocol_version=None, origin="http://evil.example").status == 403


def test_it_listens_on_the_loopback_address_only() -> None:
    with listening(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"


@each("version", ["2026-07-28", None])
def test_what_is_too_long_or_broken_is_refused_and_does_no_harm(served: Served, version: str | None) -> None:
    assert served.post(b'"' + b"x" * 10_000_001 + b'"', mcp_protocol_version=version).status == 413
    for broken in (b"nonsense", b"[]", b"[" * 5_000, b'{"jsonrpc": "1.0", "id": 3, "method": "ping"}', b""):
        assert served.post(broken, mcp_protocol_version=version).status == 400, broken
    assert served.ask("tools/list").status == 200


def test_the_token_is_made_once_and_is_for_its_owner_only(environment: dict[str, str], tmp_path: Path) -> None:
    home = new_folder(tmp_path / ".holdfast")  # in a repository it is kept out of git
    (home / ".gitignore").write_text("holdfast.db*\n")
    environment["HOLDFAST_HOME"] = str(home)
    with Served(environment, tmp_path) as first:
        token = first.token
        assert first.ask("tools/list").status == 200
        assert sorted(path.name for path in home.iterdir()) == [".gitignore", "http-token"]  # listing opens no store
    assert (home / ".gitignore").read_text() == "\n".join(["holdfast.db*", *PRIVATE, ""])
    assert len(token) >= 32
    assert (home / "http-token").stat().st_mode & 0o777 == 0o600
    with Served(environment, tmp_path) as again:
        assert again.token == token
        line = again.stderr.readline()
        assert line.startswith(f"claude mcp add --transport http holdfast {again.url} --header ")
        assert f"$(cat '{home / 'http-token'}')" in line
    with Served({**environment, "HOLDFAST_HTTP_TOKEN": "of-my-own"}, tmp_path, token="of-my-own") as other:
        assert other.ask("tools/list").status == 200
        assert other.ask("tools/list", authorization=f"Bearer {token}").status == 401


def test_each_session_of_the_older_era_works_under_its_own_name(toys: Served) -> None:
    async def sessions() -> list[str]:
        async with toys.client("legacy") as ann, toys.client("legacy") as bob, toys.client("2026-07-28") as modern:
            await ann.call_tool("who", {"i_am": "ann"})
            await bob.call_tool("who", {"i_am": "bob"})
            said = [text_of(await client.call_tool("who", {})) for client in (ann, bob, ann, modern)]
            await modern.call_tool("who", {"i_am": "everybody"})
            return [*said, text_of(await ann.call_tool("who", {})), toys.call("who")]

    *named, unnamed, still_ann, shared = asyncio.run(sessions())
    assert named == ["ann", "bob", "ann"]
    assert unnamed not in ("ann", "bob")
    assert (still_ann, shared) == ("ann", "everybody")


@pytest.mark.parametrize("mode", sampled(["legacy", "2026-07-28"], 2))
def test_a_cancelled_call_reports_no_more_and_does_not_disturb_the_next(environment: dict[str, str], mode: str) -> None:
    async def session(toys: Served) -> tuple[list[float | None], str]:
        told: list[float | None] = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            assert (0 < progress < 100, message) == (True, f"step {progress:.0f}")
            told.append(total)
            enough.cancel()

        async with toys.client(mode) as client:
            with anyio.CancelScope() as enough:
                await client.call_tool("work", {"seconds": 2.0}, progress_callback=hear)
            await client.call_tool("work", {"seconds": 1.2})  # longer than what was cancelled goes on for
            return told, text_of(await client.call_tool("echo", {"text": "Still here."}))

    with Served(environment, ROOT, *TOYS) as toys:
        assert asyncio.run(session(toys)) == ([100], "Still here.")
        toys.process.terminate()
        assert toys.process.wait(timeout=120) == 0
        assert toys.stderr.read() == ""


@pytest.mark.whole
def test_a_slow_call_of_one_client_does_not_hold_up_another(toys: Served) -> None:
    async def both() -> list[str]:
        answered: list[str] = []

        async def ask(client: Client, name: str, arguments: dict[str, Any]) -> None:
            answered.append(text_of(await client.call_tool(name, arguments)))

        async with toys.client("2026-07-28") as slow, toys.client("2026-07-28") as quick:  # noqa: SIM117  they outlive the group
            async with anyio.create_task_group() as group:
                group.start_soon(ask, slow, "work", {"seconds": 1.5})
                group.start_soon(ask, quick, "echo", {"text": "At once."})
        return answered

    assert asyncio.run(both()) == ["At once.", "Done."]


@pytest.mark.parametrize("number", sampled([signal.SIGINT, signal.SIGTERM], 2))
def test_it_leaves_cleanly_when_asked_although_a_client_still_listens(
    environment: dict[str, str], tmp_path: Path, number: signal.Signals
) -> None:
    served = Served(environment, tmp_path)
    served.call("remember", text="Something that must be on disk.")
    begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
    opened = served.post(begin, mcp_protocol_version=None)
    stream = HTTPConnection(served.url.split("/")[2])
    headers = {"authorization": f"Bearer {served.token}", "accept": "text/event-stream"}
    stream.request("GET", "/mcp", headers={**headers, "mcp-session-id": opened.headers["mcp-session-id"]})
    assert stream.getresponse().status == 200
    served.process.send_signal(number)
    assert served.process.wait(timeout=120) == 0
    assert served.stderr.read().count("\n") == 1  # how to add it; no complaint follows
    files = ["http-token"] if engines.is_postgres() else ["holdfast.db", "http-token"]
    assert sorted(path.name for path in (tmp_path / "store").iterdir()) == files
    stream.close()
    served.process.close()


def test_a_port_that_is_taken_is_said_so(environment: dict[str, str], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = preloaded([*SERVE[2:4], "--port", str(taken.getsockname()[1])], tmp_path, environment)
    ended(done, 64, "--port 0 takes any that is free")


def test_without_the_package_it_says_what_to_install(environment: dict[str, str], tmp_path: Path) -> None:
    shadow = new_file(tmp_path / "shadow" / "uvicorn.py", "raise ImportError('not here')\n").parent
    done = ran([sys.executable, *SERVE], tmp_path, env={**environment, "PYTHONPATH": str(shadow)})
    ended(done, 5, "pip install 'holdfast[http]'")


# Many clients on one store at once, over stdio and HTTP: nothing is lost, nobody gets an error.
STDIO, HTTP, EACH = 6, 3, 8


@pytest.mark.whole
def test_six_processes_and_an_http_server_write_and_recall_at_once(environment: dict[str, str], tmp_path: Path) -> None:
    kept, found = list[str](), list[str]()

    def text(name: str, turn: int) -> str:
        return f"{name} found out thing{turn} about topic{name}{turn}."

    def work(name: str, call: Callable[..., str]) -> None:
        for turn in range(EACH):
            kept.append(call("remember", text=text(name, turn), force=True))
            found.append(call("recall", query=f"topic{name}{turn}", mode="exploratory"))

    peers = [Peer(environment, tmp_path) for _ in range(STDIO)]
    with Served(environment, tmp_path) as served:
        calls: dict[str, Callable[..., str]] = {f"web{place}": served.call for place in range(HTTP)}
        for place, peer in enumerate(peers):
            calls[f"pipe{place}"] = lambda name, peer=peer, **given: said_by(peer.call(name, **given))
        at_once(work, calls.items())
        assert [answer for answer in kept if not answer.startswith("Saved as ")] == []
        assert [answer for answer in found if " fit" not in answer] == []
        assert len({answer.split()[2] for answer in kept}) == (STDIO + HTTP) * EACH
        for name, turn in product(calls, range(EACH)):
            assert text(name, turn) in served.call("recall", query=f"topic{name}{turn}", mode="exploratory")
    assert [peer.close()[1] for peer in peers] == [""] * STDIO


# A connection that does not say what it wants is hung up on; one that does is answered, however many wait.
HALVES = (b"", b"GET", b"GET /healthz HTTP/1.1\r\nHost: x\r\n", b"POST /mcp HTTP/1.1\r\nContent-Le")
ASKED = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@contextmanager
def serving(seconds: float, most: int = 1_000) -> Iterator[tuple[str, int]]:
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        http = type("Own", (_Bounded,), {"seconds": seconds, "most": most, "waiting": {}})
        server = uvicorn.Server(uvicorn.Config(PlainTextResponse("ok"), http=http, log_config=None, lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()
        finally:
            server.should_exit = True
            thread.join(20)


def is_hung_up(line: socket.socket) -> bool:
    """Wait until the other end hangs up; a server that keeps it open runs into the time limit."""
    with suppress(ConnectionResetError):
        return line.recv(1) == b""
    return True


def is_answered(line: socket.socket, request: bytes = ASKED) -> bool:
    line.sendall(request)
    return line.recv(12) == b"HTTP/1.1 200"


def test_300_half_sent_requests_are_hung_up_on_in_time() -> None:
    with serving(1.0) as address, ExitStack() as lines:
        halves = [lines.enter_context(socket.create_connection(address, timeout=120)) for _ in range(300)]
        for number, line in enumerate(halves):
            line.sendall(HALVES[number % len(HALVES)])
        second = lines.enter_context(socket.create_connection(address, timeout=120))
        assert is_answered(second)
        assert b"".join(iter(lambda: second.recv(1), b"k")).endswith(b"\r\no")  # up to the end of "ok"
        second.sendall(HALVES[2])  # the second request on a connection is bounded too
        assert all(is_hung_up(line) for line in (*halves, second))


def test_one_address_keeps_only_so_many_waiting() -> None:
    with serving(60.0, most=20) as address, ExitStack() as lines:
        halves = [lines.enter_context(socket.create_connection(address, timeout=120)) for _ in range(20)]
        for line in halves:
            line.sendall(b"GET")
        one_more = lines.enter_context(socket.create_connection(address, timeout=120))
        assert is_hung_up(halves.pop(0))  # the oldest
        assert is_answered(one_more)
        assert all(is_answered(line, ASKED.removeprefix(b"GET")) for line in halves)
        assert is_answered(lines.enter_context(socket.create_connection(address, timeout=120)))
