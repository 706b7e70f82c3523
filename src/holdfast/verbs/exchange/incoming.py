"""The border: every event from a replica is checked here before it is stored."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from holdfast.model.anchor import LONGEST_ANCHOR
from holdfast.model.event import SHARED, Actor, Event, by_record
from holdfast.model.record import MAX_LABEL, MAX_LABELS, SCOPE, Record, fold_all
from holdfast.model.replica import Remark
from holdfast.model.text import LONGEST_BODY, LONGEST_TITLE, counted, texts_of
from holdfast.policy.admission.sharing import Sharing, is_of_team
from holdfast.policy.secrets.find import mask_secrets, masked
from holdfast.policy.sessions.triggers import problem_with
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.quarantine import UNKNOWN, address, standing, waiting

PAGE = 1_000
MOST_AT_ONCE = 10_000  # records of a team that one sync imports, so that a flood does not keep it busy for minutes
MOST_WAITING = 200  # quarantined records of an author; more is a flood
FROM_THE_FUTURE = "its id is dated more than a day ahead, and would override everything here"
TOO_EARLY = "its first event has not arrived yet"
SYNC = Actor(kind="rule", name="sync")
# The author of an event according to git, "" if unknown; None if it was made on this machine.
Carriers = Callable[[Collection[str]], Mapping[str, str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """The events that may be stored, their origin, and what was rejected."""

    events: tuple[Event, ...]
    remarks: tuple[Remark, ...]
    marks: tuple[Event, ...] = ()  # stored first, so that no event counts before its origin is known
    held: Mapping[str, int] = field(default_factory=dict)  # quarantined records by author
    left: bool = False  # something was left in the replica, and may be imported later


def passed(
    memory: Memory, events: Sequence[Event], sharing: Sharing, *, way: str = "", carriers: Carriers = lambda _: {}
) -> Passed:
    """Return the new events that may be stored, masked, all of a record's or none; a team's are quarantined unless accepted."""
    fresh, kept, remarks = by_record(_unknown(memory, events)), list[Event](), list[Remark]()
    left = len(fresh) - MOST_AT_ONCE if sharing.team else 0
    if left > 0:
        remarks.append(Remark(where=way, why=f"{counted(left, 'memory')} more arrived; sync again to import them"))
    for about, group in islice(fresh.items(), MOST_AT_ONCE if left > 0 else None):
        clean = []
        for event in group:
            data = masked(dict(event.data))
            if sharing.team:  # each clone has its own name for the project
                data.pop("project", None)
                data |= {"project": sharing.project} if event.verb == "recorded" else {}
            clean.append(replace(event, data=data))
        if problem := _objection(memory, about, clean, sharing):
            remarks.append(Remark(where=about, why=problem))
        else:
            kept += clean
    result = Passed(events=tuple(sorted(kept, key=lambda event: event.id)), remarks=tuple(remarks), left=left > 0)
    return _marked(memory, result, way, carriers) if sharing.team and kept else result


def keep_events(memory: Memory, events: Iterable[Event]) -> list[Record]:
    """Store events that passed; ids made from now on are later than theirs."""
    pending, changed = iter(events), dict[str, Record]()
    while page := list(islice(pending, PAGE)):
        for event in page:
            memory.clock.observe(event.id)
        changed |= {entry.record.id: entry.record for entry in memory.commit(page)}
    return list(changed.values())


def marks_of(memory: Memory, events: Sequence[Event], who: str, way: str) -> list[Event]:
    """Return the `arrived` events that quarantine others under an author's name; events already in the store stay accepted."""
    fresh = by_record(event for event in _unknown(memory, events) if event.verb in SHARED)
    data = {"from": who, "way": way, "held": True, "born": True}
    named = ((about, {"events": [event.id for event in group], **data}) for about, group in fresh.items())
    return [memory.event("arrived", about, data=marked, by=SYNC) for about, marked in named]


