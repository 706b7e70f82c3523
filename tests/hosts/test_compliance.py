"""Protocol compliance over stdio: one conversation from handshake to unknown method."""

from pathlib import Path
from typing import Any

from tests.hosts.test_mcp import INITIALIZE, Peer
from tests.rows import missing

TYPES = {"string", "integer", "number", "boolean", "array", "object"}


def test_compliance(environment: dict[str, str], tmp_path: Path) -> None:
    peer, replies = Peer(environment, tmp_path), list[Any]()

    def ask(method: str, params: dict[str, Any] | None = None) -> Any:
        replies.append(peer.ask(method, params, len(replies) + 1))
        return replies[-1].get("result", replies[-1].get("error"))

    def call(tool: str, **arguments: Any) -> str:
        result = ask("tools/call", {"name": tool, "arguments": arguments})
        assert not result.get("isError"), result
        assert [block["type"] for block in result["content"]] == ["text"]
        return str(result["content"][0]["text"])

    began = ask("initialize", INITIALIZE)
    assert isinstance(began["protocolVersion"], str)
    assert all(began["serverInfo"][name] for name in ("name", "version"))
    assert "tools" in began["capabilities"]
    peer.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert ask("ping") == {}

    listed = ask("tools/list")["tools"]
    tools = {tool["name"]: tool for tool in listed}
    assert 5 <= len(tools) == len(listed) <= 100
    for name, tool in tools.items():
        schema = tool["inputSchema"]
        assert (schema["type"], len(tool["description"]) >= 30) == ("object", True), name
        assert {value.get("type") for value in schema.get("properties", {}).values()} <= TYPES, name
        assert missing(schema.get("properties", {}), *schema.get("required", [])) == [], name

    assert call("remember", text="Deploys go through the staging cluster first.")
    record = call("recall", query="staging cluster deploys").splitlines()[1].split()[0]
    assert call("read", ids=[record])
    assert call("explore", view="timeline", about=record)
    assert [ask(method)["code"] for method in ("no/such/method", "completion/complete")] == [-32601, -32601]
    assert "code" in ask("tools/call", {"name": "no_such_tool", "arguments": {}})
    assert [(reply["jsonrpc"], reply["id"]) for reply in replies] == [("2.0", at + 1) for at in range(len(replies))]
    peer.close()
