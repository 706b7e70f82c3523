"""A tiny agent for tests without downloads: towards Holdfast it behaves as Claude Code does, and reads the same settings.

Run in a repository as `agent.py PROMPT [--continue]`, or once as `agent.py plugin FOLDER` to install a plugin. It runs the hooks in ~/.claude/settings.json and the servers in
~/.claude.json, talks to the model at ANTHROPIC_BASE_URL, and has two tools of its own. Standard library only.
"""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

Json = dict[str, Any]
FOLDER = Path.home() / ".claude"
LAST, PLUGIN = FOLDER / "last-session.json", FOLDER / "plugin"
OWN = [{"name": name, "input_schema": {"type": "object"}} for name in ("Bash", "Write", "Task")]


class Agent:
    """One conversation: who it is, what was said, and the servers at hand."""

    def __init__(self, session: str, messages: list[Json], servers: "dict[str, Server]", kind: str = "") -> None:
        self.session, self.messages, self.servers = session, messages, servers
        self.about = {"agent_id": uuid.uuid4().hex, "agent_type": kind} if kind else {}
        self.tools = OWN + [
            {**tool, "name": f"mcp__{name}__{tool['name']}"}
            for name, server in servers.items()
            for tool in server.tools
        ]

    def hook(self, event: str, **given: Any) -> Json:
        """Run every hook of an event and put what they answer into the conversation; give the last answer."""
        told = {"session_id": self.session, "cwd": str(Path.cwd()), "hook_event_name": event, **self.about, **given}
        answer: Json = {}
        for line in _hooks(event):
            done = subprocess.run(line, shell=True, input=json.dumps(told).encode(), stdout=subprocess.PIPE, check=True)
            answer = json.loads(done.stdout)["hookSpecificOutput"] if done.stdout else answer
        if context := answer.get("additionalContext"):
            self.messages.append({"role": "user", "content": f"{event} hook additional context: {context}"})
        return answer

    def turn(self, prompt: str) -> str:
        """Work on a prompt until the model has nothing more to call; give what it said."""
        self.messages.append({"role": "user", "content": prompt})
        while True:
            block = self.ask(self.tools)
            if block["type"] == "text":
                return str(block["text"])
            result = self.call(block["name"], block["input"])
            content = [{"type": "tool_result", "tool_use_id": block["id"], "content": result}]
            self.messages.append({"role": "user", "content": content})

    def ask(self, tools: list[Json]) -> Json:
        body = json.dumps({"model": "toy", "max_tokens": 1000, "messages": self.messages, "tools": tools}).encode()
        address = f"{os.environ['ANTHROPIC_BASE_URL']}/v1/messages"
        with urlopen(Request(address, body, {"content-type": "application/json"}), timeout=60) as reply:
            content: list[Json] = json.load(reply)["content"]
        self.messages.append({"role": "assistant", "content": content})
        return content[0]

    def call(self, name: str, given: Json) -> str:
        """Run a tool between its two hooks."""
        about = {"tool_name": name, "tool_input": given, "tool_use_id": uuid.uuid4().hex}
        before = self.hook("PreToolUse", **about)
        if before.get("permissionDecision") == "deny":
            return str(before["permissionDecisionReason"])
        _, server, tool = name.split("__", 2) if name.startswith("mcp__") else ("", "", name)
        result = self.servers[server].call(tool, given) if server else getattr(self, tool.lower())(given)
        self.hook("PostToolUse", **about, tool_response=result)
        return result if isinstance(result, str) else json.dumps(result)

    def bash(self, given: Json) -> Json:
        done = subprocess.run(given["command"], shell=True, capture_output=True, text=True, check=False)
        return {"stdout": done.stdout, "stderr": done.stderr, "exit_code": done.returncode}

    def write(self, given: Json) -> Json:
        Path(given["file_path"]).write_text(given["content"], encoding="utf-8")
        return {"type": "create", "filePath": given["file_path"]}

    def task(self, given: Json) -> str:
        inner = Agent(self.session, [], self.servers, given["subagent_type"])
        inner.hook("SubagentStart")
        said = inner.turn(given["prompt"])
        inner.hook("SubagentStop", last_assistant_message=said)
        return said

    def compact(self) -> None:
        """Have the conversation summed up and go on from there."""
        self.hook("PreCompact", trigger="manual")
        self.messages.append({"role": "user", "content": "Sum up the conversation so far."})
        summary = self.ask([])["text"]
        self.messages.clear()
        self.messages.append({"role": "user", "content": f"Summary of the conversation so far: {summary}"})
        self.hook("SessionStart", source="compact")


class Server:
    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process, self.sent = process, 0
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "toy", "version": "1"}}
        self.request("initialize", hello)
        self.tools: list[Json] = self.request("tools/list", {})["tools"]

    def request(self, method: str, params: Json) -> Json:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.sent += 1
        line = {"jsonrpc": "2.0", "id": self.sent, "method": method, "params": params}
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()
        while (answer := json.loads(self.process.stdout.readline())).get("id") != self.sent:
            pass
        result: Json = answer["result"]
        return result

    def call(self, tool: str, given: Json) -> str:
        content = self.request("tools/call", {"name": tool, "arguments": given})["content"]
        return "\n".join(part["text"] for part in content)


def _hooks(event: str) -> Iterator[str]:
    listed = [json.loads((FOLDER / "settings.json").read_text())]
    if plugin := _plugin():
        os.environ["CLAUDE_PLUGIN_ROOT"] = str(plugin)
        listed.append(json.loads((plugin / "hooks" / "hooks.json").read_text()))
    for one in listed:
        for group in one.get("hooks", {}).get(event, ()):
            yield from (hook["command"] for hook in group["hooks"])


def _entries() -> dict[str, Json]:
    files = [Path.home() / ".claude.json", *([plugin / ".mcp.json"] if (plugin := _plugin()) else [])]
    found = {name: entry for file in files for name, entry in json.loads(file.read_text())["mcpServers"].items()}
    return {name: entry for name, entry in found.items() if entry["args"]}


def _plugin() -> Path | None:
    return Path(PLUGIN.read_text()) if PLUGIN.exists() else None


@contextmanager
def _serving(entry: Json, session: str) -> Iterator[Server]:
    command = [entry["command"], *entry["args"]]
    variables = {**os.environ, **entry.get("env", {}), "CLAUDE_CODE_SESSION_ID": session}
    with subprocess.Popen(command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Server(process)
        assert process.stdin is not None
        process.stdin.close()


def main(prompt: str, *, continues: bool) -> None:
    """Hold one session, or go on with the last."""
    last: Json = json.loads(LAST.read_text()) if continues else {"session": str(uuid.uuid4()), "messages": []}
    with ExitStack() as stack:
        servers = {name: stack.enter_context(_serving(entry, last["session"])) for name, entry in _entries().items()}
        agent = Agent(last["session"], last["messages"], servers)
        agent.hook("SessionStart", source="resume" if continues else "startup")
        if prompt == "/compact":
            agent.compact()
        else:
            agent.hook("UserPromptSubmit", prompt=prompt)
            said = agent.turn(prompt)
            agent.hook("Stop", last_assistant_message=said)
            print(said)
        agent.hook("SessionEnd", reason="other")
        LAST.write_text(json.dumps({"session": agent.session, "messages": agent.messages}))


if __name__ == "__main__":
    if sys.argv[1] == "plugin":
        PLUGIN.write_text(sys.argv[2])
        sys.exit()
    main(sys.argv[1], continues="--continue" in sys.argv[2:])
