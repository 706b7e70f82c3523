"""The message of an action, which the next page shows once with a button that takes it back."""

import base64
import hmac
import json
import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from holdfast.hosts.web.guard import Keys
from holdfast.model.errors import Conflict, NotFound
from holdfast.model.foreign_json import parse_json
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.undo import Done, undo

FLASH = "holdfast-said"  # the cookie with the message for the next page
SECONDS = 120  # for which it waits for that page
LONGEST = 600
MOST_UNDOS = 200
Undo = Callable[[Memory], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flash:
    """The message of the last action, and the name of its undo."""

    text: str
    undo: str = ""


def undo_of(done: Done) -> Undo | None:
    """Return what takes an action back; None if it changed nothing, or cannot be taken back."""

    def run(memory: Memory) -> str:
        records = undo(memory, done.events)
        return f"Undone: {records[0].title}" if len(records) == 1 else f"Undone for {len(records)} memories."

    return run if done.events else None


def keep_undo(undos: OrderedDict[str, Undo], undo: Undo | None) -> str:
    """Keep an undo while the viewer runs; return its name, or "" without one."""
    if undo is None:
        return ""
    name = secrets.token_urlsafe(12)
    undos[name] = undo
    while len(undos) > MOST_UNDOS:
        undos.popitem(last=False)
    return name


def take_undo(undos: OrderedDict[str, Undo], name: str) -> Undo:
    """Return an undo, which can be used once."""
    if name not in undos:
        raise NotFound("This can no longer be undone here.", hint="The history of a memory has its earlier versions.")
    return undos.pop(name)


def run_undo(undos: OrderedDict[str, Undo], name: str, memory: Memory) -> str:
    """Take an action back and return the message; what changed in the meantime stays, with the reason."""
    try:
        return take_undo(undos, name)(memory)
    except Conflict as problem:
        raise Conflict(f"Not undone: {problem.message}", hint=problem.hint) from problem


def flash_out(flash: Flash, keys: Keys) -> str:
    """Return the value of the cookie: signed, so that no other site can put words on our pages."""
    text = json.dumps({"text": flash.text[:LONGEST], "undo": flash.undo})
    packed = base64.urlsafe_b64encode(text.encode()).decode()
    return f"{packed}.{keys.signature(packed)}"


def flash_in(value: str, keys: Keys) -> Flash | None:
    """Return the message in a cookie; None if there is none, or it is not ours."""
    packed, _, signature = value.partition(".")
    if not packed or not hmac.compare_digest(signature.encode(), keys.signature(packed).encode()):
        return None
    return Flash(**parse_json(base64.urlsafe_b64decode(packed)))
