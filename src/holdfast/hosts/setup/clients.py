"""The clients Holdfast knows how to set up, from the table clients.toml: how each expects a server, a hook, and our instructions."""

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from holdfast.hosts.setup.edits import NAME, SIGN
from holdfast.hosts.setup.machine import Installation, Machine
from holdfast.model.config import preset_of
from holdfast.model.errors import Invalid
from holdfast.model.files import read_regular
from holdfast.model.trail import CLIENT_EVENTS

HERE = Path(__file__).parent
Paths = tuple[str, ...]  # templates of `places.Machine`; the first that exists is taken, else the last is made
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


def opencode_plugin(made: Installation) -> str:
    """Write the plugin that gives OpenCode, which has no hooks, the same events."""
    template = read_regular(HERE / "opencode.js").decode()
    words = [made.python, "-I", "-S", made.hook]
    return (
        template.replace("SIGN", SIGN)
        .replace('"COMMAND"', json.dumps(words))
        .replace('"ARGUMENTS"', json.dumps(list(made.hook_words("opencode"))))
    )


def instructions(surfaces: Sequence[str] = ()) -> str:
    """Return the lines that explain Holdfast to an agent, with the tools that its surfaces have."""
    template = read_regular(HERE / "instructions.md").decode()
    guides = dict.fromkeys(preset_of(name).guide or preset_of("").guide for name in surfaces or ("",))
    return template.replace("GUIDE", "\n".join(f"- {line}" for guide in guides for line in guide))


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Something that a client has in files of the user and of a project, such as instructions."""

    user: Paths = ()
    project: Paths = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Server(Part):
    """Where a client lists MCP servers, and how an entry looks."""

    under: tuple[str, ...] = ("mcpServers",)
    form: Literal["json", "toml", "yaml"] = "json"
    shape: Callable[[Installation], Any] = stdio
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks(Part):
    """Where a client lists hooks, how one looks, and its own names of our events."""

    events: Mapping[str, str]
    shape: Mapping[str, Any]  # with LINE for the command line, and SECONDS or MILLISECONDS for the time it may take
    skeleton: Mapping[str, Any] = field(default_factory=dict)  # what a new file must hold besides
    also_runs: str = ""  # a client whose hooks in a project this one runs as well: both would fire twice

    def entries(self, made: Installation, client: str) -> dict[str, Any]:
        """Write a hook for each event, by the client's name of it."""

        def filled(part: Any, event: str) -> Any:
            if isinstance(part, str):
                numbers = {"SECONDS": SECONDS[event], "MILLISECONDS": 1000 * SECONDS[event]}
                return numbers.get(part) or part.replace("LINE", made.hook_line(event, client))
            if isinstance(part, Mapping):
                return {key: filled(item, event) for key, item in part.items()}
            return [filled(item, event) for item in part]

        return {theirs: filled(self.shape, event) for event, theirs in self.events.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin(Part):
    """A file, entirely ours, that a client loads."""

    text: Callable[[Installation], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant(Part):
    """Where a client keeps what lets our tools run without asking: a rule in a file, or a key of the server's entry."""

    path: tuple[str, ...]
    value: Any
    form: Literal["rule", "json", "toml"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """Where a client lists enabled plugins, each by its name and its marketplace's."""

    file: str
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """Everything about one client."""

    name: str
    title: str
    programs: tuple[str, ...] = ()
    signs: Paths = ()  # files or folders that show it is installed
    server: Server
    hooks: Hooks | None = None
    plugin: Plugin | None = None
    grant: Grant | None = None
    guide: Part = Part()
    switch: Switch | None = None  # for clients that take our Claude-format plugin
    note: str = ""  # what is left to do by hand


_PARTS = {"server": Server, "hooks": Hooks, "plugin": Plugin, "grant": Grant, "guide": Part, "switch": Switch}


def _read(kind: Callable[..., Any], row: Mapping[str, Any]) -> Any:
    """Return a client, or a part of one, of the table; the names of shapes stand for functions."""
    given = dict[str, Any]()
    for name, value in row.items():
        if name in _PARTS:
            given[name] = _read(_PARTS[name], value)
        elif name in ("shape", "text") and isinstance(value, str):
            given[name] = globals()[value]
        else:
            given[name] = tuple(value) if isinstance(value, list) else value
    return kind(**given)


_TABLE = tomllib.loads(read_regular(HERE / "clients.toml").decode())
CLIENTS: tuple[Client, ...] = tuple(_read(Client, row) for row in _TABLE["client"])
BY_NAME = {client.name: client for client in CLIENTS}


def check_clients(names: Iterable[str]) -> tuple[Client, ...]:
    """Return the clients with these names, in the order of the table; raise Invalid with the nearest name as a hint."""
    wanted = set(names)
    for name in sorted(wanted - BY_NAME.keys()):
        near = get_close_matches(name.lower(), _CALLED, n=1)
        hint = f"Did you mean {_CALLED[near[0]]}?" if near else f"Known clients: {', '.join(BY_NAME)}."
        raise Invalid(f"There is no client {name[:40]!r}.", hint=f"{hint} Any other MCP client starts `holdfast mcp`.")
    return tuple(client for client in CLIENTS if client.name in wanted)


# What people call a client: its name, its title, its programs.
_CALLED = {
    called: client.name
    for client in CLIENTS
    for called in (*client.programs, client.title.lower().replace(" ", "-"), client.name)
}


def installed(machine: Machine) -> tuple[Client, ...]:
    """Return the clients that are found on a machine."""
    return tuple(client for client in CLIENTS if is_installed(client, machine))


def is_installed(client: Client, machine: Machine) -> bool:
    """True if a client's files or programs exist."""
    return any(machine.path(sign).exists() for sign in client.signs) or any(map(machine.has_program, client.programs))
