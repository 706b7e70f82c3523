"""How alive a thread is, by when it was worked on, and how long records of kinds about a moment are kept."""

import math
from dataclasses import dataclass
from typing import Literal

from holdfast.model.ids import days_before, days_between
from holdfast.model.patterns import patterns_of, tables
from holdfast.model.query import Usage
from holdfast.model.record import Record

ThreadClass = Literal["operational", "backlog"]
Stage = Literal["emerging", "active", "cooling", "dormant", "archived"]
HALF_LIFE: dict[ThreadClass, float] = {"operational": 3, "backlog": 21}
RECENCY, FREQUENCY = 0.55, 0.45
ACTIVE, DORMANT = 0.5, 0.2  # above the first active, below the second dormant
EMERGING_DAYS, ARCHIVED_DAYS = 1, 30
# Knowledge does not expire: it is superseded or refuted. Some kinds do, when they are older or there are more of them.
DAYS, CAPS = ({kind: int(most) for kind, most in rows} for rows in list(tables(__file__).values())[:2])
_URGENT = patterns_of(__file__, "urgent")["word"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """When a thread was created and worked on; creating it counts as the first touch."""

    created_at: str
    touched_at: str
    touches: int = 1
    thread_class: ThreadClass = "backlog"


def class_of(text: str) -> ThreadClass:
    """Return "operational" if a thread sounds urgent, else "backlog"."""
    return "operational" if _URGENT.search(text.lower()) else "backlog"


def vitality(life: Life, now: str) -> float:
    """Return 1 for a thread just worked on, falling to 0 with the days since and with rarer work."""
    idle, age = days_between(life.touched_at, now), days_between(life.created_at, now)
    recency = 0.5 ** (idle / HALF_LIFE[life.thread_class])
    frequency = min(1.0, math.log(life.touches + 1) / math.log(max(age, 0.01) + 1))
    return round(float(min(1.0, RECENCY * recency + FREQUENCY * frequency)), 4)


def stage(life: Life, now: str) -> Stage:
    """Return the stage of a thread at an instant; no event is needed to change it."""
    if days_between(life.created_at, now) < EMERGING_DAYS:
        return "emerging"
    score = vitality(life, now)
    if score > ACTIVE:
        return "active"
    if score >= DORMANT:
        return "cooling"
    # Vitality only falls after the last touch: dormant at that time means dormant ever since.
    earlier = max(days_before(now, ARCHIVED_DAYS), life.touched_at)
    return "archived" if vitality(life, earlier) < DORMANT else "dormant"


def outlived(record: Record, usage: Usage | None, now: str) -> bool:
    """True if a record was idle for longer than its kind is kept."""
    days = DAYS.get(record.kind)
    last = max(record.updated_at, record.verified_at, usage.last_used_at if usage else "")
    return days is not None and days_between(last, now) > days
