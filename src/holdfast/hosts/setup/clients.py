"""The clients Holdfast knows how to set up, from the table clients.toml, and the edits that each needs in its files."""

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from shutil import which
from typing import Any, Literal

from holdfast.hosts.setup import jsontext, tomltext
from holdfast.hosts.setup.edits import NAME, SIGN, Approval, Block, Edit, Element, Entry, Whole, own_hooks, placing
from holdfast.hosts.setup.machine import Installation, Level, Machine, text_of
from holdfast.model.config import preset_of
from holdfast.model.errors import Invalid, InvalidFile
from holdfast.model.files import read_regular
from holdfast.model.foreign_json import parse_json
from holdfast.model.session import CLIENT_EVENTS

HERE = Path(__file__).parent
Paths = tuple[str, ...]  # templates of `machine.Machine`; the first that exists is taken, else the last is made
# How long clients wait for a hook: at the end of a session only briefly.
SECONDS = dict.fromkeys(CLIENT_EVENTS, 5) | {"SessionStart": 10, "SessionEnd": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Something that a client has in files of the user and of a project, such as instructions."""

    user: Paths = ()
    project: Paths = ()
    skeleton: Mapping[str, Any] = field(default_factory=dict)  # what a new file must hold besides


@dataclass(frozen=True, slots=True, kw_only=True)
class Server(Part):
    """Where a client lists MCP servers, and how an entry looks."""

    under: tuple[str, ...] = ("mcpServers",)
    form: Literal["json", "toml", "yaml"] = "json"
    joined: bool = False  # the command line is one list
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks(Part):
    """Where a client lists hooks, how one looks, and its own names of our events."""

    events: Mapping[str, str]
    shape: Mapping[str, Any]  # with LINE for the command line, and SECONDS or MILLISECONDS for the time it may take
    also_runs: str = ""  # a client whose hooks in a project this one runs as well: both would fire twice

    def entries(self, made: Installation, client: str) -> Iterator[tuple[str, Any]]:
        """Yield a hook for each event, with the client's name of it."""
        for event, theirs in self.events.items():
            seconds, line = SECONDS[event], json.dumps(made.hook_line(event, client))[1:-1]
            shape = json.dumps(self.shape).replace('"SECONDS"', f"{seconds}").replace('"MILLISECONDS"', f"{seconds}000")
            yield theirs, parse_json(shape.replace("LINE", line))


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant(Part):
    """Where a client keeps what lets our tools run without asking: a rule in a file, or a key of the server's entry."""

    path: tuple[str, ...]
    value: Any
    form: Literal["rule", "json", "toml"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """Everything about one client."""

    name: str
    title: str
    programs: tuple[str, ...] = ()
    signs: Paths = ()  # files or folders that show it is installed
    server: Server
    hooks: Hooks | None = None
    plugin: Part | None = None  # a file, entirely ours, that it loads instead of hooks
    grant: Grant | None = None
    guide: Part = Part()
    plugins: tuple[str, ...] = ()  # the file and the path where it lists Claude-format plugins that are enabled
    note: str = ""  # what is left to do by hand


_PARTS = {"server": Server, "hooks": Hooks, "plugin": Part, "grant": Grant, "guide": Part}


def _read(kind: Callable[..., Any], row: Mapping[str, Any]) -> Any:
    """Return a client, or a part of one, of the table."""
    lists = {name: tuple(value) for name, value in row.items() if isinstance(value, list)}
    parts = {name: _read(_PARTS[name], value) for name, value in row.items() if name in _PARTS}
    return kind(**{**row, **lists, **parts})


_TABLE = tomllib.loads(read_regular(HERE / "clients.toml").decode())
CLIENTS: tuple[Client, ...] = tuple(_read(Client, row) for row in _TABLE["client"])
BY_NAME = {client.name: client for client in CLIENTS}


def check_clients(names: Iterable[str]) -> tuple[Client, ...]:
    """Return the clients with these names, in the order of the table; raise Invalid with the nearest name as a hint."""
    wanted = set(names)
    for name in sorted(wanted - BY_NAME.keys()):
        called = {  # what people call a client: its name, its title, its programs
            word: client.name
            for client in CLIENTS
            for word in (*client.programs, client.title.lower().replace(" ", "-"), client.name)
        }
        near = get_close_matches(name.lower(), called, n=1)
        hint = f"Did you mean {called[near[0]]}?" if near else f"Known clients: {', '.join(BY_NAME)}."
        raise Invalid(f"There is no client {name[:40]!r}.", hint=f"{hint} Any other MCP client starts `holdfast mcp`.")
    return tuple(client for client in CLIENTS if client.name in wanted)


def installed(machine: Machine) -> tuple[Client, ...]:
    """Return the clients whose files or programs are found on a machine."""
    search = machine.environment.get("PATH", "")
    return tuple(
        client
        for client in CLIENTS
        if any(machine.path(sign).exists() for sign in client.signs)
        or any(which(program, path=search) for program in client.programs)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What the user chose."""

    clients: tuple[Client, ...]
    level: Level = "user"
    hooks: bool = True
    instructions: bool = False
    gitignore: bool = False
    approve: bool | None = None  # None: clients that are set up for the first time, and others as they are
    surfaces: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by client

    @property
    def names(self) -> set[str]:
        """The names of the clients."""
        return {client.name for client in self.clients}

    def wants_hooks(self, client: str) -> bool:
        """True if a client gets hooks; False if a surface it uses stands for nothing being captured or injected."""
        return self.hooks and all(preset_of(name).hooks for name in self.surfaces.get(client, ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What one client needs in one file."""

    client: str
    path: Path
    edit: Edit
    skeleton: Mapping[str, Any] = field(default_factory=dict)
    within: Path | None = None  # the folder that the file must be in, wherever links lead


def wanted(choices: Choices, machine: Machine, made: Installation) -> Iterator[Wanted]:
    """Yield every edit that is needed, client by client."""
    within = machine.project if choices.level == "project" else None
    for client in choices.clients:
        for part, edit in _needs(client, choices, machine, made):
            if path := file_of(part, choices.level, machine):
                yield Wanted(client=client.name, path=path, edit=edit, skeleton=part.skeleton, within=within)


def _needs(client: Client, choices: Choices, machine: Machine, made: Installation) -> Iterator[tuple[Part, Edit]]:
    """Yield the edits of a client: its note, and unless our plugin brings them, server, hooks and approval."""
    level, hooks, grant = choices.level, client.hooks, client.grant
    surfaces = choices.surfaces.get(client.name, ())
    if choices.instructions:
        yield client.guide, Block(value=instructions(surfaces), form="markdown", noun="note for agents")
    if has_plugin(client, machine):
        return
    serving = replace(made, surfaces=surfaces)
    approve = is_new(client, level, machine, made) or None if choices.approve is None else choices.approve
    yield client.server, server_edit(client, serving)
    if choices.wants_hooks(client.name) and not covered(client, level, machine, choices.names):
        if hooks:
            for theirs, hook in hooks.entries(serving, client.name):
                yield hooks, Element(path=("hooks", theirs), value=hook, noun="hook")
        if client.plugin:
            yield client.plugin, Whole(value=opencode_plugin(serving), form="text", noun="plugin")
    if grant and approve is not None:
        allowed = Approval(path=grant.path, value=grant.value, form=grant.form, given=approve, noun="permission")
        yield grant if grant.user else client.server, allowed


def stdio(made: Installation) -> dict[str, Any]:
    """Return a server's entry as most clients want it."""
    command, *arguments = made.server()
    return {"command": command, "args": arguments} | ({"env": dict(made.variables)} if made.variables else {})


def server_edit(client: Client, made: Installation) -> Edit:
    """Return a client's entry for the server; one in YAML is a file of its own."""
    server, value = client.server, stdio(made)
    if server.form == "yaml":  # JSON strings and lists are YAML too
        lines = [f"# {SIGN}", f"name: {NAME}", "version: 0.0.1", "schema: v1", "mcpServers:", f"  - name: {NAME}"]
        lines += [f"    {key}: {json.dumps(item)}" for key, item in value.items()]
        return Whole(value="\n".join([*lines, ""]), form="text")
    if server.joined:
        value = {"command": list(made.server())} | ({"environment": value["env"]} if "env" in value else {})
    return Entry(path=(*server.under, NAME), value={**server.more, **value}, form=server.form)


def opencode_plugin(made: Installation) -> str:
    """Write the plugin that gives OpenCode, which has no hooks, the same events."""
    template = read_regular(HERE / "opencode.js").decode().replace("SIGN", SIGN)
    template = template.replace('"COMMAND"', json.dumps([made.python, "-I", "-S", made.hook]))
    return template.replace('"ARGUMENTS"', json.dumps(list(made.hook_words("opencode"))))


def instructions(surfaces: Sequence[str] = ()) -> str:
    """Return the lines that explain Holdfast to an agent, with the tools that its surfaces have."""
    template = read_regular(HERE / "instructions.md").decode()
    guides = dict.fromkeys(preset_of(name).guide or preset_of("").guide for name in surfaces or ("",))
    return template.replace("GUIDE", "\n".join(f"- {line}" for guide in guides for line in guide))


def file_of(part: Part, level: Level, machine: Machine) -> Path | None:
    """Return the file of one part at a level: the first that is there, else the last, else none."""
    paths = [machine.path(template) for template in (part.user if level == "user" else part.project)]
    return next((path for path in paths if path.exists()), paths[-1] if paths else None)


def is_new(client: Client, level: Level, machine: Machine, made: Installation) -> bool:
    """True if a client has no server of ours yet."""
    path = file_of(client.server, level, machine)
    try:
        text = text_of(path) if path else None
        return placing(text or "", server_edit(client, made))[0] == "missing"
    except InvalidFile:
        return True  # nothing will be written there


def covered(client: Client, level: Level, machine: Machine, chosen: Iterable[str] = ()) -> str:
    """Return why a client's own hooks would fire twice, else an empty text: it already runs our hooks from elsewhere."""
    if client.hooks is None or level == "user":
        return ""
    if has_hooks(client, "user", machine):
        return "has our hooks in your own settings, which hold in every project"
    other = BY_NAME.get(client.hooks.also_runs)
    coming = other is not None and other.name in chosen and not has_hooks(other, "user", machine)
    if other and (coming or has_hooks(other, "project", machine)):
        return f"runs the project's hooks of {other.title} too"
    return ""


def has_hooks(client: Client, level: Level, machine: Machine) -> bool:
    """True if our hooks are in a client's file."""
    path = file_of(client.hooks or Part(), level, machine)
    listed = _mapping(path, ("hooks",)).values() if path else ()
    return any(True for items in listed for _ in own_hooks(items))


def has_plugin(client: Client, machine: Machine) -> bool:
    """True if our plugin is enabled in a client."""
    states = _mapping(machine.path(client.plugins[0]), client.plugins[1:]) if client.plugins else {}
    own = (state for name, state in states.items() if name.startswith(f"{NAME}@"))
    return any(state.get("enabled", True) if isinstance(state, dict) else state for state in own)


def _mapping(path: Path, place: tuple[str, ...]) -> dict[str, Any]:
    """Return what is at a place in a client's file; nothing if it cannot be read, which is reported where it matters."""
    try:
        value = (tomltext if path.suffix == ".toml" else jsontext).value_at(text_of(path) or "", place)
    except InvalidFile:
        return {}
    return value if isinstance(value, dict) else {}
