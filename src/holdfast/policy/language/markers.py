"""Find explicitly marked text: `▶ decision ───` blocks, `:::` blocks, and `[decision]` at the start of a line."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from holdfast.model.patterns import lazy

# Marker name -> signal. For an empty signal the wording decides.
NAMES: Mapping[str, str] = {
    word: signal
    for signal, words in {
        "decision": "decision decisions d",
        "learning": "learned learning learnings insight til l",
        "blocker": "blocker blockers block b",
        "progress": "progress p",
        "pattern": "pattern patterns",
        "research": "research",
        "review": "review reviews",
        "retrospective": "retro retrospective",
        "inception": "inception",
        "elicitation": "requirement requirements elicitation",
        "explicit": "remember",
        "": "capture memory",
    }.items()
    for word in words.split()
}
_LONG = "|".join(sorted((word for word in NAMES if len(word) > 1), key=len, reverse=True))
# Up to the closing line; without one before the next block, up to the end of the paragraph.
_BLOCK = lazy(
    rf"^[ \t]*▶[ \t]*(?P<name>{_LONG})\b[ \t]*:?[ \t]*(?:[─-]{{3,}})?[ \t]*(?P<title>[^\n]*)(?:\n|\Z)"
    r"(?:(?P<body>(?:(?![ \t]*▶)[^\n]*\n)*?)[ \t]*─{3,}[ \t]*$|(?P<open>(?:(?![ \t]*▶)[^\n]*\S[^\n]*(?:\n|\Z))*))",
    re.IGNORECASE | re.MULTILINE,
)
_FENCED = lazy(
    rf"^[ \t]*:::[ \t]*(?P<name>{_LONG})\b[ \t]*(?P<title>[^\n]*)\n(?P<body>(?:(?![ \t]*:::)[^\n]*\n)*)[ \t]*:::[ \t]*(?P<open>)$",
    re.IGNORECASE | re.MULTILINE,
)
# At the start of a line or after a clause; links, task-list items and mere mentions do not count.
_INLINE = lazy(
    rf"(?:^[ \t]*(?:[-*•][ \t]+|\d{{1,2}}[.)][ \t]+)?(?:\*\*)?|(?<=[.!?:;,—–][ \t]))"
    rf"(?:\[(?P<name>{_LONG}|[dlbp])(?::(?P<into>\w+))?\](?:\*\*)?(?![(\[])"
    rf"|@memory(?::(?P<onto>\w+))?(?=[ \t:]))"
    r"[ \t]*:?[ \t]*(?P<body>[^\n]+(?:\n(?![ \t]*(?:[-*•\d\[@▶:]|$))[^\n]+)*)",
    re.IGNORECASE | re.MULTILINE,
)
_MENTION = lazy(
    r"(?:markers?|tags?|prefix\w*|labels?|lines?|blocks?|entr(?:y|ies)|leaks?|usage|limits?|pressure|footprint|and|or|is|are)\b|"
    r"[-(]|\d+\s?%"
)
FEWEST_WORDS = 3  # after a marker of one letter, which may be anything


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A marked text: its signal ("" if the wording decides), its text and its span."""

    signal: str
    text: str
    how: Literal["block", "inline"]
    span: tuple[int, int]


def blocks(text: str) -> Iterator[Mark]:
    """Yield the marked blocks, each with its title and its whole body."""
    for pattern in (_BLOCK, _FENCED):
        for match in pattern.finditer(text):
            title, body = match["title"].strip(" ─-\t"), (match["body"] or match["open"] or "").strip()
            if whole := "\n".join(part for part in (title, body) if part):
                yield Mark(signal=NAMES[match["name"].lower()], text=whole, how="block", span=match.span())


def inline(text: str) -> Iterator[Mark]:
    """Yield the texts after inline markers, up to the end of the paragraph."""
    for match in _INLINE.finditer(text):
        body = " ".join(match["body"].split())
        name = match["into"] or match["onto"] or match["name"] or "memory"
        if not body.strip("*_ .") or _MENTION.match(body) or (len(name) == 1 and len(body.split()) < FEWEST_WORDS):
            continue
        signal = NAMES.get(name.lower())
        yield Mark(signal="explicit" if signal is None else signal, text=body, how="inline", span=match.span())
