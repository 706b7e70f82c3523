"""Contradictions between records: found, marked, shown with how they came about, and resolved by somebody."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from holdfast.engine.search.near_duplicates import Pair, newest_words, pairs
from holdfast.engine.search.similar import similar
from holdfast.engine.views import links, records, vectors
from holdfast.engine.views.records import span
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.event import Event
from holdfast.model.record import GLOBAL, Record
from holdfast.policy.admission.admit import Similar
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.conflicts import (
    LEAST_SHARE,
    Clash,
    Settled,
    in_order,
    is_comparable,
    said,
    settled_among,
    why_not_both,
)
from holdfast.verbs.records.lifecycle import Revision, link, record_use, retire, revise, unlink

if TYPE_CHECKING:
    from holdfast.policy.language.contradict import Contradiction

How = Literal["supersede", "weaken", "remove", "both"]
HOWS: tuple[str, ...] = get_args(How)
# What is read when a whole project is looked through: half a second of it, and no more texts than are kept once read.
MOST_TEXTS, MOST_CHARACTERS = 2_000, 250_000
BY_MEANING = 8
_LOWER = {"high": "medium", "medium": "low", "low": "low"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Something that happened to one of two records."""

    at: str
    record: str
    verb: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """Two records in use that do not go together; `why` is unknown where only somebody's word stands for it."""

    older: Record
    newer: Record
    why: "Contradiction | None" = None
    marked_at: str = ""
    marked_by: str = ""
    timeline: tuple[Moment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Disputes:
    """What contradicts what; how many records were looked at, and what was left out to keep the work bounded."""

    found: tuple[Dispute, ...] = ()
    looked_at: int = 0
    not_looked_at: int = 0
    not_compared: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """How a contradiction ended."""

    how: str
    kept: Record
    other: Record


def conflicts(memory: Memory, reference: str) -> list[Clash]:
    """Give the records of the same project, or of all projects, that one seems to contradict; surest first."""
    entry = find(memory, reference)
    near = {one.record.id: one for one in (*_by_meaning(memory, entry.number), *_by_words(memory, entry.record))}
    settled = settled_among(memory, [entry.record.id, *near])
    found = [
        Clash(record=one.record, found=why)
        for one in near.values()
        if one.record.id != entry.record.id
        and is_comparable(entry.record, one.record)
        and not settled.covers(entry.record.id, one.record.id)
        and (why := why_not_both(entry.record, one))
    ]
    return sorted(found, key=lambda one: -one.found.strength)


def find_all(memory: Memory) -> Disputes:
    """Look through the newest active records of the project for contradictions, with each other and with what is near."""
    db, here = memory.store.db, memory.store.project_number(memory.project)
    place, shared = span(here), span(memory.store.project_number(GLOBAL))
    looked_at = newest_words(db, place)
    others = newest_words(db, shared) if place != shared else {}
    near = pairs(db, looked_at, place, others, least=LEAST_SHARE)
    found, not_compared = _confirmed(memory, near)
    active = records.counted(db, records.Filter(projects=(here,)))
    return Disputes(
        found=tuple(sorted(found, key=_surest)),
        looked_at=len(looked_at),
        not_looked_at=max(0, active - len(looked_at)),
        not_compared=not_compared,
    )


def open_contradictions(memory: Memory, *, limit: int = 20) -> Disputes:
    """Give what was marked and what was found, as far as nobody settled it, with how it came about."""
    looked = find_all(memory)
    marked = _marked(memory)
    known = {(one.older.id, one.newer.id) for one in marked}
    found = [one for one in looked.found if (one.older.id, one.newer.id) not in known]
    every = (*marked, *found)
    return replace(looked, found=(*(_told(memory, one) for one in every[:limit]), *every[limit:]))


def marked(memory: Memory) -> list[Dispute]:
    """Give the contradictions somebody marked in this project and did not settle, with how they came about."""
    return [_told(memory, one) for one in _marked(memory)]


def mark(memory: Memory, first: str, second: str, *, note: str = "") -> Dispute:
    """Say that two records contradict each other, whatever their wording."""
    older, newer = _both(memory, first, second)
    if not _arrows(memory, older, newer, "contradicts"):
        newer = link(memory, newer.id, "contradicts", older.id, note=note)
    return _told(memory, Dispute(older=older, newer=newer))


def resolve(memory: Memory, first: str, second: str, how: str, *, keep: str = "", note: str = "") -> Resolved:
    """End a contradiction: `keep` (else the newer) supersedes, weakens or removes the other, or both hold after all."""
    if how not in HOWS:
        raise Invalid(f"{how!r} is no way to resolve.", hint=f"Use one of {', '.join(HOWS)}.")
    older, newer = _both(memory, first, second)
    kept, other = _chosen(memory, older, newer, keep)
    with memory.store.transaction():
        for arrow in _arrows(memory, older, newer, "contradicts"):
            unlink(memory, arrow.source, "contradicts", arrow.target)
        match how:
            case "supersede":
                link(memory, kept.id, "supersedes", other.id, note=note)
            case "weaken":
                _weaken(memory, kept, other, note)
            case "remove":
                retire(memory, other.id, f"contradicted by {kept.id}" + (f": {note}" if note else ""))
            case "both":
                link(memory, kept.id, "relates_to", other.id, note=note)
    return Resolved(how=how, kept=find(memory, kept.id).record, other=find(memory, other.id).record)


def _weaken(memory: Memory, kept: Record, other: Record, note: str) -> None:
    """Lower the confidence of a record, and note what speaks against it."""
    if other.confidence != _LOWER[other.confidence]:
        revise(memory, other.id, Revision(confidence=_LOWER[other.confidence]))
    record_use(memory, [other.id], "contradicted", note=note or f"contradicted by {kept.id}")
    link(memory, kept.id, "relates_to", other.id)


def _both(memory: Memory, first: str, second: str) -> tuple[Record, Record]:
    """Give two records in use that may be held against each other, the older one in front."""
    one, other = find(memory, first).record, find(memory, second).record
    if one.id == other.id:
        raise Invalid("A memory cannot contradict itself.")
    for record in (one, other):
        if record.state != "active":
            raise Conflict(f"{record.id} is {record.state}; only memories in use contradict each other.")
    if GLOBAL not in (one.project, other.project) and one.project != other.project:
        raise Invalid("These are memories of two projects; each may be right in its own.")
    return in_order(one, other)


def _chosen(memory: Memory, older: Record, newer: Record, keep: str) -> tuple[Record, Record]:
    kept = find(memory, keep).record if keep else newer
    if kept.id not in (older.id, newer.id):
        raise Invalid(f"{kept.id} is neither of the two.", hint="`keep` names the one that holds.")
    return (newer, older) if kept.id == newer.id else (older, newer)


def _by_words(memory: Memory, record: Record) -> list[Similar]:
    """Give the nearest records by words, in the record's project and among those that hold everywhere."""
    homes = dict.fromkeys((record.project, memory.project if record.project == GLOBAL else GLOBAL))
    found = (near for home in homes for near in similar(memory.store, replace(record, project=home)))
    return [Similar(record=other, similarity=share) for other, share in found if share >= LEAST_SHARE]


def _by_meaning(memory: Memory, number: int) -> list[Similar]:
    """Give the nearest records by the vector a record already has; none where it has none."""
    stored = vectors.of(memory.store.db, [number]) if memory.embedder else []
    if not stored or memory.embedder is None:
        return []
    import numpy as np  # noqa: PLC0415  numpy costs a tenth of a second: only for meaning

    from holdfast.verbs.search.embed import usable  # noqa: PLC0415

    if usable(memory):
        return []
    vector = np.frombuffer(stored[0][1], dtype=np.float16).astype(np.float32)
    homes = {memory.store.project_number(name) for name in (memory.project, GLOBAL)} | {number >> records.PROJECT_BITS}
    spans = [span(home) for home in sorted(homes) if home >= 0]
    nearest = memory.codes.nearest(vector, spans, most=BY_MEANING)
    known = records.by_numbers(memory.store.db, nearest)
    return [
        Similar(record=known[one], similarity=min(1.0, max(0.0, cosine)))
        for one, cosine in nearest.items()
        if one in known and known[one].state == "active"
    ]


def _confirmed(memory: Memory, near: Sequence[Pair]) -> tuple[list[Dispute], int]:
    """Compare pairs, most alike first, until enough was read; give what cannot both hold and how many were left."""
    known = records.by_numbers(memory.store.db, {number for pair in near for number in (pair.first, pair.second)})
    settled = settled_among(memory, [record.id for record in known.values()])
    read, characters = set[int](), 0
    found: list[Dispute] = []
    for place, pair in enumerate(near):
        one, other = known[pair.first], known[pair.second]
        if not is_comparable(one, other) or settled.covers(one.id, other.id):
            continue
        for number in {pair.first, pair.second} - read:
            read.add(number)
            characters += len(said(known[number]))
        if len(read) > MOST_TEXTS or characters > MOST_CHARACTERS:
            return found, len(near) - place
        if why := why_not_both(one, Similar(record=other, similarity=pair.share)):
            older, newer = in_order(one, other)
            found.append(Dispute(older=older, newer=newer, why=why))
    return found, 0


def _arrows(memory: Memory, one: Record, other: Record, relation: str) -> list[links.Arrow]:
    """Give the links of one relation between two records, either way."""
    ends = {one.id, other.id}
    around = links.around(memory.store.db, one.id)
    return [arrow for arrow in around if arrow.relation == relation and {arrow.source, arrow.target} == ends]


def _marked(memory: Memory) -> list[Dispute]:
    """Give the contradictions somebody marked in this project and did not settle, latest first."""
    db, homes = memory.store.db, dict.fromkeys(map(memory.store.project_number, (memory.project, GLOBAL)))
    marked = [pair for home in homes for pair in links.pairs(db, "contradicts", home)]
    known = records.by_ids(db, {end for pair in marked for end in pair})
    settled = settled_among(memory, list(known))
    found = [in_order(known[one].record, known[other].record) for one, other in marked]
    unique = {
        (older.id, newer.id): Dispute(older=older, newer=newer)
        for older, newer in found
        if _is_open(memory, older, newer, settled)
    }
    return sorted(unique.values(), key=lambda one: (one.newer.created_at, one.newer.id), reverse=True)


def _is_open(memory: Memory, one: Record, other: Record, settled: Settled) -> bool:
    here = (memory.project, GLOBAL)
    return one.project in here and other.project in here and not settled.covers(one.id, other.id)


def _told(memory: Memory, dispute: Dispute) -> Dispute:
    """Add to a dispute why it is one, who marked it, and what happened to both records."""
    older, newer = dispute.older, dispute.newer
    why = dispute.why or why_not_both(newer, Similar(record=older, similarity=1.0))
    events = sorted(_happened(memory, (older, newer)), key=lambda event: event.id)
    marks = [event for event in events if event.verb == "linked" and event.data.get("relation") == "contradicts"]
    return replace(
        dispute,
        why=why,
        marked_at=marks[-1].at if marks else "",
        marked_by=_name(marks[-1]) if marks else "",
        timeline=tuple(
            Moment(at=event.at, record=event.about, verb=event.verb, by=_name(event))
            for event in events
            if event.verb != "linked" or event in marks
        ),
    )


def _happened(memory: Memory, both: Iterable[Record]) -> Iterator[Event]:
    ids = {record.id for record in both}
    for record_id in ids:
        for event in memory.store.events_about(record_id):
            if event.verb not in ("linked", "unlinked") or event.data.get("target") in ids:
                yield event


def _name(event: Event) -> str:
    return event.by.name or event.by.kind


def _surest(dispute: Dispute) -> tuple[float, str]:
    return -dispute.why.strength if dispute.why else 0.0, dispute.newer.id
