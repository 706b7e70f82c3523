"""The clients Holdfast knows how to set up, from the table clients.toml."""

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from holdfast.hosts.setup import shapes
from holdfast.hosts.setup.machine import Installation, Machine
from holdfast.model.errors import Invalid
from holdfast.model.files import read_regular

Paths = tuple[str, ...]  # templates of `places.Machine`; the first that exists is taken, else the last is made


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where a client lists MCP servers, and how an entry looks."""

    user: Paths = ()
    project: Paths = ()
    under: tuple[str, ...] = ("mcpServers",)
    form: Literal["json", "toml", "yaml"] = "json"
    shape: Callable[[Installation], Any] = shapes.stdio
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """Where a client lists hooks, how one looks, and its own names of our events."""

    user: Paths = ()
    project: Paths = ()
    events: Mapping[str, str]
    shape: Callable[[Installation, str, str], Mapping[str, Any]]
    skeleton: Mapping[str, Any] = field(default_factory=dict)  # what a new file must hold besides
    also_runs: str = ""  # a client whose hooks in a project this one runs as well: both would fire twice


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A file, entirely ours, that a client loads."""

    user: Paths
    project: Paths
    text: Callable[[Installation], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Where a client keeps what lets our tools run without asking: a rule in a file, or a key of the server's entry."""

    user: Paths = ()
    project: Paths = ()
    path: tuple[str, ...]
    value: Any
    form: Literal["rule", "json", "toml"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guide:
    """Where a client looks for instructions."""

    user: Paths = ()
    project: Paths = ()


Part = Server | Hooks | Plugin | Grant | Guide


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
    guide: Guide = Guide()
    switch: Switch | None = None  # for clients that take our Claude-format plugin
    note: str = ""  # what is left to do by hand


_PARTS = {"server": Server, "hooks": Hooks, "plugin": Plugin, "grant": Grant, "guide": Guide, "switch": Switch}


def _read(kind: Callable[..., Any], row: Mapping[str, Any]) -> Any:
    """Return a client, or a part of one, of the table; the names of shapes stand for functions."""
    given = dict[str, Any]()
    for name, value in row.items():
        if name in _PARTS:
            given[name] = _read(_PARTS[name], value)
        elif name in ("shape", "text"):
            given[name] = getattr(shapes, value)
        else:
            given[name] = tuple(value) if isinstance(value, list) else value
    return kind(**given)


_TABLE = tomllib.loads(read_regular(Path(__file__).with_suffix(".toml")).decode())
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
