"""Find the code that a record cites, and judge whether it is unchanged: a finding for each anchor, a state for the record."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from operator import attrgetter

from holdfast.model import anchor as code
from holdfast.model.ids import days_between
from holdfast.model.kinds import KINDS
from holdfast.model.patterns import patterns_of
from holdfast.model.record import Record
from holdfast.model.text import counted, filled

MOST_ANCHORS = 8  # found in a text
_RE = patterns_of(__file__, "patterns")
_WORDS = frozenset(
    "the a an this that each every one no new same other its our your main only private public static".split()
)
SHORTEST = 3
# Kinds that report what happened, not how things are.
PAST = frozenset("observation summary progress retrospective review thread inception elicitation".split())
# Other sources only name related files and claim nothing about their content.
CLAIMED = frozenset({"explicit", "correction"})
_TESTS = re.compile(r"(?:^|/)(?:tests?|__tests__|spec|examples?|docs?)/|(?:^|/)test_|[._](?:test|spec)\.\w+::")
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def the_one_meant(name: str, tail: str, anchors: Sequence[str]) -> str:
    """Return the only definition that a dotted name can mean, found by its tail; "" if it may be another."""
    # Definitions in tests count only if there are no others. Within one file a bare name means the function or class,
    # not a method.
    outer = name.removesuffix(tail).strip(".").split(".")[-1].strip("_").lower()
    paths = ((anchor, anchor.partition("::")[0].rpartition(".")[0].lower().split("/")) for anchor in anchors)
    near = [anchor for anchor, parts in paths if not outer or outer in (part.strip("_") for part in parts)]
    near = [anchor for anchor in near if not _TESTS.search(anchor)] or near
    if len(near) > 1 and len({anchor.partition("::")[0] for anchor in near}) == 1:
        near = [anchor for anchor in near if anchor.partition("::")[2] == tail]
    return near[0] if len(near) == 1 else ""


def places_of(record: Record) -> dict[str, code.CodeMark | None]:
    """Return every place a record cites, in its anchors or its text, with its last seen content."""
    seen = record.seen.marks if record.seen else {}
    return {anchor: seen.get(anchor) for anchor in (*record.anchors, *seen)}


def is_about_code(kind: str) -> bool:
    """True if records of a kind describe the present, so that they can become stale."""
    return kind not in PAST and kind in KINDS


def freshness_of(record: Record, now: code.CodeSnapshot | None, at: str) -> code.Freshness:
    """Judge a record by the current content of its places; without it, its code is not available."""
    days = days_between(record.verified_at, at) if record.verified_at else None
    if now is None:
        return code.Freshness(state="unknown" if record.anchors or record.verified_at else "unverified", days=days)
    places, marks = places_of(record), now.marks
    findings = tuple(judged(record, one, cited, marks[one]) for one, cited in places.items() if one in marks)
    state = overall(findings, checked=bool(record.verified_at))
    if state == "fresh" and not record.anchors:
        tails = {code.parse_anchor(anchor).name.rpartition(".")[2] for anchor in places}
        # The text certainly names code that was not found when it was written: only a part is compared.
        if any(not symbol.plain and symbol.name.rpartition(".")[2] not in tails for symbol in symbols_in(record.body)):
            state = "exists"
    return code.Freshness(state=state, findings=findings, days=days)


def overall(findings: Sequence[code.Finding], *, checked: bool) -> code.State:
    """Return the worst of several states; without findings nothing can be measured."""
    # A place that merely exists adds nothing to one that was compared.
    if not findings:
        return "unknown" if checked else "unverified"
    compared = [finding.state for finding in findings if finding.state != "exists"]
    return max(compared, key=code.STATES.index) if compared else "exists"


def judged(record: Record, anchor: str, cited: code.CodeMark | None, now: code.CodeMark) -> code.Finding:
    """Return the finding for one place."""
    place = code.parse_anchor(anchor)
    # A place that a record only names makes no claim about its content.
    claimed = place.kind != "path" or (anchor in record.anchors and record.source in CLAIMED)
    state, note = _state(place, cited, now, claimed=claimed)
    has_moved = cited and (cited.first, cited.last) != (now.first, now.last)
    moved = f"{place.path}:L{now.first}-L{now.last}" if has_moved and place.kind == "lines" and state == "fresh" else ""
    return code.Finding(anchor=anchor, state=state, note=note, moved_to=moved, now=now)


def since_cited(finding: code.Finding, cited: code.CodeMark | None, touches: Sequence[code.Touch]) -> list[code.Touch]:
    """Return the commits that touched the file of a place since its cited content, newest first."""
    path = code.parse_anchor(finding.anchor).path
    newer = takewhile(lambda touch: touch.path != path or not cited or touch.after != cited.blob, touches)
    return [touch for touch in newer if touch.path == path]


def explained(
    finding: code.Finding, touches: Sequence[code.Touch], versions: Mapping[str, code.CodeMark]
) -> code.Finding:
    """Return the finding with the commits that changed its place, given the content in the versions they made."""
    if not touches:
        return finding  # not committed yet, or by a commit with an earlier date
    content = attrgetter("there", "hash", "value")
    pairs = ((touch, versions.get(touch.before), versions.get(touch.after)) for touch in touches)
    relevant = [touch for touch, old, new in pairs if not old or not new or content(old) != content(new)]
    return replace(finding, commits=len(relevant), last=(relevant or touches)[0])


def _state(
    place: code.Anchor, cited: code.CodeMark | None, now: code.CodeMark, *, claimed: bool
) -> tuple[code.State, str]:
    if now.there is None:
        return "unknown", ""
    if place.kind == "absent":
        return ("changed", "it exists again") if now.there else ("fresh", "")
    if not now.there:
        return "missing", ""
    if place.kind in ("value", "version"):
        same = code.bare_value(place.value).lower() == now.value.lower()
        return ("fresh", "") if same else ("changed", f"it is {now.value} now")
    if place.kind == "commit" or not claimed:
        return "fresh" if place.kind == "commit" else "exists", ""
    if cited is None or not cited.hash:
        return "unverified", ""
    return ("fresh" if now.hash == cited.hash else "changed" if now.hash else "unknown"), ""


def freshness_text(freshness: code.Freshness) -> str:
    """Return a record's freshness in a few words."""
    if freshness.days is None:
        return freshness.state
    return f"{freshness.state}, checked " + (f"{freshness.days:.0f} d ago" if freshness.days >= 1 else "today")


