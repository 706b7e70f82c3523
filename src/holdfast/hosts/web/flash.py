"""What an action did: a message that the next page shows once, and a way to take it back."""

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
from holdfast.model.record import Record
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.hot import Hot, hot_set, put_back
from holdfast.verbs.records.lifecycle import withdraw_use
from holdfast.verbs.records.revert import revert
from holdfast.verbs.records.usage_log import uses_of
from holdfast.verbs.truth.trust import change_trust, trust_of

FLASH = "holdfast-said"  # the cookie with the message for the next page
SECONDS = 120  # for which it waits for that page
LONGEST = 600
MOST_UNDOS = 200
Undo = Callable[[Memory], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What an action did, and how to take it back; None if that is not possible."""

    message: str
    undo: Undo | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flash:
    """The message of the last action, and the name of its undo."""

    text: str
    undo: str = ""


def going_back(memory: Memory, *before: Record) -> Undo:
    """Return an undo that takes records back to earlier versions, unless something else changed them after this action."""
    after = {record.id: find(memory, record.id).record.head for record in before}

    def undo(memory: Memory) -> str:
        with memory.store.transaction():
            reverted = [revert(memory, record, after=after[record.id]) for record in before]
        return f"Undone: {reverted[0].title}" if len(reverted) == 1 else f"Undone for {len(reverted)} memories."

    return undo


def trusting_again(memory: Memory, record_id: str) -> Undo | None:
    """Return an undo of the change of trust that was just made; None if it changed nothing."""
    trust = trust_of(memory, record_id)
    values = [trust.base, *(step.value for step in trust.history)]
    delta = values[-2] - values[-1]

    def undo(memory: Memory) -> str:
        changed = change_trust(memory, record_id, delta=delta, raises=delta > 0, note="taken back")
        return f"Trust is {changed.value:.2f} again."

    return undo if delta else None


def forgetting_use(memory: Memory, record_id: str) -> Undo:
    """Return an undo of the outcome that was just recorded for a memory."""
    event = uses_of(memory, record_id, limit=1)[0].event

    def undo(memory: Memory) -> str:
        return f"The outcome no longer counts: {withdraw_use(memory, event).title}"

    return undo


def hot_as_before(memory: Memory, before: list[Hot]) -> Undo | None:
    """Return an undo of what an action just did to the hot set; None if it left the set as it was."""
    after = hot_set(memory)

    def undo(memory: Memory) -> str:
        put_back(memory, before, after)
        return "The hot set is as it was."

    places = [{(hot.record.id, hot.pinned) for hot in some} for some in (before, after)]
    return undo if places[0] != places[1] else None


def together(*undos: Undo | None) -> Undo | None:
    """Return one undo for several actions, the last one first; None for an action that had nothing to undo."""
    steps = [undo for undo in undos if undo is not None]
    if not steps:
        return None

    def undo(memory: Memory) -> str:
        with memory.store.transaction():
            messages = [step(memory) for step in reversed(steps)]
        return messages[0] if len(messages) == 1 else f"Undone: {len(messages)} changes."

    return undo


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
