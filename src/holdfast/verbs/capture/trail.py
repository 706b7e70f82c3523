"""Import the spool that hooks write into the store, and record sessions and receipts from it."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from holdfast.engine.locks import turn
from holdfast.engine.raw import trail
from holdfast.engine.raw.trail import of_session, settle, waiting
from holdfast.engine.views import sessions
from holdfast.model.errors import HoldfastError, StoreError
from holdfast.model.event import Actor, Event, Verb
from holdfast.model.files import open_regular, read_regular
from holdfast.model.foreign_json import parse_json
from holdfast.model.ids import days_before, fixed_id, parse_instant
from holdfast.model.session import DAYS, HookEvent, hook_event_from_json, problem_with
from holdfast.policy.activity.transcript import turn_messages
from holdfast.policy.secrets.find import drop_private, mask_secrets, masked
from holdfast.verbs.memory import Memory

__all__ = ["of_session", "settle", "waiting"]  # verbs of the engine that need nothing more

BATCH = 500
LARGEST = 2_000_000  # bytes of a file in the spool
OLDEST_DAYS = 400.0
IDLE_MINUTES = 15.0  # without activity, after which an open turn counts as finished
TURN_ENDS = ("Stop", "SessionEnd", "PreCompact")
LARGEST_TRANSCRIPT = 4_000_000  # bytes read from its end
LONGEST_BETWEEN = 50_000  # characters
SET_ASIDE = ".unreadable"
SHOWN_REASONS = 20
LARGEST_ASIDE = 200_000  # bytes of a file that is set aside


def drain(memory: Memory, spool: Path) -> int:
    """Move spooled events into the trail; return how many. A file is removed only when its event is stored."""
    taken, reasons = 0, list[str]()
    with turn(memory.store.folder, shared=True):  # so that an erasure in between is not undone
        names = sorted(spool.glob("*.json")) if spool.is_dir() else []
        for start in range(0, len(names), BATCH):
            read = {path: _read(memory, path) for path in names[start : start + BATCH]}
            good = {path: event for path, event in read.items() if isinstance(event, HookEvent)}
            bad = {path: reason for path, reason in read.items() if isinstance(reason, str)}
            bad |= _store(memory, good)
            for path in good.keys() - bad.keys():
                path.unlink(missing_ok=True)
            for path in (path for path in bad if path.exists()):  # else another worker drained it while we read
                _set_aside(path)
                reasons.append(f"{path.name}: {bad[path]}")
            taken += len(good.keys() - bad.keys())
    for reason in reasons[:SHOWN_REASONS]:
        memory.note_failure("spool", reason)
    return taken


def _store(memory: Memory, events: Mapping[Path, HookEvent]) -> dict[Path, str]:
    """Store events and their receipts; return those that the store refused, with the reason."""
    try:
        with memory.store.transaction():
            trail.add(memory.store, list(events.values()))
            # What hooks put into contexts; the same receipts however often a spool is drained.
            injected = (event for event in events.values() if event.event == "Injected")
            memory.commit([_event(event, "injected", dict(event.given)) for event in injected])
    except StoreError:
        raise  # the store cannot be written: everything stays in the spool
    except HoldfastError as problem:
        if len(events) == 1:
            return dict.fromkeys(events, problem.message)
        return {bad: reason for path in events for bad, reason in _store(memory, {path: events[path]}).items()}
    return {}


def _set_aside(path: Path) -> None:
    """Keep the beginning of a file that is no event, without its secrets, for whoever looks into it."""
    aside = path.with_suffix(SET_ASIDE)
    if not path.is_file():
        path.replace(aside)
        return
    with open_regular(path) as file:
        text = file.read(LARGEST_ASIDE).decode(errors="replace")
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
        out.write(mask_secrets(drop_private(text)))
    path.unlink()


def note_session(memory: Memory, activity: Sequence[HookEvent]) -> None:
    """Record a client's session, which the MCP server may know already: its start, first prompt, and end."""
    first, last = activity[0], activity[-1]
    prompts = (event for event in activity if event.event == "UserPromptSubmit" and event.text and not event.agent)
    prompt, known = next(prompts, None), sessions.of(memory.store, first.session)
    data = {"project": memory.project, "host": memory.host.name, "implicit": known is None or known.implicit}
    events = [] if known else [_event(first, "started", data)]
    if prompt and not (known and known.title):
        events.append(_event(prompt, "started", {**data, "title": " ".join(prompt.text.split())[:120]}))
    if last.event == "SessionEnd" and (known is None or known.is_open):
        events.append(_event(last, "closed", {"type": "ended", "reason": last.source}))
    if events:
        memory.commit(events)


def finish_idle(memory: Memory) -> int:
    """Mark sessions that stopped in the middle of a turn as idle, so that the turn is derived; return how many."""
    last = trail.unfinished(memory.store, days_before(memory.clock.now(), IDLE_MINUTES / 1_440))
    # It sorts right after the last event, has its time, and repeating changes nothing.
    for event in last:
        known = {name: getattr(event, name) for name in ("at", "session", "cwd", "client", "settings")}
        idle = HookEvent(id=f"{event.id}-idle", event="Idle", between=_written_before(event), **known)
        trail.add(memory.store, [idle])
    return len(last)


def expire(memory: Memory) -> int:
    """Delete old events and those beyond the cap from the trail; return how many."""
    return trail.expire(memory.store, days_before(memory.clock.now(), DAYS))


def _read(memory: Memory, path: Path) -> HookEvent | str:
    try:
        event = hook_event_from_json(masked(parse_json(read_regular(path, LARGEST))))
    except (OSError, ValueError) as problem:
        return f"not readable as JSON ({type(problem).__name__})"
    if event is None:
        return "no event that hooks write"
    if event.event in TURN_ENDS:
        event = replace(event, between=_written_before(event))
    if unusable := problem_with(event):
        return unusable
    now = memory.clock.now()
    is_plausible = days_before(now, OLDEST_DAYS) <= parse_instant(event.at) <= days_before(now, -1.0)
    return event if is_plausible else replace(event, at=now)  # the clock was wrong when it was written


def _written_before(event: HookEvent) -> str:
    """Return what the assistant wrote in the turn before its last message, from the client's transcript; "" if unknown."""
    if not event.transcript:
        return ""
    try:
        with open_regular(path := Path(event.transcript)) as file:
            file.seek(max(0, path.stat().st_size - LARGEST_TRANSCRIPT))
            text = file.read(LARGEST_TRANSCRIPT).decode(errors="replace")
    except OSError:
        return ""
    messages = [message for message in turn_messages(text, event.at) if message.strip() != event.text.strip()]
    return str(masked("\n\n".join(messages)))[:LONGEST_BETWEEN]


def _event(source: HookEvent, verb: Verb, data: dict[str, object]) -> Event:
    """Return an event about the session of an event from a hook: the same one each time."""
    id_, at = fixed_id(source.at, f"{verb} {source.id}"), parse_instant(source.at)
    by = Actor(kind="rule", name=source.client or "hook", session=source.session)
    return Event(id=id_, about=source.session, verb=verb, at=at, by=by, data=data)
