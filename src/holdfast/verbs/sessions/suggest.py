"""Suggest threads for topics that recur session after session; dismissed suggestions stay away."""

from typing import Any

from holdfast.engine.views import Entry, records, usage
from holdfast.model.errors import Conflict
from holdfast.model.ids import days_before
from holdfast.model.record import Draft, Record
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.write import draft_event
from holdfast.verbs.search.similarity import similar_to

LOOK_BACK_DAYS, LOOK_BACK_SESSIONS = 30.0, 20
RECURRENCES = 2  # earlier sessions about the topic
FINAL = 3  # dismissals after which it is never suggested again


def suggest(memory: Memory, topic: str, session: str) -> Record | None:
    """Suggest a thread if earlier sessions had the same topic; return it, new or with more evidence."""
    project, store = memory.store.project_number(memory.project), memory.store
    since = days_before(memory.clock.now(), LOOK_BACK_DAYS)
    summaries = records.newest(store, "summary", project, limit=LOOK_BACK_SESSIONS)
    earlier = [entry for entry in summaries if entry.record.by.session != session and entry.record.created_at >= since]
    related = [match for match in similar_to(memory, topic, earlier) if match.related]
    evidence = list(dict.fromkeys(match.entry.record.by.session for match in related))
    if len(evidence) < RECURRENCES or _is_open(memory, topic, project):
        return None
    score = round(sum(match.share for match in related) / len(related), 3)
    known = next(
        (match.entry.record for match in similar_to(memory, topic, _pending(memory, project)) if match.same), None
    )
    if known is None:
        draft = Draft(
            body=topic, kind="thread", source="mined", extra={"evidence": [*evidence, session], "score": score}
        )
        return memory.commit([draft_event(memory, draft, pending=True)])[0].record
    return _strengthen(memory, known, session, score) if len(_dismissals(memory, known)) < FINAL else None


def suggestions(memory: Memory) -> list[Record]:
    """Return the pending suggestions, best supported first."""
    entries = _pending(memory, memory.store.project_number(memory.project))
    pending = [entry.record for entry in entries if _is_shown(memory, entry.record)]
    return sorted(pending, key=lambda record: -len(record.extra.get("evidence", ())))


def promote(memory: Memory, reference: str) -> Record:
    """Turn a suggestion into a thread."""
    record = _suggestion(memory, reference)
    return memory.commit([memory.event("confirmed", record.id, after=record.head)])[0].record


def dismiss(memory: Memory, reference: str) -> tuple[Record, int]:
    """Dismiss a suggestion; return it and how many dismissals are left until it is final."""
    record = _suggestion(memory, reference)
    memory.commit([memory.event("used", record.id, data={"outcome": "dismissed"}, after=record.head)])
    return record, FINAL - len(_dismissals(memory, record))


def _pending(memory: Memory, project: int) -> list[Entry]:
    return records.newest(memory.store, "thread", project, state="pending", limit=200)


def _is_open(memory: Memory, topic: str, project: int) -> bool:
    threads = records.newest(memory.store, "thread", project, limit=200)
    return any(match.same for match in similar_to(memory, topic, threads))


def _is_shown(memory: Memory, record: Record) -> bool:
    dismissals = _dismissals(memory, record)
    return len(dismissals) < FINAL and record.head > max(dismissals, default="")


def _dismissals(memory: Memory, record: Record) -> list[str]:
    """Return the ids of the events that dismissed a suggestion."""
    return [use.event for use in usage.since(memory.store, [record.id], "") if use.outcome == "dismissed"]


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
        raise Conflict(
            f"{record.id} is not a pending suggestion.", hint="List the suggestions to see the pending ones."
        )
    return record
