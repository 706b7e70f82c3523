"""Merge records that say nearly the same: propose it sentence by sentence, and do it on request."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.model.errors import Conflict, Invalid
from holdfast.model.kinds import KINDS, SEVERITIES
from holdfast.model.record import Draft, Link, Record
from holdfast.policy.language.comparing import merge
from holdfast.verbs.memory import Memory, Report, find
from holdfast.verbs.records.conflicts import settled_among
from holdfast.verbs.records.write import draft_event
from holdfast.verbs.truth.contradictions import compare_now, same_pairs, waiting

LARGEST = 6  # memories of one proposal
# Kinds that can be merged with each other. Kinds about a moment are never merged.
_FAMILIES = ("fact reference", "learning pattern win", "scar anti_pattern", "decision", "preference")
FAMILIES = {kind: family for family in _FAMILIES for kind in family.split()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Records that say nearly the same, oldest first, and a text for all: that of `base`, and what is `added` to it."""

    sources: tuple[Record, ...]
    text: str
    base: str
    added: tuple[Mapping[str, str], ...] = ()


def duplicates(memory: Memory, *, limit: int = 20) -> Report:
    """Compare what is new, and propose merges of what was found to say the same; nothing else is changed."""
    compare_now(memory)
    return proposals(memory, limit=limit)


def proposals(memory: Memory, *, limit: int = 20) -> Report:
    """Propose merges in this project, of memories that were found to say the same, latest first; nothing is changed.

    Returns those `found`, how many `more` there are, and how many records wait to be compared.
    """
    pairs = same_pairs(memory)
    known = memory.known(id_ for pair in pairs for id_ in pair)
    active = {id_: record for id_, record in known.items() if record.state == "active"}
    settled, same = settled_among(memory, list(known)), list[tuple[str, str]]()
    for first, second in (pair for pair in pairs if active.keys() >= set(pair)):
        fits = active[first].project == memory.project and _can_merge(active[first], active[second])
        same += [(first, second)] if fits and not settled(first, second) else []
    # Each member of a group says the same as every other, so that meanings do not drift along a chain.
    alike, home = set(map(frozenset, same)), dict[str, list[str]]()
    for first, second in same:
        if (group := home.get(first) or home.get(second)) is None:
            home[first] = home[second] = [first, second]
            continue
        new = next((id_ for id_ in (first, second) if id_ not in home), "")
        if new and len(group) < LARGEST and all(frozenset((new, id_)) in alike for id_ in group):
            group.append(new)
            home[new] = group
    groups = list({id(group): group for group in home.values()}.values())
    found = [_proposal([active[id_] for id_ in group]) for group in groups[:limit]]
    return {"found": found, "more": max(0, len(groups) - limit), "waiting": waiting(memory)}


def proposal_of(memory: Memory, references: Iterable[str]) -> Proposal:
    """Propose to merge exactly these records, however similar they are."""
    chosen = {record.id: record for record in (find(memory, reference).record for reference in references)}
    return _proposal(_checked(list(chosen.values())))


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
    replaced = memory.known(link.target for link in merged.links if link.relation == "supersedes")
    sources = [record for record in replaced.values() if record.reason == f"merged into {merged.id}"]
    if merged.state != "active" or not sources:
        hint = "Its `supersedes` links name what it replaced."
        raise Conflict(f"{merged.id} is not an active merged memory.", hint=hint)
    events = [memory.event("retired", merged.id, data={"reason": "split again"}, after=merged.head)]
    events += [memory.event("restored", source.id, after=source.head) for source in sources]
    return [entry.record for entry in memory.commit(events)[1:]]


def _can_merge(first: Record, second: Record) -> bool:
    family = FAMILIES.get(first.kind)
    is_own = "starter" not in (first.source, second.source)
    return is_own and family is not None and family == FAMILIES.get(second.kind) and first.project == second.project


def _proposal(sources: Sequence[Record]) -> Proposal:
    ordered = sorted(sources, key=lambda source: (source.created_at, source.id))
    text, base, added = merge([(source.id, source.body) for source in ordered])
    return Proposal(sources=tuple(ordered), text=text, base=base, added=tuple(added))


def _checked(sources: Sequence[Record]) -> Sequence[Record]:
    if len(sources) < 2:
        raise Invalid("Merging needs at least two memories.", hint="List candidates: holdfast review duplicates")
    first = sources[0]
    for source in sources:
        if source.state != "active":
            raise Conflict(f"{source.id} is {source.state}; only active memories can be merged.")
        if not _can_merge(first, source):
            hint = "Link them, or revise one instead."
            raise Invalid(f"{first.id} and {source.id} are of different projects or kinds.", hint=hint)
    return sources


def _draft(proposal: Proposal, text: str) -> Draft:
    """Return the merged record: all labels and links, and the fields of the base before those of others."""
    base = next(source for source in proposal.sources if source.id == proposal.base)
    ordered = [base, *(source for source in reversed(proposal.sources) if source is not base)]
    source_ids = {source.id for source in ordered}
    links = [link for source in ordered for link in source.links if link.target not in source_ids]
    # A scar must stay one, to be answered.
    kind = "scar" if any(source.kind == "scar" for source in ordered) else base.kind
    allowed, joined = {spec.name: spec.type for spec in KINDS[kind].fields}, dict[str, Any]()
    for name, value in ((name, value) for source in ordered for name, value in source.fields.items()):
        if allowed.get(name) == "list":
            joined[name] = list(dict.fromkeys([*joined.get(name, []), *value]))
        elif name == "severity":  # the worst one
            joined[name] = min(joined.get(name, value), value, key=SEVERITIES.index)
        elif name in allowed:
            joined.setdefault(name, value)
    unions: dict[str, Any] = {
        name: tuple(dict.fromkeys(item for source in ordered for item in getattr(source, name)))
        for name in ("scopes", "tags", "anchors", "triggers")
    }
    links += [Link(relation="supersedes", target=source.id) for source in ordered]
    return Draft(
        body=text,
        kind=kind,
        title="" if base.body.startswith(base.title.rstrip("…")) else base.title,
        fields=joined,
        project=base.project,
        visibility="private" if any(source.visibility == "private" for source in ordered) else base.visibility,
        confidence=base.confidence,
        source=base.source,
        links=tuple(dict.fromkeys(links)),
        extra={name: value for source in reversed(ordered) for name, value in source.extra.items()},
        **unions,
    )
