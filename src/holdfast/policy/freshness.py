"""Find the code that a record cites, and judge whether it is unchanged: a finding for each anchor, a state for the record."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from holdfast.model.anchor import Anchor, Mark, Sight, Touch, bare_value, parse_anchor
from holdfast.model.freshness import STATES, Finding, Freshness, State
from holdfast.model.ids import days_between
from holdfast.model.kinds import KINDS
from holdfast.model.record import Record

# Kinds that report what happened, not how things are.
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
# Other sources only name related files and claim nothing about their content.
CLAIMED = frozenset({"explicit", "correction"})

MOST_ANCHORS = 8  # found in a text
_EXTENSIONS = (
    "py pyi js jsx mjs cjs ts tsx mts cts go rs java kt kts scala swift c h cc cpp cxx hpp hh cs php rb sh bash sql proto graphql "
    "toml yaml yml json jsonc ini cfg conf env xml html css scss vue svelte md rst txt tf lua dart ex exs erl hs ml zig gradle lock"
)
_FILE = rf"[\w.@+-]*\w\.(?:{'|'.join(_EXTENSIONS.split())})|Makefile|Dockerfile|Justfile|Gemfile|Rakefile|Procfile"
_PLACE = re.compile(
    rf"(?<![\w/.:@~<$\\-])(?P<path>(?:\./)?(?:[\w.@+-]+/)*(?:{_FILE}))"
    r"(?P<inside>::[A-Za-z_][\w.]*(?:::[A-Za-z_]\w*)*(?:=[\w.'\"+-]+)?|:L?\d+(?:-L?\d+)?)?(?![\w/<>{}*]|\.\w)"
)
_QUOTED = re.compile(r"`([^`\n]{3,200})`")
_ADDRESS = re.compile(r"\b(?:https?|ftp|ssh|git|file)://\S+|\b\w[\w.-]*@[\w.-]+:\S+")
# Placeholder names.
_EXAMPLE = re.compile(r"(?:^|/)(?:path/to|some|your|my|foo|bar|baz|example|examples?-?\w*|dir|tmp)(?:/|\.|$)|[<>{}*…$]")


def anchors_in(text: str) -> list[str]:
    """Return the places a text names, those in backticks first, without URLs, routes, commands and examples.

    A bare name without a folder counts only in backticks: in prose `node.js` is not a file.
    """
    bare = _ADDRESS.sub(" ", text)
    quoted = [match[0] for quote in _QUOTED.findall(bare) if (match := _PLACE.fullmatch(quote.strip()))]
    prose = [match[0] for match in _PLACE.finditer(_QUOTED.sub(" ", bare)) if "/" in match["path"]]
    places = dict.fromkeys(place.removeprefix("./") for place in (*quoted, *prose) if not _EXAMPLE.search(place))
    return list(places)[:MOST_ANCHORS]


def places_of(record: Record) -> dict[str, Mark | None]:
    """Return every place a record cites, in its anchors or its text, with its last seen content."""
    seen = record.seen.marks if record.seen else {}
    return {
        anchor: seen.get(anchor)
        for anchor in (*record.anchors, *(place for place in seen if place not in record.anchors))
    }


def is_about_code(kind: str) -> bool:
    """True if records of a kind describe the present, so that they can become stale."""
    return kind not in PAST and kind in KINDS


def freshness_of(record: Record, now: Sight, at: str) -> Freshness:
    """Judge a record by the current content of its places."""
    places = places_of(record)
    findings = tuple(
        judged(record, anchor, cited, now.marks[anchor]) for anchor, cited in places.items() if anchor in now.marks
    )
    days = days_between(record.verified_at, at) if record.verified_at else None
    return Freshness(state=overall(findings, checked=bool(record.verified_at)), findings=findings, days=days)


def unknown(record: Record, at: str) -> Freshness:
    """Return the freshness of a record whose code is not available."""
    days = days_between(record.verified_at, at) if record.verified_at else None
    return Freshness(state="unknown" if record.anchors or record.verified_at else "unverified", days=days)


def overall(findings: Sequence[Finding], *, checked: bool) -> State:
    """Return the worst of several states; without findings nothing can be measured."""
    if not findings:
        return "unknown" if checked else "unverified"
    return max((finding.state for finding in findings), key=STATES.index)


def judged(record: Record, anchor: str, cited: Mark | None, now: Mark) -> Finding:
    """Return the finding for one place."""
    place = parse_anchor(anchor)
    state, note = _state(place, cited, now, claimed=_claims(record, anchor, place))
    moved = _moved(place, cited, now) if state == "fresh" else ""
    return Finding(anchor=anchor, state=state, note=note, moved_to=moved, now=now)


def since_cited(finding: Finding, cited: Mark | None, touches: Sequence[Touch]) -> list[Touch]:
    """Return the commits that touched the file of a place since its cited content, newest first."""
    file_touches = [touch for touch in touches if touch.path == parse_anchor(finding.anchor).path]
    until = next(
        (index for index, touch in enumerate(file_touches) if cited and touch.after == cited.blob), len(file_touches)
    )
    return file_touches[:until]


def explained(finding: Finding, touches: Sequence[Touch], versions: Mapping[str, Mark]) -> Finding:
    """Return the finding with the commits that changed its place, given the content in the versions they made."""
    if not touches:
        return finding  # not committed yet, or by a commit with an earlier date
    relevant = [touch for touch in touches if _differs(versions.get(touch.before), versions.get(touch.after))]
    return replace(finding, commits=len(relevant), last=(relevant or touches)[0])


def _differs(before: Mark | None, after: Mark | None) -> bool:
    """True if the content differs, or either version is not available."""
    if before is None or after is None:
        return True
    return (before.there, before.hash, before.value) != (after.there, after.hash, after.value)


def _claims(record: Record, anchor: str, place: Anchor) -> bool:
    """True if a record makes a claim about the content of a place, rather than only naming it."""
    return place.kind != "path" or (anchor in record.anchors and record.source in CLAIMED)


def _state(place: Anchor, cited: Mark | None, now: Mark, *, claimed: bool) -> tuple[State, str]:
    if now.there is None:
        return "unknown", ""
    if place.kind == "absent":
        return ("changed", "it exists again") if now.there else ("fresh", "")
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
    """Return the new line range of cited lines, if they moved."""
    if place.kind != "lines" or cited is None or (cited.first, cited.last) == (now.first, now.last):
        return ""
    return f"{place.path}:L{now.first}-L{now.last}"


def told(freshness: Freshness) -> str:
    """Return a record's freshness in a few words."""
    age = (
        ""
        if freshness.days is None
        else f", checked {freshness.days:.0f} d ago"
        if freshness.days >= 1
        else ", checked today"
    )
    return f"{freshness.state}{age}"