def details(freshness: code.Freshness) -> list[str]:
    """Return what changed at each place that is missing, changed or moved."""
    texts = []
    for finding in dict.fromkeys((*freshness.problems, *freshness.moved)):
        anchor, note, last, moved_to = finding.anchor, finding.note, finding.last, finding.moved_to
        since = finding.commits and f"{counted(finding.commits, 'commit')} since"
        change = last and f"last {last.commit[:8]} {last.subject!r} by {last.author}, {last.at[:10]}"
        parts = "; ".join(filled(note, since, change))
        moved = ", ".join(filled(f"{anchor} moved to {moved_to}", note))
        texts.append(moved if moved_to else f"{anchor} {finding.state}" + (f" ({parts})" if parts else ""))
    return texts


def doubts_of(judged: Mapping[str, code.Freshness]) -> dict[str, str]:
    """Return what contradicts each record that has problems, by id."""
    return {id_: "; ".join(details(state)) for id_, state in judged.items() if state.problems}


def wrong_claims(anchors: Sequence[str], now: code.CodeSnapshot | None) -> list[str]:
    """Return the anchors that are false right now, each with the reason."""
    marks = now.marks if now else {}
    known = ((anchor, marks[anchor]) for anchor in anchors if anchor in marks)
    judged = ((anchor, *_state(code.parse_anchor(anchor), mark, mark, claimed=True)) for anchor, mark in known)
    return [f"{one} ({note or 'it does not exist'})" for one, state, note in judged if state in ("missing", "changed")]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewValue:
    """A value that the code has now: which name, what the record says, and the record's text and anchors with the new one."""

    name: str
    old: str
    new: str
    body: str
    title: str
    anchors: tuple[str, ...]


