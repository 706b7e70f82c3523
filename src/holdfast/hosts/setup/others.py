"""The other memory systems that Holdfast takes the place of: what they left in the files of clients, and where their data is."""

import re
import shlex
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from holdfast.compose.adapters import has_notes
from holdfast.hosts.setup import jsontext, tomltext
from holdfast.hosts.setup.clients import CLIENTS
from holdfast.hosts.setup.edits import HOOK, NAME, Form, Removed, command_line, words_of
from holdfast.hosts.setup.files import text_of
from holdfast.hosts.setup.machine import Machine
from holdfast.hosts.setup.plan import Wanted
from holdfast.model.errors import InvalidFile
from holdfast.model.files import read_regular


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A memory system: what its entries, hooks, plugin and notes are recognised by, and where it keeps its data."""

    name: str
    title: str
    signs: Sequence[str]  # names of its programs, packages, plugins and folders
    data: Sequence[str]  # templates of `machine.Machine`; the first that exists


_TABLE = tomllib.loads(read_regular(Path(__file__).with_suffix(".toml")).decode())
SYSTEMS = tuple(System(**row) for row in _TABLE["system"])
SERVERS = {key for client in CLIENTS for key in client.server.under}
# Where other systems write and Holdfast does not.
BESIDE = ("{project}/.claude/settings.json", "{project}/CLAUDE.md", "{project}/.claude/CLAUDE.md")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What is there of a system: the entries to take out, and the place of its data, if any."""

    system: System
    entries: tuple[Wanted, ...]
    data: Path | None


def others(machine: Machine) -> list[Found]:
    """Return the other memory systems that are set up on a machine, or whose data is there for this project."""
    every, found = list(_entries(machine)), list[Found]()
    for system in SYSTEMS:
        entries = tuple(want for name, want in every if name == system.name)
        data = next((path for template in system.data if (path := machine.path(template)).exists()), None)
        if not system.data and has_notes(machine.project):
            data = machine.project
        if entries or data:
            found.append(Found(system=system, entries=entries, data=data))
    return found


def _entries(machine: Machine) -> Iterator[tuple[str, Wanted]]:
    """Yield every entry of another system in the files that clients read, with the system's name."""
    parts = ((client, part) for client in CLIENTS for part in (client.server, client.hooks, client.grant, client.guide))
    files = {machine.path(one): "claude-code" for one in BESIDE}
    for client, part in parts:
        for template in (*part.user, *part.project) if part else ():
            files.setdefault(machine.path(template), client.name)
    for path, owner in files.items():
        try:
            text = text_of(path) or ""
            if path.suffix == ".md":
                named = list(_blocks(text))
            elif path.suffix in (".toml", ".json", ".jsonc"):
                is_toml = path.suffix == ".toml"
                named = list(_members((tomltext if is_toml else jsontext).value_of(text), is_toml=is_toml))
            else:
                continue  # a file that is entirely ours
        except InvalidFile:
            continue  # what cannot be read is reported where it matters
        within = machine.project if path.is_relative_to(machine.project) else None
        for system, edit in named:
            yield system.name, Wanted(client=owner, path=path, edits=(edit,), within=within)


def _members(value: Any, *, is_toml: bool) -> Iterator[tuple[System, Removed]]:
    """Yield the servers, hooks, enabled plugins and permissions of other systems in a file's value."""
    for noun, path, words, part in _parts(value):
        if system := _system_of(words):
            form: Form = "item" if noun in ("hook", "permission") else "table" if is_toml else "entry"
            yield system, Removed(path=path, value=part, form=form, noun=f"{system.title} {noun}")


def _parts(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...], list[str], Any]]:
    """Yield what programs may have in a file's value: what it is, where, the words that say whose it is, and its value."""
    for key, item in value.items() if isinstance(value, dict) else ():
        here = (*path, key)
        match key, item:
            case _, dict() if key in SERVERS:
                yield from (("server", (*here, name), words_of(entry), entry) for name, entry in item.items())
            case "hooks", dict():
                lists = [(event, listed) for event, listed in item.items() if isinstance(listed, list)]
                hooks = ((event, each) for event, listed in lists for one in listed for each in _single_hooks(one))
                yield from (("hook", (*here, event), command_line(hook), whole) for event, (hook, whole) in hooks)
            case "enabledPlugins", dict():
                yield from (("plugin", (*here, name), [name], True) for name, state in item.items() if state is True)
            case "plugins", dict():  # of Codex
                yield from (
                    ("plugin", (*here, name), [name], each) for name, each in item.items() if isinstance(each, dict)
                )
            case "allow", list():
                rules = [rule for rule in item if isinstance(rule, str) and rule.startswith("mcp__")]
                servers = [rule.split("__")[1].removeprefix("plugin_").partition("_")[0] for rule in rules]
                yield from (("permission", here, [name], rule) for name, rule in zip(servers, rules, strict=True))
            case _:
                yield from _parts(item, here)


def _single_hooks(item: Any) -> list[tuple[Any, Any]]:
    """Return each hook in an element of a list of hooks, and the element with this hook alone."""
    inner = item.get("hooks") if isinstance(item, dict) else None
    return [(hook, {**item, "hooks": [hook]}) for hook in inner] if isinstance(inner, list) else [(item, item)]


def _blocks(text: str) -> Iterator[tuple[System, Removed]]:
    """Yield the notes of other systems between their markers in a text."""
    for system in SYSTEMS:
        name = re.escape(system.name)
        begin, end = (
            rf"<!--[^>]*\b{name}\b[^>]*\b(?:start|begin)\b[^>]*-->",
            rf"<!--[^>]*\b{name}\b[^>]*\bend\b[^>]*-->",
        )
        pattern = rf"(?:{begin}.*?{end}|<{name}-context>.*?</{name}-context>)\n?"
        for match in re.finditer(pattern, text, re.DOTALL | re.IGNORECASE):
            yield system, Removed(path=(), value=match[0], form="text", noun=f"{system.title} note for agents")


def _system_of(words: list[str]) -> System | None:
    """Return the system that a command line runs, by the names of its programs, packages and own folders."""
    names = set[str]()
    for word in words:
        path = PurePath(word.replace("\\", "/"))
        hidden = {part for part in path.parts if part.startswith(".")}
        names |= {path.name.partition("@")[0], path.stem, *hidden}
        if " " in word:  # a command that is one argument, as in `sh -c`
            with suppress(ValueError):
                names |= {PurePath(part).name for part in shlex.split(word)}
    is_ours = NAME in names or any(word.endswith(HOOK) for word in words)
    return None if is_ours else next((system for system in SYSTEMS if names.intersection(system.signs)), None)
