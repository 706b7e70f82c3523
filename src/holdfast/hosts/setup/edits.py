"""What Holdfast writes into files of other programs, as values: check, insert and remove."""

import re
import shlex
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import PurePath
from shutil import which
from typing import Any, Literal

from holdfast.hosts.setup import jsontext, tomltext
from holdfast.hosts.setup.jsontext import MISSING
from holdfast.model.errors import InvalidFile
from holdfast.model.session import CLIENT_EVENTS

NAME = "holdfast"
HOOK = "holdfast/hosts/hooks/client.py"
# What makes an entry work. Everything else in it (a timeout, a trust flag) its owner may have changed for good reasons.
VITAL = frozenset({"command", "args", "env", "environment", "bash", "powershell"})
Standing = Literal["missing", "held", "stale", "foreign"]
# A value of JSON or TOML, an element of a JSON list (a rule for permissions, another item), a text, or lines between marks in one.
Form = Literal["json", "toml", "rule", "item", "text", "markdown", "shell"]
MARKS = {
    "markdown": ("<!-- holdfast:start -->", "<!-- holdfast:end -->"),
    "shell": ("# holdfast:start", "# holdfast:end"),
}
SIGN = "Written by holdfast init"  # in files that are entirely ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A value at a path in a file, or a text; and what people call it."""

    path: tuple[str, ...] = ()
    value: Any
    form: Form = "json"
    noun: str = "server"


class Entry(Edit):
    """A server's entry."""


class Element(Edit):
    """A hook in a JSON list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval(Edit):
    """What lets our tools run without asking: a rule, or a key of our entry. Not `given`: it is taken back."""

    given: bool = True


class Block(Edit):
    """Lines between two markers in a text."""


class Whole(Edit):
    """A file that is entirely ours."""


class Removed(Edit):
    """What another memory system had in a file: it is taken out while Holdfast is in its place, and put back afterwards."""


KINDS = {kind.__name__.lower(): kind for kind in (Entry, Element, Approval, Block, Whole, Removed)}


def placing(text: str, edit: Edit) -> tuple[Standing, Callable[[], str]]:
    """Return how an edit stands in a text, and what inserts it there or updates it."""
    path, value = edit.path, edit.value
    match edit:
        case Entry():
            file, current = _file(edit), _file(edit).value_at(text, path)
            if current is MISSING:
                return "missing", partial(file.put, text, path, value)
            held = agrees(current, value) or works_by_name(current, value)
            found: Standing = "foreign" if not runs_holdfast(current) else "held" if held else "stale"
            return found, lambda: file.put(text, path, repaired(current, value))
        case Element():
            ours = [hook for _, hook in own_hooks(jsontext.value_at(text, path))]
            held = any(agrees(hook, value.get("hooks", [value])[0]) for hook in ours)
            return "missing" if not ours else "held" if held else "stale", partial(_put_hook, text, path, value)
        case Approval(given=True):
            put = jsontext.append if edit.form == "rule" else _file(edit).put
            return "missing" if _approval(text, edit) is MISSING else "held", partial(put, text, path, value)
        case Approval():
            return "stale" if _approval(text, edit) == value else "held", partial(_without_approval, text, edit)
        case Block():
            wanted = "\n".join((MARKS[edit.form][0], value.strip("\n"), MARKS[edit.form][1], ""))
            if not (there := _block(edit).search(text)):
                return "missing", partial(tomltext.appended, text, wanted)
            held = there[0].replace("\r\n", "\n").strip() == wanted.strip()
            lines = wanted.replace("\n", "\r\n") if "\r\n" in text else wanted
            return "held" if held else "stale", lambda: text[: there.start()] + lines + text[there.end() :]
        case Whole():
            is_ours = SIGN in text.partition("\n")[0]
            kept: Standing = "held" if text == value else "stale" if is_ours else "foreign"
            return kept if text.strip() else "missing", lambda: str(value)
    left = _without_other(text, edit)
    return "held" if left == text else "missing", lambda: left


def taken_out(text: str, edit: Edit, kept: int) -> str:
    """Remove an edit from a text that changed since; only the first `kept` steps of its path existed before it."""
    path, file = edit.path, _file(edit)
    match edit:
        case Entry():
            left = file.without(text, path) if runs_holdfast(file.value_at(text, path)) else text
            return _without_empty(left, path[:-1], kept)
        case Element():
            for spot, _ in reversed(list(own_hooks(jsontext.value_at(text, path)))):
                text = _without_hook(text, path, spot)
            return _without_empty(text, path, kept)
        case Approval(given=given):
            return _without_empty(_without_approval(text, edit) if given else text, path, kept)
        case Block():
            return re.sub(r"(?:\r?\n)?" + _block(edit).pattern, "", text, count=1, flags=re.DOTALL)
        case Whole() if text != edit.value:
            raise InvalidFile("It was changed after Holdfast wrote it.")
        case Removed() if _without_other(text, edit) != text:  # it is there again
            return text
        case Removed(form="text"):
            return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{edit.value}"
        case Removed(form=form):
            return str((jsontext.append if form == "item" else file.put)(text, path, edit.value))
    return ""


def depth_of(text: str, edit: Edit) -> int:
    """Return how many steps of an edit's path exist already; all of them outside JSON, where no empty container is left."""
    if edit.form not in ("json", "rule"):
        return len(edit.path)
    depths = range(len(edit.path), 0, -1)
    return next((depth for depth in depths if jsontext.value_at(text, edit.path[:depth]) is not MISSING), 0)


