"""The border: every event that comes from a replica passes here before it is kept."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from holdfast.model.event import SHARED, Actor, Event
from holdfast.model.fold import fold_all
from holdfast.model.foreign import Remark
from holdfast.model.record import Record
from holdfast.model.text import counted
from holdfast.policy.admission.incoming import problem_of
from holdfast.policy.admission.sharing import Sharing, is_of_team
from holdfast.policy.secrets.find import masked
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.quarantine import UNKNOWN, address, standing, waiting

PAGE = 1_000
MOST_AT_ONCE = 10_000  # records of a team that one sync imports: a flood must not keep it busy for minutes
MOST_WAITING = 200  # records of one author nobody accepted: more is a flood
FROM_THE_FUTURE = "its id is of more than a day from now, and would win over everything said here"
TOO_EARLY = "its beginning has not arrived yet"
BORDER = Actor(kind="rule", name="border")
# Who brought an event: as git knows them, nothing if it does not; None if it was done here.
Carriers = Callable[[Collection[str]], Mapping[str, str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """What may be kept, from whom it came, and what was turned away."""

    events: tuple[Event, ...]
    remarks: tuple[Remark, ...]
    marks: tuple[Event, ...] = ()  # kept first, so that nothing counts before it is known where it is from
    held: Mapping[str, int] = field(default_factory=dict)  # records that wait, by who brought them
    left: bool = False  # something was left where it is, and may come another time


def passed(
    memory: Memory, events: Sequence[Event], sharing: Sharing, *, way: str = "", carriers: Carriers = lambda _: {}
) -> Passed:
    """Return the events that are new here and may be kept, credentials masked, record by record: all of a record's or none.

    What comes from a team may make and change the team's records of this project, nothing else; and it waits unless who
    brought it is accepted.
    """
    fresh: dict[str, list[Event]] = {}
    for event in _unknown(memory, events):
        fresh.setdefault(event.about, []).append(event)
    kept: list[Event] = []
    remarks = []
    left = len(fresh) - MOST_AT_ONCE if sharing.team else 0
    if left > 0:
        remarks.append(Remark(where=way, why=f"{counted(left, 'memory')} more arrived; sync again to import them"))
    for about, some in list(fresh.items())[: MOST_AT_ONCE if left > 0 else None]:
        clean = [_settled(event, sharing) for event in some]
        if problem := _objection(memory, about, clean, sharing):
            remarks.append(Remark(where=about, why=problem))
        else:
            kept.extend(clean)
    found = Passed(events=tuple(sorted(kept, key=lambda event: event.id)), remarks=tuple(remarks), left=left > 0)
    return _marked(memory, found, way, carriers) if sharing.team else found


def keep_events(memory: Memory, events: Iterable[Event]) -> list[Record]:
    """Keep events that passed; ids given from now on are later than theirs."""
    pending, changed = list(events), dict[str, Record]()
    for place in range(0, len(pending), PAGE):
        page = pending[place : place + PAGE]
        for event in page:
            memory.clock.observe(event.id)
        changed |= {entry.record.id: entry.record for entry in memory.commit(page)}
    return list(changed.values())


def marks_of(memory: Memory, events: Sequence[Event], who: str, way: str) -> list[Event]:
    """Return the events that say of others that they are somebody's and wait; what is here already is not held back."""
    fresh: dict[str, list[str]] = {}
    for event in _unknown(memory, events):
        if event.verb in SHARED:
            fresh.setdefault(event.about, []).append(event.id)
    data = {"from": who, "way": way, "held": True, "born": True}
    return [
        replace(memory.event("arrived", about, data={"events": ids, **data}), by=BORDER) for about, ids in fresh.items()
    ]


def _marked(memory: Memory, found: Passed, way: str, carriers: Carriers) -> Passed:
    """Say of what passed who brought it, and hold what comes from people nobody here accepted."""
    if not found.events:
        return found
    brought = carriers([event.id for event in found.events])
    groups: dict[tuple[str, str], list[str]] = {}  # by who brought it and what it is about
    for event in found.events:
        if (who := brought.get(event.id, "")) is not None:
            groups.setdefault((who, event.about), []).append(event.id)
    stands = {who: standing(memory, who) for who in dict.fromkeys(who for who, _ in groups)}
    born = {event.id for event in found.events if event.verb == "recorded"}
    room = _room(memory, stands)
    marks, out, held, turned = [], set[str](), Counter[str](), Counter[str]()
    for (who, about), ids in groups.items():
        waits = stands[who] != "accepted"
        if waits and (stands[who] == "rejected" or held[who] >= room[who]):
            turned[who] += 1
            out.update(ids)
            continue
        held[who] += waits
        data = {"events": ids, "from": masked(who), "way": way, "held": waits, "born": bool(born.intersection(ids))}
        marks.append(replace(memory.event("arrived", about, data=data), by=BORDER))
    remarks = [Remark(where=who or UNKNOWN, why=_turned(stands[who], count)) for who, count in turned.items()]
    return Passed(
        events=tuple(event for event in found.events if event.id not in out),
        remarks=(*found.remarks, *remarks),
        marks=tuple(marks),
        held={who or UNKNOWN: count for who, count in held.items() if count},
        left=found.left or bool(turned),
    )


def _room(memory: Memory, stands: Mapping[str, str]) -> dict[str, int]:
    """Tell how many more records of each author may wait."""
    open_ones = [who for who, stand in stands.items() if not stand]
    here = Counter(address(one.author) for one in waiting(memory)) if open_ones else Counter[str]()
    return {who: MOST_WAITING - here[address(who)] for who in stands}


def _turned(stand: str, count: int) -> str:
    what = counted(count, "memory")
    if stand == "rejected":
        return f"rejected, so {what} stayed outside"
    return f"{what} stayed outside: {MOST_WAITING} wait already; accept or reject them and sync again"


def _unknown(memory: Memory, events: Sequence[Event]) -> list[Event]:
    found: list[Event] = []
    for place in range(0, len(events), PAGE):
        page = events[place : place + PAGE]
        here = memory.store.events_with(event.id for event in page)
        found.extend(event for event in page if event.id not in here)
    return found


def _settled(event: Event, sharing: Sharing) -> Event:
    """Return an event as it is kept here: each clone calls the project by its own name."""
    data = masked(dict(event.data))
    if sharing.team:
        data.pop("project", None)
        data |= {"project": sharing.project} if event.verb == "recorded" else {}
    return replace(event, data=data)


def _objection(memory: Memory, about: str, events: Sequence[Event], sharing: Sharing) -> str:
    """Say why a record may not be changed so; nothing if it may."""
    if any(event.verb not in SHARED for event in events):
        return "it is counted where it happens, not shared"
    if sharing.team and (wrong := next(filter(None, map(problem_of, events)), "")):
        return wrong
    watched = sharing.team and memory.config.quarantine != "off"
    if watched and any(memory.clock.is_ahead(event.id) for event in events):
        return FROM_THE_FUTURE
    known = memory.store.events_about(about)
    here, after = fold_all(known), fold_all([*known, *events])
    if after is None:
        return TOO_EARLY
    if not sharing.team or (here and here.state == "erased"):
        return ""
    if here and not is_of_team(here, sharing):
        return "it is private here" if here.project == sharing.project else "it belongs to another project here"
    return "" if after.state == "erased" or is_of_team(after, sharing) else "it is not meant for the team"
