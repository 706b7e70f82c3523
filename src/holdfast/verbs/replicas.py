"""Which replicas are turned on, and which memories may go to a team."""

from collections.abc import Iterable

from holdfast.model.errors import Conflict, Invalid
from holdfast.model.record import Record
from holdfast.verbs.keep import Revision, revise
from holdfast.verbs.memory import Memory, find

# Each with what it is; all are off until somebody turns them on.
REPLICAS = {
    "notes": "git notes of this repository: memories of the team, carried to its remote",
    "repository": "markdown files in this repository (.holdfast/memories/): memories of the team, reviewed in pull requests",
    "folder": "markdown files beside the store: everything of yours, to read and edit",
}


def is_on(memory: Memory, name: str) -> bool:
    """Tell whether a replica is turned on, for this machine and where it belongs to one for this project."""
    return memory.store.setting(_key(memory, name)) == "on"


def turn(memory: Memory, name: str, *, on: bool) -> None:
    """Turn a replica on or off; what it holds stays where it is."""
    if name not in REPLICAS:
        raise Invalid(f"There is no replica {name!r}.", hint=f"Use one of {', '.join(REPLICAS)}.")
    memory.store.note(_key(memory, name), "on" if on else "off")


def share(memory: Memory, references: Iterable[str]) -> list[Record]:
    """Let memories of this project go to its team, with their whole history; all of them or none."""
    found = [find(memory, reference).record for reference in references]
    for record in found:
        if record.project != memory.project:
            where = record.project or "every project"
            raise Conflict(
                f"{record.id} belongs to {where}, not to this repository.",
                hint="Only what belongs here is shared here.",
            )
    return [_made(memory, record, "team") for record in found]


def unshare(memory: Memory, references: Iterable[str]) -> list[Record]:
    """Keep memories here from now on; what was shared of them stays shared."""
    return [_made(memory, find(memory, reference).record, "private") for reference in references]


def _made(memory: Memory, record: Record, visibility: str) -> Record:
    changed = revise(memory, record.id, Revision(visibility=visibility))
    if not isinstance(changed, Record):
        raise Conflict(f"{record.id} holds a secret ({', '.join(changed.names)}).", hint="Revise it first.")
    return changed


def _key(memory: Memory, name: str) -> str:
    place = "" if name == "folder" else f" {memory.project}"
    return f"replica {memory.host.name} {name}{place}"
