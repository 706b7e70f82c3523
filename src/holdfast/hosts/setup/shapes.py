"""The shape of entries: how each client expects a server, a hook, and our instructions."""

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from holdfast.hosts.setup.edits import NAME, SIGN
from holdfast.hosts.setup.machine import Installation
from holdfast.model.config import preset_of
from holdfast.model.trail import CLIENT_EVENTS

# How long clients wait for a hook: at the end of a session only briefly.
SECONDS = dict.fromkeys(CLIENT_EVENTS, 5) | {"SessionStart": 10, "SessionEnd": 1}


def stdio(made: Installation) -> dict[str, Any]:
    """Write a server's entry as most clients want it."""
    command, *arguments = made.server()
    return {"command": command, "args": arguments} | ({"env": dict(made.variables)} if made.variables else {})


def joined(made: Installation) -> dict[str, Any]:
    """Write it with the command line as one list."""
    given = {"environment": dict(made.variables)} if made.variables else {}
    return {"type": "local", "command": list(made.server()), "enabled": True} | given


def yaml(made: Installation) -> str:
    """Write it as a YAML file of its own; JSON strings and lists are YAML too."""
    command, *arguments = made.server()
    lines = [f"# {SIGN}", f"name: {NAME}", "version: 0.0.1", "schema: v1", "mcpServers:", f"  - name: {NAME}"]
    lines += [f"    command: {json.dumps(command)}", f"    args: {json.dumps(arguments)}"]
    lines += [f"    env: {json.dumps(dict(made.variables))}"] if made.variables else []
    return "\n".join([*lines, ""])


def group(made: Installation, client: str, event: str) -> Mapping[str, Any]:
    """Write a hook as Claude Code and Codex want it; timeouts are seconds."""
    return {"hooks": [{"type": "command", "command": made.hook_line(event, client), "timeout": SECONDS[event]}]}


def group_in_milliseconds(made: Installation, client: str, event: str) -> Mapping[str, Any]:
    """Write a hook as Gemini CLI wants it."""
    hook = {"type": "command", "name": NAME, "command": made.hook_line(event, client)}
    return {"hooks": [hook | {"timeout": SECONDS[event] * 1000}]}


def by_shell(made: Installation, client: str, event: str) -> Mapping[str, Any]:
    """Write a hook as Copilot CLI wants it: one line for each shell."""
    line = made.hook_line(event, client)
    return {"type": "command", "bash": line, "powershell": f"& {line}", "timeoutSec": SECONDS[event]}


def flat(made: Installation, client: str, event: str) -> Mapping[str, Any]:
    """Write a hook as Cursor wants it."""
    return {"command": made.hook_line(event, client), "timeout": SECONDS[event]}


def opencode_plugin(made: Installation) -> str:
    """Write the plugin that gives OpenCode, which has no hooks, the same events."""
    template = (files("holdfast.hosts.setup") / "opencode.js").read_text(encoding="utf-8")
    words = [made.python, "-I", "-S", made.hook]
    return (
        template.replace("SIGN", SIGN)
        .replace('"COMMAND"', json.dumps(words))
        .replace('"ARGUMENTS"', json.dumps(list(made.hook_words("opencode"))))
    )


def instructions(surfaces: Sequence[str] = ()) -> str:
    """Return the lines that explain Holdfast to an agent, with the tools that its surfaces have."""
    template = (files("holdfast.hosts.setup") / "instructions.md").read_text(encoding="utf-8")
    guides = dict.fromkeys(preset_of(name).guide or preset_of("").guide for name in surfaces or ("",))
    return template.replace("GUIDE", "\n".join(f"- {line}" for guide in guides for line in guide))
