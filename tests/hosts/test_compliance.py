"""Thirty-six checks of protocol compliance over stdio, on one conversation from handshake to unknown method."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.hosts.conftest import environment_of
from tests.hosts.test_mcp import INITIALIZE, Peer


class Talk:
    """One conversation: what was answered to each question."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._asked = 0
        self.replies: list[tuple[int, Any]] = []
        self.began = self._ask("initialize", INITIALIZE)
        peer.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.ping = self._ask("ping")
        self.listed = self._ask("tools/list")
        self.kept = self._call("remember", text="Deploys go through the staging cluster first.")
        self.found = self._call("recall", query="staging cluster deploys")
        self.record = self.found["result"]["content"][0]["text"].splitlines()[1].split()[0]
        self.read = self._call("read", ids=[self.record])
        self.around = self._call("explore", view="timeline", about=self.record)
        self.no_tool = self._call("no_such_tool")
        self.no_method = self._ask("no/such/method")
        self.not_offered = self._ask("completion/complete")

    def _ask(self, method: str, params: dict[str, Any] | None = None) -> Any:
        self._asked += 1
        reply = self._peer.ask(method, params, self._asked)
        self.replies.append((self._asked, reply))
        return reply

    def _call(self, name: str, **arguments: Any) -> Any:
        return self._ask("tools/call", {"name": name, "arguments": arguments})

    @property
    def tools(self) -> list[dict[str, Any]]:
        tools = self.listed["result"]["tools"]
        assert isinstance(tools, list)
        return tools

    @property
    def calls(self) -> list[Any]:
        return [self.kept, self.found, self.read, self.around]

    @property
    def blocks(self) -> list[dict[str, Any]]:
        return [block for call in self.calls for block in call["result"]["content"]]


def block(reply: Any) -> dict[str, Any]:
    first = reply["result"]["content"][0]
    assert isinstance(first, dict)
    return first


def is_valid(schema: dict[str, Any]) -> bool:
    """Tell whether a schema names a type for everything, and requires only what it knows."""
    known = schema.get("properties", {})
    typed = all(
        one.get("type") in ("string", "integer", "number", "boolean", "array", "object") for one in known.values()
    )
    return schema["type"] == "object" and typed and set(schema.get("required", [])) <= set(known)


CHECKS: dict[str, Callable[[Talk], bool]] = {
    # handshake
    "initialize returns a result": lambda talk: "result" in talk.began,
    "it has a protocol version": lambda talk: "protocolVersion" in talk.began["result"],
    "the protocol version is a string": lambda talk: isinstance(talk.began["result"]["protocolVersion"], str),
    "it says who serves": lambda talk: "serverInfo" in talk.began["result"],
    "the server has a name": lambda talk: bool(talk.began["result"]["serverInfo"]["name"]),
    "the server has a version": lambda talk: bool(talk.began["result"]["serverInfo"]["version"]),
    "it has capabilities": lambda talk: "capabilities" in talk.began["result"],
    "tools are among them": lambda talk: "tools" in talk.began["result"]["capabilities"],
    "the initialized notification is accepted": lambda talk: talk.ping["result"] == {},
    # listing
    "tools/list returns a result": lambda talk: "result" in talk.listed,
    "the result has an array of tools": lambda talk: isinstance(talk.listed["result"]["tools"], list),
    "at least one tool is there": lambda talk: len(talk.tools) >= 1,
    "the number of tools is reasonable": lambda talk: 5 <= len(talk.tools) <= 100,
    # schemas
    "all schemas of tools are valid": lambda talk: all(is_valid(tool["inputSchema"]) for tool in talk.tools),
    "all descriptions have at least thirty characters": lambda talk: all(
        len(tool["description"]) >= 30 for tool in talk.tools
    ),
    "no tool name occurs twice": lambda talk: len({tool["name"] for tool in talk.tools}) == len(talk.tools),
    # execution
    "remember returns a result": lambda talk: "result" in talk.kept,
    "its result has an array of content": lambda talk: isinstance(talk.kept["result"]["content"], list),
    "its content is text": lambda talk: block(talk.kept)["type"] == "text",
    "its text is not empty": lambda talk: len(block(talk.kept)["text"]) > 0,
    "recall returns a result": lambda talk: "result" in talk.found,
    "the result of recall has content": lambda talk: len(talk.found["result"]["content"]) > 0,
    "the content of recall is text": lambda talk: block(talk.found)["type"] == "text",
    "read returns a result": lambda talk: "result" in talk.read,
    "the result of read has an array of content": lambda talk: isinstance(talk.read["result"]["content"], list),
    "explore returns a result": lambda talk: "result" in talk.around,
    # errors
    "an unknown tool returns an error": lambda talk: "error" in talk.no_tool or talk.no_tool["result"]["isError"],
    "an unknown method returns an error of JSON-RPC": lambda talk: "error" in talk.no_method,
    "the error has a numeric code": lambda talk: isinstance(talk.no_method["error"]["code"], int),
    "the code is that of an unknown method": lambda talk: talk.no_method["error"]["code"] == -32601,
    # format
    "all responses say JSON-RPC 2.0": lambda talk: all(reply["jsonrpc"] == "2.0" for _, reply in talk.replies),
    "all responses carry the id of their request": lambda talk: all(
        reply["id"] == asked for asked, reply in talk.replies
    ),
    "a block of content has a type": lambda talk: all("type" in one for one in talk.blocks),
    "a block of text has a text": lambda talk: all("text" in one for one in talk.blocks if one["type"] == "text"),
    "calls that succeed are no errors": lambda talk: not any(call["result"].get("isError") for call in talk.calls),
    "a method that is not offered is an unknown method": lambda talk: talk.not_offered["error"]["code"] == -32601,
}


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    folder = tmp_path_factory.mktemp("compliance")
    peer = Peer(environment_of(folder), folder)
    yield Talk(peer)
    peer.close()


@pytest.mark.parametrize("sentence", CHECKS)
def test_compliance(talk: Talk, sentence: str) -> None:
    assert CHECKS[sentence](talk)


def test_there_are_thirty_six_checks() -> None:
    assert len(CHECKS) == 36
