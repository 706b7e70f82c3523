"""Predict which memories a session will use next, from the order in which earlier sessions used them."""

from dataclasses import dataclass

from holdfast.engine.views import signals
from holdfast.model.ids import days_between
from holdfast.model.record import Record
from holdfast.verbs.memory import Memory, find, is_at_hand
from holdfast.verbs.records.hot import Vitals, promote

LEAST, MOST = 0.3, 3
HALF_LIFE_DAYS = 30.0
MOST_HABITS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A memory that may be used next, how likely that is, and how often it happened before."""

    record: Record
    probability: float
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """Two memories that sessions used one after the other, how often, and in which share of cases."""

    source: Record
    target: Record
    times: int
    probability: float
    last_at: str


def predict(memory: Memory, reference: str, *, least: float = LEAST, limit: int = MOST) -> list[Prediction]:
    """Return the memories that sessions used after a given one, likeliest first; the weight halves every 30 days."""
    source, now = find(memory, reference).record, memory.clock.now()
    found = signals.steps_after(memory.store, source.id)
    known = memory.known(one.target for one in found)
    here = [one for one in found if one.target in known and is_at_hand(memory, known[one.target])]
    weights = {one.target: one.times * 0.5 ** (days_between(one.last_at, now) / HALF_LIFE_DAYS) for one in here}
    total, likely = sum(weights.values()), list[Prediction]()
    for one in here if total else ():
        if (chance := weights[one.target] / total) >= least:
            likely.append(Prediction(record=known[one.target], probability=chance, times=one.times))
    return sorted(likely, key=lambda one: (-one.probability, one.record.id))[:limit]


def habits(memory: Memory, reference: str = "", *, least: int = 2, limit: int = 20) -> list[Habit]:
    """Return the memories that sessions used after a given one, or after any, most frequent first."""
    store = memory.store
    source = find(memory, reference).record.id if reference else ""
    if source:
        found = [(source, one) for one in signals.steps_after(store, source)]
    else:
        found = signals.most_steps(store, least, MOST_HABITS)
    known = memory.known(end for start, one in found for end in (start, one.target))
    here = {id_: record for id_, record in known.items() if is_at_hand(memory, record)}
    starts = {start for start, _ in found} & here.keys()
    totals = {start: sum(one.times for one in signals.steps_after(store, start)) for start in starts}
    habits_ = list[Habit]()
    for start, one in found:
        if start in here and one.target in here and one.times >= least:
            share, target = one.times / totals[start], here[one.target]
            habit = Habit(source=here[start], target=target, times=one.times, probability=share, last_at=one.last_at)
            habits_.append(habit)
    return habits_[:limit]


def warm(memory: Memory, reference: str) -> list[Vitals]:
    """Promote the memories likely to be used after a given one to the hot set."""
    hot: list[Vitals] = []
    for guess in predict(memory, reference):
        hot = promote(memory, guess.record.id, why="predicted")
    return hot
