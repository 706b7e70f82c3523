"""Find statements worth keeping in what people and agents write: marked blocks and lines, and telling wordings."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from holdfast.policy.language import statement_patterns
from holdfast.policy.language.foreign import own_part
from holdfast.policy.language.markers import Mark, blocks, inline
from holdfast.policy.language.prose import Passage, passages
from holdfast.policy.language.statements import keys_of
from holdfast.policy.secrets.find import find_secrets

How = Literal["block", "inline", "wording"]
Tier = Literal["auto", "suggest", "skip"]

LONGEST_TEXT = 100_000  # characters that are read
SHORTEST, LONGEST = 15, 400  # characters of a sentence
WRAPPED = 60  # characters from which a line may continue in the next
FEWEST_KEYS = 1  # content words besides the wording itself
AUTO, SUGGEST = 0.85, 0.70
NOVEL = 0.3
BLOCK, INLINE, SUREST_WORDING = 0.99, 0.97, 0.96

# The kind of record each signal becomes. A solution is a learning, which lasts longer than progress news.
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
    """One statement to keep: its signal, text, confidence and span, and how it was recognized."""

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
    """Return the distinct signals of a text, in order."""
    remaining = own_part(text[:LONGEST_TEXT], by_agent=True).text
    signals_found: list[Signal] = []
    for find_marks in (blocks, inline):
        marked = [signal for mark in find_marks(remaining) if (signal := _signal_of(mark))]
        signals_found += marked
        remaining = _blanked(remaining, [signal.span for signal in marked])
    signals_found += _by_wording(remaining)
    kept: dict[tuple[str, str], Signal] = {}
    for signal in sorted(signals_found, key=lambda signal: signal.span):
        kept.setdefault((signal.kind, " ".join(signal.text.lower().split())), signal)
    return list(kept.values())


def tier(signal: Signal, novelty: float) -> Tier:
    """Return what to do with a signal: save it, suggest it or skip it. A novelty of 0 means known word for word."""
    if novelty < NOVEL:
        return "skip"
    if signal.confidence >= AUTO:
        return "auto"
    # An explicit request to remember something is never skipped without a question.
    return "suggest" if signal.confidence >= SUGGEST or signal.kind == "explicit" else "skip"


def worth(confidence: float, novelty: float) -> float:
    """Return the confidence of the record: a half-known statement counts three quarters."""
    return confidence * (0.5 + 0.5 * min(max(novelty, 0.0), 1.0))


def _signal_of(mark: Mark) -> Signal | None:
    if find_secrets(mark.text):
        return None
    kind, confidence = mark.signal or _kind_of(mark.text), BLOCK if mark.how == "block" else INLINE
    return Signal(kind=kind, text=mark.text, confidence=confidence, span=mark.span, how=mark.how)


def _kind_of(text: str) -> str:
    """Return the signal by wording alone, for a marker that does not name one."""
    candidates = _by_wording(text)
    return max(candidates, key=lambda signal: signal.confidence).kind if candidates else "explicit"


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return text


def _by_wording(text: str) -> list[Signal]:
    """Return the sentences whose wording marks them as worth keeping; quoted wording does not count."""
    result: list[Signal] = []
    before: Passage | None = None
    for passage in _sentences(text):
        if signal := _pointed_back(passage, before) or _stated(passage):
            result.append(signal)
        before = passage
    return [signal for signal in result if not find_secrets(signal.text)]


def _sentences(text: str) -> Iterator[Passage]:
    """Yield the sentences of a text; a sentence wrapped before a capital letter is joined again."""
    current: Passage | None = None
    for passage in passages(text):
        if passage.form != "sentence":
            continue
        if current and _is_wrapped(text, current, passage):
            current = replace(current, text=f"{current.text} {passage.text}", end=passage.end)
            continue
        if current:
            yield current
        current = passage
    if current:
        yield current


def _is_wrapped(text: str, current: Passage, after: Passage) -> bool:
    between = text[current.end : after.start]
    line = text[text.rfind("\n", 0, current.end) + 1 : current.end]
    unfinished = len(line) >= WRAPPED and not current.text.endswith((".", "!", "?", ":", ";", "…", '"', ")"))
    return unfinished and not between.strip() and between.count("\n") == 1 and not line.lstrip().startswith("#")


def _pointed_back(passage: Passage, before: Passage | None) -> Signal | None:
    if before is None or not statement_patterns.POINTS_BACK.match(passage.text) or not _says_something(before.text):
        return None
    return Signal(kind="explicit", text=before.text, confidence=0.92, span=(before.start, passage.end), how="wording")


def _stated(passage: Passage) -> Signal | None:
    sentence = passage.text
    if not SHORTEST <= len(sentence) <= LONGEST or sentence.endswith((":", "...", "…")):
        return None
    if any(
        cue.search(sentence)
        for cue in (statement_patterns.ASKED, statement_patterns.PASSING, statement_patterns.LOOKING)
    ):
        return None
    best = max(_readings(sentence), default=None)
    if best is None:
        return None
    confidence, kind = best
    return Signal(kind=kind, text=sentence, confidence=confidence, span=(passage.start, passage.end), how="wording")


def _readings(sentence: str) -> Iterator[tuple[float, str]]:
    """Yield (confidence, signal) for every signal the sentence could be."""
    for cue in statement_patterns.CUES:
        match = cue.pattern.search(sentence)
        if not match or statement_patterns.SUPPOSED.search(sentence[: match.start()]):
            continue  # what leads up to the wording makes it a supposition
        if _says_something(sentence, match.span()):
            yield _adjusted(cue.confidence, sentence), cue.signal


def _says_something(sentence: str, cue: tuple[int, int] = (0, 0)) -> bool:
    return len(keys_of(sentence) - keys_of(sentence[cue[0] : cue[1]])) >= FEWEST_KEYS


def _adjusted(confidence: float, sentence: str) -> float:
    bonus = 0.02 * sentence.endswith((".", "!")) + 0.03 * bool(statement_patterns.STRONG.search(sentence))
    bonus += 0.02 * bool(statement_patterns.GROUNDS.search(sentence)) - 0.05 * (len(sentence) < 2 * SHORTEST)
    return round(min(confidence + bonus, SUREST_WORDING), 2)
