"""Contradictions between records: find, mark, list with their history, and resolve them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Literal, get_args

from holdfast.engine.search.near_duplicates import Pair, Words, newest_words, pairs
from holdfast.engine.search.similar import similar
from holdfast.engine.tokens import tokens
from holdfast.engine.views import Entry, links, records, vectors
from holdfast.engine.views.records import span
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.event import Event
from holdfast.model.record import GLOBAL, Record
from holdfast.policy.admission.admit import Similar
from holdfast.policy.language.lexicon import TECHNOLOGIES
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.conflicts import (
    LEAST_SHARE,
    LikelyConflict,
    ResolvedPairs,
    claim_of,
    in_order,
    is_comparable,
    rivalling,
    settled_among,
    why_not_both,
)
from holdfast.verbs.records.lifecycle import Revision, link, record_use, retire, revise, unlink
from holdfast.verbs.truth.scans import Scan, scan
from holdfast.verbs.truth.trust import change_trust

if TYPE_CHECKING:
    from holdfast.policy.language.contradict import Contradiction

How = Literal["supersede", "weaken", "remove", "both"]
HOWS: tuple[str, ...] = get_args(How)
# Limits for scanning a whole project: about half a second, and no more texts than the parser's cache holds.
MOST_TEXTS, MOST_CHARACTERS = 2_000, 250_000
BY_MEANING = 8
MOST_RIVALS = 20  # records of a class of technologies that are compared with each other
_LOWER = {"high": "medium", "medium": "low", "low": "low"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """An event of one of two records."""

    at: str
    record: str
    verb: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """Two active records that contradict each other; `why` is None if someone marked them without a detectable reason."""

    older: Record
    newer: Record
    why: "Contradiction | None" = None
    marked_at: str = ""
    marked_by: str = ""
    timeline: tuple[Moment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Disputes:
    """Contradictions, how many records were read, and how many were skipped to limit the work."""

    found: tuple[Dispute, ...] = ()
    looked_at: int = 0
    not_looked_at: int = 0
    not_compared: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """How a contradiction was resolved."""

    how: str
    kept: Record
    other: Record


def conflicts(memory: Memory, reference: str) -> list[LikelyConflict]:
    """Return the records of the same project, or of all projects, that one seems to contradict, strongest first."""
    entry = find(memory, reference)
    matches = (*rivalling(memory, entry.record), *_by_meaning(memory, entry.number), *_by_words(memory, entry.record))
    near = {match.record.id: match for match in matches}
    settled = settled_among(memory, [entry.record.id, *near])
    clashes = [
        LikelyConflict(record=match.record, found=why)
        for match in near.values()
        if match.record.id != entry.record.id
        and is_comparable(entry.record, match.record)
        and not settled.covers(entry.record.id, match.record.id)
        and (why := why_not_both(entry.record, match))
    ]
    return sorted(clashes, key=lambda clash: -clash.found.strength)


def find_all(memory: Memory) -> Disputes:
    """Compare the newest active records of the project with each other and with similar ones; return the contradictions."""
    with memory.store.snapshot():
        return _disputes(memory, _compared(memory, 0))


def _disputes(memory: Memory, found: Scan) -> Disputes:
    """Return the pairs of a scan that still need a decision."""
    known = records.by_numbers(memory.store, {number for pair in found.pairs for number in (pair.first, pair.second)})
    active = {number: record for number, record in known.items() if record.state == "active"}
    settled = settled_among(memory, [record.id for record in active.values()])
    pairs = [pair for pair in found.pairs if pair.first in active and pair.second in active]
    disputes = [in_order(active[pair.first], active[pair.second]) for pair in pairs]
    return Disputes(
        found=tuple(
            Dispute(older=older, newer=newer) for older, newer in disputes if not settled.covers(older.id, newer.id)
        ),
        looked_at=found.looked_at,
        not_looked_at=found.not_looked_at,
        not_compared=found.not_compared,
    )


def _around(memory: Memory, entries: Sequence[Entry]) -> Iterator[Pair]:
    """Yield the contradictions of some records as pairs; the share is the strength."""
    for entry in entries:
        clashes = {clash.record.id: clash.found.strength for clash in conflicts(memory, entry.record.id)}
        for id_, other in records.by_ids(memory.store, clashes).items():
            yield Pair(first=entry.number, second=other.number, share=clashes[id_])


def _compared(memory: Memory, seq: int) -> Scan:
    """Compare the newest active records of the project with each other and with similar ones."""
    store, project = memory.store, memory.store.project_number(memory.project)
    own_span, global_span = span(project), span(store.project_number(GLOBAL))
    looked_at = newest_words(store, own_span)
    others = newest_words(store, global_span) if own_span != global_span else {}
    near = _with_rivals(pairs(store, looked_at, own_span, others, least=LEAST_SHARE), looked_at)
    confirmed, not_compared = _confirmed(memory, near)
    active = records.counted(store, records.Filter(projects=(project,)))
    return Scan(
        seq=seq,
        pairs=tuple(sorted(confirmed, key=lambda pair: (-pair.share, -pair.second))),
        newest=max(looked_at, default=0),
        looked_at=len(looked_at),
        not_looked_at=max(0, active - len(looked_at)),
        not_compared=not_compared,
    )


def _with_rivals(near: list[Pair], words: Words) -> list[Pair]:
    """Add pairs that name different technologies of a class, whatever other words they share; newest first, up to a limit."""
    known = {(pair.first, pair.second) for pair in near}
    named: dict[str, list[tuple[int, str]]] = {}
    for number in sorted(words, reverse=True):
        for name in _technologies(words[number]):
            named.setdefault(TECHNOLOGIES[name], []).append((number, name))
    rivals = {
        (min(first, second), max(first, second))
        for holders in named.values()
        for (first, name), (second, other) in combinations(holders[:MOST_RIVALS], 2)
        if name != other and first != second
    }
    return [*near, *(Pair(first=first, second=second, share=LEAST_SHARE) for first, second in sorted(rivals - known))]


def _technologies(words: frozenset[str]) -> list[str]:
    """Return the technologies that a record names, by its index words."""
    by_word = _index_words()
    found = [by_word[word] for word in words if word in by_word]
    return [*found, "gcp"] if words.issuperset(tokens("google cloud")) else found


@cache
def _index_words() -> dict[str, str]:
    return {found[0]: name for name in TECHNOLOGIES if len(found := tokens(name)) == 1}


def open_contradictions(memory: Memory, *, limit: int = 20) -> Disputes:
    """Return marked and detected contradictions that are not resolved, with their history."""
    scanned = _disputes(
        memory,
        scan(
            memory,
            "contradictions",
            everything=lambda seq: _compared(memory, seq),
            around=lambda entries: _around(memory, entries),
        ),
    )
    marked = _marked(memory)
    known = {(dispute.older.id, dispute.newer.id) for dispute in marked}
    detected = [dispute for dispute in scanned.found if (dispute.older.id, dispute.newer.id) not in known]
    disputes = (*marked, *detected)
    return replace(
        scanned, found=(*(_with_history(memory, dispute) for dispute in disputes[:limit]), *disputes[limit:])
    )


def marked(memory: Memory) -> list[Dispute]:
    """Return the contradictions marked in this project and not resolved, with their history."""
    return [_with_history(memory, dispute) for dispute in _marked(memory)]


def mark(memory: Memory, first: str, second: str, *, note: str = "") -> Dispute:
    """Mark two records as contradicting each other, whatever their wording."""
    older, newer = _both(memory, first, second)
    if not _arrows(memory, older, newer, "contradicts"):
        newer = link(memory, newer.id, "contradicts", older.id, note=note)
    return _with_history(memory, Dispute(older=older, newer=newer))


def resolve(memory: Memory, first: str, second: str, how: str, *, keep: str = "", note: str = "") -> Resolved:
    """Resolve a contradiction: `keep` (default: the newer) supersedes, weakens or removes the other, or both are right."""
    if how not in HOWS:
        raise Invalid(f"{how!r} is not a resolution.", hint=f"Use one of {', '.join(HOWS)}.")
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
    """Lower the confidence of a record and the trust in it, and note what contradicts it."""
    if other.confidence != _LOWER[other.confidence]:
        revise(memory, other.id, Revision(confidence=_LOWER[other.confidence]))
    why = note or f"contradicted by {kept.id}"
    change_trust(memory, other.id, "contradiction_resolved", raises=False, note=why)
    record_use(memory, [other.id], "contradicted", note=why)
    link(memory, kept.id, "relates_to", other.id)


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


def _chosen(memory: Memory, older: Record, newer: Record, keep: str) -> tuple[Record, Record]:
    kept = find(memory, keep).record if keep else newer
    if kept.id not in (older.id, newer.id):
        raise Invalid(f"{kept.id} is neither of the two.", hint="`keep` must name one of them.")
    return (newer, older) if kept.id == newer.id else (older, newer)


def _by_words(memory: Memory, record: Record) -> list[Similar]:
    """Return the most similar records by words, in the record's project and among global ones."""
    homes = dict.fromkeys((record.project, memory.project if record.project == GLOBAL else GLOBAL))
    matches = (near for home in homes for near in similar(memory.store, replace(record, project=home)))
    return [Similar(record=other, similarity=share) for other, share in matches if share >= LEAST_SHARE]


