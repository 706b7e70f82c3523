"""The baseline of `bench signals`: plain patterns over the raw text, with a hundred characters around each match."""

import re
from dataclasses import dataclass
from itertools import chain

LEAST = 0.70
AROUND = 100
_PATTERNS: tuple[tuple[str, re.Pattern[str], float], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE), confidence)
    for kind, given in {
        "decision": (
            (r"\[decision\]", 0.98),
            (r"\[d\]", 0.95),
            (r"\b(?:i|we) (?:decided|chose|selected|picked|opted)(?: to| for| on)?\b", 0.90),
            (r"\bthe decision (?:is|was)\b", 0.88),
            (r"\bwe'll go with\b", 0.85),
            (r"\bafter (?:considering|evaluating|weighing)\b", 0.85),
            (r"\bfinally (?:decided|settled) on\b", 0.82),
            (r"\bwent with\b", 0.80),
            (r"\bmade the call to\b", 0.80),
        ),
        "learning": (
            (r"\[learn(?:ed|ing)\]", 0.98),
            (r"\[l\]", 0.95),
            (r"\btil\b", 0.95),
            (r"\bkey (?:insight|takeaway|learning)\b", 0.92),
            (r"\b(?:i|we) (?:learned|realized|discovered|found out)\b", 0.90),
            (r"\baha moment\b", 0.88),
            (r"\bturns out\b", 0.85),
            (r"\bnow i (?:know|understand)\b", 0.82),
            (r"\bi (?:didn't|never) know\b", 0.80),
            (r"\binteresting(?:ly)?\b", 0.70),
        ),
        "blocker": (
            (r"\[blocker\]", 0.98),
            (r"\[b\]", 0.95),
            (r"\bblocked (?:by|on)\b", 0.92),
            (r"\b(?:this|that) is blocking\b", 0.90),
            (r"\bstuck (?:on|with)\b", 0.88),
            (r"\bcan(?:'t|not) .* because\b", 0.85),
            (r"\b(?:having trouble|struggling) with\b", 0.80),
            (r"\bcan(?:'t|not) (?:figure out|get|make)\b", 0.78),
            (r"\bissue (?:with|is)\b", 0.75),
            (r"\bproblem:", 0.70),
        ),
        "resolution": (
            (r"\b(?:fixed|resolved|solved) (?:the|this|that|it)\b", 0.92),
            (r"\bworkaround:", 0.88),
            (r"\bfigured (?:it )?out\b", 0.88),
            (r"\bsolution:", 0.85),
            (r"\bthat (?:worked|fixed it)\b", 0.85),
            (r"\bthe (?:fix|solution) (?:was|is)\b", 0.85),
            (r"\bgot it working\b", 0.82),
            (r"\bfinally got\b", 0.75),
        ),
        "progress": (
            (r"\[progress\]", 0.98),
            (r"\[p\]", 0.95),
            (r"\b(?:finished|completed|done with)\b", 0.90),
            (r"\bimplemented\b", 0.88),
            (r"\bshipped\b", 0.88),
            (r"\bmerged the\b", 0.85),
            (r"\bmade progress on\b", 0.82),
            (r"\bwrapped up\b", 0.80),
        ),
        "pattern": (
            (r"\[pattern\]", 0.98),
            (r"\bpattern[: ]", 0.90),
            (r"\bbest practice\b", 0.88),
            (r"\bthis approach (?:works|is useful)\b", 0.85),
            (r"\bidiomatic\b", 0.85),
            (r"\breusable\b", 0.82),
        ),
        "preference": (
            (r"\bmy preference is\b", 0.90),
            (r"\bi (?:always )?(?:prefer|like to)\b", 0.88),
            (r"\bi'd (?:rather|prefer)\b", 0.88),
            (r"\bi (?:don't )?like (?:when|how)\b", 0.75),
            (r"\bi want (?:to|it to)\b", 0.70),
            (r"\bi (?:need|require)\b", 0.68),
        ),
        "explicit": (
            (r"\bremember (?:this|that)\b", 0.98),
            (r"\bsave (?:this|that)\b", 0.95),
            (r"\bnote (?:that|this)\b", 0.92),
            (r"\bfor (?:future|later) reference\b", 0.90),
            (r"\bdon't forget\b", 0.88),
            (r"\bkeep (?:this )?in mind\b", 0.85),
            (r"\bimportant:", 0.75),
        ),
    }.items()
    for pattern, confidence in given
)
_BLOCK = re.compile(
    r"▶ (decision|learned|learning|blocker|progress|pattern|remember) ─+[^\n]*\n(.*?)\n─{3,}", re.DOTALL
)
_BLOCKS = {"learned": "learning", "remember": "explicit"}
_WEIGHTY = re.compile(r"important|critical|key|essential|must|need", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """The text around a match of a pattern."""

    kind: str
    text: str
    confidence: float
    span: tuple[int, int]


def bare_patterns(text: str) -> list[Match]:
    """Report every match of a pattern as a signal; of two that overlap, the one with more confidence."""
    marked = [
        Match(kind=_BLOCKS.get(found[1], found[1]), text=found[2], confidence=0.99, span=found.span())
        for found in _BLOCK.finditer(text)
    ]
    matched = [
        _match(kind, found, text, confidence)
        for kind, pattern, confidence in _PATTERNS
        for found in pattern.finditer(text)
    ]
    kept: list[Match] = []
    for match in sorted(chain(marked, matched), key=lambda one: -one.confidence):
        if match.confidence >= LEAST and not any(_overlap(match.span, other.span) for other in kept):
            kept.append(match)
    return kept


def _match(kind: str, found: re.Match[str], text: str, confidence: float) -> Match:
    around = text[max(0, found.start() - AROUND) : found.end() + AROUND].strip()
    more = 0.02 * (len(found[0]) > 20) - 0.05 * (len(found[0]) < 5) + 0.02 * around.endswith((".", "!", "?"))
    more += 0.05 * bool(_WEIGHTY.search(around)) - 0.05 * (len(around) < 20)
    return Match(kind=kind, text=around, confidence=min(1.0, confidence + more), span=found.span())


def _overlap(some: tuple[int, int], other: tuple[int, int]) -> bool:
    return some[0] < other[1] and other[0] < some[1]
