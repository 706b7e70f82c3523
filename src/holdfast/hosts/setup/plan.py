"""Which edits each file needs, for the chosen clients and options."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from holdfast.hosts.setup import jsontext, tomltext
from holdfast.hosts.setup.clients import BY_NAME, Client, Hooks, Part, instructions
from holdfast.hosts.setup.edits import NAME, Approval, Block, Edit, Element, Member, Table, Whole, own_hooks, standing
from holdfast.hosts.setup.files import text_of
from holdfast.hosts.setup.machine import Installation, Level, Machine
from holdfast.model.config import preset_of
from holdfast.model.errors import InvalidFile


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
    edits: tuple[Edit, ...]
    skeleton: dict[str, Any] = field(default_factory=dict)
    within: Path | None = None  # the folder that the file must be in, wherever links lead


def wanted(choices: Choices, machine: Machine, made: Installation) -> Iterator[Wanted]:
    """Yield every edit that is needed, client by client."""
    level, within = choices.level, machine.project if choices.level == "project" else None

    def needs(client: Client) -> Iterator[tuple[Part | None, tuple[Edit, ...]]]:
        """Yield the parts of a client that need edits: its note, and unless our plugin brings them, server, hooks and approval."""
        surfaces, grant, hooks = choices.surfaces.get(client.name, ()), client.grant, client.hooks
        if choices.instructions:
            yield client.guide, (Block(text=instructions(surfaces), marks="markdown"),)
        if has_plugin(client, machine):
            return
        serving = replace(made, surfaces=surfaces)
        approve = is_new(client, level, machine, made) or None if choices.approve is None else choices.approve
        yield client.server, (server_edit(client, serving),)
        if choices.wants_hooks(client.name) and not covered(client, level, machine, choices.names):
            shaped = hooks.entries(serving, client.name) if hooks else {}
            yield hooks, tuple(Element(path=("hooks", theirs), value=value) for theirs, value in shaped.items())
            yield client.plugin, (Whole(text=client.plugin.text(serving)),) if client.plugin else ()
        if grant and approve is not None:
            edit = Approval(path=grant.path, value=grant.value, form=grant.form, given=approve)
            yield grant if grant.user else client.server, (edit,)

    for client in choices.clients:
        for part, edits in needs(client):
            if part and (path := file_of(part, level, machine)):
                skeleton = dict(part.skeleton) if isinstance(part, Hooks) else {}
                yield Wanted(client=client.name, path=path, edits=edits, skeleton=skeleton, within=within)


def is_new(client: Client, level: Level, machine: Machine, made: Installation) -> bool:
    """True if a client has no server of ours yet."""
    path = file_of(client.server, level, machine)
    try:
        text = text_of(path) if path else None
        return standing(text or "", server_edit(client, made)) == "missing"
    except InvalidFile:
        return True  # nothing will be written there


def server_edit(client: Client, made: Installation) -> Edit:
    """Return a client's entry for the server."""
    server = client.server
    if server.form == "yaml":
        return Whole(text=server.shape(made))
    value = {**server.more, **server.shape(made)}
    kind = Table if server.form == "toml" else Member
    return kind(path=(*server.under, NAME), value=value)


def file_of(part: Part, level: Level, machine: Machine) -> Path | None:
    """Return the file of one part at a level: the first that is there, else the last, else none."""
    paths = [machine.path(template) for template in (part.user if level == "user" else part.project)]
    return next((path for path in paths if path.exists()), paths[-1] if paths else None)


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
    path = file_of(client.hooks, level, machine) if client.hooks else None
    try:
        listed = jsontext.value_at(text_of(path) or "", ("hooks",)) if path else {}
    except InvalidFile:
        return False  # what cannot be read runs nothing; the file itself is reported where it matters
    return isinstance(listed, dict) and any(True for items in listed.values() for _ in own_hooks(items))


def has_plugin(client: Client, machine: Machine) -> bool:
    """True if our plugin is enabled in a client."""
    if client.switch is None:
        return False
    path, switched = machine.path(client.switch.file), None
    try:
        text = text_of(path) or ""
        read = tomltext.table_of if path.suffix == ".toml" else jsontext.value_at
        switched = read(text, client.switch.path)
    except InvalidFile:
        return False  # what cannot be read switches nothing on; the file itself is reported where it matters
    states = switched.items() if isinstance(switched, dict) else ()
    own = (state for name, state in states if name.startswith(f"{NAME}@"))
    return any(state.get("enabled", True) if isinstance(state, dict) else state for state in own)
