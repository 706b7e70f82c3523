"""Contradictions between memories: find them, list them with their history, mark and resolve them.

The worker compares each new or changed memory once with its nearest ones: the classifier judges whether they conflict or
say the same. A conflict becomes a `contradicts` link, which recalls, briefs and the review use. Two that say the same are
noted by their ids for the review of duplicates.
"""

import logging
import math
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal, get_args

from holdfast.engine.search.lexical import similar
from holdfast.engine.views import Entry, links, records, vectors
from holdfast.model.errors import Conflict, EmbedderError, Invalid, NotFound, StoreError
from holdfast.model.event import Actor
from holdfast.model.ids import days_before
from holdfast.model.kinds import SEPARATE
from holdfast.model.ports import Embedder
from holdfast.model.record import GLOBAL, Record
from holdfast.model.text import shorten
from holdfast.policy.language.comparing import facing, other_numbers
from holdfast.policy.language.overlap import words
from holdfast.verbs.memory import Memory, Report, check_choice, find
from holdfast.verbs.records.conflicts import claim_of, in_order, is_comparable, settled_among
from holdfast.verbs.records.hot import change_trust
from holdfast.verbs.records.lifecycle import Revision, link, record_use, retire, revise, unlink

log = logging.getLogger(__name__)
BY = Actor(kind="rule", name="comparison")
# Measured on pairs of another hand (`python3 dev.py bench classifier`): from here on two memories conflict, or say the same.
CONFLICT, LIKELY, SAME = 0.55, 0.25, 0.25
# Most memories nearby are about something else: the odds of a conflict rise with the cosine of two sentences above `ABOUT_ONE`.
ABOUT_ONE, RISE = 0.66, 4.4
BY_WORDS, LEAST_SHARE, BY_MEANING, LEAST_COSINE = 5, 0.15, 6, 0.5  # what is compared: the nearest of each sort
MOST_CONFLICTS = 3  # of one memory: if more seem to conflict, they are numbered alike, and all hold
MOST_FACED = 3  # pairs of sentences of two memories that are judged: those that share most words
OTHER_THINGS = 2  # numbers in which sentences about different things differ: “Shard 3 is on db3”
ALIKE = 0.5  # share of common words from which texts of several sentences may say the same
MOST_PAIRS, BATCH = 2_000, 10
MOST_RECENT = 20  # conflicts that sessions hear of
PATIENCE = 1.0  # seconds of comparing when someone asks what was found
PROGRESS = "comparison"  # setting: the last event compared, by which classifier, and pairs that say the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A memory near another one: how likely they conflict or say the same, and the sentences compared."""

    record: Record
    conflict: float
    same: float
    older: str
    newer: str


def compare(memory: Memory, *, seconds: float = math.inf, team: bool = False) -> int:
    """Compare what changed, for about so many seconds; return how many. For a `team` only what all members see."""
    if memory.classifier is None or memory.store.is_guarded or memory.role == "read":
        return 0
    progress, done, until = _progress(memory), 0, time.monotonic() + seconds
    while time.monotonic() < until and (changed := memory.store.changed_after(progress["seq"], BATCH)):
        same = [pair for pair in progress["same"] if not changed.keys() & set(pair)]
        for entry in records.by_ids(memory.store, changed).values():
            is_seen = entry.record.visibility == "team" or not team
            if is_seen and entry.record.state == "active" and entry.record.kind not in SEPARATE:
                here = memory.acting(actor=BY, project=entry.record.project or memory.project)
                with suppress(NotFound, Conflict):  # another process changed it meanwhile: that is compared next
                    same += _noted(here, entry, team=team)
                done += 1
        progress |= {"seq": max(changed.values()), "same": same[-MOST_PAIRS:]}
        memory.store.note(PROGRESS, progress)
    return done


