"""Which entries of a client's settings are ours: recognised by what they run, never by a name alone."""

import shlex
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import PurePath
from shutil import which
from typing import Any

from holdfast.model.trail import CLIENT_EVENTS

NAME = "holdfast"
HOOK = "holdfast/hosts/hooks/client.py"
# What makes an entry work. Everything else in it (a timeout, a trust flag) its owner may have changed for good reasons.
VITAL = frozenset({"command", "args", "env", "environment", "bash", "powershell"})


def words_of(entry: Any) -> list[str]:
    """Return the command line of a server's entry, in whichever of the two shapes it is written."""
    if not isinstance(entry, Mapping):
        return []
    command, arguments = entry.get("command"), entry.get("args")
    words = command if isinstance(command, list) else [command]
    return [str(word) for word in [*words, *(arguments if isinstance(arguments, list) else [])] if word]


def runs_holdfast(entry: Any) -> bool:
    """True if an entry starts Holdfast's server."""
    words = words_of(entry)
    return "mcp" in words and NAME in (PurePath(words[0].replace("\\", "/")).stem, *words[1:])


def works_by_name(entry: Any, wanted: Any) -> bool:
    """True if a hand-written entry names a program on the search path that offers the same tools."""
    words, same = words_of(entry), words_of(wanted)
    by_name = bool(words) and PurePath(words[0]).name == words[0] and which(words[0]) is not None
    return by_name and runs_holdfast(entry) and _surfaces(words) == _surfaces(same)


def command_line(hook: Any) -> list[str]:
    """Return the words of a hook's command, or none."""
    command = hook.get("command") or hook.get("bash") if isinstance(hook, Mapping) else None
    try:
        return shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return []  # unbalanced quotes: not written by us


def is_own_hook(hook: Any) -> bool:
    """True if a hook runs our hook file, exactly as we write it."""
    words = command_line(hook)
    return len(words) >= 5 and words[1:3] == ["-I", "-S"] and words[3].endswith(HOOK) and words[4] in CLIENT_EVENTS


def own_hooks(listed: Any) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    """Return our hooks in a list, flat or in groups, each with its path inside the list."""
    for place, item in enumerate(listed if isinstance(listed, list) else []):
        if is_own_hook(item):
            yield (place,), item
        inner = item.get("hooks") if isinstance(item, Mapping) else None
        for spot, hook in enumerate(inner if isinstance(inner, list) else []):
            if is_own_hook(hook):
                yield (place, "hooks", spot), hook


def agrees(current: Any, wanted: Any) -> bool:
    """True if an entry has the wanted values in everything that makes it work."""
    if not isinstance(current, Mapping):
        return bool(current == wanted)
    return all(_within(current.get(key), item) for key, item in wanted.items() if key in VITAL)


def repaired(current: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return a repaired entry that keeps what its owner added or changed."""
    both = {key: {**current[key], **wanted[key]} for key in ("env", "environment") if key in current and key in wanted}
    vital = {key: item for key, item in wanted.items() if key in VITAL}
    return {**wanted, **current, **vital, **both}


def _within(current: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        return isinstance(current, Mapping) and all(current.get(key) == item for key, item in wanted.items())
    return bool(current == wanted)


def _surfaces(words: list[str]) -> set[str]:
    return {after for word, after in pairwise(words) if word == "--surface"} or {"core"}
