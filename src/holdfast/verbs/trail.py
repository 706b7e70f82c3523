"""Take in what hooks told, and make sessions and receipts of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from holdfast.engine import tally, trail
from holdfast.engine.views import sessions
from holdfast.model.event import Actor, Event, Verb
from holdfast.model.foreign_json import parse_json
from holdfast.model.ids import days_before, fixed_id, parse_instant
from holdfast.model.trail import Happening, happening_from_json
from holdfast.policy.secrets import masked
from holdfast.verbs.memory import Memory

BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """What was taken out of the spool."""

    taken: int = 0
    unreadable: int = 0


def drain(memory: Memory, spool: Path, *, limit: int | None = None) -> Drained:
    """Move what hooks dropped into the trail. A file is removed only when it is kept; what cannot be read is set aside."""
    taken = unreadable = 0
    names = sorted(path for path in spool.glob("*.json")) if spool.is_dir() else []
    for start in range(0, len(names[:limit]), BATCH):
        batch = names[start : min(start + BATCH, limit or len(names))]
        read = [(path, _read(path)) for path in batch]
        good = [one for _, one in read if one]
        with memory.store.db.transaction():
            trail.add(memory.store.db, good)
            memory.commit(_receipts(good))
        for path, one in read:
            if one:
                path.unlink(missing_ok=True)
            elif path.exists():  # else another drained it while we read
                path.replace(path.with_suffix(".unreadable"))
        taken, unreadable = taken + len(good), unreadable + len(read) - len(good)
    if unreadable:
        tally.fail(memory.store.db, "spool", memory.clock.now(), f"{unreadable} files could not be read")
    return Drained(taken=taken, unreadable=unreadable)


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


def expire(memory: Memory) -> int:
    """Drop what is old or beyond the cap from the trail."""
    return trail.expire(memory.store.db, days_before(memory.clock.now(), trail.DAYS))


def _read(path: Path) -> Happening | None:
    try:
        return happening_from_json(masked(parse_json(path.read_bytes())))
    except (OSError, ValueError):
        return None


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
