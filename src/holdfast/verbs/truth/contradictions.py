"""Contradictions between records: list them with their history, mark and resolve them. `compare` finds them."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from holdfast.engine.views import links
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.record import GLOBAL, Record
from holdfast.model.text import shorten
from holdfast.policy.language.comparing import facing
from holdfast.verbs.memory import Memory, check_choice, find
from holdfast.verbs.records.conflicts import claim_of, in_order, settled_among
from holdfast.verbs.records.hot import change_trust
from holdfast.verbs.records.lifecycle import Revision, link, record_use, retire, revise, unlink
from holdfast.verbs.truth.compare import CONFLICT, contradicting, judged, waiting

How = Literal["supersede", "weaken", "remove", "both"]
HOWS: tuple[str, ...] = get_args(How)
_LOWER = {"high": "medium", "medium": "low", "low": "low"}
QUOTED = 160  # characters of a sentence that are quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """An event of one of two records."""

    at: str
    record: str
    verb: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """Two active records that contradict each other, the sentences that do, and who marked them when."""

    older: Record
    newer: Record
    explain: str = ""
    marked_at: str = ""
    marked_by: str = ""
    timeline: tuple[Moment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Disputes:
    """Open contradictions, and how many records are not compared yet."""

    found: tuple[Dispute, ...] = ()
    waiting: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyConflict:
    """A record that another one seems to contradict, how likely, and the sentences that do."""

    record: Record
    strength: float
    explain: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """How a contradiction was resolved."""

    how: str
    kept: Record
    other: Record


def conflicts(memory: Memory, reference: str) -> list[LikelyConflict]:
    """Compare one record with its nearest ones now; return what it seems to contradict, likeliest first."""
    clashes = [
        LikelyConflict(record=one.record, strength=round(one.conflict, 3), explain=_sides(one.older, one.newer))
        for one in judged(memory, find(memory, reference))
        if one.conflict >= CONFLICT
    ]
    return sorted(clashes, key=lambda clash: -clash.strength)


def open_contradictions(memory: Memory, *, limit: int = 20) -> Disputes:
    """Return the contradictions that were found or marked in this project and are not resolved, with their history."""
    store, homes = memory.store, (memory.project, GLOBAL)
    numbers = dict.fromkeys(map(store.project_number, homes))
    pairs = [pair for number in numbers for pair in links.pairs(store, "contradicts", number)]
    known = memory.known(end for pair in pairs for end in pair)
    settled, unique = settled_among(memory, list(known)), dict[tuple[str, str], Dispute]()
    for first, second in (pair for pair in pairs if known.keys() >= set(pair)):
        older, newer = in_order(known[first], known[second])
        if {older.project, newer.project} <= set(homes) and not settled(older.id, newer.id):
            unique[older.id, newer.id] = Dispute(older=older, newer=newer)
    marked = sorted(unique.values(), key=lambda each: (each.newer.created_at, each.newer.id), reverse=True)
    latest = [with_history(memory, dispute) for dispute in marked[:limit]]
    return Disputes(found=(*latest, *marked[limit:]), waiting=waiting(memory))


def mark(memory: Memory, first: str, second: str, *, note: str = "") -> Dispute:
    """Mark two records as contradicting each other, whatever their wording."""
    older, newer = _both(memory, first, second)
    if not _arrows(memory, older, newer):
        newer = link(memory, newer.id, "contradicts", older.id, note=note)
    return with_history(memory, Dispute(older=older, newer=newer))


def resolve(memory: Memory, first: str, second: str, how: str, *, keep: str = "", note: str = "") -> Resolved:
    """Resolve a contradiction: `keep` (default: the newer) supersedes, weakens or removes the other, or both are right."""
    check_choice(how, HOWS, "a resolution")
    older, newer = _both(memory, first, second)
    kept = find(memory, keep).record if keep else newer
    if kept.id not in (older.id, newer.id):
        raise Invalid(f"{kept.id} is neither of the two.", hint="`keep` must name one of them.")
    other = older if kept.id == newer.id else newer
    with memory.store.transaction():
        for arrow in _arrows(memory, older, newer):
            unlink(memory, arrow.source, "contradicts", arrow.target)
        match how:
            case "supersede":
                link(memory, kept.id, "supersedes", other.id, note=note)
            case "weaken":  # lower the confidence of the other and the trust in it, and note what contradicts it
                if other.confidence != _LOWER[other.confidence]:
                    revise(memory, other.id, Revision(confidence=_LOWER[other.confidence]))
                why = note or f"contradicted by {kept.id}"
                change_trust(memory, other.id, "contradiction_resolved", raises=False, note=why)
                record_use(memory, [other.id], "contradicted", note=why)
                link(memory, kept.id, "relates_to", other.id)
            case "remove":
                retire(memory, other.id, f"contradicted by {kept.id}" + (f": {note}" if note else ""))
            case "both":
                link(memory, kept.id, "relates_to", other.id, note=note)
    return Resolved(how=how, kept=find(memory, kept.id).record, other=find(memory, other.id).record)


def _both(memory: Memory, first: str, second: str) -> tuple[Record, Record]:
    """Return two active records that can be compared, the older one first."""
    left, right = find(memory, first).record, find(memory, second).record
    if left.id == right.id:
        raise Invalid("A memory cannot contradict itself.")
    for record in (left, right):
        if record.state != "active":
            raise Conflict(f"{record.id} is {record.state}; only active memories can contradict each other.")
    if GLOBAL not in (left.project, right.project) and left.project != right.project:
        raise Invalid("These memories belong to different projects; each may be right in its own.")
    return in_order(left, right)


def _arrows(memory: Memory, left: Record, right: Record) -> list[links.Arrow]:
    """Return the links that say two records contradict each other, in either direction."""
    ends = {left.id, right.id}
    return [arrow for arrow in contradicting(memory, left.id) if {arrow.source, arrow.target} == ends]


def with_history(memory: Memory, dispute: Dispute) -> Dispute:
    """Return a dispute with the sentences that contradict, who marked it, and the events of both records."""
    ids, moments, marks = {dispute.older.id, dispute.newer.id}, list[Moment](), list[Moment]()
    every = (event for id_ in ids for event in memory.store.events_about(id_))
    for event in sorted(every, key=lambda event: event.id):
        is_mark = event.verb == "linked" and event.data.get("relation") == "contradicts"
        if event.verb in ("linked", "unlinked") and event.data.get("target") not in ids:
            continue
        moment = Moment(at=event.at, record=event.about, verb=event.verb, by=event.by.name or event.by.kind)
        if is_mark:
            marks.append(moment)
        if event.verb != "linked" or is_mark:
            moments.append(moment)
    at, by = (marks[-1].at, marks[-1].by) if marks else ("", "")
    explain = _sides(*facing(claim_of(dispute.older), claim_of(dispute.newer))[0])
    return replace(dispute, explain=explain, marked_at=at, marked_by=by, timeline=tuple(moments))


def _sides(older: str, newer: str) -> str:
    return f"The older says “{shorten(older, QUOTED)}”, the newer “{shorten(newer, QUOTED)}”."
