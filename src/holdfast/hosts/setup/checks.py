"""The doctor's checks of client settings: whether our entries are there, and what they start exists."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any

from holdfast.hosts.mcp.serving import offers_of
from holdfast.hosts.setup import edits, jsontext, tomltext
from holdfast.hosts.setup.apply import Manifest
from holdfast.hosts.setup.clients import BY_NAME, CLIENTS, Client, file_of, has_hooks, has_plugin, installed
from holdfast.hosts.setup.machine import Level, Machine, text_of
from holdfast.hosts.setup.others import others
from holdfast.model.errors import Invalid, InvalidFile
from holdfast.verbs.upkeep.doctor import Check

LEVELS: tuple[Level, Level] = ("user", "project")


def client_checks(machine: Machine, manifest: Manifest) -> Iterator[Check]:
    """Check every client that has an entry of ours, each by itself."""

    def has_something(client: Client) -> bool:
        try:
            return has_plugin(client, machine) or any(True for _ in _entries(client, machine))
        except InvalidFile:
            return False  # a file that cannot be read starts nothing

    known = [client for client in CLIENTS if client.name in manifest.clients() or has_something(client)]
    unused = [client for client in installed(machine) if client not in known]
    parts = [f"set up: {', '.join(client.title for client in known)}"] if known else []
    parts += [f"not set up yet: {', '.join(client.title for client in unused)} (holdfast init)"] if unused else []
    yield Check(name="clients", found="; ".join(parts) or "none found")
    for client in known:
        yield _check_of(client, machine, manifest)
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


def _check_of(client: Client, machine: Machine, manifest: Manifest) -> Check:
    """Check whether a client's entries are there and start something that exists."""
    try:
        problems = [*_gone(client, manifest), *_dead(client, machine)]
    except InvalidFile as problem:
        problems = [problem.message]
    except Invalid as problem:  # its server would not start
        return Check(name=client.name, found=problem.message, fix=problem.hint)
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        return Check(name=client.name, found=problems[0] + more, fix=f"holdfast init --client {client.name}")
    if has_plugin(client, machine):
        return Check(name=client.name, found=f"{client.title} has our plugin")
    hooks = len(list(_hooks(client, machine)))
    noun = "hooks are" if hooks > 1 else "hook is"
    return Check(name=client.name, found=f"{client.title} starts it" + (f", {hooks} {noun} in place" if hooks else ""))


def _gone(client: Client, manifest: Manifest) -> Iterator[str]:
    """Yield what was inserted and is no longer there; an approval that is gone was taken back."""
    for name, touched in manifest.files.items():
        own = (placed.edit for placed in touched.placed if client.name in placed.clients)
        mine = [edit for edit in own if not isinstance(edit, edits.Approval)]
        with _about(Path(name)):
            text = text_of(Path(name)) or "" if mine else ""
            missing = [edit for edit in mine if edits.placing(text, edit)[0] == "missing"]
        for edit in missing:
            what = "the note for agents" if isinstance(edit, edits.Block) else ".".join(edit.path) or "the file"
            yield f"{what} is gone from {name}"


def _dead(client: Client, machine: Machine) -> Iterator[str]:
    """Yield the programs that entries and hooks start and that do not exist; raise Invalid for surfaces that no server can offer."""
    for path, entry in _entries(client, machine):
        program, *words = edits.words_of(entry)
        offers_of(re.findall(r"--surface[ =](\S+)", " ".join(words)))
        if not (os.access(program, os.X_OK) if Path(program).is_absolute() else which(program)):
            yield f"{path} starts {program}, which is not there"
    started = {(path, word): None for path, words in _hooks(client, machine) for word in sorted((words[0], words[3]))}
    yield from (f"hooks in {path} run {word}, which is not there" for path, word in started if not Path(word).is_file())


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
                    file = tomltext if client.server.form == "toml" else jsontext
                    entry = file.value_at(text, (*client.server.under, edits.NAME))
            if edits.runs_holdfast(entry):
                yield path, entry


def _hooks(client: Client, machine: Machine) -> Iterator[tuple[Path, list[str]]]:
    """Yield the command lines of our hooks, each with its file; a plugin written in JavaScript has one for all."""
    parts = [part for part in (client.hooks, client.plugin) if part]
    paths = (file_of(part, level, machine) for part in parts for level in LEVELS)
    for path in filter(None, paths):
        with _about(path):
            text = text_of(path) or ""
            listed = jsontext.value_at(text, ("hooks",)) if path.suffix != ".js" else None
        for items in listed.values() if isinstance(listed, dict) else ():
            yield from ((path, edits.command_line(hook)) for _, hook in edits.own_hooks(items))
        if path.suffix == ".js":
            yield from ((path, json.loads(line)) for line in re.findall(r"^const COMMAND = (.*)$", text, re.MULTILINE))


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """Add the file's path to an InvalidFile error."""
    try:
        yield
    except InvalidFile as problem:
        raise InvalidFile(f"{path}: {problem.message}") from problem