def _by_meaning(memory: Memory, number: int) -> list[Similar]:
    """Return the nearest records by the record's stored vector; empty if it has none."""
    stored = vectors.of(memory.store, [number]) if memory.embedder else []
    if not stored or memory.embedder is None:
        return []
    import numpy as np  # noqa: PLC0415  importing numpy takes a tenth of a second

    from holdfast.verbs.search.embed import usable  # noqa: PLC0415

    if usable(memory):
        return []
    vector = np.frombuffer(stored[0][1], dtype=np.float16).astype(np.float32)
    homes = {memory.store.project_number(name) for name in (memory.project, GLOBAL)} | {number >> records.PROJECT_BITS}
    spans = [span(home) for home in sorted(homes) if home >= 0]
    nearest = memory.codes.nearest(vector, spans, most=BY_MEANING)
    known = records.by_numbers(memory.store, nearest)
    return [
        Similar(record=known[near_number], similarity=min(1.0, max(0.0, cosine)))
        for near_number, cosine in nearest.items()
        if near_number in known and known[near_number].state == "active"
    ]


def _confirmed(memory: Memory, near: Sequence[Pair]) -> tuple[list[Pair], int]:
    """Compare pairs, most similar first, up to the limit; return contradictions and how many pairs were skipped.

    The share of what is returned is the strength of the contradiction.
    """
    known = records.by_numbers(memory.store, {number for pair in near for number in (pair.first, pair.second)})
    settled = settled_among(memory, [record.id for record in known.values()])
    read, characters = set[int](), 0
    confirmed: list[Pair] = []
    near = [pair for pair in near if pair.first in known and pair.second in known]
    for index, pair in enumerate(near):
        left, right = known[pair.first], known[pair.second]
        if not is_comparable(left, right) or settled.covers(left.id, right.id):
            continue
        for number in {pair.first, pair.second} - read:
            read.add(number)
            characters += len(claim_of(known[number]))
        if len(read) > MOST_TEXTS or characters > MOST_CHARACTERS:
            return confirmed, len(near) - index
        if why := why_not_both(left, Similar(record=right, similarity=pair.share)):
            confirmed.append(replace(pair, share=why.strength))
    return confirmed, 0


