"""Find the code that a record cites, and judge whether it is unchanged: a finding for each anchor, a state for the record."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from holdfast.model.anchor import (
    STATES,
    Anchor,
    CodeMark,
    CodeSnapshot,
    Finding,
    Freshness,
    State,
    Touch,
    bare_value,
    parse_anchor,
)
from holdfast.model.ids import days_between
from holdfast.model.kinds import KINDS
from holdfast.model.record import Record
from holdfast.model.text import counted, filled
from holdfast.policy.mentions import symbols_in

# Kinds that report what happened, not how things are.
PAST = frozenset("observation summary progress retrospective review thread inception elicitation preference".split())
# Other sources only name related files and claim nothing about their content.
CLAIMED = frozenset({"explicit", "correction"})


_TESTS = re.compile(r"(?:^|/)(?:tests?|__tests__|spec|examples?|docs?)/|(?:^|/)test_|[._](?:test|spec)\.\w+::")


def the_one_meant(name: str, tail: str, anchors: Sequence[str]) -> str:
    """Return the only definition that a dotted name can mean, found by its tail; "" if it may be another.

    Definitions in tests count only if there are no others. Within one file a bare name means the function or class, not a method.
    """
    outer = name.removesuffix(tail).strip(".").split(".")[-1].strip("_").lower()
    folders = {
        anchor: {part.strip("_").lower() for part in anchor.partition("::")[0].rpartition(".")[0].split("/")}
        for anchor in anchors
    }
    near = [anchor for anchor in anchors if not outer or outer in folders[anchor]]
    near = [anchor for anchor in near if not _TESTS.search(anchor)] or near
    if len(near) > 1 and len({anchor.partition("::")[0] for anchor in near}) == 1:
        near = [anchor for anchor in near if anchor.partition("::")[2] == tail]
    return near[0] if len(near) == 1 else ""


def places_of(record: Record) -> dict[str, CodeMark | None]:
    """Return every place a record cites, in its anchors or its text, with its last seen content."""
    seen = record.seen.marks if record.seen else {}
    return {
        anchor: seen.get(anchor)
        for anchor in (*record.anchors, *(place for place in seen if place not in record.anchors))
    }


def is_about_code(kind: str) -> bool:
    """True if records of a kind describe the present, so that they can become stale."""
    return kind not in PAST and kind in KINDS


def freshness_of(record: Record, now: CodeSnapshot, at: str) -> Freshness:
    """Judge a record by the current content of its places."""
    places = places_of(record)
    findings = tuple(
        judged(record, anchor, cited, now.marks[anchor]) for anchor, cited in places.items() if anchor in now.marks
    )
    days = days_between(record.verified_at, at) if record.verified_at else None
    state = overall(findings, checked=bool(record.verified_at))
    if state == "fresh" and not record.anchors:
        tails = {parse_anchor(anchor).name.rpartition(".")[2] for anchor in places}
        # The text certainly names code that was not found when it was written: only a part is compared.
        if any(not symbol.plain and symbol.name.rpartition(".")[2] not in tails for symbol in symbols_in(record.body)):
            state = "exists"
    return Freshness(state=state, findings=findings, days=days)


def unknown(record: Record, at: str) -> Freshness:
    """Return the freshness of a record whose code is not available."""
    days = days_between(record.verified_at, at) if record.verified_at else None
    return Freshness(state="unknown" if record.anchors or record.verified_at else "unverified", days=days)


def overall(findings: Sequence[Finding], *, checked: bool) -> State:
    """Return the worst of several states; without findings nothing can be measured.

    A place that merely exists adds nothing to one that was compared.
    """
    if not findings:
        return "unknown" if checked else "unverified"
    compared = [finding.state for finding in findings if finding.state != "exists"]
    return max(compared, key=STATES.index) if compared else "exists"


def judged(record: Record, anchor: str, cited: CodeMark | None, now: CodeMark) -> Finding:
    """Return the finding for one place."""
    place = parse_anchor(anchor)
    # A place that a record only names makes no claim about its content.
    claimed = place.kind != "path" or (anchor in record.anchors and record.source in CLAIMED)
    state, note = _state(place, cited, now, claimed=claimed)
    same_lines = cited is None or (cited.first, cited.last) == (now.first, now.last)
    has_moved = state == "fresh" and place.kind == "lines" and not same_lines
    moved = f"{place.path}:L{now.first}-L{now.last}" if has_moved else ""
    return Finding(anchor=anchor, state=state, note=note, moved_to=moved, now=now)


def since_cited(finding: Finding, cited: CodeMark | None, touches: Sequence[Touch]) -> list[Touch]:
    """Return the commits that touched the file of a place since its cited content, newest first."""
    file_touches = [touch for touch in touches if touch.path == parse_anchor(finding.anchor).path]
    until = next(
        (index for index, touch in enumerate(file_touches) if cited and touch.after == cited.blob), len(file_touches)
    )
    return file_touches[:until]


def explained(finding: Finding, touches: Sequence[Touch], versions: Mapping[str, CodeMark]) -> Finding:
    """Return the finding with the commits that changed its place, given the content in the versions they made."""
    if not touches:
        return finding  # not committed yet, or by a commit with an earlier date
    pairs = ((touch, versions.get(touch.before), versions.get(touch.after)) for touch in touches)
    relevant = [
        touch
        for touch, before, after in pairs
        if before is None
        or after is None
        or (before.there, before.hash, before.value) != (after.there, after.hash, after.value)
    ]
    return replace(finding, commits=len(relevant), last=(relevant or touches)[0])


def _state(place: Anchor, cited: CodeMark | None, now: CodeMark, *, claimed: bool) -> tuple[State, str]:
    if now.there is None:
        return "unknown", ""
    if place.kind == "absent":
        return ("changed", "it exists again") if now.there else ("fresh", "")
    if not now.there:
        return "missing", ""
    if place.kind in ("value", "version"):
        same = bare_value(place.value).lower() == now.value.lower()
        return ("fresh", "") if same else ("changed", f"it is {now.value} now")
    if place.kind == "commit":
        return "fresh", ""
    if not claimed:
        return "exists", ""
    if cited is None or not cited.hash:
        return "unverified", ""
    if not now.hash:
        return "unknown", ""
    return ("fresh", "") if now.hash == cited.hash else ("changed", "")


def freshness_text(freshness: Freshness) -> str:
    """Return a record's freshness in a few words."""
    if freshness.days is None:
        return freshness.state
    return f"{freshness.state}, checked " + (f"{freshness.days:.0f} d ago" if freshness.days >= 1 else "today")


