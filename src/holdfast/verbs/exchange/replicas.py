"""Turn replicas on and off, share memories with a team, and keep the local copy of a team's database."""

import json
from collections.abc import Iterable
from itertools import islice

from holdfast.engine.journal import PAGE
from holdfast.engine.store import Store
from holdfast.engine.views import labels
from holdfast.model.errors import Conflict
from holdfast.model.patterns import tables
from holdfast.model.record import Record, project_of_remote
from holdfast.verbs.memory import Memory, check_choice, find
from holdfast.verbs.records.lifecycle import Revision, revise
from holdfast.verbs.upkeep.erasing import note_remains

# Name and description of each; all are off until turned on.
REPLICAS = dict(tables(__file__)["replicas"])


def is_on(memory: Memory, name: str) -> bool:
    """True if a replica is turned on for this machine and, unless it is the user's own folder, for this project."""
    return _setting(memory, name).startswith("on")


def unsent(memory: Memory) -> str:
    """Return what to turn on, if nothing takes team memories to the team yet; else ""."""
    is_sent = memory.config.database or any(is_on(memory, name) for name in REPLICAS if name != "folder")
    return "" if is_sent else "nothing takes it to the team yet: holdfast replica on notes, then holdfast sync"


def turn(memory: Memory, name: str, *, on: bool, addresses: Iterable[str] = ()) -> None:
    """Turn a replica off, or on for this repository and the remotes at `addresses` only; its content stays."""
    check_choice(name, REPLICAS, "a replica")
    if not on:
        memory.store.note(_key(memory, name), "off")
        return
    places = {} if name == "folder" else _places(memory, addresses)
    known = _allowed(memory, name) if is_on(memory, name) else ()
    memory.store.note(_key(memory, name), f"on {json.dumps(sorted({*places, *known}))}")


def check_place(memory: Memory, name: str, addresses: Iterable[str] = ()) -> None:
    """Raise Conflict if a replica was not turned on for this repository and these remotes.

    Earlier versions did not store the place: then any place counts whose git remote is the project's.
    """
    if name == "folder":
        return
    places = _places(memory, addresses)
    allowed = _allowed(memory, name)
    if _setting(memory, name) == "on":
        allowed = tuple(places) if memory.checkout.project() == memory.project else ()
    if others := [place for place in places if place not in allowed]:
        raise Conflict(
            f"{name} is turned on for {', '.join(allowed) or 'another repository'}, not for {', '.join(others)}.",
            hint=f"To share {memory.project} there too, run: holdfast replica on {name}",
        )


def share(memory: Memory, references: Iterable[str]) -> list[Record]:
    """Share memories of this project with its team, with their whole history; all of them or none."""
    shared = [find(memory, reference).record for reference in references]
    if other := next((record for record in shared if record.project != memory.project), None):
        where, hint = other.project or "every project", "Only memories of this repository can be shared here."
        raise Conflict(f"{other.id} belongs to {where}, not to this repository.", hint=hint)
    return [_with_visibility(memory, record.id, "team") for record in shared]


def unshare(memory: Memory, references: Iterable[str]) -> list[Record]:
    """Stop sharing memories; what was shared already stays shared."""
    return [_with_visibility(memory, reference, "private") for reference in references]


def _with_visibility(memory: Memory, reference: str, visibility: str) -> Record:
    changed = revise(memory, reference, Revision(visibility=visibility))
    if isinstance(changed, Record):
        return changed
    id_ = find(memory, reference).record.id
    raise Conflict(f"{id_} contains a secret ({', '.join(changed.names)}).", hint="Revise it first.")


def _places(memory: Memory, addresses: Iterable[str]) -> dict[str, None]:
    """Return the identities of the current repository and remotes, without user names or passwords."""
    return dict.fromkeys(project_of_remote(address) or address for address in (memory.checkout.address(), *addresses))


def _allowed(memory: Memory, name: str) -> tuple[str, ...]:
    return tuple(json.loads(_setting(memory, name).removeprefix("on") or "[]"))


def _setting(memory: Memory, name: str) -> str:
    return memory.store.setting(_key(memory, name)) or ""


def _key(memory: Memory, name: str) -> str:
    place = "" if name == "folder" else f" {memory.project}"
    return f"replica {memory.host.name} {name}{place}"


# The local copy of a team's database: it stores writes while that is unreachable, and sends them when it is back.
_SENT, _PULLED = "team sent", "team pulled"


def waiting(copy: Store) -> int:
    """Return the number of events of the copy that were not sent yet."""
    return copy.last_seq() - int(copy.setting(_SENT) or 0)


def drain(copy: Store, team: Store) -> int:
    """Send the unsent events; return how many were new to the team. An interrupted run is repeated the next time."""
    unsent, new = copy.journal(int(copy.setting(_SENT) or 0)), 0
    while page := list(islice(unsent, PAGE)):
        known = team.events_with([event.id for _, event in page])
        fresh = [event for _, event in page if event.id not in known]
        note_remains(team, fresh)
        team.commit(fresh)
        copy.note(_SENT, str(page[-1][0]))
        new += len(fresh)
    return new


def pull(copy: Store, team: Store, project: str, own: str) -> int:
    """Copy a project's records and the global ones, except others' private ones; return the number of events."""
    name, pulled = f"{_PULLED} {project}", 0
    while page := labels.readable_after(team, int(copy.setting(name) or 0), project, own):
        events = team.events_with(page.values())
        nothing_waits = not waiting(copy)
        note_remains(copy, events.values())  # `finish` removes it from the files of this machine
        copy.commit(list(events.values()))
        copy.note(name, str(max(page)))
        if nothing_waits:  # pulled events need not be sent back
            copy.note(_SENT, str(copy.last_seq()))
        pulled += len(events)
    return pulled
