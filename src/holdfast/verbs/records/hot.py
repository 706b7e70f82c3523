"""Measure records (usage, trust, salience), rate them, predict which follow, and maintain the hot set: the few that matter most now.

Use admits memories to the hot set, disuse removes them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from holdfast.engine.views import Entry, records, usage
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.event import Actor, Event
from holdfast.model.ids import days_before, days_between
from holdfast.model.query import Usage
from holdfast.model.record import GLOBAL, Record
from holdfast.model.text import check_text
from holdfast.policy.ranking.hot_set import hot_score, importance, salience, stale_after, uses_of, why_not_hot
from holdfast.policy.ranking.weight import REASONS, base_trust, decayed, freshness, trust
from holdfast.policy.secrets.find import masked
from holdfast.verbs.memory import Memory, Report, check_choice, find, is_at_hand
from holdfast.verbs.records.read import called

LOOK_BACK_DAYS = 30.0
RULE = Actor(kind="rule", name="hot set")
LONGEST_NOTE = 1_000
LARGEST = 1.0
LEAST, MOST = 0.3, 3  # chance of a prediction, and how many there are
HALF_LIFE_DAYS, MOST_HABITS = 30.0, 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Vitals:
    """A record with its measurements and the number it is called by in the current project."""

    record: Record
    number: int
    usage: Usage
    uses: int  # how often it helped
    trust: float
    trust_now: float
    freshness: float
    salience: float
    heat: float  # the member of the hot set with the lowest leaves when it is full
    hot: bool = False
    pinned: bool = False
    since: str = ""
    why: str = ""  # why it is in the hot set
    why_not: str = ""  # why it would not be admitted automatically


def vitals_of(
    memory: Memory, entries: Sequence[Entry], hot: Mapping[str, usage.HotEntry] | None = None
) -> list[Vitals]:
    """Return the measurements of records, in the order given; `hot` is the hot set, if it was read already."""
    store, now, ids = memory.store, memory.clock.now(), [entry.record.id for entry in entries]
    used, changes, measured = usage.of(store, ids), usage.trust_changes(store, ids), list[Vitals]()
    hot = hot_ids(memory) if hot is None else hot
    for number, record in ((entry.number, entry.record) for entry in called(memory, entries)):
        usage_, member = used.get(record.id, Usage()), hot.get(record.id)
        uses, value = uses_of(usage_), trust(record, list(changes.get(record.id, {}).values()))
        idle = days_between(max(record.updated_at, record.verified_at, usage_.last_used_at), now)
        since_use = days_between(usage_.last_used_at, now) if usage_.last_used_at else None
        worth = salience(importance=importance(record.text), trust=value, uses=uses, idle_days=since_use)
        measured.append(
            Vitals(
                record=record,
                number=number,
                usage=usage_,
                uses=uses,
                trust=value,
                trust_now=decayed(value, record.kind, idle_days=idle, uses=uses),
                freshness=freshness(record, now),
                salience=worth,
                heat=hot_score(uses, since_use),
                why_not=why_not_hot(record, usage_, worth),
                **({"hot": True, **member._asdict()} if member else {}),
            )
        )
    return measured


def vitals_by_id(memory: Memory, ids: Iterable[str]) -> dict[str, Vitals]:
    """Return the measurements of the records with these ids."""
    return {one.record.id: one for one in vitals_of(memory, list(records.by_ids(memory.store, ids).values()))}


def hot_set(memory: Memory) -> list[Vitals]:
    """Return the hot set of this project: pinned memories first, then by salience."""
    hot = hot_ids(memory)
    members = vitals_of(memory, list(records.by_ids(memory.store, hot).values()), hot)
    return sorted(members, key=lambda member: (not member.pinned, -member.salience, member.record.id))


def promote(memory: Memory, reference: str, *, pin: bool = False, why: str = "manual") -> list[Vitals]:
    """Add a memory to the hot set; if it is full, the coldest unpinned memory leaves."""
    record = find(memory, reference).record
    if record.state != "active":
        raise Conflict(f"{record.id} is {record.state}; only an active memory can be in the hot set.")
    with memory.store.transaction():  # otherwise two concurrent calls could both take the last free place
        memory.commit(_into(memory, record, hot_set(memory), pin=pin, why=why))
    return hot_set(memory)


def demote(memory: Memory, reference: str) -> list[Vitals]:
    """Remove a memory from the hot set."""
    memory.commit([_heated(memory, _member(memory, reference), hot=False, why="manual")])
    return hot_set(memory)


def pin(memory: Memory, reference: str) -> list[Vitals]:
    """Keep a memory in the hot set regardless of use; adds it if needed."""
    return promote(memory, reference, pin=True, why="pin")


def unpin(memory: Memory, reference: str) -> list[Vitals]:
    """Allow a pinned memory to leave the hot set again."""
    memory.commit([_heated(memory, _member(memory, reference), hot=True, why="unpin")])
    return hot_set(memory)


def admit_used(memory: Memory, ids: Iterable[str], *, recalled: int = 0) -> list[Record]:
    """Admit records that qualify by use, or were recalled so often, if there is a free place or a colder unpinned member."""
    admitted = []
    for vitals in vitals_by_id(memory, ids).values():
        deserves = vitals.usage.surfaced >= recalled if recalled else not vitals.why_not
        if vitals.hot or not is_at_hand(memory, vitals.record) or not deserves:
            continue
        with memory.store.transaction():
            current = hot_set(memory)
            colder = any(not member.pinned and member.heat < vitals.heat for member in current)
            if colder or len(current) < memory.config.hot_capacity:
                memory.commit(_into(memory, vitals.record, current, why="used", by=RULE))
                admitted.append(vitals.record)
    return admitted


def suggested(memory: Memory, *, limit: int = 10) -> list[Vitals]:
    """Return used records outside the hot set, with what keeps each out, for the user to decide."""
    since = days_before(memory.clock.now(), LOOK_BACK_DAYS)
    used = {use.id for use in usage.uses(memory.store, since=since) if use.outcome in ("applied", "corrected")}
    suggestions = [
        replace(vitals, why_not=vitals.why_not or "no room")
        for vitals in vitals_by_id(memory, used).values()
        if not vitals.hot and is_at_hand(memory, vitals.record)
    ]
    return sorted(suggestions, key=lambda suggestion: (-suggestion.salience, suggestion.record.id))[:limit]


def cool(memory: Memory) -> list[Record]:
    """Remove memories that were not used for too long; return them."""
    now, days = memory.clock.now(), memory.config.demote_days
    stale = [
        member.record
        for member in hot_set(memory)
        if not member.pinned
        and days_between(max(member.usage.last_used_at, member.since), now) >= (days or stale_after(member.record.kind))
    ]
    if stale:
        memory.commit([_heated(memory, record, hot=False, why="stale", by=RULE) for record in stale])
    return stale


def hot_ids(memory: Memory) -> dict[str, usage.HotEntry]:
    """Return the hot set by id: what is pinned, since when each is in it, and why."""
    return usage.hot(memory.store, memory.store.sizes((memory.project, GLOBAL)))


def _into(
    memory: Memory, record: Record, current: Sequence[Vitals], *, why: str, pin: bool = False, by: Actor | None = None
) -> list[Event]:
    """Return the events that add a record to the hot set, and remove the coldest member if it is full."""
    known = next((member for member in current if member.record.id == record.id), None)
    if known and (known.pinned or not pin):
        return []
    events = [_heated(memory, record, hot=True, pinned=pin, why=why, by=by)]
    if known is None and len(current) >= memory.config.hot_capacity:
        loose = [member for member in current if not member.pinned]
        if not loose:
            hint = "Unpin something, or raise hot_capacity."
            raise Conflict("The hot set is full and every memory in it is pinned.", hint=hint)
        coldest = min(loose, key=lambda member: (member.heat, member.record.id))
        events.append(_heated(memory, coldest.record, hot=False, why="evicted", by=RULE))
    return events


def _heated(
    memory: Memory, record: Record, *, hot: bool, why: str, pinned: bool = False, by: Actor | None = None
) -> Event:
    # The latest event by id wins, so it must sort after an event whose clock ran ahead.
    after = usage.last_heated(memory.store, record.id)
    return memory.event("heated", record.id, data={"hot": hot, "pinned": pinned, "why": why}, after=after, by=by)


def _member(memory: Memory, reference: str) -> Record:
    record = find(memory, reference).record
    if record.id not in hot_ids(memory):
        raise Conflict(f"{record.id} is not in the hot set.", hint="`holdfast hot` lists the hot set.")
    return record


def trust_of(memory: Memory, reference: str) -> Report:
    """Return the trust in a record, at first, after ratings and now, with every change and its note."""
    measured = vitals_of(memory, [find(memory, reference)])[0]
    record, history = measured.record, list[Report]()
    value = base = base_trust(record)
    changes = usage.trust_changes(memory.store, [record.id]).get(record.id, {})
    events = memory.store.events_with(changes)
    for id_, delta in changes.items():
        value, event = min(1.0, max(0.0, value + delta)), events[id_]
        reason, note = (str(event.data.get(name, "")) for name in ("reason", "note"))
        step = {"at": event.at, "reason": reason, "delta": delta, "value": value}
        history.append({**step, "by": event.by.name or event.by.kind, "note": note})
    return {"record": record, "base": base, "value": measured.trust, "now": measured.trust_now, "history": history}


def change_trust(
    memory: Memory, reference: str, reason: str = "", *, raises: bool = True, delta: float | None = None, note: str = ""
) -> Report:
    """Raise or lower trust for a reason, or by an amount; by 0.1 without either."""
    if reason:
        check_choice(reason, REASONS, "a reason")
        if (REASONS[reason] > 0) != raises:
            raise Invalid(f"{reason} {'lowers' if raises else 'raises'} trust.", hint="Use the other direction.")
    record = find(memory, reference).record
    size = abs(delta) if delta is not None else abs(REASONS[reason]) if reason else 0.1
    if not size <= LARGEST:  # also rejects NaN
        raise Invalid("Trust can change by at most 1.")
    data = {"reason": reason or ("used_correctly" if raises else "outdated"), "delta": size if raises else -size}
    if note:
        data["note"] = check_text(masked(note), "note", LONGEST_NOTE)
    last = max(usage.trust_changes(memory.store, [record.id]).get(record.id, {}), default="")
    memory.commit([memory.event("trusted", record.id, data=data, after=last)])
    return trust_of(memory, record.id)


# What is likely to be used next, from the order in which earlier sessions used memories.


def predict(memory: Memory, reference: str, *, least: float = LEAST, limit: int = MOST) -> list[Report]:
    """Return the memories that sessions used after a given one, likeliest first; the weight halves every 30 days."""
    source, now = find(memory, reference).record, memory.clock.now()
    steps = usage.steps_after(memory.store, source.id)
    known = memory.known(target for _, target, _, _ in steps)
    here = [step for step in steps if step[1] in known and is_at_hand(memory, known[step[1]])]
    weights = [times * 0.5 ** (days_between(last_at, now) / HALF_LIFE_DAYS) for _, _, times, last_at in here]
    chances = [(weight / sum(weights), step) for weight, step in zip(weights, here, strict=True) if sum(weights)]
    likely = sorted((pair for pair in chances if pair[0] >= least), key=lambda pair: (-pair[0], pair[1][1]))[:limit]
    return [{"record": known[target], "probability": share, "times": times} for share, (_, target, times, _) in likely]


def habits(memory: Memory, reference: str = "", *, least: int = 2, limit: int = 20) -> list[Report]:
    """Return the memories that sessions used after a given one, or after any, most frequent first."""
    store = memory.store
    source = find(memory, reference).record.id if reference else ""
    steps = usage.steps_after(store, source) if source else usage.most_steps(store, least, MOST_HABITS)
    known = memory.known(end for start, target, _, _ in steps for end in (start, target))
    here = {id_: record for id_, record in known.items() if is_at_hand(memory, record)}
    starts = {start for start, *_ in steps} & here.keys()
    totals = {start: sum(times for _, _, times, _ in usage.steps_after(store, start)) for start in starts}
    return [
        {"source": here[start], "target": here[target], "times": times}
        | {"probability": times / totals[start], "last_at": last_at}
        for start, target, times, last_at in steps
        if start in here and target in here and times >= least
    ][:limit]


def warm(memory: Memory, reference: str) -> list[Record]:
    """Promote the memories likely to be used after a given one to the hot set; return those that were not in it."""
    likely = [one["record"] for one in predict(memory, reference) if one["record"].id not in hot_ids(memory)]
    for record in likely:
        promote(memory, record.id, why="predicted")
    return likely