def _marked(memory: Memory, result: Passed, way: str, carriers: Carriers) -> Passed:
    """Mark the author of what passed, and quarantine what comes from people not accepted."""
    carried = carriers([event.id for event in result.events])
    groups = defaultdict[tuple[str, str], list[str]](list)  # by who brought it and what it is about
    for event in result.events:
        if (who := carried.get(event.id, "")) is not None:
            groups[mask_secrets(who), event.about].append(event.id)
    standings = {who: standing(memory, who) for who in {who for who, _ in groups}}
    born = {event.id for event in result.events if event.verb == "recorded"}
    decided = all(standings.values())
    quarantined = Counter(address(item.author) for item in (() if decided else waiting(memory)))
    room = {who: MOST_WAITING - quarantined[address(who)] for who in standings}
    marks, excluded, held, rejected = [], set[str](), Counter[str](), Counter[str]()
    for (who, about), ids in groups.items():
        is_quarantined = standings[who] != "accepted"
        if is_quarantined and (standings[who] == "rejected" or held[who] >= room[who]):
            rejected[who] += 1
            excluded.update(ids)
            continue
        held[who] += is_quarantined
        data = {"events": ids, "from": who, "way": way, "held": is_quarantined, "born": not born.isdisjoint(ids)}
        marks.append(memory.event("arrived", about, data=data, by=SYNC))
    remarks, full = [], f"{MOST_WAITING} are in quarantine already; accept or reject them and sync again"
    for who, count in rejected.items():
        what = counted(count, "memory")
        refused = standings[who] == "rejected"
        why = f"author rejected, so {what} not imported" if refused else f"{what} not imported: {full}"
        remarks.append(Remark(where=who or UNKNOWN, why=why))
    return Passed(
        events=tuple(event for event in result.events if event.id not in excluded),
        remarks=(*result.remarks, *remarks),
        marks=tuple(marks),
        held={who or UNKNOWN: count for who, count in held.items() if count},
        left=result.left or bool(rejected),
    )


def _unknown(memory: Memory, events: Sequence[Event]) -> Iterator[Event]:
    arrived = iter(events)
    while page := list(islice(arrived, PAGE)):
        known = memory.store.events_with(event.id for event in page)
        yield from (event for event in page if event.id not in known)


def _objection(memory: Memory, about: str, events: Sequence[Event], sharing: Sharing) -> str:
    if any(event.verb not in SHARED for event in events):
        return "it is a local counter, not shared"
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
    return "" if after.state == "erased" or is_of_team(after, sharing) else "it is not shared with the team"


LONGEST_NAME, MOST_LINKS = 200, 64
_KIND = re.compile(r"[a-z][a-z_]{0,39}")
_LISTS = {"tags": MAX_LABEL, "anchors": LONGEST_ANCHOR, "triggers": LONGEST_ANCHOR}


def problem_of(event: Event) -> str:
    """Return what is wrong with an incoming event; "" if it could have been written here."""
    data = event.data
    if len(event.by.name) > LONGEST_NAME or not event.by.name.isprintable():
        return "its author's name is too long or unprintable"
    if "kind" in data and not (isinstance(data["kind"], str) and _KIND.fullmatch(data["kind"])):
        return "its kind is not a lower-case word"
    for name, longest in (("title", LONGEST_TITLE), ("body", LONGEST_BODY)):
        if isinstance(data.get(name), str) and len(data[name]) > longest:
            return f"its {name} has more than {longest:,} characters"
    lists = {name: texts_of(data.get(name)) for name in ("scopes", *_LISTS)}
    if any(len(scope) > MAX_LABEL or not SCOPE.fullmatch(scope) for scope in lists["scopes"]):
        return "it has an invalid scope"
    labels = ((label, longest) for name, longest in _LISTS.items() for label in lists[name])
    if any(len(label) > longest or not label.isprintable() for label, longest in labels):
        return "it has a label, place or trigger that is too long or cannot be read"
    if any(len(labels) > MAX_LABELS for labels in lists.values()):
        return f"it has more than {MAX_LABELS} labels of a kind"
    links = data.get("links")
    too_many = f"it has more than {MOST_LINKS} links" if isinstance(links, list) and len(links) > MOST_LINKS else ""
    return problem_with(lists["triggers"]) or too_many
