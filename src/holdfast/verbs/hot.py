"""The hot set: the memories of a project that matter most now."""

from dataclasses import dataclass

from holdfast.engine.views import records, usage
from holdfast.model.ids import days_before, days_between
from holdfast.model.query import Usage
from holdfast.model.record import Record
from holdfast.policy.salience import importance, salience
from holdfast.policy.weight import trust
from holdfast.verbs.memory import Memory

CAPACITY = 20
LOOK_BACK_DAYS = 90.0
HELPED = frozenset({"applied", "corrected", "succeeded"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Hot:
    """A memory with how much it matters now."""

    record: Record
    salience: float
    uses: int


def hot_set(memory: Memory, *, limit: int = CAPACITY) -> list[Hot]:
    """Give the memories that helped lately in this project, those that matter most first."""
    db, now = memory.store.db, memory.clock.now()
    used = {use.id for use in usage.all_since(db, days_before(now, LOOK_BACK_DAYS)) if use.outcome in HELPED}
    counts = usage.of(db, used)
    found = [
        _hot(entry.record, counts[entry.record.id], now)
        for entry in records.by_ids(db, used).values()
        if entry.record.state == "active" and entry.record.project in (memory.project, "")
    ]
    return sorted(found, key=lambda one: (-one.salience, one.record.id))[:limit]


def _hot(record: Record, used: Usage, now: str) -> Hot:
    uses = used.applied + used.corrected
    idle = days_between(used.last_used_at, now) if used.last_used_at else None
    worth = salience(importance=importance(record.text), trust=trust(record), uses=uses, idle_days=idle)
    return Hot(record=record, salience=worth, uses=uses)
