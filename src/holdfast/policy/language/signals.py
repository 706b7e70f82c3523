"""What a person or an agent said that wants keeping: marked blocks and lines, and sentences whose wording says so."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from holdfast.policy.language import wording
from holdfast.policy.language.markers import Mark, blocks, inline
from holdfast.policy.language.prose import Passage, own_words, passages
from holdfast.policy.language.quotes import without_quotes
from holdfast.policy.language.statements import keys_of
from holdfast.policy.secrets.find import find_secrets

How = Literal["block", "inline", "wording"]
Tier = Literal["auto", "suggest", "skip"]

LONGEST_TEXT = 100_000  # characters that are looked at
SHORTEST, LONGEST = 20, 400  # characters of a sentence
WRAPPED = 60  # characters of a line that may go on in the next
FEWEST_KEYS = 3  # words of content beside the wording itself
AUTO, SUGGEST = 0.85, 0.70
NOVEL = 0.3
BLOCK, INLINE, SUREST_WORDING = 0.99, 0.97, 0.96

# The kind of record each signal becomes. How something was solved is a lesson, and lives longer than news of progress.
KINDS: Mapping[str, str] = {
    "decision": "decision",
    "learning": "learning",
    "blocker": "blocker",
    "resolution": "learning",
    "progress": "progress",
    "pattern": "pattern",
    "preference": "preference",
    "explicit": "learning",
    "research": "reference",
    "review": "review",
    "retrospective": "retrospective",
    "inception": "inception",
    "elicitation": "elicitation",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One thing to keep: which signal, the whole sentence or block, how sure, where, and what gave it away."""

    kind: str
    text: str
    confidence: float
    span: tuple[int, int]
    how: How

    @property
    def record_kind(self) -> str:
        """The kind of record it becomes."""
        return KINDS[self.kind]


def signals(text: str) -> list[Signal]:
    """Give what a text says that wants keeping, once each, in order."""
    said, _ = own_words(text[:LONGEST_TEXT])
    found: list[Signal] = []
    unquoted = without_quotes(text[:LONGEST_TEXT])
    for marks in (blocks, inline):
        marked = [signal for mark in marks(said) if (signal := _marked(mark))]
        found += [signal for signal in marked if _is_own(signal, unquoted)]
        said = _without(said, [signal.span for signal in marked])
    found += _worded(said, unquoted)
    kept: dict[tuple[str, str], Signal] = {}
    for signal in sorted(found, key=lambda one: one.span):
        kept.setdefault((signal.kind, " ".join(signal.text.lower().split())), signal)
    return list(kept.values())


def tier(signal: Signal, novelty: float) -> Tier:
    """Say what to do with a signal: keep it, offer it, or leave it. Novelty is 0 for what is known word for word."""
    if novelty < NOVEL:
        return "skip"
    if signal.confidence >= AUTO:
        return "auto"
    # Somebody who asks for it to be kept is at least asked back.
    return "suggest" if signal.confidence >= SUGGEST or signal.kind == "explicit" else "skip"


def worth(confidence: float, novelty: float) -> float:
    """Give the confidence a record is kept with: what is half known counts three quarters."""
    return confidence * (0.5 + 0.5 * min(max(novelty, 0.0), 1.0))


def _marked(mark: Mark) -> Signal | None:
    if find_secrets(mark.text):
        return None
    kind, confidence = mark.signal or _kind_of(mark.text), BLOCK if mark.how == "block" else INLINE
    return Signal(kind=kind, text=mark.text, confidence=confidence, span=mark.span, how=mark.how)


def _kind_of(text: str) -> str:
    """Tell a signal by its wording alone, for a marker that does not say which."""
    found = _worded(text, without_quotes(text))
    return max(found, key=lambda one: one.confidence).kind if found else "explicit"


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return text


def _is_own(signal: Signal, unquoted: str) -> bool:
    """Return whether a marked text is not wholly a quotation."""
    return not re.fullmatch(r"[x\s]*", unquoted[slice(*signal.span)])


def _worded(text: str, unquoted: str) -> list[Signal]:
    """Give the sentences whose wording says that they want keeping; wording that is quoted does not count."""
    found: list[Signal] = []
    before: Passage | None = None
    for passage in _sentences(text):
        masked = " ".join(unquoted[passage.start : passage.end].split())
        if signal := _pointed_back(passage, before) or _stated(passage, masked):
            found.append(signal)
        before = passage
    return [signal for signal in found if not find_secrets(signal.text)]


def _sentences(text: str) -> Iterator[Passage]:
    """Give the sentences of a text; one that was wrapped before a capital is put together again."""
    held: Passage | None = None
    for passage in passages(text):
        if passage.form != "sentence":
            continue
        if held and _is_wrapped(text, held, passage):
            held = replace(held, text=f"{held.text} {passage.text}", end=passage.end)
            continue
        if held:
            yield held
        held = passage
    if held:
        yield held


def _is_wrapped(text: str, held: Passage, after: Passage) -> bool:
    between = text[held.end : after.start]
    line = text[text.rfind("\n", 0, held.end) + 1 : held.end]
    unfinished = len(line) >= WRAPPED and not held.text.endswith((".", "!", "?", ":", ";", "…", '"', ")"))
    return unfinished and not between.strip() and between.count("\n") == 1 and not line.lstrip().startswith("#")


def _pointed_back(passage: Passage, before: Passage | None) -> Signal | None:
    if before is None or not wording.POINTS_BACK.match(passage.text) or not _says_something(before.text):
        return None
    return Signal(kind="explicit", text=before.text, confidence=0.92, span=(before.start, passage.end), how="wording")


def _stated(passage: Passage, masked: str) -> Signal | None:
    sentence = passage.text
    if not SHORTEST <= len(sentence) <= LONGEST or sentence.endswith((":", "...", "…")):
        return None
    if any(cue.search(masked) for cue in (wording.ASKED, wording.PASSING, wording.LOOKING)):
        return None
    best = max(_readings(sentence, masked), default=None)
    if best is None:
        return None
    confidence, kind = best
    return Signal(kind=kind, text=sentence, confidence=confidence, span=(passage.start, passage.end), how="wording")


def _readings(sentence: str, masked: str) -> Iterator[tuple[float, str]]:
    """Give every signal the sentence could be, with how sure that is."""
    for cue in wording.CUES:
        match = cue.pattern.search(masked)
        if not match or _supposed(masked[: match.end()], match[0]):
            continue
        if _says_something(sentence, match.span()):
            yield _adjusted(cue.confidence, sentence), cue.signal


def _supposed(head: str, cue: str) -> bool:
    """Tell whether what leads up to a wording makes it a supposition; the wording's own words do not count."""
    return bool(wording.SUPPOSED.search(head[: len(head) - len(cue)]))


def _says_something(sentence: str, cue: tuple[int, int] = (0, 0)) -> bool:
    return len(keys_of(sentence) - keys_of(sentence[cue[0] : cue[1]])) >= FEWEST_KEYS


def _adjusted(confidence: float, sentence: str) -> float:
    more = 0.02 * sentence.endswith((".", "!")) + 0.03 * bool(wording.STRONG.search(sentence))
    more += 0.02 * bool(wording.GROUNDS.search(sentence)) - 0.05 * (len(sentence) < 2 * SHORTEST)
    return round(min(confidence + more, SUREST_WORDING), 2)
