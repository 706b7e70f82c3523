"""Check what records cite against the code at hand: when they are written, when they are read, when somebody asks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from holdfast.model.anchor import Mark, Sight, parse_anchor
from holdfast.model.freshness import Finding, Freshness, State
from holdfast.model.ids import days_before
from holdfast.model.record import Draft, Record
from holdfast.policy.freshness import (
    anchors_in,
    explained,
    freshness_of,
    is_about_code,
    overall,
    places_of,
    since_cited,
    unknown,
)
from holdfast.verbs.memory import Memory

MOST_COMMITS = 20  # looked into for each place


def is_here(memory: Memory, project: str | None) -> bool:
    """Tell whether the code at hand is that of a project."""
    return bool(project) and project == memory.project == memory.checkout.project()


def sight_of(memory: Memory, draft: Draft | Record) -> Sight | None:
    """Look at what a draft cites, in its anchors or its text; None if it cites nothing, or other code than is at hand."""
    project = memory.project if draft.project is None else draft.project
    if not is_here(memory, project) or not is_about_code(draft.kind):
        return None
    named = [one for one in anchors_in(draft.body) if one not in draft.anchors]
    if not named and not draft.anchors:
        return None
    seen = memory.checkout.sight(dict.fromkeys((*draft.anchors, *named)))
    # What a text names may be anything: only what is there was meant as a place.
    kept = {anchor: mark for anchor, mark in seen.marks.items() if anchor in draft.anchors or mark.there}
    return replace(seen, marks=kept) if kept else None


def freshness(memory: Memory, found: Sequence[Record]) -> dict[str, Freshness]:
    """Tell of each record whether what it cites still stands as it did; of those that tell of the past nothing is said.

    Files are compared by content; git is asked once, and only about those that are not what they were.
    """
    about = [record for record in found if is_about_code(record.kind)]
    here = [record for record in about if is_here(memory, record.project)]
    now = memory.clock.now()
    judged = {record.id: unknown(record, now) for record in about if record not in here}
    for record in here:
        places = places_of(record)
        judged[record.id] = freshness_of(record, memory.checkout.sight(places), now) if places else unknown(record, now)
    return judged | _explained(memory, {record.id: record for record in here if judged[record.id].troubles}, judged)


def _explained(memory: Memory, records: Mapping[str, Record], judged: Mapping[str, Freshness]) -> dict[str, Freshness]:
    """Say of what changed which commits did it, and of what is gone where it went."""
    if not records:
        return {}
    troubles = [one for record_id in records for one in judged[record_id].troubles]
    since = [record.seen.commit for record in records.values() if record.seen]
    cited = dict[str, set[str]]()
    for record in records.values():
        for one in judged[record.id].troubles:
            mark = places_of(record).get(one.anchor)
            if one.state == "changed" and mark and mark.blob:
                cited.setdefault(parse_anchor(one.anchor).path, set()).add(mark.blob)
    looked = min(days_before(record.verified_at or record.updated_at, 1) for record in records.values())
    touches = memory.checkout.touches(cited, looked, quick=len(judged) > 1) if cited else None
    gone = sorted({parse_anchor(one.anchor).path for one in troubles if one.state == "missing"})
    moved = memory.checkout.renamed(gone, since) if gone else {}

    def better(record: Record, finding: Finding) -> Finding:
        cited = places_of(record).get(finding.anchor)
        if finding.state == "missing":
            return _followed(memory, finding, cited, moved)
        if finding.state != "changed" or touches is None:
            return finding
        own = since_cited(finding, cited, touches)[:MOST_COMMITS]
        blobs = {blob for touch in own for blob in (touch.before, touch.after)} if len(own) > 1 else ()
        return explained(finding, own, memory.checkout.versions(finding.anchor, sorted(blobs)) if blobs else {})

    return {record.id: _again(judged[record.id], record, better) for record in records.values()}


def _again(judged: Freshness, record: Record, better: Callable[[Record, Finding], Finding]) -> Freshness:
    findings = tuple(better(record, one) for one in judged.findings)
    return replace(judged, findings=findings, state=overall(findings, checked=bool(record.verified_at)))


def _followed(memory: Memory, finding: Finding, cited: Mark | None, moved: Mapping[str, str]) -> Finding:
    """Look for what is gone where its file went, or where its name is defined now."""
    place = parse_anchor(finding.anchor)
    elsewhere = [moved[place.path]] if place.path in moved else []
    if place.kind == "symbol":
        elsewhere += memory.checkout.defining(place.name, place.path.rpartition(".")[2])
    for path in dict.fromkeys(one for one in elsewhere if one != place.path):
        anchor = finding.anchor.replace(place.path, path, 1)
        mark = memory.checkout.sight({anchor: cited}).marks[anchor]
        if mark.there:
            state = _state_there(cited, mark)
            note = "and it is not what it was" if state == "changed" else ""
            return replace(finding, state=state, moved_to=anchor, note=note, now=mark)
    return finding


def _state_there(cited: Mark | None, now: Mark) -> State:
    if cited is None or not cited.hash:
        return "unverified"
    return "fresh" if cited.hash == now.hash else "changed"
