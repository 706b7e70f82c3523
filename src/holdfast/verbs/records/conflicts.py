"""Which records can be compared, and which edits another edit replaced unseen.

An edit is replaced unseen if two people changed the same memory before they synced.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from holdfast.engine.views import links
from holdfast.model.event import Event
from holdfast.model.ids import days_before
from holdfast.model.record import Record
from holdfast.model.replica import Remark
from holdfast.model.text import shorten, text_or_empty
from holdfast.policy.admission.admit import MOMENTARY
from holdfast.verbs.memory import Memory

READ = 1_500  # characters of a text that are compared
# Links that already state how two records relate, so there is no open conflict.
SETTLES = frozenset({"supersedes", "refines", "elaborates", "relates_to", "depends_on"})
SEEN = "on"  # in a revision: the last event its author had seen
TEXT = ("title", "body", "fields")
DAYS, MOST = 30.0, 5_000  # of edits that are looked at


def is_comparable(record: Record, other: Record) -> bool:
    """True if both records make lasting claims about what may be the same project, and not both are parts of documents.

    What two files of a repository say is settled there; rules would take tables and headings for claims.
    """
    lasting = not {record.kind, other.kind} & MOMENTARY
    own = record.source != "starter" and other.source != "starter"
    one_project = record.project == other.project or not record.project or not other.project
    return lasting and own and one_project and not (record.extra.get("document") and other.extra.get("document"))


def in_order(record: Record, other: Record) -> tuple[Record, Record]:
    """Return two records, oldest first."""
    first, second = sorted((record, other), key=lambda each: (each.created_at, each.id))
    return first, second


def claim_of(record: Record) -> str:
    """Return the text of a record's claim. Its fields argue for and against it, so they are left out."""
    title = "" if record.body.startswith(record.title.rstrip("…")) else f"{record.title}\n"
    return f"{title}{record.body}"[:READ]


def settled_among(memory: Memory, ids: Sequence[str]) -> Callable[[str, str], bool]:
    """Return whether nothing is left to decide about two of these records: one was superseded, or they are linked."""
    arrows = [arrow for arrow in links.leaving(memory.store, ids) if arrow.relation in SETTLES]
    connected = {frozenset((arrow.source, arrow.target)) for arrow in arrows}
    replaced = links.superseded(memory.store, ids).keys()
    return lambda *pair: not replaced.isdisjoint(pair) or frozenset(pair) in connected


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
        lost, by = self.lost.by.name or "someone", self.by.by.name or "someone"
        why = f"edited in two places: the later edit, by {by}, is kept. It replaced {lost}'s of {self.lost.at[:16].replace('T', ' ')}: “{text}”"
        return Remark(where=self.record.id, why=f"{why}. `holdfast history {self.record.id[:10]}` has both.")


def recently_overwritten(memory: Memory) -> list[Overwritten]:
    """Return the edits of this project that were replaced unseen within DAYS."""
    revised = memory.store.happened(("revised",), days_before(memory.clock.now(), DAYS), MOST)
    abouts = dict.fromkeys(event.about for event in revised if SEEN in event.data)
    return [found for found in overwritten(memory, abouts) if found.record.project in (memory.project, "")]


def overwritten(memory: Memory, ids: Iterable[str]) -> Iterator[Overwritten]:
    """Yield the last edit of each record that was replaced unseen, unless someone verified or edited the record since."""
    for about in ids:
        events = memory.store.events_about(about)
        edits = [event for event in events if event.verb == "revised" and any(name in event.data for name in TEXT)]
        unseen = list[tuple[Event, Event]]()
        for lost, by in pairwise(edits):
            both = [name for name in TEXT if name in lost.data and name in by.data]
            if "" < text_or_empty(by.data.get(SEEN)) < lost.id and any(
                lost.data[name] != by.data[name] for name in both
            ):
                unseen.append((lost, by))
        record = memory.store.folded(about) if unseen else None
        if record is None or record.state != "active":
            continue
        lost, by = unseen[-1]
        later = (event.data.get(SEEN) for event in events if event.verb == "revised" and event.id > by.id)
        if record.verified_at < by.at and not any(text_or_empty(seen) >= by.id for seen in later):
            yield Overwritten(record=record, lost=lost, by=by)
