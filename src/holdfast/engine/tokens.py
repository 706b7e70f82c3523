"""Split text into index words: stems, identifiers whole and in parts, accents removed, bigrams for CJK."""

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import Stemmer

# Runs of letters and digits, joined by the punctuation of identifiers, paths, versions and addresses.
_COMPOUND = re.compile(r"[^\W_]+(?:[_./\\:@#\-]+[^\W_]+)*")
_NAME = re.compile(r"[^\W_]+(?:[_\-]+[^\W_]+)*")
# fooBar, HTTPServer, sha256, v2: a new part begins where case changes or digits begin or end.
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_MARKS = re.compile(r"[\u0300-\u036f]+")  # accents, which NFKD separates from their letters
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
LONGEST = 64
MOST_TOKENS = 20_000

# Function words, and words that occur in most questions.
STOP = frozenset(
    """
    a about after again all also am an and any are as at be because been before being between both but by can could
    did do does doing done down during each few for from further had has have having he her here hers him his how i if
    in into is it its itself just let me more most my no nor not now of off on once only or other our ours out over own
    please s same she should so some such t than that the their theirs them then there these they this those through to
    too under until up us very was we were what when where which while who whom whose why will with would you your yours
    """.split()
)

_stemmer = Stemmer.Stemmer("english")
_stemming = threading.Lock()  # the stemmer has internal buffers and is not thread-safe


def tokens(text: str) -> list[str]:
    """Return the index words of a text, repeats included, up to about MOST_TOKENS."""
    found: list[str] = []
    for compound in _COMPOUND.findall(_APOSTROPHE.sub("", _fold(text))):
        found.extend(_tokens_of(compound))
        if len(found) > MOST_TOKENS:
            break
    return found


def query_terms(text: str) -> list[str]:
    """Return the distinct index words of a question, without stop words unless nothing else is left."""
    found = list(dict.fromkeys(tokens(text)))
    return [word for word in found if word not in STOP_STEMS] or found


def _fold(text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", text)))


@lru_cache(maxsize=16_384)
def _tokens_of(compound: str) -> tuple[str, ...]:
    names = _NAME.findall(compound)
    found = [token for name in names for token in _name_tokens(name)]
    whole = "".join(names).replace("_", "").replace("-", "").lower()
    if len(names) > 1 and len(whole) <= LONGEST:
        found.append(whole)
    return tuple(found)


def _name_tokens(name: str) -> Iterator[str]:
    if _CJK.search(name):
        yield from _cjk_tokens(name)
        return
    parts = _PART.findall(name)
    for part in parts:
        yield _stem(part.lower()[:LONGEST])
    whole = "".join(parts).lower()
    if len(parts) > 1 and len(whole) <= LONGEST:
        yield whole


def _cjk_tokens(name: str) -> Iterator[str]:
    """Yield overlapping pairs of CJK characters, because there are no spaces between words; other parts as stems."""
    last = 0
    for run in _CJK.finditer(name):
        yield from (_stem(part.lower()[:LONGEST]) for part in _PART.findall(name[last : run.start()]))
        chars = run[0]
        yield from (chars[place : place + 2] for place in range(max(1, len(chars) - 1)))
        last = run.end()
    yield from (_stem(part.lower()[:LONGEST]) for part in _PART.findall(name[last:]))


@lru_cache(maxsize=16_384)
def _stem(word: str) -> str:
    with _stemming:
        return str(_stemmer.stemWord(word))


STOP_STEMS = STOP | frozenset(_stem(word) for word in STOP)
