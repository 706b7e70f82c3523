"""Merge records that say nearly the same: propose it sentence by sentence, and do it on request."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from holdfast.engine.search.near_duplicates import Pair, newest_words, pairs
from holdfast.engine.search.similar import similar
from holdfast.engine.views import Entry, records, vectors
from holdfast.engine.views.records import Filter, span
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.kinds import KINDS
from holdfast.model.record import Draft, Link, Record
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.conflicts import claim_of, settled_among
from holdfast.verbs.records.write import draft_event
from holdfast.verbs.search import similarity
from holdfast.verbs.truth.scans import Scan, scan

if TYPE_CHECKING:
    from holdfast.policy.language.merge import Outdated, Part

# Share of words in common from which two records may say the same. With the check in `policy.language.merge`, 43 of 54
# labelled rewordings are proposed (20 by words alone), and 3 of 54 pairs about different things.
SAME_WORDS = 0.6
MOST_TEXTS, MOST_CHARACTERS = 2_000, 250_000  # limits for comparing, most similar first
LARGEST, NEAREST = 6, 8
# Kinds that can be merged with each other. Kinds about a moment are never merged.
FAMILIES: Mapping[str, str] = {
    "fact": "fact",
    "reference": "fact",
    "learning": "lesson",
    "pattern": "lesson",
    "win": "lesson",
    "scar": "warning",
    "anti_pattern": "warning",
    "decision": "decision",
    "preference": "preference",
}
_SEVEREST = ("critical", "high", "medium", "low")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Records that say nearly the same, oldest first, and the text that would replace them.

    `base` is the record it builds on, `added` the sentences from others, `outdated` those that newer records correct.
    """

    sources: tuple[Record, ...]
    text: str
    base: str
    added: "tuple[Part, ...]" = ()
    outdated: "tuple[Outdated, ...]" = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposals:
    """Possible merges, most similar first; how many more there are, and what was skipped to limit the work."""

    found: tuple[Proposal, ...] = ()
    more: int = 0
    looked_at: int = 0
    not_looked_at: int = 0
    not_compared: int = 0


def proposals(memory: Memory, *, limit: int = 20) -> Proposals:
    """Propose merges in this project; nothing is changed."""
    same = scan(
        memory,
        "duplicates",
        everything=lambda seq: _compared(memory, seq),
        around=lambda entries: _same(memory, _near(memory, entries))[0],
    )
    known = records.by_numbers(memory.store, {number for pair in same.pairs for number in (pair.first, pair.second)})
    active = {number: record for number, record in known.items() if record.state == "active"}
    settled = settled_among(memory, [record.id for record in active.values()])
    groups = _groups(
        [
            pair
            for pair in same.pairs
            if pair.first in active
            and pair.second in active
            and not settled.covers(active[pair.first].id, active[pair.second].id)
        ]
    )
    candidates = [_proposal([active[number] for number in group]) for group in groups[:limit]]
    return Proposals(
        found=tuple(proposal for proposal in candidates if proposal),
        more=max(0, len(groups) - limit),
        looked_at=same.looked_at,
        not_looked_at=same.not_looked_at,
        not_compared=same.not_compared,
    )


def _compared(memory: Memory, seq: int) -> Scan:
    """Compare the newest active records of the project with each other and with similar ones."""
    store, project = memory.store, memory.store.project_number(memory.project)
    looked_at = newest_words(store, span(project))
    near = [*pairs(store, looked_at, span(project), {}, least=SAME_WORDS), *_by_meaning(memory, project)]
    same, not_compared = _same(memory, near)
    return Scan(
        seq=seq,
        pairs=tuple(same),
        newest=max(looked_at, default=0),
        looked_at=len(looked_at),
        not_looked_at=max(0, records.counted(store, Filter(projects=(project,))) - len(looked_at)),
        not_compared=not_compared,
    )


def _near(memory: Memory, entries: Sequence[Entry]) -> list[Pair]:
    """Return records with those most similar to each, by words and by the stored vectors."""
    near = list[Pair]()
    for entry in entries:
        shares = {record.id: share for record, share in similar(memory.store, entry.record) if share >= SAME_WORDS}
        others = records.by_ids(memory.store, shares.keys() - {entry.record.id})
        near += [Pair(first=entry.number, second=other.number, share=shares[id_]) for id_, other in others.items()]
    return [*near, *_nearest(memory, [entry.number for entry in entries])]


