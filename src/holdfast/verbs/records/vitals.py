"""Compute the measurements of records (number, usage, trust, freshness, salience, heat) in batches."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holdfast.engine.views import Entry, heat, records, trusts, usage
from holdfast.model.ids import days_between
from holdfast.model.query import Usage
from holdfast.model.record import GLOBAL, Record
from holdfast.policy.ranking.hot_set import hot_score, uses_of, why_not_hot
from holdfast.policy.ranking.salience import importance, salience
from holdfast.policy.ranking.trust import decayed, trust
from holdfast.policy.ranking.weight import freshness
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.numbers import called


@dataclass(frozen=True, slots=True, kw_only=True)
class Vitals:
    """A record with its measurements and the number it is called by in the current project. `why` is the reason it is in the hot set; empty if it is not."""

    record: Record
    number: int
    usage: Usage
    trust: float
    trust_now: float
    freshness: float
    salience: float
    heat: float
    hot: bool = False
    pinned: bool = False
    why: str = ""

    @property
    def deserves_heat(self) -> bool:
        """True if the record qualifies for the hot set but is not in it."""
        return not self.hot and not why_not_hot(self.record, self.usage, self.salience)


def vitals_of(memory: Memory, entries: Sequence[Entry]) -> list[Vitals]:
    """Return the measurements of records, in the order given."""
    store, ids, entries = memory.store, [entry.record.id for entry in entries], called(memory, entries)
    used, changes = usage.of(store, ids), trusts.of(store, ids)
    warm = {entry.id: entry for entry in heat.hot(store, tuple(store.sizes((memory.project, GLOBAL))))}
    return [
        _vitals(
            entry,
            used.get(entry.record.id, Usage()),
            trust(entry.record, [change.delta for change in changes.get(entry.record.id, ())]),
            warm.get(entry.record.id),
            memory.clock.now(),
        )
        for entry in entries
    ]


def vitals_by_id(memory: Memory, ids: Iterable[str]) -> dict[str, Vitals]:
    """Return the measurements of the records with these ids."""
    entries = list(records.by_ids(memory.store, ids).values())
    return {vitals.record.id: vitals for vitals in vitals_of(memory, entries)}


def _vitals(entry: Entry, used: Usage, value: float, warm: heat.HotEntry | None, now: str) -> Vitals:
    record, uses = entry.record, uses_of(used)
    idle = days_between(max(record.updated_at, record.verified_at, used.last_used_at), now)
    since_use = days_between(used.last_used_at, now) if used.last_used_at else None
    return Vitals(
        record=record,
        number=entry.number,
        usage=used,
        trust=value,
        trust_now=decayed(value, record.kind, idle_days=idle, uses=uses),
        freshness=freshness(record, now),
        salience=salience(importance=importance(record.text), trust=value, uses=uses, idle_days=since_use),
        heat=hot_score(uses, since_use),
        hot=warm is not None,
        pinned=warm is not None and warm.pinned,
        why=warm.why if warm else "",
    )
