"""The doctor's checks of client settings: whether our entries are there, and what they start exists."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any

from holdfast.hosts.setup import edits, jsontext, tomltext
from holdfast.hosts.setup.apply import Manifest
from holdfast.hosts.setup.clients import BY_NAME, CLIENTS, Client, installed
from holdfast.hosts.setup.files import text_of
from holdfast.hosts.setup.machine import Level, Machine
from holdfast.hosts.setup.others import others
from holdfast.hosts.setup.plan import file_of, has_hooks, has_plugin
from holdfast.model.errors import InvalidFile
from holdfast.verbs.upkeep.doctor import Check

LEVELS: tuple[Level, Level] = ("user", "project")


def client_checks(machine: Machine, manifest: Manifest) -> Iterator[Check]:
    """Check every client that has an entry of ours, each by itself."""
    known = [client for client in CLIENTS if client.name in manifest.clients() or _has_something(client, machine)]
    unused = [client for client in installed(machine) if client not in known]
    parts = [f"set up: {', '.join(client.title for client in known)}"] if known else []
    parts += [f"not set up yet: {', '.join(client.title for client in unused)} (holdfast init)"] if unused else []
    yield Check(name="clients", found="; ".join(parts) or "none found")
    for client in known:
        yield check_client(client, machine, manifest)
    for client in CLIENTS:  # hooks that one client would run twice
        own = any(has_hooks(client, level, machine) for level in LEVELS)
        if own and has_plugin(client, machine):
            found = f"{client.title} has both our plugin and our hooks: each fires twice"
            fix = f"holdfast uninstall --client {client.name}, or switch the plugin off"
            yield Check(name="hooks", found=found, fix=fix)
        also = BY_NAME.get(client.hooks.also_runs) if client.hooks else None
        if also and own and has_hooks(also, "project", machine):
            found = f"{client.title} runs its own hooks and the project's of {also.title}: each fires twice"
            yield Check(name="hooks", found=found, fix=f"holdfast uninstall --client {client.name}")
    for other in others(machine):
        if other.entries and known:
            found = f"{other.system.title} is set up too ({other.entries[0].path}): two memories answer"
            yield Check(name="other memory", found=found, fix=f"holdfast switch {other.system.name}")


def check_client(client: Client, machine: Machine, manifest: Manifest) -> Check:
    """Check whether a client's entries are there and start something that exists."""
    try:
        problems = [*_gone(client, manifest), *_dead(client, machine)]
    except InvalidFile as problem:
        problems = [problem.message]
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        return Check(name=client.name, found=problems[0] + more, fix=f"holdfast init --client {client.name}")
    if has_plugin(client, machine):
        return Check(name=client.name, found=f"{client.title} has our plugin")
    hooks = sum(len(list(_hooks(path))) for path in _hook_files(client, machine))
    noun = "hooks are" if hooks > 1 else "hook is"
    return Check(name=client.name, found=f"{client.title} starts it" + (f", {hooks} {noun} in place" if hooks else ""))


def _has_something(client: Client, machine: Machine) -> bool:
    """True if a client has our plugin, or an entry that starts Holdfast."""
    try:
        return has_plugin(client, machine) or any(True for _ in _entries(client, machine))
    except InvalidFile:
        return False  # a file that cannot be read starts nothing


def _gone(client: Client, manifest: Manifest) -> Iterator[str]:
    """Return what was inserted and is no longer there; an approval that is gone was taken back."""
    for name, touched in manifest.files.items():
        own = (placed.edit for placed in touched.placed if client.name in placed.clients)
        mine = [edit for edit in own if not isinstance(edit, edits.Approval)]
        with _about(Path(name)):
            text = text_of(Path(name)) or "" if mine else ""
            missing = [edit for edit in mine if edits.standing(text, edit) == "missing"]
        yield from (f"{_called(edit)} is gone from {name}" for edit in missing)


def _dead(client: Client, machine: Machine) -> Iterator[str]:
    """Return the programs that entries and hooks start and that do not exist."""
    for path, entry in _entries(client, machine):
        program = edits.words_of(entry)[0]
        if not (os.access(program, os.X_OK) if Path(program).is_absolute() else which(program)):
            yield f"{path} starts {program}, which is not there"
    for path in _hook_files(client, machine):
        missing = {word for words in _hooks(path) for word in (words[0], words[3]) if not Path(word).is_file()}
        yield from (f"hooks in {path} run {word}, which is not there" for word in sorted(missing))


def _entries(client: Client, machine: Machine) -> Iterator[tuple[Path, Any]]:
    for level in LEVELS:
        if path := file_of(client.server, level, machine):
            with _about(path):
                text = text_of(path) or ""
                if client.server.form == "yaml":  # two lines of our own file: JSON, or plain words if written by hand
                    lines = [line.strip().partition(": ") for line in text.splitlines()]
                    values = {key: value for key, _, value in lines if key in ("command", "args") and value}
                    entry = {key: jsontext.value_of(one) if one[0] in '"[' else one for key, one in values.items()}
                else:
                    read = tomltext.table_of if client.server.form == "toml" else jsontext.value_at
                    entry = read(text, (*client.server.under, edits.NAME))
            if edits.runs_holdfast(entry):
                yield path, entry


def _hook_files(client: Client, machine: Machine) -> Iterator[Path]:
    for part in (client.hooks, client.plugin):
        for level in LEVELS if part else ():
            if part and (path := file_of(part, level, machine)):
                yield path


def _hooks(path: Path) -> Iterator[list[str]]:
    """Return the command lines of our hooks in a file; a plugin written in JavaScript has one for all."""
    if path.suffix == ".js":
        yield from map(json.loads, re.findall(r"^const COMMAND = (.*)$", text_of(path) or "", re.MULTILINE))
        return
    with _about(path):
        listed = jsontext.value_at(text_of(path) or "", ("hooks",))
    for items in listed.values() if isinstance(listed, dict) else ():
        for _, hook in edits.own_hooks(items):
            yield edits.command_line(hook)


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """Add the file's path to an InvalidFile error."""
    try:
        yield
    except InvalidFile as problem:
        raise InvalidFile(f"{path}: {problem.message}") from problem


def _called(edit: edits.Edit) -> str:
    if isinstance(edit, edits.Member | edits.Table | edits.Element):
        return ".".join(edit.path)
    return "the note for agents" if isinstance(edit, edits.Block) else "the file"