def details(freshness: Freshness) -> list[str]:
    """Return what changed at each place that is missing, changed or moved."""
    return [_detail(finding) for finding in (*freshness.troubles, *freshness.moved)]


def _detail(finding: Finding) -> str:
    if finding.moved_to:
        return f"{finding.anchor} moved to {finding.moved_to}" + (f", {finding.note}" if finding.note else "")
    parts = [finding.note] if finding.note else []
    if finding.commits:
        parts.append(f"{finding.commits} commit{'s' if finding.commits > 1 else ''} since")
    if finding.last:
        parts.append(
            f"last {finding.last.commit[:8]} {finding.last.subject!r} by {finding.last.author}, {finding.last.at[:10]}"
        )
    return f"{finding.anchor} {finding.state}" + (f" ({'; '.join(parts)})" if parts else "")


def wrong_claims(anchors: Sequence[str], now: Sight | None) -> list[str]:
    """Return the anchors that are false right now, each with the reason."""
    wrong = []
    for anchor in anchors if now else ():
        mark = now.marks.get(anchor) if now else None
        state, note = _state(parse_anchor(anchor), mark, mark, claimed=True) if mark else ("unknown", "")
        if state in ("missing", "changed"):
            wrong.append(f"{anchor} ({note or 'it does not exist'})")
    return wrong