def _nearest(memory: Memory, numbers: Sequence[int]) -> list[Pair]:
    """Return the pairs of some records with the nearest ones by stored vectors; those without a vector have none."""
    stored = vectors.of(memory.store, numbers) if memory.embedder else []
    if not stored or (likeness := _likeness(memory)) is None:
        return []
    import numpy as np  # noqa: PLC0415  importing numpy takes a tenth of a second

    (least, same), here = likeness, span(memory.store.project_number(memory.project))
    near = []
    for number, vector in stored:
        found = memory.codes.nearest(np.frombuffer(vector, dtype=np.float16).astype(np.float32), [here], most=NEAREST)
        near += [
            Pair(first=number, second=other, share=cosine, by_meaning=cosine >= same)
            for other, cosine in found.items()
            if other != number and cosine >= least
        ]
    return near


def proposal_of(memory: Memory, references: Iterable[str]) -> Proposal:
    """Propose to merge exactly these records, however similar they are."""
    chosen = {record.id: record for record in (find(memory, reference).record for reference in references)}
    proposal = _proposal(_checked(list(chosen.values())))
    assert proposal is not None  # two or more, and the user chose them
    return proposal


def consolidate(memory: Memory, proposal: Proposal, *, text: str = "") -> Record:
    """Replace several records by one; they stay in the store, retired, and `split` restores them."""
    for source in _checked(proposal.sources):
        if find(memory, source.id).record.head != source.head:
            raise Conflict(f"{source.id} has changed since it was proposed.", hint="List the proposals again.")
    merged = draft_event(memory, _draft(proposal, text or proposal.text))
    reason = {"reason": f"merged into {merged.id}"}
    retired = [memory.event("retired", source.id, data=reason, after=source.head) for source in proposal.sources]
    return memory.commit([merged, *retired])[0].record


def split(memory: Memory, reference: str) -> list[Record]:
    """Undo a merge: retire the merged record and restore its sources."""
    merged = find(memory, reference).record
    replaced = records.by_ids(
        memory.store, [link.target for link in merged.links if link.relation == "supersedes"]
    ).values()
    sources = [entry.record for entry in replaced if entry.record.reason == f"merged into {merged.id}"]
    if merged.state != "active" or not sources:
        raise Conflict(
            f"{merged.id} is not an active merged memory.", hint="Its `supersedes` links name what it replaced."
        )
    events = [memory.event("retired", merged.id, data={"reason": "split again"}, after=merged.head)]
    events += [memory.event("restored", source.id, after=source.head) for source in sources]
    return [entry.record for entry in memory.commit(events)[1:]]


def _by_meaning(memory: Memory, project: int) -> list[Pair]:
    """Return similar pairs by stored vectors; nothing is embedded for this."""
    if (likeness := _likeness(memory)) is None:
        return []
    from holdfast.engine.search.near_duplicate_vectors import near_duplicates  # noqa: PLC0415  numpy: only for meaning

    least, same = likeness
    near = near_duplicates(memory.store, project, least=least)
    return [replace(pair, by_meaning=pair.share >= same) for pair in near]


def _likeness(memory: Memory) -> tuple[float, float] | None:
    """Return the cosines from which records may say the same, and mean the same; None if vectors cannot be used."""
    from holdfast.verbs.search.embed import usable  # noqa: PLC0415  numpy: only for meaning

    embedder = memory.embedder
    if embedder is None or usable(memory):
        return None
    scale = embedder.ceiling - embedder.floor
    return embedder.floor + similarity.SAME * scale, embedder.floor + similarity.SAME_MEANING * scale


def _same(memory: Memory, near: Sequence[Pair]) -> tuple[list[Pair], int]:
    """Return the pairs that say the same, most similar first, and how many were not compared."""
    from holdfast.policy.language.merge import says_the_same  # noqa: PLC0415  20 ms: only when needed
    from holdfast.policy.language.slots import agrees  # noqa: PLC0415

    known = records.by_numbers(memory.store, {number for pair in near for number in (pair.first, pair.second)})
    settled = settled_among(memory, [record.id for record in known.values()])
    read, characters = set[int](), 0
    same: list[Pair] = []
    there = (pair for pair in near if pair.first in known and pair.second in known)
    ordered = sorted(there, key=lambda pair: -pair.share)
    for index, pair in enumerate(ordered):
        older, newer = sorted(
            (known[pair.first], known[pair.second]), key=lambda record: (record.created_at, record.id)
        )
        if not _can_merge(older, newer) or settled.covers(older.id, newer.id):
            continue
        for number in {pair.first, pair.second} - read:
            read.add(number)
            characters += len(claim_of(known[number]))
        if len(read) > MOST_TEXTS or characters > MOST_CHARACTERS:
            return same, len(ordered) - index
        first, second = claim_of(older), claim_of(newer)
        if says_the_same(first, second) or (pair.by_meaning and agrees(first, second)):
            same.append(pair)
    return same, 0