def compare_now(memory: Memory) -> int:
    """Compare what is new for a second, for someone who asks, and return how much is left; a store that cannot be written is shown as it is."""
    try:
        compare(memory, seconds=PATIENCE)
    except (EmbedderError, StoreError) as problem:
        log.warning("new memories are not compared: %s", problem)
    return waiting(memory)


def _noted(memory: Memory, entry: Entry, *, team: bool) -> list[list[str]]:
    """Link a memory with what it conflicts with, and unlink what no longer does; return the pairs that say the same."""
    record = entry.record
    near = [one for one in judged(memory, entry) if one.record.visibility == "team" or not team]
    clashes = [one for one in near if one.conflict >= CONFLICT]
    clashes = clashes if len(clashes) <= MOST_CONFLICTS else []
    still = {record.id, *(one.record.id for one in clashes)}
    outdated = [arrow for arrow in contradicting(memory, record.id) if not {arrow.source, arrow.target} <= still]
    with memory.store.transaction():
        for one in clashes:
            older, newer = in_order(record, one.record)
            link(memory, newer.id, "contradicts", older.id)
        for arrow in outdated:
            made = memory.store.events_about(arrow.source)
            if any(event.by == BY and event.data.get("target") == arrow.target for event in made):
                unlink(memory, arrow.source, "contradicts", arrow.target)
    return [sorted((record.id, one.record.id)) for one in near if one.same >= SAME and one not in clashes]


def judged(memory: Memory, entry: Entry) -> Iterator[Judged]:
    """Yield the nearest memories of the same project, or of all projects, as the classifier judges each."""
    near = nearest(memory, entry)
    settled = settled_among(memory, [entry.record.id, *(record.id for record in near)])
    for record in near:
        if not settled(entry.record.id, record.id):
            yield against(memory, record, *map(claim_of, in_order(entry.record, record)))


def against(memory: Memory, record: Record, older: str, newer: str) -> Judged:
    """Return how a text relates to that of a record; both are given, in their order."""
    faced = facing(older, newer, MOST_FACED)
    chances = [memory.reader.relation(*pair) if other_numbers(*pair) < OTHER_THINGS else {} for pair in faced]
    clash, shown = max(((each.get("conflict", 0.0), pair) for each, pair in zip(chances, faced, strict=True)))
    if clash >= LIKELY and (cosine := _cosine(memory.embedder, *shown)) is not None:
        odds = math.log(clash / max(1 - clash, 0.001)) + RISE * (cosine - ABOUT_ONE)
        clash = 1 / (1 + math.exp(-odds))
    same, is_whole = 0.0, len(faced) == 1 or _overlap(older, newer) >= ALIKE
    for each, pair in zip(chances, faced, strict=True) if is_whole else ():
        # One text could replace both: they say the same, or one says more in the same words.
        refines = each.get("refines", 0.0) if _overlap(*pair) >= ALIKE else 0.0
        same = max(same, each.get("same", 0.0) + refines)
    return Judged(record=record, conflict=clash, same=same, older=shown[0], newer=shown[1])


def _cosine(embedder: Embedder | None, older: str, newer: str) -> float | None:
    """Return the cosine of two sentences; None unless the built-in encoder tells it, for which the bars were measured."""
    first, second = embedder.embed([older, newer]) if embedder else (None, None)
    if first is None or second is None or first.tokens is None:
        return None
    return float(first.vector @ second.vector)


def _overlap(first: str, second: str) -> float:
    left, right = words(first), words(second)
    return len(left & right) / (len(left | right) or 1)


