"""The picture of what hangs together: records and the arrows between them, around one or in a whole project."""

from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.engine.views import links, records
from holdfast.engine.views.links import Arrow
from holdfast.model.record import Record
from holdfast.verbs.memory import Memory, find

MOST_NODES = 400
SIBLINGS = 12  # records of the same session that are drawn around one


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Records and the arrows between them; `more` records were left out of it.

    The relation `together` is no link that anybody made: the two came from the same session.
    """

    center: str
    records: tuple[Record, ...]
    arrows: tuple[Arrow, ...]
    more: int = 0


def picture(memory: Memory, reference: str = "", *, depth: int = 2, limit: int = MOST_NODES) -> Picture:
    """Give what hangs together around a record within some steps, or what is linked most recently in this project."""
    if reference:
        return _around(memory, find(memory, reference).record, depth, limit)
    found = links.of_project(memory.store.db, memory.store.project_number(memory.project), 2 * limit)
    return _drawn(memory, "", found, limit)


def _around(memory: Memory, center: Record, depth: int, limit: int) -> Picture:
    db = memory.store.db
    arrows: dict[Arrow, None] = {}
    reached, edge = {center.id: None}, [center.id]
    for _ in range(depth):
        fresh = [arrow for one in edge for arrow in links.around(db, one) if arrow not in arrows]
        arrows |= dict.fromkeys(fresh)
        edge = [one for one in _ends(fresh) if one not in reached]
        reached |= dict.fromkeys(edge)
        if not edge or len(reached) >= limit:
            break
    return _drawn(memory, center.id, [*arrows, *_together(memory, center)], limit)


def _together(memory: Memory, center: Record) -> list[Arrow]:
    """Give arrows to what the same session kept, so that a record nobody linked is not alone."""
    session = center.by.session
    near = records.of_session(memory.store.db, session, limit=200) if session else []
    others = [entry.record.id for entry in near if entry.record.id != center.id and entry.record.state == "active"]
    return [Arrow(source=center.id, relation="together", target=one) for one in others[-SIBLINGS:]]


def _drawn(memory: Memory, center: str, arrows: Iterable[Arrow], limit: int) -> Picture:
    """Read the records of arrows, as many as may be drawn, and leave out arrows that would hang in the air."""
    kept = list(arrows)
    ids = list(dict.fromkeys(([center] if center else []) + _ends(kept)))
    known = records.by_ids(memory.store.db, ids[:limit])
    shown = {one: entry.record for one, entry in known.items() if entry.record.state != "erased"}
    return Picture(
        center=center,
        records=tuple(shown[one] for one in ids[:limit] if one in shown),
        arrows=tuple(arrow for arrow in kept if arrow.source in shown and arrow.target in shown),
        more=max(0, len(ids) - limit),
    )


def _ends(arrows: Iterable[Arrow]) -> list[str]:
    return list(dict.fromkeys(end for arrow in arrows for end in (arrow.source, arrow.target)))
