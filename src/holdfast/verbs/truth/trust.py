"""Rate records, and show how their trust was computed."""

from dataclasses import dataclass

from holdfast.engine.views import signals, usage
from holdfast.model.errors import Invalid
from holdfast.model.event import Event
from holdfast.model.ids import days_between
from holdfast.model.query import Usage
from holdfast.model.record import Record
from holdfast.model.text import check_text
from holdfast.policy.ranking.hot_set import uses_of
from holdfast.policy.ranking.trust import REASONS, base_trust, decayed, trust
from holdfast.policy.secrets.find import masked
from holdfast.verbs.memory import Memory, find

LONGEST_NOTE = 1_000
LARGEST = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One change of trust."""

    at: str
    by: str
    reason: str
    delta: float
    value: float
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """Trust in a record: at first, after ratings, and now."""

    record: Record
    base: float
    value: float
    now: float
    history: tuple[Step, ...] = ()


def trust_of(memory: Memory, reference: str) -> Trust:
    """Return the trust in a record, with every change and its note."""
    record = find(memory, reference).record
    changes = signals.trust_changes(memory.store, [record.id]).get(record.id, [])
    events = memory.store.events_with(change.event for change in changes)
    used = usage.of(memory.store, [record.id]).get(record.id, Usage())
    last = max(record.updated_at, record.verified_at, used.last_used_at)
    idle = days_between(last, memory.clock.now())
    value = trust(record, [change.delta for change in changes])
    return Trust(
        record=record,
        base=base_trust(record),
        value=value,
        now=decayed(value, record.kind, idle_days=idle, uses=uses_of(used)),
        history=_history(record, changes, events),
    )


def change_trust(
    memory: Memory, reference: str, reason: str = "", *, raises: bool = True, delta: float | None = None, note: str = ""
) -> Trust:
    """Raise or lower trust for a reason, or by an amount; by 0.1 without either."""
    if reason and reason not in REASONS:
        raise Invalid(f"{reason!r} is not a reason.", hint=f"Use one of {', '.join(REASONS)}.")
    if reason and (REASONS[reason] > 0) != raises:
        raise Invalid(f"{reason} {'lowers' if raises else 'raises'} trust.", hint="Use the other direction.")
    record = find(memory, reference).record
    size = abs(delta) if delta is not None else abs(REASONS[reason]) if reason else 0.1
    if not size <= LARGEST:  # also rejects NaN
        raise Invalid("Trust can change by at most 1.")
    data = {"reason": reason or ("used_correctly" if raises else "outdated"), "delta": size if raises else -size}
    if note:
        data["note"] = check_text(masked(note), "note", LONGEST_NOTE)
    last = max(
        (change.event for change in signals.trust_changes(memory.store, [record.id]).get(record.id, [])), default=""
    )
    memory.commit([memory.event("trusted", record.id, data=data, after=last)])
    return trust_of(memory, record.id)


def _history(record: Record, changes: list[signals.TrustChange], events: dict[str, Event]) -> tuple[Step, ...]:
    steps, value = [], base_trust(record)
    for change in changes:
        value = min(1.0, max(0.0, value + change.delta))
        event = events[change.event]
        steps.append(
            Step(
                at=change.at,
                by=event.by.name or event.by.kind,
                reason=change.reason,
                delta=change.delta,
                value=value,
                note=str(event.data.get("note", "")),
            )
        )
    return tuple(steps)
