"""Maintain the hot set: the few memories of a project that matter most now. Use admits them, disuse removes them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holdfast.engine.views import heat, records, trusts, usage
from holdfast.model.errors import Conflict
from holdfast.model.event import Actor, Event
from holdfast.model.ids import days_before, days_between
from holdfast.model.query import Usage
from holdfast.model.record import GLOBAL, Record
from holdfast.policy.ranking.hot_set import hot_score, stale_after, uses_of, why_not_hot
from holdfast.policy.ranking.salience import importance, salience
from holdfast.policy.ranking.trust import trust
from holdfast.verbs.memory import Memory, find, is_at_hand

LOOK_BACK_DAYS = 30.0
RULE = Actor(kind="rule", name="hot set")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hot:
    """A memory in the hot set, with its salience and the reason it was admitted."""

    record: Record
    salience: float
    uses: int
    pinned: bool
    since: str
    why: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggested:
    """A used memory that could be in the hot set, and what keeps it out."""

    record: Record
    salience: float
    uses: int
    why_not: str


def hot_set(memory: Memory) -> list[Hot]:
    """Return the hot set of this project: pinned memories first, then by salience."""
    warm = heat.hot(memory.store, _places(memory))
    entries = records.by_ids(memory.store, [member.id for member in warm])
    judged = _judged(memory, [entries[member.id].record for member in warm if member.id in entries])
    hot = [
        Hot(
            record=record,
            salience=worth,
            uses=uses_of(used),
            pinned=member.pinned,
            since=member.at,
            why=member.why,
            score=score,
        )
        for member in warm
        if member.id in judged
        for record, used, worth, score in [judged[member.id]]
    ]
    return sorted(hot, key=lambda hot: (not hot.pinned, -hot.salience, hot.record.id))


def promote(memory: Memory, reference: str, *, pin: bool = False, why: str = "manual") -> list[Hot]:
    """Add a memory to the hot set; if it is full, the coldest unpinned memory leaves."""
    record = find(memory, reference).record
    if record.state != "active":
        raise Conflict(f"{record.id} is {record.state}; only an active memory can be in the hot set.")
    with memory.store.transaction():  # otherwise two concurrent calls could both take the last free place
        memory.commit(_into(memory, record, hot_set(memory), pin=pin, why=why))
    return hot_set(memory)


def demote(memory: Memory, reference: str) -> list[Hot]:
    """Remove a memory from the hot set."""
    memory.commit([_heated(memory, _member(memory, reference).record, hot=False, why="manual")])
    return hot_set(memory)


def pin(memory: Memory, reference: str) -> list[Hot]:
    """Keep a memory in the hot set regardless of use; adds it if needed."""
    return promote(memory, reference, pin=True, why="pin")


def unpin(memory: Memory, reference: str) -> list[Hot]:
    """Allow a pinned memory to leave the hot set again."""
    memory.commit([_heated(memory, _member(memory, reference).record, hot=True, why="unpin")])
    return hot_set(memory)


def admit_used(memory: Memory, ids: Iterable[str]) -> list[Record]:
    """Admit recently used records that qualify and return them. Called after uses, never by a recall."""
    inside = hot_ids(memory)
    entries = records.by_ids(memory.store, [id_ for id_ in ids if id_ not in inside])
    usable = [entry.record for entry in entries.values() if is_at_hand(memory, entry.record)]
    admissible = [
        (record, score)
        for record, used, worth, score in _judged(memory, usable).values()
        if not why_not_hot(record, used, worth)
    ]
    return [record for record, score in admissible if _let_in(memory, record, score)]


def promote_recalled(memory: Memory, ids: Iterable[str]) -> list[Record]:
    """Admit records that were recalled as often as `promote_after` says; used records go first."""
    least, inside = memory.config.promote_after, hot_ids(memory)
    if not least:
        return []
    entries = records.by_ids(memory.store, [id_ for id_ in ids if id_ not in inside])
    usable = [entry.record for entry in entries.values() if is_at_hand(memory, entry.record)]
    often = [(record, score) for record, used, _, score in _judged(memory, usable).values() if used.surfaced >= least]
    return [record for record, score in often if _let_in(memory, record, score)]


def _let_in(memory: Memory, record: Record, score: float) -> bool:
    with memory.store.transaction():
        current = hot_set(memory)
        if not _has_room(memory, current, score):
            return False
        memory.commit(_into(memory, record, current, pin=False, why="used", by=RULE))
    return True


def suggested(memory: Memory, *, limit: int = 10) -> list[Suggested]:
    """Return used records outside the hot set, with what keeps each out, for the user to decide."""
    inside, since = hot_ids(memory), days_before(memory.clock.now(), LOOK_BACK_DAYS)
    used = {use.id for use in usage.all_since(memory.store, since) if use.outcome in ("applied", "corrected")}
    entries = records.by_ids(memory.store, used - inside)
    judged = _judged(memory, [entry.record for entry in entries.values() if is_at_hand(memory, entry.record)])
    suggestions = [
        Suggested(
            record=record, salience=worth, uses=uses_of(usage_), why_not=why_not_hot(record, usage_, worth) or "no room"
        )
        for record, usage_, worth, _ in judged.values()
    ]
    return sorted(suggestions, key=lambda suggestion: (-suggestion.salience, suggestion.record.id))[:limit]


def cool(memory: Memory) -> list[Record]:
    """Remove memories that were not used for too long; return them."""
    now, current = memory.clock.now(), hot_set(memory)
    used = usage.of(memory.store, [hot.record.id for hot in current])
    stale = [
        hot.record
        for hot in current
        if not hot.pinned
        and days_between(max(used.get(hot.record.id, Usage()).last_used_at, hot.since), now)
        >= (memory.config.demote_days or stale_after(hot.record.kind))
    ]
    if stale:
        memory.commit([_heated(memory, record, hot=False, why="stale", by=RULE) for record in stale])
    return stale


def heat_counts(memory: Memory) -> dict[str, int]:
    """Count how often the hot set helped or not, and how many records entered or left it."""
    return heat.counts(memory.store)


def hot_ids(memory: Memory) -> set[str]:
    """Return the ids of the hot set."""
    return {warm.id for warm in heat.hot(memory.store, _places(memory))}


def _places(memory: Memory) -> tuple[int, ...]:
    return tuple(memory.store.sizes((memory.project, GLOBAL)))


def _judged(memory: Memory, candidates: Sequence[Record]) -> dict[str, tuple[Record, Usage, float, float]]:
    """Return each record with its usage, salience and score against eviction."""
    store, now, ids = memory.store, memory.clock.now(), [record.id for record in candidates]
    used, changes = usage.of(store, ids), trusts.of(store, ids)
    judged = {}
    for record in candidates:
        usage_ = used.get(record.id, Usage())
        idle = days_between(usage_.last_used_at, now) if usage_.last_used_at else None
        salience_ = salience(
            importance=importance(record.text),
            trust=trust(record, [change.delta for change in changes.get(record.id, [])]),
            uses=uses_of(usage_),
            idle_days=idle,
        )
        judged[record.id] = (record, usage_, salience_, hot_score(uses_of(usage_), idle))
    return judged


def _has_room(memory: Memory, current: Sequence[Hot], score: float) -> bool:
    """True if a record may be admitted automatically: there is a free place, or a colder unpinned record."""
    if len(current) < memory.config.hot_capacity:
        return True
    return any(not hot.pinned and hot.score < score for hot in current)


def _into(
    memory: Memory, record: Record, current: Sequence[Hot], *, pin: bool, why: str, by: Actor | None = None
) -> list[Event]:
    known = next((member for member in current if member.record.id == record.id), None)
    if known and (known.pinned or not pin):
        return []
    events = [_heated(memory, record, hot=True, pinned=pin, why=why, by=by)]
    if known is None and len(current) >= memory.config.hot_capacity:
        loose = [member for member in current if not member.pinned]
        if not loose:
            raise Conflict(
                "The hot set is full and every memory in it is pinned.", hint="Unpin something, or raise hot_capacity."
            )
        coldest = min(loose, key=lambda member: (member.score, member.record.id))
        events.append(_heated(memory, coldest.record, hot=False, why="evicted", by=RULE))
    return events


def _heated(
    memory: Memory, record: Record, *, hot: bool, why: str, pinned: bool = False, by: Actor | None = None
) -> Event:
    # The latest event by id wins, so it must sort after an event whose clock ran ahead.
    before = heat.last(memory.store, record.id)
    event = memory.event("heated", record.id, data={"hot": hot, "pinned": pinned, "why": why}, after=before)
    if by is None:
        return event
    return Event(id=event.id, about=event.about, verb=event.verb, at=event.at, by=by, data=event.data)


def _member(memory: Memory, reference: str) -> Hot:
    record = find(memory, reference).record
    member = next((hot for hot in hot_set(memory) if hot.record.id == record.id), None)
    if member is None:
        raise Conflict(f"{record.id} is not in the hot set.", hint="`holdfast hot` lists the hot set.")
    return member
