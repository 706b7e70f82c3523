"""The other memory systems that Holdfast takes the place of: what they left in the files of clients, and where their data is."""

import re
import shlex
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from holdfast.compose.adapters import has_notes
from holdfast.hosts.setup import jsontext, tomltext
from holdfast.hosts.setup.clients import CLIENTS, Wanted
from holdfast.hosts.setup.edits import HOOK, NAME, Form, Removed, command_line, hooks_in, words_of
from holdfast.hosts.setup.machine import Machine, text_of
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


def others(machine: Machine) -> Iterator[Found]:
    """Yield the other memory systems that are set up on a machine, or whose data is there for this project."""
    every = list(_entries(machine))
    for system in SYSTEMS:
        entries = tuple(want for name, want in every if name == system.name)
        data = next((path for template in system.data if (path := machine.path(template)).exists()), None)
        if not system.data and has_notes(machine.project):
            data = machine.project
        if entries or data:
            yield Found(system=system, entries=entries, data=data)


def _entries(machine: Machine) -> Iterator[tuple[str, Wanted]]:
    """Yield every entry of another system in the files that clients read, with the system's name."""
    parts = ((client, part) for client in CLIENTS for part in (client.server, client.hooks, client.grant, client.guide))
    files = {machine.path(one): "claude-code" for one in BESIDE}
    for client, part in parts:
        for template in (*part.user, *part.project) if part else ():
            files.setdefault(machine.path(template), client.name)
    for path, owner in files.items():
        within = machine.project if path.is_relative_to(machine.project) else None
        try:
            for system, noun, edit in _edits_in(path):
                named = replace(edit, noun=f"{system.title} {noun}")
                yield system.name, Wanted(client=owner, path=path, edit=named, within=within)
        except InvalidFile:
            continue  # what cannot be read is reported where it matters


def _edits_in(path: Path) -> Iterator[tuple[System, str, Removed]]:
    """Yield what other systems have in a file: notes between their markers, servers, hooks, enabled plugins, permissions."""
    text, is_toml = text_of(path) or "", path.suffix == ".toml"
    if path.suffix == ".md":
        for system in SYSTEMS:
            name = re.escape(system.name)
            begin, end = (rf"<!--[^>]*\b{name}\b[^>]*\b{word}\b[^>]*-->" for word in ("(?:start|begin)", "end"))
            pattern = rf"(?:{begin}.*?{end}|<{name}-context>.*?</{name}-context>)\n?"
            for match in re.finditer(pattern, text, re.DOTALL | re.IGNORECASE):
                yield system, "note for agents", Removed(value=match[0], form="text")
    elif path.suffix in (".toml", ".json", ".jsonc"):  # any other file is entirely ours
        for noun, place, words, value in _parts((tomltext if is_toml else jsontext).value_of(text)):
            form: Form = "item" if noun in ("hook", "permission") else "toml" if is_toml else "json"
            if whose := _system_of(words):
                yield whose, noun, Removed(path=place, value=value, form=form)


def _parts(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...], list[str], Any]]:
    """Yield what programs may have in a file's value: what it is, where, the words that say whose it is, and its value."""
    for key, item in value.items() if isinstance(value, dict) else ():
        here = (*path, key)
        match key, item:
            case _, dict() if key in SERVERS:
                yield from (("server", (*here, name), words_of(entry), entry) for name, entry in item.items())
            case "hooks", dict():
                found = ((event, hook, whole) for event, each in item.items() for _, hook, whole in hooks_in(each))
                yield from (("hook", (*here, event), command_line(hook), whole) for event, hook, whole in found)
            case "enabledPlugins", dict():
                yield from (("plugin", (*here, name), [name], True) for name, state in item.items() if state is True)
            case "plugins", dict():  # of Codex
                tables = ((name, each) for name, each in item.items() if isinstance(each, dict))
                yield from (("plugin", (*here, name), [name], each) for name, each in tables)
            case "allow", list():
                rules = [rule for rule in item if isinstance(rule, str) and rule.startswith("mcp__")]
                servers = [rule.split("__")[1].removeprefix("plugin_").partition("_")[0] for rule in rules]
                yield from (("permission", here, [name], rule) for name, rule in zip(servers, rules, strict=True))
            case _:
                yield from _parts(item, here)


def _system_of(words: list[str]) -> System | None:
    """Return the system that a command line runs, by the names of its programs, packages and own folders."""
    names = set[str]()
    for word in words:
        path = PurePath(word.replace("\\", "/"))
        names |= {path.name.partition("@")[0], path.stem, *(part for part in path.parts if part.startswith("."))}
        if " " in word:  # a command that is one argument, as in `sh -c`
            with suppress(ValueError):
                names |= {PurePath(part).name for part in shlex.split(word)}
    is_ours = NAME in names or any(word.endswith(HOOK) for word in words)
    return None if is_ours else next((system for system in SYSTEMS if names.intersection(system.signs)), None)
