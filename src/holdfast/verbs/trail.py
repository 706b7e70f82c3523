"""Take in what hooks told, and make sessions, receipts and records of it."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from holdfast.engine import tally, trail
from holdfast.engine.views import sessions, usage
from holdfast.model.event import Actor, Event, Verb
from holdfast.model.ids import days_before, fixed_id, parse_instant
from holdfast.model.trail import Happening, happening_from_json
from holdfast.policy.secrets import masked
from holdfast.verbs.memory import Memory

BATCH = 500
MOST_TOLD = 200  # receipts of one session


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """What was taken out of the spool."""

    taken: int = 0
    unreadable: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What was put into a session's context unasked: which records, why, at what cost, and what became of them."""

    session: str
    at: str
    why: str
    tokens: int
    ids: tuple[str, ...]
    outcomes: tuple[str, ...] = ()


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
            memory.store.commit(_receipts(good))
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
    """Let a client's session be known: when it began, by which client, and when it ended."""
    first, last = happenings[0], happenings[-1]
    known = sessions.of(memory.store.db, first.session)
    events = []
    if known is None:
        data = {"project": memory.project, "host": memory.host.name, "implicit": True, "title": _title(happenings)}
        events.append(_event(first, "started", first.session, {name: value for name, value in data.items() if value}))
    if last.event == "SessionEnd" and (known is None or known.is_open):
        events.append(_event(last, "closed", first.session, {"type": "ended", "reason": last.source}))
    if events:
        memory.commit(events)


def expire(memory: Memory) -> int:
    """Drop what is old or beyond the cap from the trail."""
    return trail.expire(memory.store.db, days_before(memory.clock.now(), trail.DAYS))


def receipts(memory: Memory, *, days: float = 7, limit: int = 50) -> list[Receipt]:
    """Give what sessions were told unasked lately, latest first, and what they said became of it."""
    since = days_before(memory.clock.now(), days)
    return [_receipt(memory, event) for event in memory.store.happened(("injected",), since, limit)]


def told_unasked(memory: Memory, session: str) -> list[Receipt]:
    """Give what one session was told unasked, in order, and what it said became of it."""
    events = memory.store.in_session(session, "injected", MOST_TOLD)
    return [_receipt(memory, event) for event in events]


def _receipt(memory: Memory, event: Event) -> Receipt:
    ids = tuple(one for one in event.data.get("ids", ()) if isinstance(one, str))
    told = {use.id: use.outcome for use in usage.in_session(memory.store.db, event.about)}
    return Receipt(
        session=event.about,
        at=event.at,
        why=str(event.data.get("why", "")),
        tokens=int(event.data.get("tokens", 0)),
        ids=ids,
        outcomes=tuple(told[one] for one in ids if one in told),
    )


def _read(path: Path) -> Happening | None:
    try:
        return happening_from_json(masked(json.loads(path.read_bytes())))
    except (OSError, ValueError, RecursionError):
        return None


def _receipts(happenings: Iterable[Happening]) -> list[Event]:
    """Give the events of what hooks put into contexts; the same ones, however often a spool is drained."""
    return [_event(one, "injected", one.session, dict(one.given)) for one in happenings if one.event == "Injected"]


def _event(one: Happening, verb: Verb, about: str, data: dict[str, object]) -> Event:
    at = parse_instant(one.at)
    seconds = datetime.fromisoformat(at).timestamp()
    by = Actor(kind="rule", name=one.client or "hook", session=one.session)
    return Event(id=fixed_id(seconds, f"{verb} {one.id}"), about=about, verb=verb, at=at, by=by, data=data)


def _title(happenings: Sequence[Happening]) -> str:
    prompt = next((one.text for one in happenings if one.event == "UserPromptSubmit" and one.text), "")
    return " ".join(prompt.split())[:120]
