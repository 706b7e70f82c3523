"""Keep changes from authors who are not accepted yet in quarantine until the user accepts or rejects them.

Authors are accepted per project, by their git email address; the decision is stored in this store only.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from holdfast.engine.views import records
from holdfast.model.errors import Conflict, NotFound
from holdfast.model.event import LOCAL, Event
from holdfast.model.record import REJECTED, Record, fold_all, set_aside, without_userinfo
from holdfast.policy.secrets.find import masked
from holdfast.verbs.memory import Memory, Report, find, is_reference

UNKNOWN = "an author unknown to git"
MOST_LOOKED_AT = 100_000
_LISTED = "`holdfast review list --sort quarantined` lists them."


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A quarantined change: a new memory, or changes to an existing one."""

    record: Record  # as it would be after acceptance
    events: tuple[Event, ...]
    author: str  # the git author of the commit that contained it
    claimed: str  # the author named in the events themselves
    way: str
    effect: str  # of accepting it, in words


def waiting(memory: Memory) -> list[Waiting]:
    """Return the quarantined changes of this project, oldest first."""
    entries = records.waiting(memory.store, memory.store.homes(memory.project), MOST_LOOKED_AT)
    return [change for entry in reversed(entries) for change in waiting_for(memory, entry.record.id)]


def waiting_for(memory: Memory, about: str, *, rejected: bool = False) -> Iterator[Waiting]:
    """Yield the quarantined changes of a record, by author; with `rejected` also those already rejected."""
    history = memory.store.events_about(about)
    aside = set_aside(history)
    open_ids = {event_id for event_id, why in aside.items() if rejected or why == "waits"}
    counts = [event for event in history if event.id not in aside and event.verb not in LOCAL]
    for arrival in (event for event in history if event.verb == "arrived"):
        events = tuple(event for event in history if event.id in open_ids.intersection(arrival.data.get("events", ())))
        record = fold_all([*counts, *events]) or fold_all(history)
        if not events or record is None:
            continue
        claimed = ", ".join(dict.fromkeys(event.by.name or event.by.kind for event in events))
        author, way = str(arrival.data.get("from") or ""), str(arrival.data.get("way") or "")
        verbs = dict.fromkeys(event.verb for event in events)
        effect = "a new memory" if "recorded" in verbs else f"would be {', '.join(verbs)}"
        yield Waiting(record=record, events=events, author=author, claimed=claimed, way=way, effect=effect)


def accept(memory: Memory, references: Sequence[str]) -> Report:
    """Accept quarantined changes, of an author (also in future) or of single memories; return both that were accepted."""
    return _decide(memory, "accepted", references)


def reject(memory: Memory, references: Sequence[str]) -> Report:
    """Reject quarantined changes for good; later changes from a rejected author are rejected on arrival."""
    return _decide(memory, "rejected", references)


def withdraw(memory: Memory, decided: Sequence[Event]) -> None:
    """Take back decisions: the changes are quarantined again, and their authors stand as before."""
    for event in decided:
        if any(later.id > event.id for later in memory.store.events_about(event.about)):
            raise Conflict(f"{event.about} was changed again in the meantime.")
        _note(memory, event.data.get("standings", {}))
    memory.commit([memory.event(event.verb, event.about, data={**event.data, "withdrawn": True}) for event in decided])


def standing(memory: Memory, author: str) -> str:
    """Return "accepted" or "rejected" for an author of this project, or an empty string if undecided."""
    return "accepted" if memory.config.quarantine == "off" else authors(memory).get(address(author), "")


def authors(memory: Memory) -> dict[str, str]:
    """Return the decisions about authors in this project, by email address."""
    return memory.store.kept(f"authors {memory.project}", dict[str, str]())


def address(author: str) -> str:
    """Return the email address of a git author ("Name <address>")."""
    return author.rpartition("<")[2].rstrip("> ").strip().lower() if author else ""


def _decide(memory: Memory, verdict: Literal["accepted", "rejected"], references: Sequence[str]) -> Report:
    quarantined, people, chosen = waiting(memory), list[str](), list[Waiting]()
    for reference in references:
        if is_reference(memory, reference):
            record = find(memory, reference).record
            changes = list(waiting_for(memory, record.id, rejected=True))
            if not changes:
                raise Conflict(f"{record.id} has no quarantined changes.", hint=_LISTED)
            chosen += changes
        else:
            people.append(_person(reference, quarantined))
            chosen += [change for change in quarantined if address(change.author) == address(people[-1])]
    known = authors(memory)
    before = {address(person): known.get(address(person), "") for person in people}
    _note(memory, {address(person): verdict for person in people})
    events = []
    for about in dict.fromkeys(change.record.id for change in chosen):
        ids = sorted({event.id for change in chosen if change.record.id == about for event in change.events})
        last = max(event.id for event in memory.store.events_about(about))  # a clock that ran ahead may have made it
        data = {"events": ids, **({"standings": before} if before else {})}  # for an undo
        events.append(memory.event(verdict, about, data=data, after=last))
    memory.commit(events)
    return {"verdict": verdict, "authors": people, "records": [event.about for event in events]}


def _person(reference: str, known: Iterable[Waiting]) -> str:
    """Return the author meant by an address (known or not), or by a name that only one quarantined author has."""
    name = str(masked(without_userinfo(reference.strip())))
    if "@" in name:
        return name
    matching = (change.author for change in known if change.author.partition(" <")[0].lower() == name.lower())
    named = {address(author): author for author in matching}
    if len(named) != 1:
        count = f"{len(named)} quarantined authors are" if named else "No quarantined author is"
        raise NotFound(f"{count} called {name}.", hint="Use the address instead of the name." if named else _LISTED)
    return next(iter(named.values()))


def _note(memory: Memory, decisions: Mapping[str, str]) -> None:
    if decisions:
        standing = {who: verdict for who, verdict in {**authors(memory), **decisions}.items() if who and verdict}
        memory.store.note(f"authors {memory.project}", standing)


def provenance(memory: Memory, records_: Iterable[Record]) -> dict[str, str]:
    """Describe for each record from elsewhere who sent it and by which replica."""
    shared = {record.id: record for record in records_ if is_shared(record)}
    arrivals = memory.store.provenance(shared) if shared else {}
    held = {about for about in arrivals if shared[about].state == "held" or shared[about].reason == REJECTED}
    return {about: who for about, events in arrivals.items() if (who := senders_of(events, held=about in held))}


def is_shared(record: Record) -> bool:
    """True if a record may have come from elsewhere."""
    return record.visibility == "team" or record.source == "imported"


def senders_of(events: Sequence[Event], *, held: bool = False) -> str:
    """Return who sent or changed a record and by which replica; changes that do not count only if all of it is `held`."""
    aside = set() if held else set_aside(events).keys()
    ways = (
        f"{'sent' if data.get('born') else 'changed'} by {data.get('from') or UNKNOWN} "
        f"({data.get('way') or 'unknown replica'})"
        for data in (event.data for event in events if event.verb == "arrived")
        if not aside >= set(data.get("events", ("",)))
    )
    return "; ".join(dict.fromkeys(ways))
