"""Find statements worth keeping in what agents write: marked blocks and lines, and what the classifier takes for a lesson."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from holdfast.policy.language.foreign import own_part
from holdfast.policy.language.markers import Mark, blocks, inline
from holdfast.policy.language.reading import CLAIMS, SentenceReader
from holdfast.policy.language.user_statements import needs_subject
from holdfast.policy.secrets.find import find_secrets

How = Literal["block", "inline", "wording"]
Tier = Literal["auto", "suggest", "skip"]

LONGEST_TEXT = 100_000  # characters that are read
SHORTEST, FEW_WORDS = 15, 6  # characters of a sentence, and words of one whose subject is a pronoun
NOVEL = 0.3
SUGGEST = 0.70
BLOCK, INLINE = 0.99, 0.97

# The kind of record each signal becomes. A solution is a learning, which lasts longer than progress news.
KINDS: Mapping[str, str] = {
    "decision": "decision",
    "learning": "learning",
    "finding": "learning",
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
# What each class of an agent's sentence is. A finding is kept only with evidence: see `policy.activity.claims`.
_CLASSES = {"lesson": "learning", "finding": "finding", "decision": "decision", "blocker": "blocker"}


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


def marked(text: str, *, by_agent: bool = False) -> list[Signal]:
    """Return the explicitly marked texts, in order, each once."""
    remaining = own_part(text[:LONGEST_TEXT], by_agent=by_agent).text
    found = dict[tuple[str, str], Signal]()
    for find_marks in (blocks, inline):
        signals_found = [signal for mark in find_marks(remaining) if (signal := _signal_of(mark))]
        for signal in signals_found:
            found.setdefault((signal.kind, " ".join(signal.text.lower().split())), signal)
            start, end = signal.span
            remaining = remaining[:start] + re.sub(r"[^\n]", " ", remaining[start:end]) + remaining[end:]
    return sorted(found.values(), key=lambda signal: signal.span)


def signals(text: str, reader: SentenceReader) -> list[Signal]:
    """Return what an agent's text states, in order: marked texts, and lessons, findings, decisions and blockers."""
    explicit = marked(text, by_agent=True)
    found = {" ".join(signal.text.lower().split()): signal for signal in explicit}
    for sentence in reader.message(own_part(text[:LONGEST_TEXT], by_agent=True).text):
        kind, share = _CLASSES.get(sentence.label, ""), sentence.share(*_CLASSES)
        covered = any(one.span[0] < sentence.span[1] and sentence.span[0] < one.span[1] for one in explicit)
        stands = len(sentence.text) >= SHORTEST and not needs_subject(sentence.text, FEW_WORDS)
        if kind and share >= CLAIMS and stands and not covered and not find_secrets(sentence.text):
            signal = Signal(
                kind=kind, text=sentence.text, confidence=round(share, 2), span=sentence.span, how="wording"
            )
            found.setdefault(" ".join(sentence.text.lower().split()), signal)
    return sorted(found.values(), key=lambda signal: signal.span)


def tier(signal: Signal, novelty: float) -> Tier:
    """Return what to do with a signal: save it, suggest it or skip it. A novelty of 0 means known word for word."""
    if novelty < NOVEL:
        return "skip"
    return "auto" if signal.how != "wording" or signal.confidence >= SUGGEST else "suggest"


def worth(confidence: float, novelty: float) -> float:
    """Return the confidence of the record: a half-known statement counts three quarters."""
    return confidence * (0.5 + 0.5 * min(max(novelty, 0.0), 1.0))


def _signal_of(mark: Mark) -> Signal | None:
    if find_secrets(mark.text):
        return None
    confidence = BLOCK if mark.how == "block" else INLINE
    return Signal(kind=mark.signal or "explicit", text=mark.text, confidence=confidence, span=mark.span, how=mark.how)
