"""Tell what the sender of a text wrote from what was pasted, quoted, injected or printed by a program.

The one place that decides it: statements, summaries, handovers and briefs read only what is left. Pasted text often shows
no sign of it, so only the opening paragraph of a prompt is certainly the user's own, and only if it is short.
Every pattern is bounded, so that no text takes long.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.model.patterns import lazy, patterns_of
from holdfast.policy.language.cues import CUES
from holdfast.policy.language.reading import DIFF, FENCED, TRACEBACK, blanked, lines_of, tagged

Span = tuple[int, int]  # of a foreign part

LONGEST = 50_000  # characters; what comes later is foreign
MOSTLY = 0.6  # share of a text that is foreign, from which all of it is in doubt
OPENING = 2  # lines of an opening paragraph, list items not counted; more may be pasted
FEWEST_QUOTED = 5  # words of a quotation; fewer only name something

# Where a text can come from, in the languages people type ("the ticket says:"), and the parts such texts have ("Body:").
_SOURCE = rf"(?:{CUES['texts']}|{CUES['parts']})"
_SAYS = rf"(?:{CUES['says']})\b"
_RE = patterns_of(__file__, "patterns")
# A line that a program printed, or of code.
_PRINTED = lazy(rf"^\s*(?:{CUES['printed']})", re.VERBOSE)
# "the issue says:", "hier das Log:", and what follows it. Agents use the names of parts for their own.
_COLON = r"[^.;!?\n:：]{0,60}[:：](?=[ \t]*\n|[ \t]+\S|[^\x00-\x7f])"
_INTRODUCED = lazy(
    rf"(?:(?<![\w-])(?<!\d ){_SOURCE}(?![\w-])|(?:{CUES['cjk']})|(?<!\w)(?<!\bi ){_SAYS}){_COLON}", re.IGNORECASE
)
_CITED = lazy(rf"(?<![\w-])(?:{CUES['texts']})(?![\w-]){_COLON}", re.IGNORECASE)
_DOCUMENT = rf"(?:(?<![\w./-])[\w./-]{{1,80}}\.[a-z]{{2,5}}|{_SOURCE})\b"
# "the README says …", up to the end of the quoted clause.
_REPORTED = lazy(
    rf"\b{_DOCUMENT}(?: \w+){{0,4}} {_SAYS}(?P<quoted>(?:[^.;!?\n,]|\.(?=[^\s\"'”’)])|,(?! (?:so|but|therefore|hence|and so|which is why)\b)){{1,600}})"
    rf"|\b(?:according to|as (?:per |stated |written )?(?:in )?|quoting|laut|selon|según|segundo|secondo|volgens) [^,;.!?\n]{{0,60}}?{_DOCUMENT}[^,;!?\n]{{0,30}},(?P<after>[^;!?\n]{{1,600}})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """A text with its foreign parts blanked out, and the part of that which is certainly the sender's; positions stay."""

    text: str
    certain: str


def own_part(text: str, *, by_agent: bool = False) -> Own:
    """Return what the sender of a text wrote. Agents use names such as “Summary:” for their own words; people paste them."""
    spans = [*_delimited(text), *_printed(text), (LONGEST, len(text))]
    for sign in (match.end() for match in (_CITED if by_agent else _INTRODUCED).finditer(text)):
        if not _RE["marked"].match(text, sign):
            gap = _RE["gap"].search(text, sign)
            if gap and len(text[sign : gap.start()].split()) < 2 and text[gap.end() :].strip():
                gap = _RE["gap"].search(text, gap.end())
            spans.append((sign, gap.start() if gap else len(text)))
    own = blanked(text, spans)
    written, left = (sum(map(len, each.split())) for each in (text, own))
    opening = _RE["paragraph"].search(text)
    lines = [line for line in opening[0].split("\n") if not _RE["item"].match(line)] if opening else []
    is_plain = len(lines) <= OPENING and left >= (1 - MOSTLY) * written
    end = opening.end() if opening and is_plain else 0
    return Own(text=own, certain=own if by_agent else own[:end] + blanked(own[end:], [(0, len(text))]))


def _delimited(text: str) -> Iterator[Span]:
    """Yield blocks that show where they end: code, tags, quotations, block quotes, diffs and traces."""
    for pattern in (FENCED, DIFF, TRACEBACK, _RE["pasted"]):
        yield from (match.span() for match in pattern.finditer(text))
    yield from (match.span(match.lastindex or 0) for match in _RE["indented"].finditer(text))
    yield from ((start, start + len(line)) for start, line in lines_of(text) if line.lstrip().startswith((">", "＞")))
    masked = _RE["code"].sub(lambda match: "x" * len(match[0]), text)
    for match in _RE["marks"].finditer(masked):
        words = len(match[0].split())
        if words >= FEWEST_QUOTED or (not match[0].isascii() and words < 3 and len(match[0]) > 3 * FEWEST_QUOTED):
            yield match.span()
    for match in _REPORTED.finditer(masked):
        yield match.span("quoted" if match["quoted"] else "after")

    holds, alone = _RE["holds_text"].search, _RE["alone"].match
    yield from tagged(masked, _RE["tag"], lambda tag: bool(holds(tag["name"]) or alone(masked, tag.end())))


def _printed(text: str) -> Iterator[Span]:
    """Yield lines that programs print, with what stands between two of them, and the output below a typed command."""
    paragraph, is_output = list[tuple[int, str]](), False
    for start, line in (*lines_of(text), (len(text), "")):
        if line.strip():
            paragraph.append((start, line))
            continue
        hits = [place for place, (_, each) in enumerate(paragraph) if _PRINTED.match(each)]
        is_output = any(_RE["shell"].match(each) for _, each in paragraph)
        if hits and (len(hits) > 1 or is_output or len(paragraph) == 1 or " " in paragraph[hits[0]][1].strip()):
            last, ending = paragraph[-1 if is_output else hits[-1]]
            yield (paragraph[hits[0]][0], last + len(ending))
        paragraph = []