def _file(edit: Edit) -> Any:
    """Return the module that reads and changes files of an edit's form."""
    return tomltext if edit.form == "toml" else jsontext


def _approval(text: str, edit: Edit) -> Any:
    """Return the value of an approval in a text, MISSING if there is none, and None in an entry that is not ours."""
    if edit.form == "rule":
        listed = jsontext.value_at(text, edit.path)
        return edit.value if isinstance(listed, list) and edit.value in listed else MISSING
    entry = _file(edit).value_at(text, edit.path[:-1])
    return entry.get(edit.path[-1], MISSING) if runs_holdfast(entry) else None


def _without_approval(text: str, edit: Edit) -> str:
    """Take back an approval that stands as we wrote it."""
    if _approval(text, edit) != edit.value:
        return text
    place = (jsontext.value_at(text, edit.path).index(edit.value),) if edit.form == "rule" else ()
    return str(_file(edit).without(text, (*edit.path, *place)))


def _put_hook(text: str, path: tuple[str, ...], value: Mapping[str, Any]) -> str:
    """Add a hook, or repair ours; of several only the first is left."""
    ours = list(own_hooks(jsontext.value_at(text, path)))
    if not ours:
        return jsontext.append(text, path, value)
    for spot, _ in reversed(ours[1:]):
        text = _without_hook(text, path, spot)
    spot, hook = ours[0]
    return jsontext.put(text, (*path, *spot), repaired(hook, value.get("hooks", [value])[0]))


def _without_hook(text: str, path: tuple[str, ...], spot: tuple[str | int, ...]) -> str:
    """Remove one hook, and its group if it was the only one."""
    alone = len(spot) > 1 and len(jsontext.value_at(text, (*path, spot[0], "hooks"))) == 1
    return jsontext.without(text, (*path, *(spot[:1] if alone else spot)))


def _without_empty(text: str, path: tuple[str, ...], kept: int) -> str:
    """Remove the containers that were created for an edit and are empty now."""
    for depth in range(len(path), kept, -1):
        if jsontext.value_at(text, path[:depth]) in ({}, []):
            text = jsontext.without(text, path[:depth])
    return text


def _without_other(text: str, edit: Edit) -> str:
    """Take out what another system had; a hook is also found in a group with others."""
    path, value = edit.path, edit.value
    if edit.form == "text":
        return text.replace(value, "", 1)
    there = _file(edit).value_at(text, path)
    if edit.form == "toml":
        return tomltext.without(text, path) if there is not MISSING else text
    if edit.form == "json":
        return jsontext.without(text, path) if there == value else text
    spot = next((spot for spot, _, whole in hooks_in(there) if whole == value), None)
    return text if spot is None else _without_hook(text, path, spot)


def _block(edit: Edit) -> re.Pattern[str]:
    start, end = map(re.escape, MARKS[edit.form])
    return re.compile(rf"{start}.*?{end}(?:\r?\n)?", re.DOTALL)


# Which entries are ours: recognised by what they run, never by a name alone.


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
    words = words_of(entry)
    by_name = bool(words) and PurePath(words[0]).name == words[0] and which(words[0]) is not None
    pairs = (pairwise(line) for line in (words, words_of(wanted)))
    offered, needed = ({after for word, after in line if word == "--surface"} or {"core"} for line in pairs)
    return by_name and runs_holdfast(entry) and offered == needed


def command_line(hook: Any) -> list[str]:
    """Return the words of a hook's command, or none."""
    command = hook.get("command") or hook.get("bash") if isinstance(hook, Mapping) else None
    try:
        return shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return []  # unbalanced quotes: not written by us


def hooks_in(listed: Any) -> Iterator[tuple[tuple[str | int, ...], Any, Any]]:
    """Yield the items of a list, and the hooks of those that are groups: its path inside the list, the hook, and it as the only one."""
    for place, item in enumerate(listed if isinstance(listed, list) else ()):
        yield (place,), item, item
        inner = item.get("hooks") if isinstance(item, Mapping) else None
        for spot, hook in enumerate(inner if isinstance(inner, list) else ()):
            yield (place, "hooks", spot), hook, {**item, "hooks": [hook]}


def own_hooks(listed: Any) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    """Yield the hooks in a list, flat or in groups, that run our hook file exactly as we write it; each with its path inside the list."""
    for path, hook, _ in hooks_in(listed):
        words = command_line(hook)
        if len(words) >= 5 and words[1:3] == ["-I", "-S"] and words[3].endswith(HOOK) and words[4] in CLIENT_EVENTS:
            yield path, hook


def agrees(current: Any, wanted: Any, vital: Container[str] | None = VITAL) -> bool:
    """True if an entry has the wanted values in everything that makes it work."""
    if not isinstance(current, Mapping) or not isinstance(wanted, Mapping):
        return bool(current == wanted)
    return all(agrees(current.get(key), item, None) for key, item in wanted.items() if vital is None or key in vital)


def repaired(current: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return a repaired entry that keeps what its owner added or changed."""
    both = {key: {**current[key], **wanted[key]} for key in ("env", "environment") if key in current and key in wanted}
    vital = {key: item for key, item in wanted.items() if key in VITAL}
    return {**wanted, **current, **vital, **both}
