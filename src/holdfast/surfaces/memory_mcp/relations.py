"""How records are connected: what one is linked to, links taken away together, and how many there are."""

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
    """A link with when it was made, and the record at its other end."""

    arrow: Arrow
    at: str
    other: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    """How many links leave this project's records, by relation, and how many records have any."""

    by_relation: dict[str, int]
    linked: int

    @property
    def total(self) -> int:
        """How many there are in all."""
        return sum(self.by_relation.values())


def related(memory: Memory, reference: str, *, relation: str = "", direction: str = "both") -> list[Relation]:
    """Give what a record is linked to, one way or both, as far as it is in use."""
    _check(relation, direction)
    center = find(memory, reference).record.id
    arrows = [
        arrow
        for arrow in links.around(memory.store.db, center)
        if relation in ("", arrow.relation)
        and (direction == "both" or (arrow.source == center) == (direction == "outgoing"))
    ]
    ends = {arrow: arrow.target if arrow.source == center else arrow.source for arrow in arrows}
    known = records.by_ids(memory.store.db, ends.values())
    return [
        Relation(arrow=arrow, at=linked_at(memory, arrow), other=known[end])
        for arrow, end in ends.items()
        if end in known and known[end].record.state == "active"
    ]


def unlink_all(memory: Memory, source: str, target: str, *, relation: str = "") -> int:
    """Take away every link from one record to another, or those of one relation; give how many there were."""
    _check(relation, "both")
    start, end = find(memory, source).record, find(memory, target).record.id
    arrows = [link for link in start.links if link.target == end and relation in ("", link.relation)]
    with memory.store.transaction():
        for arrow in arrows:
            unlink(memory, start.id, arrow.relation, end)
    return len(arrows)


def relations(memory: Memory) -> Relations:
    """Count the links of this project."""
    db, here = memory.store.db, memory.store.project_number(memory.project)
    return Relations(by_relation=links.counts(db, here), linked=links.linked(db, here))


def linked_at(memory: Memory, arrow: Arrow) -> str:
    """Give when a link was made: by itself, or with its record."""
    events = memory.store.events_about(arrow.source)
    wanted = {"relation": arrow.relation, "target": arrow.target}
    made = [event.at for event in events if event.verb == "linked" and wanted.items() <= dict(event.data).items()]
    return made[-1] if made else events[0].at


def _check(relation: str, direction: str) -> None:
    if relation and relation not in RELATIONS:
        raise Invalid(f"{relation!r} is no relation.", hint=f"Use one of {', '.join(RELATIONS)}.")
    if direction not in DIRECTIONS:
        raise Invalid(f"{direction!r} is no direction.", hint=f"Use one of {', '.join(DIRECTIONS)}.")
