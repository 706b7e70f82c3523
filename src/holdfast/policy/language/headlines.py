"""Extract titles and sentences from prompts, answers and commit subjects."""

import re
from collections.abc import Sequence

from holdfast.model.patterns import lazy
from holdfast.model.text import shorten
from holdfast.policy.language.overlap import words
from holdfast.policy.language.prose import passages

TITLE = 100
SENTENCES, SHORTEST_FINDING = 8, 20  # sentences of an answer that are considered; characters

_POLITE = lazy(
    r"^(?:(?:please|pls|hey|hi|hello|ok(?:ay)?|so|now|great|thanks|thank you|cool|nice|perfect|yes|yep|no|and|also|then|next|alright|"
    r"actually|first|finally|good|well|wait|hm+)\b[\s,!.:;—-]*)+",
    re.IGNORECASE,
)
_ASKING = lazy(
    r"^(?:(?:can|could|would|will) (?:you|we)(?: please)?|i(?:'d| would) like (?:you )?to|i (?:want|need) (?:you )?to|"
    r"let(?:'|’)?s|we (?:need|should|have) to|you (?:should|need to|can)|go ahead and|help me(?: to)?|try to|make sure (?:to|that you)|"
    r"your task is to|go and|tell me|show me|explain(?: to me)?)\s+(?:please\s+)?",
    re.IGNORECASE,
)
_VAGUE = lazy(
    r"(?:continue|go (?:on|ahead)|resume|yes|yep|no|ok(?:ay)?|sure|do (?:it|that|this|so)|try again|again|proceed|next|keep going|"
    r"sounds good|lgtm|please do|same|thanks?(?: you)?|(?:and )?commit(?: it| this| that| everything| the changes)?(?: and push)?|push|"
    r"run (?:it|them|the tests)|fix (?:it|this|that|them)|done|\w|\d+|option \w|the (?:first|second) one|retry|stop|hello|hi|test|"
    r"great|perfect|nice|looks good)[\s.!]*",
    re.IGNORECASE,
)
_TRAILING = lazy(r"[\s,;.!-]+(?:(?:please|pls|thanks|thank you|thx)(?: (?:fix|repair|do it))?)[\s.!]*$", re.IGNORECASE)
_OUTCOME = lazy(
    r"^(?:(?:done|all (?:done|set)|great|ok(?:ay)?|perfect|good|summary|in short|finished|success)\b[\s,.!:;—-]*)*"
    r"(?:(?:i|we)(?:['’]ve| have)?\s+|it is |this )?(?:(?:now|also|just|successfully|then|finally)\s+)*"
    r"(?P<verb>fixed|added|implemented|created|updated|changed|refactored|renamed|removed|moved|extracted|replaced|wrote|rewrote|"
    r"introduced|split|migrated|upgraded|bumped|configured|enabled|disabled|corrected|resolved|documented|simplified|converted|made|"
    r"set up|set|cleaned up|optimi[sz]ed|deleted|switched|pinned|wired|merged|reverted|patched|deployed|installed|restored|rebuilt|reworked|"
    r"tightened|cached|translated|unified|inlined|formatted|regenerated|released|published|tagged|handled|stopped|dropped)\b(?P<rest>\s[^;]+)",
    re.IGNORECASE,
)
_CONVENTIONAL = lazy(r"^(?P<type>[a-z]+)(?:\((?P<scope>[^)]*)\))?!?:\s+(?P<rest>.+)$")
_STOP = lazy(r"(?:,| —| –|;|:)\s")
_HEADING = lazy(r"^\s*(?:#{1,6}\s.*|\*\*[^*]+\*\*:?)\s*$", re.MULTILINE)


def request_of(prompt: str, most: int = TITLE) -> str:
    """Return the request in one line, without politeness; "" if it means nothing alone."""
    for line in _plain_lines(prompt):
        request = _bare(line)
        if len(request) > 3 and not _VAGUE.fullmatch(request):
            return _capital(one_line(request, most))
    return ""


def is_vague(text: str) -> bool:
    """True if a text means nothing without what came before it: "continue", "yes please"."""
    request = _bare(text)
    return not request or bool(_VAGUE.fullmatch(request))


def _bare(line: str) -> str:
    request = _ASKING.sub("", _POLITE.sub("", line))
    return _TRAILING.sub("", _ASKING.sub("", _POLITE.sub("", request))).strip()


def outcome_of(answer: str) -> str:
    """Return the sentence of an answer that says what was done, as a title; "" if there is none."""
    for sentence in sentences_of(answer)[:6]:
        if match := _OUTCOME.match(sentence):
            return one_line(_capital(match["verb"].lower()) + match["rest"], TITLE)
    return ""


def answer_of(answer: str, title: str = "") -> str:
    """Return the first sentence of an answer that adds something to the title."""
    known = title.partition(" ")[2][:25] or title
    for sentence in sentences_of(answer):
        is_informative = len(sentence) >= 30 and not sentence.endswith(":") and not _OPENING.match(sentence)
        if is_informative and not (known and known in sentence):
            return sentence
    return ""


def finding_of(answer: str, question: str) -> str:
    """Return the sentence of an answer that answers a question best; "" if none does.

    The sentence that shares most words with the question, among the first few.
    """
    candidates = [
        sentence
        for sentence in sentences_of(answer)[:SENTENCES]
        if len(sentence) >= SHORTEST_FINDING and not sentence.endswith((":", "?")) and not _OPENING.match(sentence)
    ]
    asked = words(question)
    return max(candidates, key=lambda sentence: len(asked & words(sentence)), default="")


_OPENING = lazy(
    r"^(?:let me|i'll|i will|sure|great|of course|here(?:'s| is| are)|okay|looking|now\b|i (?:looked|read|checked))",
    re.IGNORECASE,
)


def subject_of(commit: str) -> tuple[str, str]:
    """Return a commit subject without its conventional type, and that type."""
    if match := _CONVENTIONAL.match(commit):
        return _capital(match["rest"].strip()), match["type"]
    return _capital(commit.strip()), ""


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, without code, output, quotes and headings."""
    return [passage.text for passage in passages(_HEADING.sub("", text)) if passage.form == "sentence" and passage.text]


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
    more = len(items) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join((", ".join(shown[:-1]), shown[-1])) if len(shown) > 1 else "".join(shown)


def _plain_lines(text: str) -> list[str]:
    lines = [line.strip(" #*->\t•") for line in text.splitlines()]
    return [piece for line in lines for piece in re.split(r"(?<=[\w)][.!?])\s+(?=[A-Z])", line) if piece]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
