"""One record out of several that say nearly the same: proposed with what would become of every sentence, done on request."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.engine.search.near_duplicates import Pair, newest_words, pairs
from holdfast.engine.views import records
from holdfast.engine.views.records import Filter, span
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.kinds import KINDS
from holdfast.model.record import Draft, Link, Record
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.conflicts import said, settled_among
from holdfast.verbs.records.write import draft_event
from holdfast.verbs.search import similarity

if TYPE_CHECKING:
    from holdfast.policy.language.merge import Outdated, Part

# Share of words in common from which two records may say the same. With the guard of `policy.language.merge` 43 of 54 labelled
# rewordings are proposed (by words alone 20), and 3 of 54 pairs about two things.
SAME_WORDS = 0.6
MOST_TEXTS, MOST_CHARACTERS = 2_000, 250_000  # as much is compared, most alike first
LARGEST = 6
# Kinds that say the same sort of thing. What only was so at a moment is never merged.
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
    """Records that say nearly the same, oldest first, and the text that would stand for all of them.

    `base` is the record it builds on, `added` what it takes from the others, `outdated` what newer ones correct.
    """

    sources: tuple[Record, ...]
    text: str
    base: str
    added: "tuple[Part, ...]" = ()
    outdated: "tuple[Outdated, ...]" = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposals:
    """What could be merged, most alike first; how many more there are, and what was left out to keep the work bounded."""

    found: tuple[Proposal, ...] = ()
    more: int = 0
    looked_at: int = 0
    not_looked_at: int = 0
    not_compared: int = 0


def proposals(memory: Memory, *, limit: int = 20) -> Proposals:
    """Propose what could be merged in this project; nothing is changed."""
    db, here = memory.store.db, memory.store.project_number(memory.project)
    looked_at = newest_words(db, span(here))
    near = [*pairs(db, looked_at, span(here), {}, least=SAME_WORDS), *_by_meaning(memory, here)]
    known = records.by_numbers(db, {number for pair in near for number in (pair.first, pair.second)})
    same, not_compared = _same(memory, near, known)
    groups = _groups(same)
    made = [_proposal([known[number] for number in group]) for group in groups[:limit]]
    return Proposals(
        found=tuple(one for one in made if one),
        more=max(0, len(groups) - limit),
        looked_at=len(looked_at),
        not_looked_at=max(0, records.counted(db, Filter(projects=(here,))) - len(looked_at)),
        not_compared=not_compared,
    )


def proposal_of(memory: Memory, references: Iterable[str]) -> Proposal:
    """Propose to merge just these records, however alike they are."""
    chosen = {record.id: record for record in (find(memory, one).record for one in references)}
    made = _proposal(_checked(list(chosen.values())))
    assert made is not None  # two or more, each as near as its owner says
    return made


def consolidate(memory: Memory, proposal: Proposal, *, text: str = "") -> Record:
    """Keep one record in place of several; they stay in the store, retired, and `split` brings them back."""
    for source in _checked(proposal.sources):
        if find(memory, source.id).record.head != source.head:
            raise Conflict(f"{source.id} has changed since it was proposed.", hint="Look at the proposals again.")
    merged = draft_event(memory, _draft(proposal, text or proposal.text))
    reason = {"reason": f"merged into {merged.id}"}
    gone = [memory.event("retired", one.id, data=reason, after=one.head) for one in proposal.sources]
    return memory.commit([merged, *gone])[0].record


def split(memory: Memory, reference: str) -> list[Record]:
    """Undo a merge: retire the one record and put those it stands for back to use."""
    merged = find(memory, reference).record
    replaced = records.by_ids(
        memory.store.db, [link.target for link in merged.links if link.relation == "supersedes"]
    ).values()
    sources = [entry.record for entry in replaced if entry.record.reason == f"merged into {merged.id}"]
    if merged.state != "active" or not sources:
        raise Conflict(f"{merged.id} is no merged memory in use.", hint="Its links say what it stands for.")
    events = [memory.event("retired", merged.id, data={"reason": "taken apart again"}, after=merged.head)]
    events += [memory.event("restored", one.id, after=one.head) for one in sources]
    return [entry.record for entry in memory.commit(events)[1:]]


def _by_meaning(memory: Memory, here: int) -> list[Pair]:
    """Give pairs by vectors as far as there are any; nothing is embedded for this."""
    embedder = memory.embedder
    if embedder is None:
        return []
    from holdfast.engine.search.near_duplicate_vectors import twins  # noqa: PLC0415  numpy: only for meaning
    from holdfast.verbs.search.embed import usable  # noqa: PLC0415

    least = embedder.floor + similarity.SAME * (embedder.ceiling - embedder.floor)
    return [] if usable(memory) else twins(memory.store.db, here, least=least)


def _same(memory: Memory, near: Sequence[Pair], known: Mapping[int, Record]) -> tuple[list[Pair], int]:
    """Give the pairs that say the same, most alike first, and how many were not compared."""
    from holdfast.policy.language.merge import says_the_same  # noqa: PLC0415  20 ms: only when there is something to compare

    settled = settled_among(memory, [record.id for record in known.values()])
    read, characters = set[int](), 0
    found: list[Pair] = []
    ordered = sorted(near, key=lambda pair: -pair.share)
    for place, pair in enumerate(ordered):
        older, newer = sorted((known[pair.first], known[pair.second]), key=lambda one: (one.created_at, one.id))
        if not _belong(older, newer) or settled.covers(older.id, newer.id):
            continue
        for number in {pair.first, pair.second} - read:
            read.add(number)
            characters += len(said(known[number]))
        if len(read) > MOST_TEXTS or characters > MOST_CHARACTERS:
            return found, len(ordered) - place
        if says_the_same(said(older), said(newer)):
            found.append(pair)
    return found, 0


def _belong(one: Record, other: Record) -> bool:
    family = FAMILIES.get(one.kind)
    own = one.source != "starter" and other.source != "starter"
    return own and family is not None and family == FAMILIES.get(other.kind) and one.project == other.project


def _groups(same: Sequence[Pair]) -> list[list[int]]:
    """Put together what says the same; each of a group is near each other, so that meanings do not drift along a chain."""
    alike_ = {frozenset((pair.first, pair.second)) for pair in same}
    groups: list[list[int]] = []
    home: dict[int, list[int]] = {}
    for pair in same:
        group = home.get(pair.first) or home.get(pair.second)
        if group is None:
            group = [pair.first, pair.second]
            groups.append(group)
            home[pair.first] = home[pair.second] = group
            continue
        fresh = [one for one in (pair.first, pair.second) if one not in home]
        if fresh and len(group) < LARGEST and all(frozenset((fresh[0], one)) in alike_ for one in group):
            group.append(fresh[0])
            home[fresh[0]] = group
    return groups


def _proposal(sources: Sequence[Record]) -> Proposal | None:
    from holdfast.policy.language.merge import Version, merge  # noqa: PLC0415

    merged = merge([Version(id=one.id, text=one.body, at=one.created_at) for one in sources])
    if merged is None:
        return None
    known = {one.id: one for one in sources}
    return Proposal(
        sources=tuple(known[one] for one in merged.sources),
        text=merged.text,
        base=merged.base,
        added=merged.added,
        outdated=merged.outdated,
    )


def _checked(sources: Sequence[Record]) -> Sequence[Record]:
    if len(sources) < 2:
        raise Invalid("Merging takes at least two memories.", hint="`holdfast duplicates` shows which belong together.")
    first = sources[0]
    for one in sources:
        if one.state != "active":
            raise Conflict(f"{one.id} is {one.state}; only memories in use can be merged.")
        if not _belong(first, one):
            raise Invalid(
                f"{first.id} and {one.id} are of different projects or kinds.", hint="Link them, or revise one instead."
            )
    return sources


def _draft(proposal: Proposal, text: str) -> Draft:
    """Give the record that stands for several: all their labels and links, the fields of the base before those of others."""
    base = next(one for one in proposal.sources if one.id == proposal.base)
    ordered = [base, *(one for one in reversed(proposal.sources) if one is not base)]
    inside = {one.id for one in ordered}
    links = [link for one in ordered for link in one.links if link.target not in inside]
    kind = "scar" if any(one.kind == "scar" for one in ordered) else base.kind  # a lesson to be answered stays one
    return Draft(
        body=text,
        kind=kind,
        title="" if base.body.startswith(base.title.rstrip("…")) else base.title,
        fields=_fields(kind, [one.fields for one in ordered]),
        scopes=_union(one.scopes for one in ordered),
        tags=_union(one.tags for one in ordered),
        project=base.project,
        visibility="private" if any(one.visibility == "private" for one in ordered) else base.visibility,
        confidence=base.confidence,
        source=base.source,
        anchors=_union(one.anchors for one in ordered),
        triggers=_union(one.triggers for one in ordered),
        links=tuple(dict.fromkeys([*links, *(Link(relation="supersedes", target=one.id) for one in ordered)])),
        extra={name: value for one in reversed(ordered) for name, value in one.extra.items()},
    )


def _union(parts: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for part in parts for one in part))


def _fields(kind: str, given: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Give the fields of several records as one: lists joined, the worst severity, else the first that is told."""
    allowed = {one.name: one.type for one in KINDS[kind].fields}
    joined: dict[str, Any] = {}
    for fields in given:
        for name, value in fields.items():
            if allowed.get(name) == "list":
                joined[name] = list(dict.fromkeys([*joined.get(name, []), *value]))
            elif name == "severity":
                joined[name] = min(joined.get(name, value), value, key=_SEVEREST.index)
            elif name in allowed:
                joined.setdefault(name, value)
    return joined
