"""What became of one record, use by use: in which session, when, and what was said."""

from dataclasses import dataclass

from holdfast.engine.views import usage
from holdfast.verbs.memory import Memory, find


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One use of a record; `observed` means that a rule saw it and nobody said so."""

    at: str
    outcome: str
    session: str
    by: str
    said: str = ""
    observed: bool = False


def uses_of(memory: Memory, reference: str, *, limit: int = 50) -> list[Told]:
    """Give what became of a record, latest first."""
    record = find(memory, reference).record
    found = sorted(usage.since(memory.store.db, [record.id], ""), key=lambda use: use.event, reverse=True)[:limit]
    events = memory.store.events_with(use.event for use in found)
    return [
        Told(
            at=use.at,
            outcome=use.outcome,
            session=use.session,
            by=events[use.event].by.name or events[use.event].by.kind,
            said=str(events[use.event].data.get("evidence") or events[use.event].data.get("note") or ""),
            observed=use.observed,
        )
        for use in found
        if use.event in events
    ]
