"""Find edits that another edit replaced unseen: two people changed the same memory before they synced."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holdfast.model.event import Event
from holdfast.model.foreign import Remark
from holdfast.model.ids import days_before
from holdfast.model.record import Record
from holdfast.model.text import shorten
from holdfast.verbs.memory import Memory

SEEN = "on"  # in a revision: the last event its author had seen
TEXT = ("title", "body", "fields")
DAYS, MOST = 30.0, 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Overwritten:
    """A record, the edit that was replaced, and the later edit whose author had not seen it."""

    record: Record
    lost: Event
    by: Event

    @property
    def remark(self) -> Remark:
        """What happened, and where the replaced text is."""
        text = shorten(str(self.lost.data.get("body") or self.lost.data.get("title") or "its fields"), 120)
        who = self.lost.by.name or "someone"
        why = f"edited in two places: the text of {who} ({self.lost.at[:16]}: {text!r}) was replaced by {self.by.by.name or 'someone'}'s"
        return Remark(where=self.record.id, why=f"{why}; both are in `holdfast history {self.record.id[:10]}`")


def overwritten(memory: Memory, ids: Iterable[str]) -> list[Overwritten]:
    """Return the edits of these records that were replaced unseen and not looked at since."""
    return [found for about in ids if (found := _last(memory, about))]


def recently_overwritten(memory: Memory) -> list[Overwritten]:
    """Return the edits of this project that were replaced unseen within DAYS."""
    since = days_before(memory.clock.now(), DAYS)
    revised = memory.store.happened(("revised",), since, MOST)
    abouts = dict.fromkeys(event.about for event in revised if SEEN in event.data)
    return [found for found in overwritten(memory, abouts) if found.record.project in (memory.project, "")]


def _last(memory: Memory, about: str) -> Overwritten | None:
    events = memory.store.events_about(about)
    pair = _unseen(events)
    record = memory.store.folded(about) if pair else None
    if pair is None or record is None or record.state != "active":
        return None
    lost, by = pair
    settled = record.verified_at >= by.at or any(event.id > by.id and _is_decision(event, by) for event in events)
    return None if settled else Overwritten(record=record, lost=lost, by=by)


def _unseen(events: Sequence[Event]) -> tuple[Event, Event] | None:
    """Return the last edit that replaced another one whose author it had not seen."""
    edits = [event for event in events if event.verb == "revised" and any(name in event.data for name in TEXT)]
    for place in range(len(edits) - 1, 0, -1):
        by, lost = edits[place], edits[place - 1]
        seen = by.data.get(SEEN)
        if isinstance(seen, str) and seen < lost.id and _clash(lost, by):
            return lost, by
    return None


def _clash(lost: Event, by: Event) -> bool:
    return any(lost.data.get(name) != by.data[name] for name in TEXT if name in lost.data and name in by.data)


def _is_decision(event: Event, by: Event) -> bool:
    """True if someone edited the record after both edits were there."""
    seen = event.data.get(SEEN)
    return event.verb == "revised" and isinstance(seen, str) and seen >= by.id
