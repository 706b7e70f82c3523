"""Read a session's prompts: what the user asked for, and every condition and fact they gave on the way."""

import re
from collections.abc import Iterable, Sequence

from holdfast.model.patterns import lazy
from holdfast.model.text import shorten
from holdfast.policy.language.headlines import is_vague, request_of

LINE, MOST = 300, 40  # characters of a sentence, and sentences that are kept
SHORTEST = 5  # characters; CJK says as much in half
_ITEM = lazy(r"^\s*(?:[-*•#]+|\d{1,2}[.)])\s+")
_END = lazy(r"(?<=[\w)\]\"'`%][.!?])[\"')`*]*\s+(?=\S)|(?<=[。！？])\s*")
_SHORTENED = lazy(r"\b(?:e\.g|i\.e|etc|vs|z\.B|d\.h|bzw|ca|p\.ej|approx|no|nr)\.$", re.IGNORECASE)
# Words that limit how something is done, in the languages people type.
_LIMITS = lazy(
    r"\b(?:don['’]?t|do not|doesn['’]?t|does not|not|never|always|must(?:n['’]t)?|only|just|without|no|nothing|none|keep|keeps|leave|leaves|avoid|"
    r"instead|at most|at least|below|under|above|within|should(?:n['’]t)?|make sure|ensure|stays?|remains?|unless|until|before|except|"
    r"requires?d?|ha(?:s|ve) to|needs? to|important|rules?|limit\w*|maximum|minimum|scope|compatib\w*|same|identical|unchanged|"
    r"nicht|kein\w*|nie(?:mals)?|immer|muss|müssen|darf|dürfen|nur|ohne|bleib\w*|behalt\w*|lass\w*|wichtig\w*|höchstens|mindestens|statt|soll\w*|nichts|"
    r"nunca|siempre|deb(?:e|en|es)|s[oó]lo|solamente|sin|mant[eé]n\w*|deja|evita\w*|en lugar|como máximo|al menos|nada|"
    r"ne|pas|jamais|toujours|doit|doivent|seulement|sans|garde[rz]?|évite[rz]?|au lieu|au plus|au moins|rien|uniquement|"
    r"não|sempre|deve|devem|só|apenas|sem|mantenha|evite|em vez|no máximo|pelo menos|"
    r"non|mai|sempre|deve|solo|senza|mantieni|evita)\b"
    r"|不要|别|不能|不许|不得|不准|必须|务必|只能|只用|始终|总是|保持|禁止|避免|最多|至少|兼容"
    r"|ないで|禁止|必ず|常に|だけ|のみ|しないこと|いけない|ません|維持|避け|以内|以下",
    re.IGNORECASE,
)


def requests(prompts: Iterable[str]) -> list[str]:
    """Return what was asked for, one line per prompt, each once; a prompt that means nothing alone is left out."""
    return list(dict.fromkeys(request for prompt in prompts if (request := request_of(prompt, LINE))))


def conditions(prompts: Sequence[str]) -> list[str]:
    """Return every sentence of the prompts that is not the request itself, in order, each once.

    The requests that limit how something is done are among them. If there are too many, sentences with a limit are kept first.
    """
    said = [sentence for prompt in prompts for sentence in _besides_the_request(prompt)]
    distinct = list(dict.fromkeys(shorten(sentence, LINE) for sentence in said))
    if len(distinct) <= MOST:
        return distinct
    kept = set(sorted(distinct, key=lambda sentence: not is_limit(sentence))[:MOST])
    return [sentence for sentence in distinct if sentence in kept]


def is_limit(sentence: str) -> bool:
    """True if a sentence limits how something is done."""
    return bool(_LIMITS.search(sentence))


def said_in(text: str) -> list[str]:
    """Return the sentences that a person or agent wrote themselves, without what means nothing alone."""
    lines = [_ITEM.sub("", line).strip() for line in text.splitlines()]
    sentences = (sentence for line in lines if line for sentence in _split(line))
    return [sentence for sentence in sentences if _weight(sentence) >= SHORTEST and not is_vague(sentence)]


def _besides_the_request(prompt: str) -> list[str]:
    sentences = said_in(prompt)
    request = request_of(prompt, LINE).lower().rstrip(".!…")
    return [
        sentence
        for sentence in sentences
        if sentence.lower().rstrip(".!:?") not in request or (len(sentences) == 1 and is_limit(sentence))
    ]


def _split(line: str) -> list[str]:
    parts = list[str]()
    for piece in _END.split(line):
        if parts and _SHORTENED.search(parts[-1]):
            parts[-1] = f"{parts[-1]} {piece}"
        elif piece.strip():
            parts.append(piece.strip())
    return parts


def _weight(sentence: str) -> int:
    return len(sentence) if sentence.isascii() else sum(2 if char > "\u2e80" else 1 for char in sentence)
