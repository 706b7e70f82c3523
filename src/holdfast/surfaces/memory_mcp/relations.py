"""Query and remove links between records, and count them."""

from dataclasses import dataclass

from holdfast.engine.views import Entry, links, records
from holdfast.engine.views.links import Arrow
from holdfast.model.errors import Invalid
from holdfast.model.record import RELATIONS
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.lifecycle import unlink

DIRECTIONS = ("outgoing", "incoming", "both")


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A link, when it was made, and the record at its other end."""

    arrow: Arrow
    at: str
    other: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    """The number of links in this project by relation, and of records that have any."""

    by_relation: dict[str, int]
    linked: int

    @property
    def total(self) -> int:
        """The number of links."""
        return sum(self.by_relation.values())


def related(memory: Memory, reference: str, *, relation: str = "", direction: str = "both") -> list[Relation]:
    """Return the active records a record is linked to, in one direction or both."""
    _check(relation, direction)
    center = find(memory, reference).record.id
    arrows = [
        arrow
        for arrow in links.around(memory.store, center)
        if relation in ("", arrow.relation)
        and (direction == "both" or (arrow.source == center) == (direction == "outgoing"))
    ]
    ends = {arrow: arrow.target if arrow.source == center else arrow.source for arrow in arrows}
    known = records.by_ids(memory.store, ends.values())
    return [
        Relation(arrow=arrow, at=linked_at(memory, arrow), other=known[end])
        for arrow, end in ends.items()
        if end in known and known[end].record.state == "active"
    ]


def unlink_all(memory: Memory, source: str, target: str, *, relation: str = "") -> int:
    """Remove every link from one record to another, or those of one relation; return how many."""
    _check(relation, "both")
    start, end = find(memory, source).record, find(memory, target).record.id
    arrows = [link for link in start.links if link.target == end and relation in ("", link.relation)]
    with memory.store.transaction():
        for arrow in arrows:
            unlink(memory, start.id, arrow.relation, end)
    return len(arrows)


def relations(memory: Memory) -> Relations:
    """Count the links of this project."""
    store, project = memory.store, memory.store.project_number(memory.project)
    return Relations(by_relation=links.counts(store, project), linked=links.linked(store, project))


def linked_at(memory: Memory, arrow: Arrow) -> str:
    """Return when a link was made, on its own or with its record."""
    events = memory.store.events_about(arrow.source)
    wanted = {"relation": arrow.relation, "target": arrow.target}
    times = [event.at for event in events if event.verb == "linked" and wanted.items() <= dict(event.data).items()]
    return times[-1] if times else events[0].at


def _check(relation: str, direction: str) -> None:
    if relation and relation not in RELATIONS:
        raise Invalid(f"{relation!r} is not a relation.", hint=f"Use one of {', '.join(RELATIONS)}.")
    if direction not in DIRECTIONS:
        raise Invalid(f"{direction!r} is not a direction.", hint=f"Use one of {', '.join(DIRECTIONS)}.")
