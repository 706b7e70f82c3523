"""Take in what hooks told, and make sessions and receipts of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from holdfast.engine.locks import turn
from holdfast.engine.raw import trail
from holdfast.engine.views import sessions
from holdfast.model.errors import HoldfastError, StoreError
from holdfast.model.event import Actor, Event, Verb
from holdfast.model.foreign_json import parse_json
from holdfast.model.ids import days_before, fixed_id, parse_instant
from holdfast.model.trail import DAYS, Happening, happening_from_json, problem_with
from holdfast.policy.secrets.find import masked
from holdfast.verbs.memory import Memory

BATCH = 500
LARGEST = 2_000_000  # bytes of a file in the spool
OLDEST_DAYS = 400.0
SET_ASIDE = ".unreadable"
SHOWN_REASONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """What was taken out of the spool."""

    taken: int = 0
    unreadable: int = 0


def drain(memory: Memory, spool: Path, *, limit: int | None = None) -> Drained:
    """Move what hooks dropped into the trail.

    A file is removed only when its event is stored. One that cannot be used is set aside, and the reason noted.
    """
    with turn(memory.store.folder):  # what is erased meanwhile must not be added afterwards
        return _drain(memory, spool, limit)


def _drain(memory: Memory, spool: Path, limit: int | None) -> Drained:
    taken, reasons = 0, list[str]()
    names = sorted(path for path in spool.glob("*.json")) if spool.is_dir() else []
    for start in range(0, len(names[:limit]), BATCH):
        batch = names[start : min(start + BATCH, limit or len(names))]
        read = {path: _read(memory, path) for path in batch}
        good = {path: found for path, found in read.items() if isinstance(found, Happening)}
        bad = {path: found for path, found in read.items() if isinstance(found, str)}
        bad |= _keep(memory, good)
        for path in good.keys() - bad.keys():
            path.unlink(missing_ok=True)
        for path, reason in bad.items():
            if path.exists():  # else another worker drained it while we read
                path.replace(path.with_suffix(SET_ASIDE))
                reasons.append(f"{path.name}: {reason}")
        taken += len(good.keys() - bad.keys())
    for reason in reasons[:SHOWN_REASONS]:
        memory.note_failure("spool", reason)
    return Drained(taken=taken, unreadable=len(reasons))


def _keep(memory: Memory, events: Mapping[Path, Happening]) -> dict[Path, str]:
    """Store events and their receipts; return those that the store refused, with the reason."""
    try:
        with memory.store.transaction():
            trail.add(memory.store.db, list(events.values()))
            memory.commit(_receipts(events.values()))
    except StoreError:
        raise  # the store cannot be written: everything stays in the spool
    except HoldfastError as problem:
        if len(events) == 1:
            return dict.fromkeys(events, problem.message)
        return {path: reason for one in events for path, reason in _keep(memory, {one: events[one]}).items()}
    return {}


def note_session(memory: Memory, happenings: Sequence[Happening]) -> None:
    """Let a client's session be known: when it began, by which client, what it was asked first, and when it ended.

    It may have begun before it was asked anything, or be known from its server, which hears no prompts.
    """
    first, last = happenings[0], happenings[-1]
    asked = next((one for one in happenings if one.event == "UserPromptSubmit" and one.text and not one.agent), None)
    known = sessions.of(memory.store.db, first.session)
    data = {"project": memory.project, "host": memory.host.name, "implicit": known is None or known.implicit}
    events = []
    if known is None:
        events.append(_event(first, "started", first.session, data))
    if asked and not (known and known.title):
        events.append(_event(asked, "started", first.session, {**data, "title": _title(asked)}))
    if last.event == "SessionEnd" and (known is None or known.is_open):
        events.append(_event(last, "closed", first.session, {"type": "ended", "reason": last.source}))
    if events:
        memory.commit(events)


def waiting_sessions(memory: Memory) -> list[str]:
    """Return the sessions with activity that no record was derived from yet."""
    return trail.waiting(memory.store.db)


def new_activity(memory: Memory, session: str) -> list[Happening]:
    """Return the activity of a session that no record was derived from yet."""
    return trail.fresh(memory.store.db, session)


def activity_of(memory: Memory, session: str) -> list[Happening]:
    """Return all activity of a session that is still stored."""
    return trail.of_session(memory.store.db, session)


def mark_derived(memory: Memory, session: str, last: str) -> None:
    """Mark the activity of a session, up to an id, as derived."""
    trail.settle(memory.store.db, session, last)


def expire(memory: Memory) -> int:
    """Drop what is old or beyond the cap from the trail."""
    return trail.expire(memory.store.db, days_before(memory.clock.now(), DAYS))


def _read(memory: Memory, path: Path) -> Happening | str:
    """Read a file of the spool; returns why it cannot be used where it cannot."""
    now = memory.clock.now()
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return f"larger than {LARGEST:,} bytes, or no file"
        event = happening_from_json(masked(parse_json(path.read_bytes())))
    except (OSError, ValueError) as problem:
        return f"not readable as JSON ({type(problem).__name__})"
    if event is None:
        return "no event that hooks write"
    return problem_with(event, earliest=days_before(now, OLDEST_DAYS), latest=days_before(now, -1.0)) or event


def _receipts(happenings: Iterable[Happening]) -> list[Event]:
    """Give the events of what hooks put into contexts; the same ones, however often a spool is drained."""
    return [_event(one, "injected", one.session, dict(one.given)) for one in happenings if one.event == "Injected"]


def _event(one: Happening, verb: Verb, about: str, data: dict[str, object]) -> Event:
    at = parse_instant(one.at)
    seconds = datetime.fromisoformat(at).timestamp()
    by = Actor(kind="rule", name=one.client or "hook", session=one.session)
    return Event(id=fixed_id(seconds, f"{verb} {one.id}"), about=about, verb=verb, at=at, by=by, data=data)


def _title(asked: Happening) -> str:
    return " ".join(asked.text.split())[:120]