def nearest(memory: Memory, entry: Entry) -> list[Record]:
    """Return what a memory is compared with: the nearest by words and by vectors, and what it is said to contradict."""
    record = entry.record
    homes = dict.fromkeys((record.project, memory.project if record.project == GLOBAL else GLOBAL))
    by_words = (near for home in homes for near in similar(memory.store, replace(record, project=home)))
    close = sorted((one for one in by_words if one[1] >= LEAST_SHARE), key=lambda one: -one[1])[:BY_WORDS]
    found = {other.id: other for other, _ in close}
    marked = {end for arrow in contradicting(memory, record.id) for end in (arrow.source, arrow.target)}
    found |= {id_: other.record for id_, other in records.by_ids(memory.store, marked).items()}
    stored = vectors.by_ids(memory.store, [record.id]) if memory.embedder else {}
    if stored and memory.embedder is not None:
        import numpy as np  # noqa: PLC0415  importing numpy takes a tenth of a second

        from holdfast.verbs.search.embed import usable  # noqa: PLC0415

        least = memory.embedder.floor + LEAST_COSINE * (memory.embedder.ceiling - memory.embedder.floor)
        vector = np.frombuffer(stored[record.id], dtype=np.float16).astype(np.float32)
        spans = [records.span(home) for home in map(memory.store.project_number, homes) if home >= 0]
        close_by = {} if usable(memory) else memory.caches.codes.nearest(vector, spans)
        numbers = [other for other, cosine in islice(close_by.items(), BY_MEANING) if cosine >= least]
        found |= {other.id: other for other in records.by_numbers(memory.store, numbers).values()}
    others = {id_: other for id_, other in found.items() if id_ != record.id and other.state == "active"}
    replaced = links.superseded(memory.store, [record.id, *found]).keys()
    kept = () if record.id in replaced else others.values()
    breath = (record.extra.get("trail"), record.by.kind)  # what is said in one breath holds together
    apart = (one for one in kept if not breath[0] or (one.extra.get("trail"), one.by.kind) != breath)
    return [other for other in apart if is_comparable(record, other) and other.id not in replaced]


def contradicting(memory: Memory, record_id: str) -> list[links.Arrow]:
    """Return the links of a record with those it contradicts, in either direction."""
    return [arrow for arrow in links.around(memory.store, record_id) if arrow.relation == "contradicts"]


def recent_conflicts(memory: Memory) -> list[tuple[Record, Record]]:
    """Return the conflicts that a comparison found within a day and that still stand: the older and the newer memory."""
    events = memory.store.happened(("linked",), days_before(memory.clock.now(), 1), MOST_RECENT)
    found = {event.about: str(event.data.get("target")) for event in events if event.by == BY}
    known = memory.known((*found, *found.values()))
    active = {id_ for id_, record in known.items() if record.state == "active"}
    marked = {arrow.target for newer in found for arrow in contradicting(memory, newer)}
    pairs = ((older, newer) for newer, older in found.items() if {older, newer} <= active and older in marked)
    return [(known[older], known[newer]) for older, newer in pairs]


def same_pairs(memory: Memory) -> list[tuple[str, str]]:
    """Return the ids of memories that say the same, as far as they were compared, latest first."""
    return [(first, second) for first, second in reversed(_progress(memory)["same"])]


def waiting(memory: Memory) -> int:
    """Return how many memories changed since they were last compared, at most ten thousand."""
    if memory.classifier is None or memory.store.is_guarded:
        return 0
    return len(memory.store.changed_after(_progress(memory)["seq"], 10_000))


def _progress(memory: Memory) -> dict[str, Any]:
    """Return how far memories were compared; with another classifier everything is compared again."""
    name = memory.classifier.name if memory.classifier else ""
    known = memory.store.kept(PROGRESS, dict[str, Any]())
    return known if known.get("by") == name else {"seq": 0, "by": name, "same": []}


How = Literal["supersede", "weaken", "remove", "both"]
HOWS: tuple[str, ...] = get_args(How)
_LOWER = {"high": "medium", "medium": "low", "low": "low"}
QUOTED = 160  # characters of a sentence that are quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """Two active records that contradict each other, the sentences that do, and who marked them when."""

    older: Record
    newer: Record
    explain: str = ""
    marked_at: str = ""
    marked_by: str = ""
    timeline: tuple[Report, ...] = ()  # the events of both: at, record, verb, by


