"""Threads nobody opened: topics that come back session after session are suggested, and stay gone when unwanted."""

from typing import Any

from holdfast.engine.views import Entry, records, usage
from holdfast.model.errors import Conflict
from holdfast.model.ids import days_before
from holdfast.model.record import Draft, Record
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.write import draft_event
from holdfast.verbs.search.similarity import alike

LOOK_BACK_DAYS, LOOK_BACK_SESSIONS = 30.0, 20
RECURRENCES = 2  # earlier sessions that must have been about it
FINAL = 3  # dismissals after which it never comes back


def suggest(memory: Memory, topic: str, session: str) -> Record | None:
    """Suggest a thread if a session was about what others were about before; give it, new or with more evidence."""
    here, db = memory.store.project_number(memory.project), memory.store.db
    since = days_before(memory.clock.now(), LOOK_BACK_DAYS)
    summaries = records.newest(db, "summary", here, limit=LOOK_BACK_SESSIONS)
    earlier = [one for one in summaries if one.record.by.session != session and one.record.created_at >= since]
    like = [one for one in alike(memory, topic, earlier) if one.related]
    evidence = list(dict.fromkeys(one.entry.record.by.session for one in like))
    if len(evidence) < RECURRENCES or _is_open(memory, topic, here):
        return None
    score = round(sum(one.share for one in like) / len(like), 3)
    known = next((one.entry.record for one in alike(memory, topic, _pending(memory, here)) if one.same), None)
    if known is None:
        draft = Draft(
            body=topic, kind="thread", source="mined", extra={"evidence": [*evidence, session], "score": score}
        )
        return memory.commit([draft_event(memory, draft, pending=True)])[0].record
    return _strengthen(memory, known, session, score) if len(_dismissals(memory, known)) < FINAL else None


def suggestions(memory: Memory) -> list[Record]:
    """Give the suggestions that wait for a word, best supported first."""
    entries = _pending(memory, memory.store.project_number(memory.project))
    waiting = [entry.record for entry in entries if _is_shown(memory, entry.record)]
    return sorted(waiting, key=lambda record: -len(record.extra.get("evidence", ())))


def promote(memory: Memory, reference: str) -> Record:
    """Make a suggestion a thread."""
    record = _suggestion(memory, reference)
    return memory.commit([memory.event("confirmed", record.id, after=record.head)])[0].record


def dismiss(memory: Memory, reference: str) -> tuple[Record, int]:
    """Turn a suggestion down; it comes back only if its topic does, and never after the third time."""
    record = _suggestion(memory, reference)
    memory.commit([memory.event("used", record.id, data={"outcome": "dismissed"}, after=record.head)])
    return record, FINAL - len(_dismissals(memory, record))


def _pending(memory: Memory, here: int) -> list[Entry]:
    return records.newest(memory.store.db, "thread", here, state="pending", limit=200)


def _is_open(memory: Memory, topic: str, here: int) -> bool:
    threads = records.newest(memory.store.db, "thread", here, limit=200)
    return any(one.same for one in alike(memory, topic, threads))


def _is_shown(memory: Memory, record: Record) -> bool:
    turned_down = _dismissals(memory, record)
    return len(turned_down) < FINAL and record.head > max(turned_down, default="")


def _dismissals(memory: Memory, record: Record) -> list[str]:
    """Give the events by which a suggestion was turned down."""
    return [use.event for use in usage.since(memory.store.db, [record.id], "") if use.outcome == "dismissed"]


def _strengthen(memory: Memory, known: Record, session: str, score: float) -> Record:
    evidence = list(dict.fromkeys((*known.extra.get("evidence", ()), session)))
    before = known.extra.get("score")
    mean = (before + score) / 2 if isinstance(before, int | float) else score
    extra: dict[str, Any] = {**known.extra, "evidence": evidence, "score": round(mean, 3)}
    after = max([known.head, *_dismissals(memory, known)])
    return memory.commit([memory.event("revised", known.id, data={"extra": extra}, after=after)])[0].record


def _suggestion(memory: Memory, reference: str) -> Record:
    record = find(memory, reference).record
    if record.kind != "thread" or record.state != "pending":
        raise Conflict(f"{record.id} is no suggestion that waits.", hint="List the suggestions to see which there are.")
    return record
