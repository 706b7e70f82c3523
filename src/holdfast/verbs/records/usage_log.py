"""List every recorded use of a record: when, in which session, by whom and with what outcome."""

from dataclasses import dataclass

from holdfast.engine.views import usage
from holdfast.verbs.memory import Memory, find


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedUse:
    """A use of a record; `observed` means that a rule detected it and no agent or user reported it."""

    event: str
    at: str
    outcome: str
    session: str
    by: str
    said: str = ""
    observed: bool = False


def uses_of(memory: Memory, reference: str, *, limit: int = 50) -> list[RecordedUse]:
    """Return the uses of a record, latest first."""
    record = find(memory, reference).record
    uses = sorted(usage.since(memory.store, [record.id], ""), key=lambda use: use.event, reverse=True)[:limit]
    events = memory.store.events_with(use.event for use in uses)
    return [
        RecordedUse(
            event=use.event,
            at=use.at,
            outcome=use.outcome,
            session=use.session,
            by=events[use.event].by.name or events[use.event].by.kind,
            said=str(events[use.event].data.get("evidence") or events[use.event].data.get("note") or ""),
            observed=use.observed,
        )
        for use in uses
        if use.event in events
    ]
