"""What Holdfast writes into files of other programs, as values: check, insert and remove."""

import re
import shlex
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath
from shutil import which
from typing import Any, Literal

from holdfast.hosts.setup import jsontext, tomltext
from holdfast.model.errors import InvalidFile
from holdfast.model.trail import CLIENT_EVENTS

NAME = "holdfast"
HOOK = "holdfast/hosts/hooks/client.py"
# What makes an entry work. Everything else in it (a timeout, a trust flag) its owner may have changed for good reasons.
VITAL = frozenset({"command", "args", "env", "environment", "bash", "powershell"})
Standing = Literal["missing", "held", "stale", "foreign"]
Form = Literal["entry", "table", "item", "text"]  # of what is taken out: in JSON, TOML, a list of JSON, or a text
MARKS = {
    "markdown": ("<!-- holdfast:start -->", "<!-- holdfast:end -->"),
    "shell": ("# holdfast:start", "# holdfast:end"),
}
SIGN = "Written by holdfast init"  # in files that are entirely ours


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A value of ours at a place in a file."""

    path: tuple[str, ...]
    value: Mapping[str, Any]


class Member(_Entry):
    """A server's entry in a JSON object."""


class Element(_Entry):
    """A hook in a JSON list."""


class Table(_Entry):
    """A server's entry in a TOML file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """What lets our tools run without asking: a rule in a JSON list, or a key of our entry. Not `given`: it is taken back."""

    path: tuple[str, ...]
    value: Any
    form: Literal["rule", "json", "toml"]
    given: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Lines between two markers in a text."""

    text: str
    marks: Literal["markdown", "shell"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A file that is entirely ours."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """What another memory system had in a file: it is taken out while Holdfast is in its place, and put back afterwards."""

    path: tuple[str, ...]
    value: Any  # what stands there: an entry or table, an item of the list at the path, or a text
    form: Form
    noun: str


Edit = Member | Element | Table | Approval | Block | Whole | Removed
KINDS = {kind.__name__.lower(): kind for kind in (Member, Element, Table, Approval, Block, Whole, Removed)}


def noun_of(edit: Edit) -> str:
    """Return what an edit adds to a client, as people call it."""
    match edit:
        case Element():
            return "hook"
        case Approval():
            return "permission"
        case Block(marks="markdown"):
            return "note for agents"
        case Block():
            return "ignore list"
        case Whole(text=text) if HOOK in text:
            return "plugin"
        case Removed(noun=noun):
            return noun
    return "server"


def standing(text: str, edit: Edit) -> Standing:
    """Return whether an edit is in a text, missing, outdated, or its place is taken by a foreign entry."""
    match edit:
        case Member(path=path, value=value):
            current = jsontext.value_at(text, path)
            return "missing" if current is jsontext.MISSING else _entry_standing(current, value)
        case Table(path=path, value=value):
            current = tomltext.table_of(text, path)
            return "missing" if current is None else _entry_standing(current, value)
        case Element(path=path, value=value):
            ours = [hook for _, hook in own_hooks(jsontext.value_at(text, path))]
            return "missing" if not ours else "held" if any(agrees(hook, _leaf(value)) for hook in ours) else "stale"
        case Approval(value=value, given=given):
            there = _approval(text, edit)
            if not given:
                return "stale" if there == value else "held"
            return "missing" if there is jsontext.MISSING else "held"
        case Block():
            found = _block(edit).search(text.replace("\r\n", "\n"))
            return "missing" if not found else "held" if found[0].strip() == _marked(edit, "\n").strip() else "stale"
        case Whole(text=wanted):
            if not text.strip() or text == wanted:
                return "held" if text.strip() else "missing"
            return "stale" if SIGN in text.partition("\n")[0] else "foreign"
        case Removed():
            return "held" if _without_other(text, edit) == text else "missing"


def put(text: str, edit: Edit) -> str:
    """Insert an edit into a text, or update it there."""
    match edit:
        case Member(path=path, value=value):
            current = jsontext.value_at(text, path)
            return jsontext.put(text, path, value if current is jsontext.MISSING else repaired(current, value))
        case Table(path=path, value=value):
            current = tomltext.table_of(text, path)
            if current is None:
                return tomltext.add_table(text, path, value)
            return tomltext.update_table(
                text, path, {k: v for k, v in repaired(current, value).items() if current.get(k) != v}
            )
        case Element(path=path, value=value):
            return _put_hook(text, path, value)
        case Approval(given=given):
            return (_with_approval if given else _without_approval)(text, edit)
        case Block():
            newline = "\r\n" if "\r\n" in text else "\n"
            if _block(edit).search(text):
                return _block(edit).sub(lambda _: _marked(edit, newline), text, count=1)
            gap = "" if not text else newline if text.endswith("\n") else newline * 2
            return text + gap + _marked(edit, newline)
        case Whole(text=wanted):
            return wanted
        case Removed():
            return _without_other(text, edit)


def taken_out(text: str, edit: Edit, kept: int) -> str:
    """Remove an edit from a text that changed since; only the first `kept` steps of its path existed before it."""
    match edit:
        case Member(path=path):
            if runs_holdfast(jsontext.value_at(text, path)):
                text = jsontext.without(text, path)
            return _without_empty(text, path[:-1], kept)
        case Table(path=path):
            return tomltext.without_table(text, path) if runs_holdfast(tomltext.table_of(text, path)) else text
        case Element(path=path):
            for spot, _ in reversed(list(own_hooks(jsontext.value_at(text, path)))):
                text = _without_hook(text, path, spot)
            return _without_empty(text, path, kept)
        case Approval(path=path, form=form, given=given):
            left = _without_approval(text, edit) if given else text
            return _without_empty(left, path, kept) if form == "rule" else left
        case Block():
            return re.sub(r"(?:\r?\n)?" + _block(edit).pattern, "", text, count=1, flags=re.DOTALL)
        case Whole(text=wanted) if text != wanted:
            raise InvalidFile("It was changed after Holdfast wrote it.")
        case Removed():
            return _with_other(text, edit)
    return ""


def depth_of(text: str, edit: Edit) -> int:
    """Return how many steps of an edit's path exist already."""
    if not isinstance(edit, Member | Element | Approval) or (isinstance(edit, Approval) and edit.form == "toml"):
        return 0
    there = (
        depth
        for depth in range(len(edit.path), 0, -1)
        if jsontext.value_at(text, edit.path[:depth]) is not jsontext.MISSING
    )
    return next(there, 0)


def _entry_standing(current: Any, value: Mapping[str, Any]) -> Standing:
    if not runs_holdfast(current):
        return "foreign"
    return "held" if agrees(current, value) or works_by_name(current, value) else "stale"


def _approval(text: str, edit: Approval) -> Any:
    """Return the value of an approval in a text, MISSING if there is none, and None in an entry that is not ours."""
    if edit.form == "rule":
        listed = jsontext.value_at(text, edit.path)
        return edit.value if isinstance(listed, list) and edit.value in listed else jsontext.MISSING
    entry = (tomltext.table_of if edit.form == "toml" else jsontext.value_at)(text, edit.path[:-1])
    return entry.get(edit.path[-1], jsontext.MISSING) if runs_holdfast(entry) else None


def _with_approval(text: str, edit: Approval) -> str:
    if edit.form == "toml":
        return tomltext.update_table(text, edit.path[:-1], {edit.path[-1]: edit.value})
    return (jsontext.append if edit.form == "rule" else jsontext.put)(text, edit.path, edit.value)


def _without_approval(text: str, edit: Approval) -> str:
    if _approval(text, edit) != edit.value:
        return text
    if edit.form == "toml":
        return tomltext.update_table(text, edit.path[:-1], {edit.path[-1]: None})
    place = (jsontext.value_at(text, edit.path).index(edit.value),) if edit.form == "rule" else ()
    return jsontext.without(text, (*edit.path, *place))


def _put_hook(text: str, path: tuple[str, ...], value: Mapping[str, Any]) -> str:
    """Add a hook, or repair ours; of several only the first is left."""
    ours = list(own_hooks(jsontext.value_at(text, path)))
    if not ours:
        return jsontext.append(text, path, value)
    for spot, _ in reversed(ours[1:]):
        text = _without_hook(text, path, spot)
    spot, hook = ours[0]
    return jsontext.put(text, (*path, *spot), repaired(hook, _leaf(value)))


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


def _without_other(text: str, edit: Removed) -> str:
    """Take out what another system had; a hook is also found in a group with others."""
    path, value = edit.path, edit.value
    match edit.form:
        case "text":
            return text.replace(value, "", 1)
        case "table":
            return tomltext.without_table(text, path) if tomltext.table_of(text, path) is not None else text
        case "entry":
            return jsontext.without(text, path) if jsontext.value_at(text, path) == value else text
    listed = jsontext.value_at(text, path)
    for place, item in enumerate(listed if isinstance(listed, list) else ()):
        if item == value:
            return jsontext.without(text, (*path, place))
        inner = item.get("hooks") if isinstance(item, Mapping) and isinstance(value, Mapping) else None
        if isinstance(inner, list) and {**item, "hooks": value.get("hooks")} == value and value["hooks"][0] in inner:
            return _without_hook(text, path, (place, "hooks", inner.index(value["hooks"][0])))
    return text


def _with_other(text: str, edit: Removed) -> str:
    """Put back what another system had, unless it is there again."""
    if standing(text, edit) == "missing":
        return text
    match edit.form:
        case "text":
            return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{edit.value}"
        case "table":
            return tomltext.add_table(text, edit.path, edit.value)
        case "entry":
            return jsontext.put(text, edit.path, edit.value)
    return jsontext.append(text, edit.path, edit.value)


def _leaf(value: Mapping[str, Any]) -> Any:
    return value["hooks"][0] if "hooks" in value else value


def _block(edit: Block) -> re.Pattern[str]:
    start, end = MARKS[edit.marks]
    return re.compile(rf"{re.escape(start)}.*?{re.escape(end)}(?:\r?\n)?", re.DOTALL)


def _marked(edit: Block, newline: str) -> str:
    start, end = MARKS[edit.marks]
    return "\n".join((start, edit.text.strip("\n"), end, "")).replace("\n", newline)


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


def agrees(current: Any, wanted: Any, vital: Container[str] | None = VITAL) -> bool:
    """True if an entry has the wanted values in everything that makes it work."""
    if not isinstance(current, Mapping) or not isinstance(wanted, Mapping):
        return bool(current == wanted)
    pairs = [(current.get(key), item) for key, item in wanted.items() if vital is None or key in vital]
    return all(agrees(there, item, None) for there, item in pairs)


def repaired(current: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return a repaired entry that keeps what its owner added or changed."""
    both = {key: {**current[key], **wanted[key]} for key in ("env", "environment") if key in current and key in wanted}
    vital = {key: item for key, item in wanted.items() if key in VITAL}
    return {**wanted, **current, **vital, **both}


def _surfaces(words: list[str]) -> set[str]:
    return {after for word, after in pairwise(words) if word == "--surface"} or {"core"}
