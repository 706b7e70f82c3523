"""Whether what an agent got was used: by its replies and edits after an injection, or by the calls after a result."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from holdfast.model.ids import Clock, days_between, short
from holdfast.model.patterns import lazy
from holdfast.model.record import Record

Outcome = Literal["applied", "contradicted"]
ENOUGH = 2  # distinctive words that must reappear: one may be chance
TURNS = 2  # calls without feedback after which a result counts as used
FORGOTTEN_DAYS = 0.5 / 24  # half an hour, after which the outcome counts as unknown
_WORD = lazy(r"[^\W\d_][\w]*(?:[-./:][\w]+)*")
_SENTENCE = lazy(r"(?<=[.!?])\s+|\n")
_DENIED = lazy(
    r"\b(?:no longer (?:true|holds?|applies|the case|valid|exists?)|outdated|obsolete|out of date|is (?:wrong|incorrect|stale)|"
    r"was (?:wrong|incorrect)|not (?:true|correct|accurate)(?: any ?more)?|isn't true|contrary to|contradicts?)\b",
    re.IGNORECASE,
)
_LIKE_CODE = lazy(r"[_./:]|-(?=\w)|\d|[a-z][A-Z]")


def distinctive(record: Record, *, common: Callable[[str], bool]) -> frozenset[str]:
    """Return the record's distinctive words: names from code, and rare words."""
    words = {match[0] for match in _WORD.finditer(f"{record.text} {' '.join((*record.anchors, *record.triggers))}")}
    return frozenset(
        word.lower()
        for word in words
        if len(word) >= 4 and (_LIKE_CODE.search(word) or (len(word) >= 6 and not common(word.lower())))
    )


def outcome_of(words: frozenset[str], record_id: str, later: Sequence[str], earlier: Iterable[str]) -> Outcome | None:
    """Return the outcome that replies, commands and edits after an injection show; None if they show none."""
    # Words that the user's prompts or the triggering command contain already prove nothing. A sentence that names
    # `record_id` with a doubt contradicts the record.
    fresh = words - _words(earlier)
    doubts = [said for text in later for said in _SENTENCE.split(text) if _DENIED.search(said)]
    if any(short(record_id) in said.upper() or len(fresh & _words([said])) >= ENOUGH for said in doubts):
        return "contradicted"
    return "applied" if len(fresh & _words(later)) >= ENOUGH else None


def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(match[0].lower() for text in texts for match in _WORD.finditer(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Impression:
    """A record that was returned and got no feedback yet."""

    id: str
    token: str
    turn: int
    at: str


@dataclass(slots=True, kw_only=True)
class SessionFeedback:
    """The state of one session; nothing in it is stored."""

    turn: int = 0
    muted: dict[str, None] = field(default_factory=dict)
    impressions: dict[str, Impression] = field(default_factory=dict)

    def show(self, record_id: str, clock: Clock) -> str:
        """Register a result and return its token; a record has one at a time."""
        shown = Impression(id=record_id, token=clock.tick(), turn=self.turn, at=clock.now())
        self.impressions[record_id] = shown
        return shown.token

    def next_turn(self, now: str) -> list[Impression]:
        """Start the next call: return the results that now count as used, and drop older ones."""
        self.turn += 1
        fresh = [shown for shown in self.impressions.values() if days_between(shown.at, now) <= FORGOTTEN_DAYS]
        self.impressions = {shown.id: shown for shown in fresh if self.turn - shown.turn < TURNS}
        return [shown for shown in fresh if shown.id not in self.impressions]