def conflicts(memory: Memory, reference: str) -> list[Report]:
    """Compare one record with its nearest ones now; return what it seems to contradict and how likely, likeliest first."""
    clashes = [
        {"record": one.record, "strength": round(one.conflict, 3), "explain": _sides(one.older, one.newer)}
        for one in judged(memory, find(memory, reference))
        if one.conflict >= CONFLICT
    ]
    return sorted(clashes, key=lambda clash: -clash["strength"])


def open_contradictions(memory: Memory, *, limit: int = 20) -> Report:
    """Return the contradictions of this project that are not resolved, with their history, and how many records wait to be compared."""
    homes = (memory.project, GLOBAL)
    numbers = dict.fromkeys(map(memory.store.project_number, homes))
    pairs = [pair for number in numbers for pair in links.pairs(memory.store, "contradicts", number)]
    known = memory.known(end for pair in pairs for end in pair)
    settled, unique = settled_among(memory, list(known)), dict[tuple[str, str], Dispute]()
    for first, second in (pair for pair in pairs if known.keys() >= set(pair)):
        older, newer = in_order(known[first], known[second])
        if {older.project, newer.project} <= set(homes) and not settled(older.id, newer.id):
            unique[older.id, newer.id] = Dispute(older=older, newer=newer)
    marked = sorted(unique.values(), key=lambda each: (each.newer.created_at, each.newer.id), reverse=True)
    latest = (with_history(memory, dispute) for dispute in marked[:limit])
    return {"found": [*latest, *marked[limit:]], "waiting": waiting(memory)}


def mark(memory: Memory, first: str, second: str, *, note: str = "") -> Dispute:
    """Mark two records as contradicting each other, whatever their wording."""
    older, newer = _both(memory, first, second)
    if not _arrows(memory, older, newer):
        newer = link(memory, newer.id, "contradicts", older.id, note=note)
    return with_history(memory, Dispute(older=older, newer=newer))


def resolve(memory: Memory, first: str, second: str, how: str, *, keep: str = "", note: str = "") -> Report:
    """Resolve a contradiction: `keep` (default: the newer) supersedes, weakens or removes the other, or both are right."""
    check_choice(how, HOWS, "a resolution")
    older, newer = _both(memory, first, second)
    kept = find(memory, keep).record if keep else newer
    if kept.id not in (older.id, newer.id):
        raise Invalid(f"{kept.id} is neither of the two.", hint="Keep one of them.")
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
    return {"how": how, "kept": find(memory, kept.id).record, "other": find(memory, other.id).record}


def _both(memory: Memory, first: str, second: str) -> tuple[Record, Record]:
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
    ends = {left.id, right.id}
    return [arrow for arrow in contradicting(memory, left.id) if {arrow.source, arrow.target} == ends]


def with_history(memory: Memory, dispute: Dispute) -> Dispute:
    """Return a dispute with the sentences that contradict, who marked it, and the events of both records."""
    ids, moments, marks = {dispute.older.id, dispute.newer.id}, list[Report](), [("", "")]
    every = (event for id_ in ids for event in memory.store.events_about(id_))
    for event in sorted(every, key=lambda event: event.id):
        if event.verb in ("linked", "unlinked") and event.data.get("target") not in ids:
            continue
        is_mark = event.verb == "linked" and event.data.get("relation") == "contradicts"
        by = event.by.name or event.by.kind
        marks += [(event.at, by)] * is_mark
        if event.verb != "linked" or is_mark:
            moments.append({"at": event.at, "record": event.about, "verb": event.verb, "by": by})
    explain, (at, by) = _sides(*facing(claim_of(dispute.older), claim_of(dispute.newer))[0]), marks[-1]
    return replace(dispute, explain=explain, marked_at=at, marked_by=by, timeline=tuple(moments))


def _sides(older: str, newer: str) -> str:
    return f"The older says “{shorten(older, QUOTED)}”, the newer “{shorten(newer, QUOTED)}”."
