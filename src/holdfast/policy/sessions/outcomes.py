"""Detect whether a session used or contradicted records that were injected automatically, from its replies and edits."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from holdfast.model.ids import short
from holdfast.model.record import Record

Outcome = Literal["applied", "contradicted"]
ENOUGH = 2  # distinctive words that must reappear: one may be chance
_WORD = re.compile(r"[^\W\d_][\w]*(?:[-./:][\w]+)*")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
_DENIED = re.compile(
    r"\b(?:no longer (?:true|holds?|applies|the case|valid|exists?)|outdated|obsolete|out of date|is (?:wrong|incorrect|stale)|"
    r"was (?:wrong|incorrect)|not (?:true|correct|accurate)(?: any ?more)?|isn't true|contrary to|contradicts?)\b",
    re.IGNORECASE,
)
_LIKE_CODE = re.compile(r"[_./:]|-(?=\w)|\d|[a-z][A-Z]")


def distinctive(record: Record, *, common: Callable[[str], bool]) -> frozenset[str]:
    """Return the record's distinctive words: names from code, and rare words."""
    words = {match[0] for match in _WORD.finditer(f"{record.text} {' '.join((*record.anchors, *record.triggers))}")}
    return frozenset(
        word.lower()
        for word in words
        if len(word) >= 4 and (_LIKE_CODE.search(word) or (len(word) >= 6 and not common(word.lower())))
    )


def outcome_of(words: frozenset[str], record_id: str, later: Sequence[str], earlier: Iterable[str]) -> Outcome | None:
    """Return the outcome that replies, commands and edits after an injection show; None if they show none.

    Words that the user's prompts or the triggering command contain already prove nothing. A sentence
    that names `record_id` with a doubt contradicts the record.
    """
    fresh = words - _words(earlier)
    doubts = [said for text in later for said in _SENTENCE.split(text) if _DENIED.search(said)]
    if any(short(record_id) in said.upper() or len(fresh & _words([said])) >= ENOUGH for said in doubts):
        return "contradicted"
    return "applied" if len(fresh & _words(later)) >= ENOUGH else None


def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(match[0].lower() for text in texts for match in _WORD.finditer(text))