def _can_merge(first: Record, second: Record) -> bool:
    family = FAMILIES.get(first.kind)
    is_own = first.source != "starter" and second.source != "starter"
    return is_own and family is not None and family == FAMILIES.get(second.kind) and first.project == second.project


def _groups(same: Sequence[Pair]) -> list[list[int]]:
    """Group pairs that say the same; all members are similar to each other, so that meanings do not drift along a chain."""
    similar = {frozenset((pair.first, pair.second)) for pair in same}
    groups: list[list[int]] = []
    home: dict[int, list[int]] = {}
    for pair in same:
        group = home.get(pair.first) or home.get(pair.second)
        if group is None:
            group = [pair.first, pair.second]
            groups.append(group)
            home[pair.first] = home[pair.second] = group
            continue
        fresh = [number for number in (pair.first, pair.second) if number not in home]
        if fresh and len(group) < LARGEST and all(frozenset((fresh[0], number)) in similar for number in group):
            group.append(fresh[0])
            home[fresh[0]] = group
    return groups


def _proposal(sources: Sequence[Record]) -> Proposal | None:
    from holdfast.policy.language.merge import Version, merge  # noqa: PLC0415

    merged = merge([Version(id=source.id, text=source.body, at=source.created_at) for source in sources])
    if merged is None:
        return None
    known = {source.id: source for source in sources}
    return Proposal(
        sources=tuple(known[source] for source in merged.sources),
        text=merged.text,
        base=merged.base,
        added=merged.added,
        outdated=merged.outdated,
    )


def _checked(sources: Sequence[Record]) -> Sequence[Record]:
    if len(sources) < 2:
        raise Invalid("Merging needs at least two memories.", hint="List candidates: holdfast review duplicates")
    first = sources[0]
    for source in sources:
        if source.state != "active":
            raise Conflict(f"{source.id} is {source.state}; only active memories can be merged.")
        if not _can_merge(first, source):
            raise Invalid(
                f"{first.id} and {source.id} are of different projects or kinds.",
                hint="Link them, or revise one instead.",
            )
    return sources


def _draft(proposal: Proposal, text: str) -> Draft:
    """Return the merged record: all labels and links, and the fields of the base before those of others."""
    base = next(source for source in proposal.sources if source.id == proposal.base)
    ordered = [base, *(source for source in reversed(proposal.sources) if source is not base)]
    source_ids = {source.id for source in ordered}
    links = [link for source in ordered for link in source.links if link.target not in source_ids]
    kind = (
        "scar" if any(source.kind == "scar" for source in ordered) else base.kind
    )  # a scar must stay one, to be answered
    return Draft(
        body=text,
        kind=kind,
        title="" if base.body.startswith(base.title.rstrip("…")) else base.title,
        fields=_fields(kind, [source.fields for source in ordered]),
        scopes=_union(source.scopes for source in ordered),
        tags=_union(source.tags for source in ordered),
        project=base.project,
        visibility="private" if any(source.visibility == "private" for source in ordered) else base.visibility,
        confidence=base.confidence,
        source=base.source,
        anchors=_union(source.anchors for source in ordered),
        triggers=_union(source.triggers for source in ordered),
        links=tuple(dict.fromkeys([*links, *(Link(relation="supersedes", target=source.id) for source in ordered)])),
        extra={name: value for source in reversed(ordered) for name, value in source.extra.items()},
    )


def _union(parts: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for part in parts for item in part))


def _fields(kind: str, all_fields: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the merged fields: lists joined, the worst severity, else the first value."""
    allowed = {spec.name: spec.type for spec in KINDS[kind].fields}
    joined: dict[str, Any] = {}
    for fields in all_fields:
        for name, value in fields.items():
            if allowed.get(name) == "list":
                joined[name] = list(dict.fromkeys([*joined.get(name, []), *value]))
            elif name == "severity":
                joined[name] = min(joined.get(name, value), value, key=_SEVEREST.index)
            elif name in allowed:
                joined.setdefault(name, value)
    return joined