def details(freshness: Freshness) -> list[str]:
    """Return what changed at each place that is missing, changed or moved."""
    texts = []
    for finding in (*freshness.problems, *freshness.moved):
        anchor, note, last, moved_to = finding.anchor, finding.note, finding.last, finding.moved_to
        since = finding.commits and f"{counted(finding.commits, 'commit')} since"
        change = last and f"last {last.commit[:8]} {last.subject!r} by {last.author}, {last.at[:10]}"
        parts = "; ".join(filled(note, since, change))
        moved = ", ".join(filled(f"{anchor} moved to {moved_to}", note))
        texts.append(moved if moved_to else f"{anchor} {finding.state}" + (f" ({parts})" if parts else ""))
    return texts


def wrong_claims(anchors: Sequence[str], now: CodeSnapshot | None) -> list[str]:
    """Return the anchors that are false right now, each with the reason."""
    wrong = []
    for anchor in anchors if now else ():
        mark = now.marks.get(anchor) if now else None
        state, note = _state(parse_anchor(anchor), mark, mark, claimed=True) if mark else ("unknown", "")
        if state in ("missing", "changed"):
            wrong.append(f"{anchor} ({note or 'it does not exist'})")
    return wrong


NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewValue:
    """A value that the code has now: which name, what the record says, and the record's text and anchors with the new one."""

    name: str
    old: str
    new: str
    body: str
    title: str
    anchors: tuple[str, ...]


def new_value(record: Record, findings: Sequence[Finding]) -> NewValue | None:
    """Return the update of a record that states one outdated value; None if its text does not state it exactly once."""
    outdated = [
        (finding, place)
        for finding in findings
        if finding.state == "changed" and (place := parse_anchor(finding.anchor)).kind in ("value", "version")
    ]
    if len(outdated) != 1:
        return None
    finding, place = outdated[0]
    old, new = bare_value(place.value), finding.now.value if finding.now else ""
    if "_" in place.value and new.isdecimal():
        old, new = place.value, f"{int(new):_}"  # in the same style
    body = _replaced(record.body, old, new) if new else None
    if body is None:
        return None
    anchor = finding.anchor.replace(place.value, new)
    return NewValue(
        name=place.name,
        old=old,
        new=new,
        body=body,
        title=_replaced(record.title, old, new) or record.title,
        anchors=tuple(anchor if cited == finding.anchor else cited for cited in record.anchors),
    )


def _replaced(text: str, old: str, new: str) -> str | None:
    """Return a text with its only mention of a value replaced, in digits or in words; None if there is none, or several."""
    pairs = [(old, new)]
    if old.isdecimal() and int(old) < len(NUMBERS):
        pairs.append((NUMBERS[int(old)], NUMBERS[int(new)] if new.isdecimal() and int(new) < len(NUMBERS) else new))
    for mentioned, instead in pairs:
        found = list(re.finditer(rf"(?<![\w.]){re.escape(mentioned)}(?!\w|\.\d)", text, re.IGNORECASE))
        if len(found) == 1:
            return text[: found[0].start()] + instead + text[found[0].end() :]
        if found:
            return None
    return None
