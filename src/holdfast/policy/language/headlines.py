"""What a session was asked and answered, in lines: titles, requests, conditions and findings."""

import re
from collections.abc import Iterable, Sequence

from holdfast.model.patterns import lazy
from holdfast.model.text import shorten
from holdfast.policy.language.cues import CUES
from holdfast.policy.language.overlap import words
from holdfast.policy.language.reading import passages, sentences

TITLE = 100
LINE, MOST, SHORTEST = 300, 40, 5  # characters of a line, lines, and characters of a sentence; CJK says as much in half
SENTENCES, SHORTEST_FINDING = 8, 20  # sentences of an answer that are considered; characters

_POLITE = lazy(rf"^(?:(?:{CUES['polite']})\b[\s,!.:;—-]*)+", re.IGNORECASE)
_ASKING = lazy(rf"^(?:{CUES['asking']})\s+(?:please\s+)?", re.IGNORECASE)
_VAGUE = lazy(rf"(?:{CUES['vague']})[\s.!]*", re.IGNORECASE)
_TRAILING = lazy(r"[\s,;.!-]+(?:(?:please|pls|thanks|thank you|thx)(?: (?:fix|repair|do it))?)[\s.!]*$", re.IGNORECASE)
_OUTCOME = lazy(
    r"^(?:(?:done|all (?:done|set)|great|ok(?:ay)?|perfect|good|summary|in short|finished|success)\b[\s,.!:;—-]*)*"
    r"(?:(?:i|we)(?:['’]ve| have)?\s+|it is |this )?(?:(?:now|also|just|successfully|then|finally)\s+)*"
    rf"(?P<verb>{CUES['did']})\b(?P<rest>\s[^;]+)",
    re.IGNORECASE,
)
_LEAD = lazy(r"^(?:done|all (?:done|set)|ok(?:ay)?|perfect|finished)\s*[,.!:;—-]+\s+(?=\S)", re.IGNORECASE)
_OPENING = lazy(
    r"^(?:let me|i'll|i will|sure|great|of course|here(?:'s| is| are)|okay|looking|now\b|i (?:looked|read|checked))",
    re.IGNORECASE,
)
_CONVENTIONAL = lazy(r"^(?P<type>[a-z]+)(?:\((?P<scope>[^)]*)\))?!?:\s+(?P<rest>.+)$")
_STOP = lazy(r"(?:,| —| –|;|:)\s")
# Words that limit how something is done, in the languages people type.
_LIMITS = lazy(rf"\b(?:{CUES['limit']})\b|{CUES['limit_cjk']}", re.IGNORECASE)
_HEADING = lazy(r"^\s*(?:#{1,6}\s.*|\*\*[^*]+\*\*:?)\s*$", re.MULTILINE)


def request_of(prompt: str, most: int = TITLE) -> str:
    """Return the request in one line, without politeness; "" if it means nothing alone."""
    lines, last = list[str](), 0
    for sentence, start, end in sentences(prompt, clauses=False):
        if lines and "\n" not in prompt[last:start] and sentence[0].islower():
            lines[-1] += f" {sentence}"  # "it is slow. fix the query" is one request
        else:
            lines.append(sentence)
        last = end
    bare = (request for line in lines if len(request := _bare(line)) > 3 and not _VAGUE.fullmatch(request))
    return _capital(one_line(next(bare, ""), most))


def requests(prompts: Iterable[str]) -> list[str]:
    """Return what was asked for, one line per prompt, each once; a prompt that means nothing alone is left out."""
    return list(dict.fromkeys(request for prompt in prompts if (request := request_of(prompt, LINE))))


def conditions(prompts: Iterable[tuple[str, str]]) -> list[str]:
    """Return the sentences of prompts (text, what it asks) that are no mere request; of too many those with limits."""
    distinct = dict[str, None]()
    for prompt, asked in prompts:
        said, request = said_in(prompt), request_of(asked, LINE).lower().rstrip(".!…")
        for sentence in said:
            if _bare(sentence).lower().rstrip(".!:?;") not in request or (len(said) == 1 and is_limit(sentence)):
                distinct[shorten(sentence, LINE)] = None
    kept = sorted(distinct, key=lambda sentence: not is_limit(sentence))[:MOST]
    return [sentence for sentence in distinct if sentence in kept]


def is_limit(sentence: str) -> bool:
    """True if a sentence limits how something is done."""
    return bool(_LIMITS.search(sentence))


def said_in(text: str) -> list[str]:
    """Return the sentences that a person or agent wrote themselves, without what means nothing alone."""
    own = (sentence for sentence, _, _ in sentences(text, clauses=False))
    return [one for one in own if sum(1 + (char > "\u2e80") for char in one) >= SHORTEST and not is_vague(one)]


def is_vague(text: str) -> bool:
    """True if a text means nothing without what came before it: "continue", "yes please"."""
    request = _bare(text)
    return not request or bool(_VAGUE.fullmatch(request))


def _bare(line: str) -> str:
    for _ in range(2):
        line = _ASKING.sub("", _POLITE.sub("", line))
    return _TRAILING.sub("", line).strip()


def outcome_of(answer: str) -> str:
    """Return the sentence of an answer that says what was done, as a title; "" if there is none."""
    said = (match for sentence in sentences_of(answer)[:6] if (match := _OUTCOME.match(sentence)))
    return next((one_line(_capital(match["verb"].lower()) + match["rest"], TITLE) for match in said), "")


def answer_of(answer: str, title: str = "") -> str:
    """Return the first sentence of an answer that adds something to the title."""
    known = title.partition(" ")[2][:25] or title
    said = (one for one in sentences_of(answer) if len(one) >= 30 and not one.endswith(":") and not _OPENING.match(one))
    return next((sentence for sentence in said if not (known and known in sentence)), "")


def finding_of(answer: str, question: str) -> str:
    """Return the sentence of an answer that answers a question best, by the words they share; "" if none does."""
    candidates = [
        sentence
        for sentence in sentences_of(answer)[:SENTENCES]
        if len(sentence) >= SHORTEST_FINDING and not sentence.endswith((":", "?")) and not _OPENING.match(sentence)
    ]
    asked = words(question)
    return max(candidates, key=lambda sentence: len(asked & words(sentence)), default="")


def subject_of(commit: str) -> tuple[str, str]:
    """Return a commit subject without its conventional type, and that type."""
    if match := _CONVENTIONAL.match(commit):
        return _capital(match["rest"].strip()), match["type"]
    return _capital(commit.strip()), ""


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, without code, output, quotes, headings, and “Done:” before what is done."""
    said = (one.text for one in passages(_HEADING.sub("", text)) if one.form == "sentence")
    return [_capital(_LEAD.sub("", sentence)) for sentence in said]


def one_line(text: str, most: int) -> str:
    """Return a text in one line, cut at the end of a clause where that keeps most of it."""
    flat = " ".join(text.split()).rstrip(" .;:,")
    if len(flat) <= most:
        return flat
    ends = [match.start() for match in _STOP.finditer(flat) if most // 3 <= match.start() <= most]
    return flat[: ends[-1]] if ends else shorten(flat, most)


def joined(items: Sequence[str], most: int = 5) -> str:
    """Return items as a list in a sentence, with the number of those left out."""
    shown = list(items[:most])
    if more := len(items) - len(shown):
        return f"{', '.join(shown)} and {more} more"
    return " and ".join((", ".join(shown[:-1]), shown[-1])) if len(shown) > 1 else "".join(shown)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
