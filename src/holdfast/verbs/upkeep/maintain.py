"""Maintenance: retire expired records, free space, and report usage and counters."""

from dataclasses import dataclass

from holdfast.engine.raw import counters, outputs
from holdfast.engine.raw.counters import Failure
from holdfast.engine.views import heat, records, steps, usage
from holdfast.model.event import Event
from holdfast.model.ids import days_before
from holdfast.model.record import GLOBAL, Record
from holdfast.policy.ranking.retention import CAPS, DAYS, outlived
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.hot import cool, hot_ids

DESTRUCTIVE = ("retired", "erased", "redacted", "unlinked", "restored")
MOST_AUDITED = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """What maintenance did, or would do."""

    retired: tuple[Record, ...] = ()
    cooled: tuple[Record, ...] = ()
    bytes_before: int = 0
    bytes_after: int = 0
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """The cost of recent recalls, and whether they helped. Declared outcomes were reported, observed ones detected by a rule."""

    sessions: int
    recalls: int
    empty: int
    tokens: int
    shown: int
    declared: dict[str, int]
    observed: dict[str, int]

    @property
    def helped(self) -> float:
        """The share of returned results that were reported as helpful."""
        return self.declared.get("applied", 0) / self.shown if self.shown else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """Counters: the hot set, steps between memories, background work and its last failures."""

    hot: dict[str, int]
    recalls: int
    writes: int
    outputs: int  # stored for mining
    steps: int
    steps_taken: int
    tallies: dict[str, int]
    failures: tuple[Failure, ...] = ()


def maintain(memory: Memory, *, dry_run: bool = False, retiring: bool = True) -> Upkeep:
    """Retire unused records past their retention, trim the hot set and free space. Nothing is deleted."""
    old = _outlived(memory) if retiring else []
    before = memory.store.db.size
    if dry_run:
        return Upkeep(retired=tuple(old), bytes_before=before, bytes_after=before, dry_run=True)
    if old:
        why = {record.id: f"kept {DAYS.get(record.kind, 0)} days without use" for record in old}
        memory.commit(
            [memory.event("retired", record.id, data={"reason": why[record.id]}, after=record.head) for record in old]
        )
    cooled = cool(memory)
    memory.store.db.compact()
    return Upkeep(retired=tuple(old), cooled=tuple(cooled), bytes_before=before, bytes_after=memory.store.db.size)


def audit(memory: Memory, *, days: float = 90, verb: str = "", limit: int = 100) -> list[Event]:
    """Return recent retirements, erasures and restorations, latest first."""
    since = days_before(memory.clock.now(), days)
    return memory.store.happened((verb,) if verb else DESTRUCTIVE, since, limit)


def removals(memory: Memory) -> list[Event]:
    """Return what was removed in this project, also from the hot set, or restored; latest first."""
    events = memory.store.happened((*DESTRUCTIVE, "heated"), "", MOST_AUDITED)
    removed = [event for event in events if event.verb != "heated" or event.data.get("hot") is not True]
    known = records.by_ids(memory.store, {event.about for event in removed})
    own = {id_ for id_, entry in known.items() if entry.record.project in (memory.project, GLOBAL)}
    return [event for event in removed if event.about in own]


def quality(memory: Memory, *, days: float = 30) -> Quality:
    """Return the cost of recent recalls and whether they helped."""
    store, since = memory.store, days_before(memory.clock.now(), days)
    costs = usage.costs_since(store, since)
    declared: dict[str, int] = {}
    observed: dict[str, int] = {}
    for use in usage.all_since(store, since):
        counts = observed if use.observed else declared
        counts[use.outcome] = counts.get(use.outcome, 0) + 1
    return Quality(
        sessions=len(costs),
        recalls=sum(cost.recalls for cost in costs),
        empty=sum(cost.empty for cost in costs),
        tokens=sum(cost.tokens for cost in costs),
        shown=len(usage.shown_since(store, since)),
        declared=declared,
        observed=observed,
    )


def metrics(memory: Memory) -> Metrics:
    """Return all counters."""
    store = memory.store
    different, taken = steps.counted(store)
    return Metrics(
        hot=heat.counts(store),
        recalls=store.count_of("surfaced"),
        writes=store.count_of("recorded"),
        outputs=outputs.counted(store, store.project_number(memory.project)),
        steps=different,
        steps_taken=taken,
        tallies=counters.totals(store, ""),
        failures=tuple(counters.failures(store)),
    )


def _outlived(memory: Memory) -> list[Record]:
    """Return the records of this project that were not used within the retention of their kind, or exceed its cap."""
    project, now, hot = memory.store.project_number(memory.project), memory.clock.now(), hot_ids(memory)
    expired: list[Record] = []
    for kind in DAYS:
        entries = records.newest(memory.store, kind, project, limit=1_000_000)
        used = usage.of(memory.store, [entry.record.id for entry in entries])
        for place, entry in enumerate(entries):
            if entry.record.id in hot:
                continue
            if outlived(entry.record, used.get(entry.record.id), now) or place >= CAPS[kind]:
                expired.append(entry.record)
    return expired
