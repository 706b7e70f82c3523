"""What became of what a session was told unasked, as its own words and edits show it. Pure."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from holdfast.model.record import Record

Outcome = Literal["applied", "contradicted"]
ENOUGH = 2  # distinctive words that come back: one may be chance
_WORD = re.compile(r"[^\W\d_][\w]*(?:[-./:][\w]+)*")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
_DENIED = re.compile(
    r"\b(?:no longer (?:true|holds?|applies|the case|valid|exists?)|outdated|obsolete|out of date|is (?:wrong|incorrect|stale)|"
    r"was (?:wrong|incorrect)|not (?:true|correct|accurate)(?: any ?more)?|isn't true|contrary to|contradicts?)\b",
    re.IGNORECASE,
)
_LIKE_CODE = re.compile(r"[_./:]|-(?=\w)|\d|[a-z][A-Z]")


def distinctive(record: Record, *, common: Callable[[str], bool]) -> frozenset[str]:
    """Give the words that hardly anybody says without having the record in mind: names from code, and rare words."""
    found = {match[0] for match in _WORD.finditer(f"{record.text} {' '.join((*record.anchors, *record.triggers))}")}
    return frozenset(
        word.lower()
        for word in found
        if len(word) >= 4 and (_LIKE_CODE.search(word) or (len(word) >= 6 and not common(word.lower())))
    )


def outcome_of(words: frozenset[str], told: str, said: Sequence[str], asked: Iterable[str]) -> Outcome | None:
    """Tell what replies, commands and edits after a record was told show; None if nothing of it came back.

    What the user's own prompts or the command that called the record up hold already proves nothing. `told` is the
    record's id: who names it with a doubt contradicts it.
    """
    given = _words(asked)
    fresh = words - given
    if any(_denies(sentence, fresh, told) for text in said for sentence in _SENTENCE.split(text)):
        return "contradicted"
    return "applied" if len(fresh & _words(said)) >= ENOUGH else None


def _denies(sentence: str, words: frozenset[str], told: str) -> bool:
    if not _DENIED.search(sentence):
        return False
    return told[:10] in sentence.upper() or len(words & _words([sentence])) >= ENOUGH


def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(match[0].lower() for text in texts for match in _WORD.finditer(text))
