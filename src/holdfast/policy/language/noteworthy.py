"""Find statements worth keeping in what agents write: marked text, and what the classifier takes for a lesson."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from holdfast.model.patterns import lazy, tables
from holdfast.policy.language.cues import CUES
from holdfast.policy.language.foreign import own_part
from holdfast.policy.language.reading import CLAIMS, SentenceReader, blanked
from holdfast.policy.language.user_statements import needs_subject
from holdfast.policy.secrets.find import find_secrets

How = Literal["block", "inline", "wording"]
Tier = Literal["auto", "suggest", "skip"]

LONGEST_TEXT = 100_000  # characters that are read
SHORTEST, FEW_WORDS = 15, 6  # characters of a sentence, and words of one whose subject is a pronoun
NOVEL = 0.3
LIKELIER = 0.7  # the class that a sentence is taken for
SUGGEST = 0.70
BLOCK, INLINE = 0.99, 0.97

# The kind of record each signal becomes. A solution is a learning, which lasts longer than progress news.
_OWN = "decision blocker progress pattern preference review retrospective inception elicitation".split()
KINDS: Mapping[str, str] = {
    **{kind: kind for kind in _OWN},
    **dict.fromkeys(("learning", "finding", "resolution", "explicit"), "learning"),
    "research": "reference",
}
# What each class of an agent's sentence is. A finding is kept only with evidence: see `policy.activity.claims`.
_CLASSES = {"lesson": "learning", "finding": "finding", "decision": "decision", "blocker": "blocker"}
# Marker name -> signal. For an empty signal the wording decides.
NAMES = {word: signal for signal, words in tables(__file__)["markers"] for word in words.split()}
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
# At the start of a line or after a clause, and behind another one anywhere; links, task-list items and mere mentions do not count.
_JOINED = rf"(?:(?:{CUES['joins']})\b[, \t]+)?"
_MARK = (
    rf"(?P<mark>(?:\*\*)?(?:\[(?P<name>{_LONG}|[dlbp])(?::(?P<into>\w+))?\](?:\*\*)?(?![(\[])|@memory(?::(?P<onto>\w+))?(?=[ \t:]))"
    rf"[ \t]*+:?+[ \t]*+(?!(?-i:{CUES['mention']})))"
)
_INLINE = lazy(
    rf"(?:^[ \t]*(?:[-*•][ \t]+|\d{{1,2}}[.)][ \t]+)?|(?<=[.!?:;,—–][ \t])){_JOINED}{_MARK}"
    r"[^\n]+(?:(?<![.!?:。！？])\n(?![ \t]*(?:[-*•\d\[@▶:]|$))[^\n]+)*",  # a line that ends a sentence ends it
    re.IGNORECASE | re.MULTILINE,
)
_NEXT = lazy(rf"(?i)(?:(?<=[.!?:;,—–]\s){_JOINED}|(?<=\s)(?<!\b(?:the|see|use)\s)(?=\*{{0,2}}\[\w\w)){_MARK}")
FEWEST_WORDS = 3  # after a marker of one letter, which may be anything


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
    for find in (_blocks, _inline):
        marks = [signal for signal in find(remaining) if not find_secrets(signal.text)]
        for signal in marks:
            found.setdefault((signal.kind, " ".join(signal.text.lower().split())), signal)
        remaining = blanked(remaining, (signal.span for signal in marks))
    return sorted(found.values(), key=lambda signal: signal.span)


def signals(text: str, reader: SentenceReader) -> list[Signal]:
    """Return what an agent's text states, in order: marked texts, and lessons, findings, decisions and blockers."""
    explicit = marked(text, by_agent=True)
    found = {" ".join(signal.text.lower().split()): signal for signal in explicit}
    for sentence in reader.message(own_part(text[:LONGEST_TEXT], by_agent=True).text):
        kind, share = _CLASSES.get(sentence.label, ""), sentence.share(*_CLASSES)
        covered = any(one.span[0] < sentence.span[1] and sentence.span[0] < one.span[1] for one in explicit)
        stands = len(sentence.text) >= SHORTEST and not needs_subject(sentence.text, FEW_WORDS)
        surely = share >= CLAIMS and sentence.share(sentence.label) >= LIKELIER
        if kind and surely and stands and not covered and not find_secrets(sentence.text):
            said, span = sentence.text, sentence.span
            signal = Signal(kind=kind, text=said, confidence=round(share, 2), span=span, how="wording")
            found.setdefault(" ".join(said.lower().split()), signal)
    return sorted(found.values(), key=lambda signal: signal.span)


def tier(signal: Signal, novelty: float) -> Tier:
    """Return what to do with a signal: save it, suggest it or skip it. A novelty of 0 means known word for word."""
    if novelty < NOVEL:
        return "skip"
    return "auto" if signal.how != "wording" or signal.confidence >= SUGGEST else "suggest"


def worth(confidence: float, novelty: float) -> float:
    """Return the confidence of the record: a half-known statement counts three quarters."""
    return confidence * (0.5 + 0.5 * min(max(novelty, 0.0), 1.0))


def _blocks(text: str) -> Iterator[Signal]:
    for match in (match for pattern in (_BLOCK, _FENCED) for match in pattern.finditer(text)):
        parts = match["title"].strip(" ─-\t"), (match["body"] or match["open"] or "").strip()
        if whole := "\n".join(part for part in parts if part):
            kind = NAMES[match["name"].lower()] or "explicit"
            yield Signal(kind=kind, text=whole, confidence=BLOCK, span=match.span(), how="block")


def _inline(text: str) -> Iterator[Signal]:
    for line in _INLINE.finditer(text):
        begin, after = line.end("mark"), _NEXT.finditer(text, line.end("mark"), line.end())
        marks = [line, *(mark for mark in after if text.count("`", begin, mark.start()) % 2 == 0)]  # not in code
        for mark, end in zip(marks, [*(mark.start() for mark in marks[1:]), line.end()], strict=True):
            body = " ".join(text[mark.end("mark") : end].split()).rstrip(",;—– ")
            name = mark["into"] or mark["onto"] or mark["name"] or "memory"
            if body.strip("*_ .") and (len(name) > 1 or len(body.split()) >= FEWEST_WORDS):
                kind = NAMES.get(name.lower()) or "explicit"
                yield Signal(kind=kind, text=body, confidence=INLINE, span=(mark.start(), end), how="inline")
