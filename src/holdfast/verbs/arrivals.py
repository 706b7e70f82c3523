"""The border: every event that comes from a replica passes here before it is kept."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from holdfast.model.event import FOLDING, Event
from holdfast.model.fold import fold_all
from holdfast.model.foreign import Remark
from holdfast.model.record import Record
from holdfast.policy.secrets import masked
from holdfast.policy.sharing import Sharing, is_of_team
from holdfast.verbs.memory import Memory

PAGE = 1_000
TOO_EARLY = "its beginning has not arrived yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """What may be kept, and what was turned away."""

    events: tuple[Event, ...]
    remarks: tuple[Remark, ...]


def passed(memory: Memory, events: Sequence[Event], sharing: Sharing) -> Passed:
    """Give the events that are new here and may be kept, credentials masked, record by record: all of a record's or none.

    What comes from a team may make and change the team's records of this project, nothing else.
    """
    fresh: dict[str, list[Event]] = {}
    for event in _unknown(memory, events):
        fresh.setdefault(event.about, []).append(event)
    kept: list[Event] = []
    remarks = []
    for about, some in fresh.items():
        clean = [_settled(event, sharing) for event in some]
        if problem := _objection(memory, about, clean, sharing):
            remarks.append(Remark(where=about, why=problem))
        else:
            kept.extend(clean)
    return Passed(events=tuple(sorted(kept, key=lambda event: event.id)), remarks=tuple(remarks))


def keep_events(memory: Memory, events: Iterable[Event]) -> list[Record]:
    """Keep events that passed; ids given from now on are later than theirs."""
    waiting, changed = list(events), dict[str, Record]()
    for place in range(0, len(waiting), PAGE):
        page = waiting[place : place + PAGE]
        for event in page:
            memory.clock.observe(event.id)
        changed |= {entry.record.id: entry.record for entry in memory.commit(page)}
    return list(changed.values())


def _unknown(memory: Memory, events: Sequence[Event]) -> list[Event]:
    found: list[Event] = []
    for place in range(0, len(events), PAGE):
        page = events[place : place + PAGE]
        here = memory.store.events_with(event.id for event in page)
        found.extend(event for event in page if event.id not in here)
    return found


def _settled(event: Event, sharing: Sharing) -> Event:
    """Give an event as it is kept here: each clone calls the project by its own name."""
    data = masked(dict(event.data))
    if sharing.team:
        data.pop("project", None)
        data |= {"project": sharing.project} if event.verb == "recorded" else {}
    return replace(event, data=data)


def _objection(memory: Memory, about: str, events: Sequence[Event], sharing: Sharing) -> str:
    """Say why a record may not be changed so; nothing if it may."""
    if any(event.verb not in FOLDING for event in events):
        return "it is counted where it happens, not shared"
    known = memory.store.events_about(about)
    here, after = fold_all(known), fold_all([*known, *events])
    if after is None:
        return TOO_EARLY
    if not sharing.team or (here and here.state == "erased"):
        return ""
    if here and not is_of_team(here, sharing):
        return "it is private here" if here.project == sharing.project else "it belongs to another project here"
    return "" if after.state == "erased" or is_of_team(after, sharing) else "it is not meant for the team"
