"""What arrived from people nobody here has accepted yet: kept apart until somebody decides.

Acceptance is of a person in a project, by the address git knows them by, and is noted in this store alone.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.engine.views import records
from holdfast.model.errors import Conflict, Invalid, NotFound
from holdfast.model.event import LOCAL, Event
from holdfast.model.fold import fold_all, set_aside
from holdfast.model.record import Record
from holdfast.model.scope import without_userinfo
from holdfast.policy.secrets.find import masked
from holdfast.verbs.memory import Memory, find, is_reference

UNKNOWN = "somebody git does not know"
MOST_LOOKED_AT = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Something that waits: a new memory, or what would change one that is here."""

    record: Record  # as it would be
    events: tuple[Event, ...]
    author: str  # who brought it, as git knows them
    claimed: str  # who it says it is from
    way: str
    new: bool

    @property
    def would(self) -> str:
        """What accepting it would do."""
        return "add" if self.new else ", ".join(dict.fromkeys(event.verb for event in self.events))


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What was accepted or rejected: authors from now on, and what of theirs was waiting."""

    authors: tuple[str, ...] = ()
    records: tuple[str, ...] = ()


def waiting(memory: Memory) -> list[Waiting]:
    """Give what waits in this project, oldest first."""
    here = memory.store.project_number(memory.project)
    found = records.waiting(memory.store.db, (here,), MOST_LOOKED_AT)
    return [one for entry in reversed(found) for one in waiting_for(memory, entry.record.id)]


def waiting_for(memory: Memory, about: str, *, rejected: bool = False) -> list[Waiting]:
    """Give what waits of one record, by who brought it; on request what was rejected too."""
    history = memory.store.events_about(about)
    aside = set_aside(history)
    open_ids = {one for one, why in aside.items() if rejected or why == "waits"}
    counts = [event for event in history if event.id not in aside and event.verb not in LOCAL]
    found = []
    for mark in (event for event in history if event.verb == "arrived"):
        events = tuple(event for event in history if event.id in open_ids and event.id in mark.data.get("events", ()))
        record = fold_all([*counts, *events]) or fold_all(history)
        if not events or record is None:
            continue
        claimed = ", ".join(dict.fromkeys(event.by.name or event.by.kind for event in events))
        who, way = str(mark.data.get("from") or ""), str(mark.data.get("way") or "")
        new = any(event.verb == "recorded" for event in events)
        found.append(Waiting(record=record, events=events, author=who, claimed=claimed, way=way, new=new))
    return found


def accept(memory: Memory, references: Sequence[str] = (), *, everything: bool = False) -> Decided:
    """Let what waits count: of an author, now and in future; of single memories; or of everybody who is waiting."""
    return _decide(memory, "accepted", references, everything=everything)


def reject(memory: Memory, references: Sequence[str] = (), *, everything: bool = False) -> Decided:
    """Keep what waits out for good; what a rejected author sends from now on is turned away."""
    return _decide(memory, "rejected", references, everything=everything)


def standing(memory: Memory, author: str) -> str:
    """Tell whether somebody was accepted or rejected in this project; nothing if nobody said."""
    return "accepted" if memory.config.quarantine == "off" else authors(memory).get(address(author), "")


def authors(memory: Memory) -> dict[str, str]:
    """Give the people somebody decided about in this project, by address."""
    found = json.loads(memory.store.setting(_key(memory)) or "{}")
    return found if isinstance(found, dict) else {}


def address(author: str) -> str:
    """Give what somebody is known by: the address git has of them."""
    return author.rpartition("<")[2].rstrip("> ").strip().lower() if author else ""


def _decide(memory: Memory, verdict: str, references: Sequence[str], *, everything: bool) -> Decided:
    if not references and not everything:
        raise Invalid("Whom, or what?", hint="Give an address, an id, or --all; `holdfast quarantine` lists them.")
    known, people, chosen = waiting(memory), list[str](), list[Waiting]()
    if everything:
        people = list(dict.fromkeys(one.author for one in known if one.author))
        chosen = list(known)
    for reference in references:
        if is_reference(reference):
            chosen += _of_record(memory, reference)
        else:
            people.append(_person(reference, known))
            chosen += [one for one in known if address(one.author) == address(people[-1])]
    _note(memory, {address(one): verdict for one in people})
    events = []
    for about in dict.fromkeys(one.record.id for one in chosen):
        ids = sorted({event.id for one in chosen if one.record.id == about for event in one.events})
        events.append(memory.event("accepted" if verdict == "accepted" else "rejected", about, data={"events": ids}))
    memory.commit(events)
    return Decided(authors=tuple(people), records=tuple(event.about for event in events))


def _of_record(memory: Memory, reference: str) -> list[Waiting]:
    record = find(memory, reference).record
    if found := waiting_for(memory, record.id, rejected=True):
        return found
    raise Conflict(f"Nothing of {record.id} waits to be accepted.", hint="`holdfast quarantine` lists what does.")


def _person(reference: str, known: Iterable[Waiting]) -> str:
    """Give the author meant: by address, whether or not anything of theirs is here, or by a name that only one has."""
    said = str(masked(without_userinfo(reference.strip())))
    if "@" in said:
        return said
    named = {address(one.author): one.author for one in known if one.author.partition(" <")[0].lower() == said.lower()}
    if len(named) != 1:
        hint = "Give the address: names are chosen freely." if named else "`holdfast quarantine` lists who is waiting."
        raise NotFound(f"{len(named) or 'No'} waiting author{'s are' if named else ' is'} called {said}.", hint=hint)
    return next(iter(named.values()))


def _note(memory: Memory, decided: dict[str, str]) -> None:
    if decided:
        memory.store.note(_key(memory), json.dumps({**authors(memory), **decided}, sort_keys=True))


def _key(memory: Memory) -> str:
    return f"authors {memory.project}"


def provenance(memory: Memory, found: Iterable[Record]) -> dict[str, str]:
    """Say of records that came from elsewhere who brought them and which way, beside what they claim."""
    shared = [record.id for record in found if is_shared(record)]
    marks = memory.store.provenance(shared) if shared else {}
    return {about: who_brought([event.data for event in told]) for about, told in marks.items()}


def is_shared(record: Record) -> bool:
    """True if a record may have come from elsewhere."""
    return record.visibility == "team" or record.source == "imported"


def who_brought(marks: Iterable[Mapping[str, Any]]) -> str:
    """Return who brought or changed a record and which way, as its marks of arrival say."""
    return "; ".join(dict.fromkeys(map(_brought, marks)))


def _brought(mark: Mapping[str, Any]) -> str:
    did = "brought" if mark.get("born") else "changed"
    return f"{did} by {mark.get('from') or UNKNOWN} ({mark.get('way') or 'unknown way'})"
