"""Build the graph of records and links around one record, or across a project, for drawing."""

from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.engine.views import links, records
from holdfast.engine.views.links import Arrow
from holdfast.model.record import Record
from holdfast.verbs.memory import Memory, find

MOST_NODES = 400
SIBLINGS = 12  # records of the same session drawn around the center


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgraph:
    """Records and the links between them; `more` counts the records left out.

    The relation `together` is derived, not stored: both records come from the same session.
    """

    center: str
    records: tuple[Record, ...]
    arrows: tuple[Arrow, ...]
    more: int = 0


def subgraph(memory: Memory, reference: str = "", *, depth: int = 2, limit: int = MOST_NODES) -> Subgraph:
    """Return the graph around a record up to `depth` steps, or the most recently linked records of the project."""
    if reference:
        return _around(memory, find(memory, reference).record, depth, limit)
    arrows = links.of_project(memory.store.db, memory.store.project_number(memory.project), 2 * limit)
    return _drawn(memory, "", arrows, limit)


def _around(memory: Memory, center: Record, depth: int, limit: int) -> Subgraph:
    db = memory.store.db
    arrows: dict[Arrow, None] = {}
    seen, frontier = {center.id: None}, [center.id]
    for _ in range(depth):
        fresh = [arrow for node in frontier for arrow in links.around(db, node) if arrow not in arrows]
        arrows |= dict.fromkeys(fresh)
        frontier = [node for node in _ends(fresh) if node not in seen]
        seen |= dict.fromkeys(frontier)
        if not frontier or len(seen) >= limit:
            break
    return _drawn(memory, center.id, [*arrows, *_together(memory, center)], limit)


def _together(memory: Memory, center: Record) -> list[Arrow]:
    """Return arrows to records of the same session, so that a record without links still has neighbours."""
    session = center.by.session
    entries = records.of_session(memory.store.db, session, limit=200) if session else []
    others = [entry.record.id for entry in entries if entry.record.id != center.id and entry.record.state == "active"]
    return [Arrow(source=center.id, relation="together", target=other) for other in others[-SIBLINGS:]]


def _drawn(memory: Memory, center: str, arrows: Iterable[Arrow], limit: int) -> Subgraph:
    """Load up to `limit` records and keep only the arrows whose two ends were loaded."""
    candidates = list(arrows)
    ids = list(dict.fromkeys(([center] if center else []) + _ends(candidates)))
    known = records.by_ids(memory.store.db, ids[:limit])
    drawn = {id_: entry.record for id_, entry in known.items() if entry.record.state != "erased"}
    return Subgraph(
        center=center,
        records=tuple(drawn[id_] for id_ in ids[:limit] if id_ in drawn),
        arrows=tuple(arrow for arrow in candidates if arrow.source in drawn and arrow.target in drawn),
        more=max(0, len(ids) - limit),
    )


def _ends(arrows: Iterable[Arrow]) -> list[str]:
    return list(dict.fromkeys(end for arrow in arrows for end in (arrow.source, arrow.target)))
