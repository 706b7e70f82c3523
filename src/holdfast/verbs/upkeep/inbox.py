"""The review inbox: everything in a project that waits for a person, each with the reason and what can be done about it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from holdfast.engine.views import health_queries, labels, records
from holdfast.engine.views.health_queries import Found
from holdfast.model.freshness import Freshness
from holdfast.model.ids import days_before
from holdfast.model.record import Record
from holdfast.model.text import counted
from holdfast.policy.freshness import details
from holdfast.policy.new_value import NewValue, new_value
from holdfast.verbs.capture.mining import mined
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.freshness import freshness, is_here
from holdfast.verbs.records.quarantine import UNKNOWN, waiting
from holdfast.verbs.records.read import waiting_records
from holdfast.verbs.records.usage_log import uses_of
from holdfast.verbs.sessions.suggest import suggestions
from holdfast.verbs.truth.contradictions import Dispute, marked
from holdfast.verbs.truth.verify import can_verify
from holdfast.verbs.upkeep.health import MOST_CHECKED, Health, typos_in

DAYS = 30
MOST = 1_000  # read of each reason at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """One thing that waits: the reason, the record it is about, why in words, and what is needed to decide."""

    reason: str
    record: Record
    why: str
    judged: Freshness | None = None
    update: NewValue | None = None  # the value that the code has now
    verifiable: bool = True
    dispute: Dispute | None = None
    author: str = ""
    meant: str = ""  # the scope that a misspelled one seems to mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """What waits for one reason, some of it; `total` counts all of it, None if it is unknown."""

    reason: str
    total: int | None
    items: tuple[Open, ...] = ()


def inbox(memory: Memory, reason: str, *, limit: int = 20, offset: int = 0) -> Inbox:
    """Return what waits for one of `REASONS`, the most pressing first."""
    return REASONS[reason](memory, offset, offset + limit)


def waiting_counts(memory: Memory, report: Health | None = None) -> dict[str, int | None]:
    """Count what waits for each reason; None where it is unknown: the code is not here. A health report spares queries."""
    known = _in_report(report) if report else {}
    return {reason: known[reason] if reason in known else find(memory, 0, 0).total for reason, find in REASONS.items()}


def _in_report(report: Health) -> dict[str, int | None]:
    return {
        "stale": report.drifted.total if report.drifted else None,
        "wrong": report.contradicted.total,
        "scope": len(report.typos),
        "unchecked": report.stale.total + report.unverified.total,
        "unused": report.dead.total + report.cold.total,
    }


def _stale(memory: Memory, start: int, end: int) -> Inbox:
    """Records that cite code which changed or is gone."""
    here = memory.store.project_number(memory.project)
    if not is_here(memory, memory.project):
        return Inbox(reason="stale", total=None)
    citing = health_queries.citing(memory.store.db, here, MOST_CHECKED)
    known = [entry.record for entry in records.by_ids(memory.store.db, citing.ids).values()]
    judged = freshness(memory, known)
    drifted = [record for record in known if record.id in judged and judged[record.id].problems]
    drifted.sort(key=lambda record: record.id, reverse=True)
    items = tuple(_doubted("stale", record, judged[record.id]) for record in drifted[start:end])
    return Inbox(reason="stale", total=len(drifted), items=items)


def _doubted(reason: str, record: Record, judged: Freshness | None, why: str = "") -> Open:
    return Open(
        reason=reason,
        record=record,
        why=why or ("; ".join(details(judged)) if judged else ""),
        judged=judged,
        update=new_value(record, judged.findings) if judged else None,
        verifiable=can_verify(record, judged),
    )


def _wrong(memory: Memory, start: int, end: int) -> Inbox:
    """Records that were reported wrong since they were last revised or verified."""
    found = health_queries.contradicted(memory.store.db, _here(memory), max(end, 1))
    return Inbox(reason="wrong", total=found.total, items=_each(memory, "wrong", found, start, end, _reported))


def _reported(memory: Memory, record: Record) -> str:
    report = next((use for use in uses_of(memory, record.id, limit=20) if use.outcome == "contradicted"), None)
    return (
        f"reported wrong by {report.by}" + (f": {report.said}" if report.said else "") if report else "reported wrong"
    )


def _conflicts(memory: Memory, start: int, end: int) -> Inbox:
    """Pairs that were marked as contradicting each other."""
    pairs = marked(memory)
    return Inbox(reason="conflict", total=len(pairs), items=tuple(disputed(pair) for pair in pairs[start:end]))


def disputed(pair: Dispute) -> Open:
    """Return a contradiction as an item of the inbox."""
    why = pair.why.explain if pair.why else f"marked by {pair.marked_by}" if pair.marked_by else "marked"
    return Open(reason="conflict", record=pair.newer, why=why, dispute=pair)


def _pending(memory: Memory, start: int, end: int) -> Inbox:
    """Records that an agent concluded and that need approval."""
    offered = {candidate.record.id for candidate in mined(memory, limit=MOST)}
    found = [record for record in waiting_records(memory, limit=MOST) if record.id not in offered]
    items = tuple(
        Open(reason="pending", record=record, why=f"{record.source} by {record.by.name or record.by.kind}")
        for record in found[start:end]
    )
    return Inbox(reason="pending", total=len(found), items=items)


def _others(memory: Memory, start: int, end: int) -> Inbox:
    """Changes from authors who are not accepted yet."""
    found = waiting(memory)
    items = []
    for change in found[start:end]:
        claim = f"; it says it is from {change.claimed}" if change.claimed not in change.author else ""
        what = "new" if change.new else f"would change it: {change.would}"
        why = f"{what}, from {change.author or UNKNOWN} by {change.way}{claim}"
        items.append(Open(reason="others", record=change.record, why=why, author=change.author))
    return Inbox(reason="others", total=len(found), items=tuple(items))


def _suggested(memory: Memory, start: int, end: int) -> Inbox:
    """Memories and threads that rules suggest after what sessions wrote."""
    items = [
        Open(
            reason="suggested",
            record=candidate.record,
            why=f"seen {counted(candidate.occurrences, 'time')} in {counted(candidate.sessions, 'session')}, "
            f"confidence {candidate.confidence:.2f}",
        )
        for candidate in mined(memory, limit=MOST)
    ]
    items += [
        Open(reason="suggested", record=record, why="sessions keep coming back to it; it could become a thread")
        for record in suggestions(memory)
    ]
    return Inbox(reason="suggested", total=len(items), items=tuple(items[start:end]))


def _unchecked(memory: Memory, start: int, end: int) -> Inbox:
    """Records that were never verified, or not for a month."""
    before = days_before(memory.clock.now(), DAYS)
    parts = (
        (health_queries.stale(memory.store.db, _here(memory), before, max(end, 1)), "verified more than a month ago"),
        (health_queries.unverified(memory.store.db, _here(memory), before, max(end, 1)), "never verified"),
    )
    return _joined(memory, "unchecked", parts, start, end)


def _unused(memory: Memory, start: int, end: int) -> Inbox:
    """Records that never helped: shown without effect, or never shown."""
    before = days_before(memory.clock.now(), DAYS)
    parts = (
        (health_queries.dead(memory.store.db, _here(memory), before, max(end, 1)), "shown, but it never helped"),
        (health_queries.cold(memory.store.db, _here(memory), before, max(end, 1)), "no recall returned it for a month"),
    )
    return _joined(memory, "unused", parts, start, end)


def _scopes(memory: Memory, start: int, end: int) -> Inbox:
    """Scopes that look misspelled, each with one of its records."""
    typos = typos_in(labels.counts(memory.store.db, "scope", _here(memory)))
    items = []
    for typo in typos[start:end]:
        numbers = labels.numbers(memory.store.db, "scope", typo.scope, _here(memory), 1)
        for record in records.by_numbers(memory.store.db, numbers).values():
            why = f"its scope {typo.scope} looks like {typo.meant}"
            items.append(Open(reason="scope", record=record, why=why, author=typo.scope, meant=typo.meant))
    return Inbox(reason="scope", total=len(typos), items=tuple(items))


REASONS: Mapping[str, Callable[[Memory, int, int], Inbox]] = {
    "stale": _stale,
    "wrong": _wrong,
    "conflict": _conflicts,
    "pending": _pending,
    "others": _others,
    "suggested": _suggested,
    "scope": _scopes,
    "unchecked": _unchecked,
    "unused": _unused,
}
URGENT = ("stale", "wrong", "conflict", "pending", "others", "suggested", "scope")  # the rest can wait


def _here(memory: Memory) -> int:
    return memory.store.project_number(memory.project)


def _joined(memory: Memory, reason: str, parts: Sequence[tuple[Found, str]], start: int, end: int) -> Inbox:
    """Return the records of several queries one after the other."""
    items, skipped = list[Open](), 0
    for found, why in parts:
        low, high = max(0, start - skipped), end - skipped
        if high > low:
            items += _each(memory, reason, found, low, high, why)
        skipped += found.total
    return Inbox(reason=reason, total=sum(found.total for found, _ in parts), items=tuple(items))


def _each(
    memory: Memory, reason: str, found: Found, start: int, end: int, why: str | Callable[[Memory, Record], str]
) -> tuple[Open, ...]:
    ids = found.ids[start:end]
    known = records.by_ids(memory.store.db, ids)
    chosen = [known[id_].record for id_ in ids if id_ in known]
    judged = freshness(memory, chosen)
    return tuple(
        _doubted(reason, record, judged.get(record.id), why if isinstance(why, str) else why(memory, record))
        for record in chosen
    )