def _arrows(memory: Memory, left: Record, right: Record, relation: str) -> list[links.Arrow]:
    """Return the links of a relation between two records, in either direction."""
    ends = {left.id, right.id}
    around = links.around(memory.store, left.id)
    return [arrow for arrow in around if arrow.relation == relation and {arrow.source, arrow.target} == ends]


def _marked(memory: Memory) -> list[Dispute]:
    """Return the contradictions marked in this project and not resolved, latest first."""
    store, homes = memory.store, dict.fromkeys(map(memory.store.project_number, (memory.project, GLOBAL)))
    marked = [pair for home in homes for pair in links.pairs(store, "contradicts", home)]
    known = records.by_ids(store, {end for pair in marked for end in pair})
    settled = settled_among(memory, list(known))
    there = (pair for pair in marked if known.keys() >= set(pair))
    ordered = [in_order(known[source].record, known[target].record) for source, target in there]
    unique = {
        (older.id, newer.id): Dispute(older=older, newer=newer)
        for older, newer in ordered
        if _is_open(memory, older, newer, settled)
    }
    return sorted(unique.values(), key=lambda dispute: (dispute.newer.created_at, dispute.newer.id), reverse=True)


def _is_open(memory: Memory, left: Record, right: Record, settled: ResolvedPairs) -> bool:
    projects = (memory.project, GLOBAL)
    return left.project in projects and right.project in projects and not settled.covers(left.id, right.id)


def _with_history(memory: Memory, dispute: Dispute) -> Dispute:
    """Return a dispute with its reason, who marked it, and the events of both records."""
    older, newer = dispute.older, dispute.newer
    why = dispute.why or why_not_both(newer, Similar(record=older, similarity=1.0))
    events = sorted(_events_of(memory, (older, newer)), key=lambda event: event.id)
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


def _events_of(memory: Memory, both: Iterable[Record]) -> Iterator[Event]:
    ids = {record.id for record in both}
    for record_id in ids:
        for event in memory.store.events_about(record_id):
            if event.verb not in ("linked", "unlinked") or event.data.get("target") in ids:
                yield event


def _name(event: Event) -> str:
    return event.by.name or event.by.kind