def new_value(record: Record, findings: Sequence[code.Finding]) -> NewValue | None:
    """Return the update of a record that states one outdated value; None if its text does not state it exactly once."""
    changed = ((finding, code.parse_anchor(finding.anchor)) for finding in findings if finding.state == "changed")
    outdated = [(finding, place) for finding, place in changed if place.kind in ("value", "version")]
    if len(outdated) != 1:
        return None
    finding, place = outdated[0]
    old, new = code.bare_value(place.value), finding.now.value if finding.now else ""
    if "_" in place.value and new.isdecimal():
        old, new = place.value, f"{int(new):_}"  # in the same style
    body = _replaced(record.body, old, new) if new else None
    if body is None:
        return None
    anchor = (finding.moved_to or finding.anchor).removesuffix(place.value) + new
    title = _replaced(record.title, old, new) or record.title
    anchors = tuple(anchor if cited == finding.anchor else cited for cited in record.anchors)
    return NewValue(name=place.name, old=old, new=new, body=body, title=title, anchors=anchors)


def _replaced(text: str, old: str, new: str) -> str | None:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """A name of something defined in code; `value` is what the text says it is set to. A plain one may be an ordinary word."""

    name: str
    value: str = ""
    plain: bool = False


def anchors_in(text: str) -> list[str]:
    """Return the places a text names, those in backticks first, without URLs, routes, commands and examples."""
    # A bare name without a folder counts only in backticks: in prose `node.js` is not a file.
    bare = _RE["address"].sub(" ", text)
    quoted = [match[0] for quote in _RE["quoted"].findall(bare) if (match := _RE["place"].fullmatch(quote.strip()))]
    prose = [match[0] for match in _RE["place"].finditer(_RE["quoted"].sub(" ", bare)) if "/" in match["path"]]
    return _real([*quoted, *prose])


def files_in(text: str) -> list[str]:
    """Return the paths and file names of a text, bare names in prose included: they count if such a file exists."""
    return _real([match["path"] for match in _RE["place"].finditer(_RE["address"].sub(" ", text).replace("`", " "))])


def _real(places: list[str]) -> list[str]:
    unique = dict.fromkeys(place.removeprefix("./") for place in places if not _RE["example"].search(place))
    return list(unique)[:MOST_ANCHORS]


def symbols_in(text: str) -> list[Symbol]:
    """Return the names of code in a text, those that certainly are code first."""
    symbols: dict[str, Symbol] = {}
    for name, value, plain in _symbols(_RE["place"].sub(" ", _RE["address"].sub(" ", _RE["fenced"].sub(" ", text)))):
        symbol = Symbol(name=name.replace("::", ".").replace("#", "."), value=value, plain=plain)
        known = symbols.get(symbol.name)
        if known is None or (symbol.value and not known.value) or (known.plain and not symbol.plain):
            symbols[symbol.name] = symbol
    certain = sorted(symbols.values(), key=lambda symbol: symbol.plain)
    whole = [one for one in certain if not any(other.name.endswith(f".{one.name}") for other in certain)]
    return whole[:MOST_ANCHORS]


def _symbols(text: str) -> Iterator[tuple[str, str, bool]]:
    """Yield name, value, and whether it is a plain one, for each name of code in a text."""
    for quote in _RE["quoted"].findall(text):
        inside = quote.strip()
        if (match := _RE["alone"].fullmatch(inside)) and len(match["name"]) >= SHORTEST:
            yield match["name"], "", inside.islower() and "_" not in inside and "(" not in inside
        elif match := _RE["call"].match(inside):
            yield match["name"], "", False
    for match in _RE["set"].finditer(text.replace("`", " ")):
        if match["name"].rpartition(".")[2].isupper():
            yield match["name"], match["value"], False
    prose = _RE["quoted"].sub(" ", text)
    yield from ((match["name"], "", False) for match in _RE["call"].finditer(prose) if len(match["name"]) >= SHORTEST)
    yield from ((match["name"], "", True) for match in _RE["formed"].finditer(prose))
    called = (match["name"] for how in ("called_after", "called_before") for match in _RE[how].finditer(prose))
    yield from ((name, "", True) for name in called if len(name) >= SHORTEST and name.lower() not in _WORDS)
