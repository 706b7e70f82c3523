"""Whether what a record cites still stands as it did: one verdict for each place, one for all. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from holdfast.model.anchor import Anchor, Mark, Sight, Touch, bare_value, parse_anchor
from holdfast.model.freshness import STATES, Finding, Freshness, State
from holdfast.model.ids import days_between
from holdfast.model.kinds import KINDS
from holdfast.model.record import Record

# They tell what happened, not how things are.
PAST = frozenset(
    {
        "observation",
        "summary",
        "progress",
        "retrospective",
        "review",
        "thread",
        "inception",
        "elicitation",
        "preference",
    }
)
CLAIMED = frozenset(
    {"explicit", "correction"}
)  # others name the files they have to do with, and claim nothing about them


def places_of(record: Record) -> dict[str, Mark | None]:
    """Give every place a record cites, in its anchors or its text, with what stood there when somebody looked."""
    seen = record.seen.marks if record.seen else {}
    return {
        anchor: seen.get(anchor) for anchor in (*record.anchors, *(one for one in seen if one not in record.anchors))
    }


def is_about_code(kind: str) -> bool:
    """Tell whether records of a kind say how things are, so that it makes sense to ask if they still are so."""
    return kind not in PAST and kind in KINDS


def freshness_of(record: Record, now: Sight, at: str) -> Freshness:
    """Judge a record by what is seen of its places now."""
    places = places_of(record)
    findings = tuple(
        judged(record, anchor, cited, now.marks[anchor]) for anchor, cited in places.items() if anchor in now.marks
    )
    days = days_between(record.verified_at, at) if record.verified_at else None
    return Freshness(state=overall(findings, checked=bool(record.verified_at)), findings=findings, days=days)


def unknown(record: Record, at: str) -> Freshness:
    """Give what can be said of a record whose code is not at hand."""
    days = days_between(record.verified_at, at) if record.verified_at else None
    return Freshness(state="unknown" if record.anchors or record.verified_at else "unverified", days=days)


def overall(findings: Sequence[Finding], *, checked: bool) -> State:
    """Give the worst of several states; without any place there is nothing to measure by."""
    if not findings:
        return "unknown" if checked else "unverified"
    return max((one.state for one in findings), key=STATES.index)


def judged(record: Record, anchor: str, cited: Mark | None, now: Mark) -> Finding:
    """Judge one place."""
    place = parse_anchor(anchor)
    state, note = _state(place, cited, now, claimed=_claims(record, anchor, place))
    moved = _moved(place, cited, now) if state == "fresh" else ""
    return Finding(anchor=anchor, state=state, note=note, moved_to=moved, now=now)


def since_cited(finding: Finding, cited: Mark | None, touches: Sequence[Touch]) -> list[Touch]:
    """Give the commits that touched the file of a place since it held what was cited, newest first."""
    own = [touch for touch in touches if touch.path == parse_anchor(finding.anchor).path]
    until = next((nth for nth, touch in enumerate(own) if cited and touch.after == cited.blob), len(own))
    return own[:until]


def explained(finding: Finding, touches: Sequence[Touch], versions: Mapping[str, Mark]) -> Finding:
    """Say which of these commits made a place what it is, given what stood there in the versions they made."""
    if not touches:
        return finding  # not committed yet, or by a commit older than it looks
    found = [touch for touch in touches if _differs(versions.get(touch.before), versions.get(touch.after))]
    return replace(finding, commits=len(found), last=(found or touches)[0])


def _differs(before: Mark | None, after: Mark | None) -> bool:
    """Tell whether a place says something else than before; what nobody can look at may."""
    if before is None or after is None:
        return True
    return (before.there, before.hash, before.value) != (after.there, after.hash, after.value)


def _claims(record: Record, anchor: str, place: Anchor) -> bool:
    """Tell whether a record says something about what stands at a place, rather than only naming it."""
    return place.kind != "path" or (anchor in record.anchors and record.source in CLAIMED)


def _state(place: Anchor, cited: Mark | None, now: Mark, *, claimed: bool) -> tuple[State, str]:
    if now.there is None:
        return "unknown", ""
    if place.kind == "absent":
        return ("changed", "it is there again") if now.there else ("fresh", "")
    if not now.there:
        return "missing", ""
    if place.kind in ("value", "version"):
        same = bare_value(place.value).lower() == now.value.lower()
        return ("fresh", "") if same else ("changed", f"it is {now.value} now")
    if place.kind == "commit" or not claimed:
        return "fresh", ""
    if cited is None or not cited.hash:
        return "unverified", ""
    if not now.hash:
        return "unknown", ""
    return ("fresh", "") if now.hash == cited.hash else ("changed", "")


def _moved(place: Anchor, cited: Mark | None, now: Mark) -> str:
    """Give where lines that are cited by number stand now, if elsewhere."""
    if place.kind != "lines" or cited is None or (cited.first, cited.last) == (now.first, now.last):
        return ""
    return f"{place.path}:L{now.first}-L{now.last}"


def told(freshness: Freshness) -> str:
    """Say in a few words how far a record can be relied on."""
    age = (
        ""
        if freshness.days is None
        else f", checked {freshness.days:.0f} d ago"
        if freshness.days >= 1
        else ", checked today"
    )
    return f"{freshness.state}{age}"


def details(freshness: Freshness) -> list[str]:
    """Say what became of each place that is not as it was."""
    return [_detail(one) for one in (*freshness.troubles, *freshness.moved)]


def _detail(one: Finding) -> str:
    if one.moved_to:
        return f"{one.anchor} moved to {one.moved_to}" + (f", {one.note}" if one.note else "")
    parts = [one.note] if one.note else []
    if one.commits:
        parts.append(f"{one.commits} commit{'s' if one.commits > 1 else ''} since")
    if one.last:
        parts.append(f"last {one.last.commit[:8]} {one.last.subject!r} by {one.last.author}, {one.last.at[:10]}")
    return f"{one.anchor} {one.state}" + (f" ({'; '.join(parts)})" if parts else "")


def wrong_claims(anchors: Sequence[str], now: Sight | None) -> list[str]:
    """Give the anchors that do not hold as things stand: nobody can have checked them."""
    wrong = []
    for anchor in anchors if now else ():
        mark = now.marks.get(anchor) if now else None
        state, note = _state(parse_anchor(anchor), mark, mark, claimed=True) if mark else ("unknown", "")
        if state in ("missing", "changed"):
            wrong.append(f"{anchor} ({note or 'there is no such thing'})")
    return wrong
