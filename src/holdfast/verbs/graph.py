"""What a record is connected to, step by step along its links."""

from dataclasses import dataclass

from holdfast.engine.views import links, records
from holdfast.engine.views.links import Arrow
from holdfast.model.record import Record
from holdfast.verbs.memory import Memory, find

MOST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """A record, the arrows around it, and the records they lead to."""

    center: Record
    arrows: tuple[Arrow, ...] = ()
    records: tuple[Record, ...] = ()


def connected(memory: Memory, reference: str, *, depth: int = 2) -> Neighbourhood:
    """Give everything that links lead to from a record, in either direction, within some steps."""
    center, db = find(memory, reference).record, memory.store.db
    arrows: dict[Arrow, None] = {}
    reached, edge = {center.id}, [center.id]
    for _ in range(depth):
        fresh = [arrow for one in edge for arrow in links.around(db, one) if arrow not in arrows]
        arrows |= dict.fromkeys(fresh)
        edge = [
            one
            for one in dict.fromkeys(end for arrow in fresh for end in (arrow.source, arrow.target))
            if one not in reached
        ]
        reached |= set(edge)
        if not edge or len(arrows) >= MOST:
            break
    found = records.by_ids(db, reached - {center.id})
    return Neighbourhood(
        center=center, arrows=tuple(arrows)[:MOST], records=tuple(entry.record for entry in found.values())
    )
