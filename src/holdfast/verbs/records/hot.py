"""The hot set: the few memories of a project that matter most now. Use lets them in, idleness takes them out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holdfast.engine.views import heat, records, trusts, usage
from holdfast.model.errors import Conflict
from holdfast.model.event import Actor, Event
from holdfast.model.ids import days_before, days_between
from holdfast.model.query import Usage
from holdfast.model.record import GLOBAL, Record
from holdfast.policy.ranking.heat import hot_score, stale_after, turned_away, uses_of
from holdfast.policy.ranking.salience import importance, salience
from holdfast.policy.ranking.trust import trust
from holdfast.verbs.memory import Memory, find, is_at_hand

LOOK_BACK_DAYS = 30.0
RULE = Actor(kind="rule", name="hot set")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hot:
    """A memory of the hot set, with how much it matters now and why it is there."""

    record: Record
    salience: float
    uses: int
    pinned: bool
    since: str
    why: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggested:
    """A memory that is used and could be hot, and what keeps it out."""

    record: Record
    salience: float
    uses: int
    why_not: str


def hot_set(memory: Memory) -> list[Hot]:
    """Give the hot set of this project, pinned ones first, then those that matter most."""
    warm = heat.hot(memory.store.db, _places(memory))
    found = records.by_ids(memory.store.db, [one.id for one in warm])
    judged = _judged(memory, [found[one.id].record for one in warm if one.id in found])
    hot = [
        Hot(
            record=record, salience=worth, uses=uses_of(used), pinned=one.pinned, since=one.at, why=one.why, score=score
        )
        for one in warm
        if one.id in judged
        for record, used, worth, score in [judged[one.id]]
    ]
    return sorted(hot, key=lambda one: (not one.pinned, -one.salience, one.record.id))


def promote(memory: Memory, reference: str, *, pin: bool = False, why: str = "manual") -> list[Hot]:
    """Put a memory into the hot set; when it is full, the coldest that is not pinned leaves."""
    record = find(memory, reference).record
    if record.state != "active":
        raise Conflict(f"{record.id} is {record.state}; only a memory in use can be hot.")
    with memory.store.transaction():  # or two that look at once both find the last free place
        memory.commit(_into(memory, record, hot_set(memory), pin=pin, why=why))
    return hot_set(memory)


def demote(memory: Memory, reference: str) -> list[Hot]:
    """Take a memory out of the hot set."""
    memory.commit([_heated(memory, _member(memory, reference).record, hot=False, why="manual")])
    return hot_set(memory)


def pin(memory: Memory, reference: str) -> list[Hot]:
    """Keep a memory in the hot set whatever happens; it gets in if it was not there."""
    return promote(memory, reference, pin=True, why="pin")


def unpin(memory: Memory, reference: str) -> list[Hot]:
    """Let a pinned memory leave when others matter more."""
    memory.commit([_heated(memory, _member(memory, reference).record, hot=True, why="unpin")])
    return hot_set(memory)


def tend(memory: Memory, ids: Iterable[str]) -> list[Record]:
    """Let in what was just used, if it has earned it; give what got in. Called after uses, never by a recall."""
    inside = hot_ids(memory)
    entries = records.by_ids(memory.store.db, [one for one in ids if one not in inside])
    mine = [entry.record for entry in entries.values() if is_at_hand(memory, entry.record)]
    worthy = [
        (record, score)
        for record, used, worth, score in _judged(memory, mine).values()
        if not turned_away(record, used, worth)
    ]
    return [record for record, score in worthy if _let_in(memory, record, score)]


def _let_in(memory: Memory, record: Record, score: float) -> bool:
    with memory.store.transaction():
        current = hot_set(memory)
        if not _has_room(memory, current, score):
            return False
        memory.commit(_into(memory, record, current, pin=False, why="used", by=RULE))
    return True


def suggested(memory: Memory, *, limit: int = 10) -> list[Suggested]:
    """Give what is used but not in the hot set, with what keeps it out: somebody may know better."""
    inside, since = hot_ids(memory), days_before(memory.clock.now(), LOOK_BACK_DAYS)
    used = {use.id for use in usage.all_since(memory.store.db, since) if use.outcome in ("applied", "corrected")}
    entries = records.by_ids(memory.store.db, used - inside)
    judged = _judged(memory, [entry.record for entry in entries.values() if is_at_hand(memory, entry.record)])
    found = [
        Suggested(
            record=record, salience=worth, uses=uses_of(own), why_not=turned_away(record, own, worth) or "no room"
        )
        for record, own, worth, _ in judged.values()
    ]
    return sorted(found, key=lambda one: (-one.salience, one.record.id))[:limit]


def cool(memory: Memory) -> list[Record]:
    """Take out what nobody used for too long; give what left."""
    now, current = memory.clock.now(), hot_set(memory)
    used = usage.of(memory.store.db, [one.record.id for one in current])
    stale = [
        one.record
        for one in current
        if not one.pinned
        and days_between(max(used.get(one.record.id, Usage()).last_used_at, one.since), now)
        >= stale_after(one.record.kind)
    ]
    if stale:
        memory.commit([_heated(memory, record, hot=False, why="stale", by=RULE) for record in stale])
    return stale


def heat_counts(memory: Memory) -> dict[str, int]:
    """Tell how often the hot set helped or not, and how often something went in or out."""
    return heat.counts(memory.store.db)


def hot_ids(memory: Memory) -> set[str]:
    """Give the ids of the hot set."""
    return {one.id for one in heat.hot(memory.store.db, _places(memory))}


def _places(memory: Memory) -> tuple[int, ...]:
    return tuple(dict.fromkeys((memory.store.project_number(memory.project), memory.store.project_number(GLOBAL))))


def _judged(memory: Memory, found: Sequence[Record]) -> dict[str, tuple[Record, Usage, float, float]]:
    """Give each record with its usage, its salience and its score against eviction."""
    db, now, ids = memory.store.db, memory.clock.now(), [record.id for record in found]
    used, changes = usage.of(db, ids), trusts.of(db, ids)
    judged = {}
    for record in found:
        own = used.get(record.id, Usage())
        idle = days_between(own.last_used_at, now) if own.last_used_at else None
        worth = salience(
            importance=importance(record.text),
            trust=trust(record, [change.delta for change in changes.get(record.id, [])]),
            uses=uses_of(own),
            idle_days=idle,
        )
        judged[record.id] = (record, own, worth, hot_score(uses_of(own), idle))
    return judged


def _has_room(memory: Memory, current: Sequence[Hot], score: float) -> bool:
    """Tell whether a record may get in by itself: there is room, or somebody colder is there."""
    if len(current) < memory.config.hot_capacity:
        return True
    return any(not one.pinned and one.score < score for one in current)


def _into(
    memory: Memory, record: Record, current: Sequence[Hot], *, pin: bool, why: str, by: Actor | None = None
) -> list[Event]:
    known = next((one for one in current if one.record.id == record.id), None)
    if known and (known.pinned or not pin):
        return []
    events = [_heated(memory, record, hot=True, pinned=pin, why=why, by=by)]
    if known is None and len(current) >= memory.config.hot_capacity:
        loose = [one for one in current if not one.pinned]
        if not loose:
            raise Conflict(
                "The hot set is full and all of it is pinned.", hint="Unpin something, or raise hot_capacity."
            )
        coldest = min(loose, key=lambda one: (one.score, one.record.id))
        events.append(_heated(memory, coldest.record, hot=False, why="evicted", by=RULE))
    return events


def _heated(
    memory: Memory, record: Record, *, hot: bool, why: str, pinned: bool = False, by: Actor | None = None
) -> Event:
    # The latest by id holds: it must come after one whose clock ran ahead.
    before = heat.last(memory.store.db, record.id)
    event = memory.event("heated", record.id, data={"hot": hot, "pinned": pinned, "why": why}, after=before)
    if by is None:
        return event
    return Event(id=event.id, about=event.about, verb=event.verb, at=event.at, by=by, data=event.data)


def _member(memory: Memory, reference: str) -> Hot:
    record = find(memory, reference).record
    found = next((one for one in hot_set(memory) if one.record.id == record.id), None)
    if found is None:
        raise Conflict(f"{record.id} is not in the hot set.", hint="`holdfast hot` shows what is.")
    return found
