"""Correct misspelled words of a question: those that no memory has, if a memory has one that is spelled nearly the same."""

import re
from collections.abc import Iterable, Sequence

from holdfast.engine.tokens import tokens
from holdfast.engine.views import records, words
from holdfast.engine.views.words import Span
from holdfast.model.errors import EmbedderError
from holdfast.model.record import Record
from holdfast.verbs.memory import Memory

MOST_WORDS = 3  # words of a question that are looked up, the longest first
HOLDERS = 50  # records for each beginning whose words are compared
# Share of letters that two stems, and the two words, have in common: one of five letters may differ, or two be swapped.
ALIKE, ALIKE_WHOLE = 0.79, 0.75
ENDING = 2  # letters by which their lengths may differ: a memory may have another form of the word
# A word of five letters or more that is not part of a path, an address or an identifier.
_WORD = re.compile(r"(?<![\w./\\:@#-])[A-Za-z]{5,}(?![\w/\\@#-]|[.:]\w)")


def respelled(memory: Memory, question: str, spans: Sequence[Span], documents: int) -> dict[str, str]:
    """Return the words of a question to replace, each with the spelling of a memory."""
    uncertain = {word: tokens(word) for word in _WORD.findall(question) if not _is_word(memory, word)}
    counts = memory.caches.frequencies.of([token for own in uncertain.values() for token in own], spans, documents)
    missing = {word: own[0] for word, own in uncertain.items() if len(own) == 1 and not counts[own[0]]}
    unknown = sorted(missing, key=len, reverse=True)[:MOST_WORDS]
    if not unknown:
        return {}
    # The second beginning is the right one if two letters were swapped.
    beginnings = {start for word in map(str.lower, unknown) for start in (word[:2], word[0] + word[2])}
    bodies = words.beginning_with(memory.store, sorted(beginnings), spans, HOLDERS)
    vocabulary = {one for body in bodies.values() for one in body.split() if one.isalpha()}
    near = {word: _closest(missing[word], vocabulary, ALIKE) for word in unknown}
    holders = {
        word: next(number for number, body in bodies.items() if f" {token} " in body)
        for word, found in near.items()
        for token in found
    }
    read = records.by_numbers(memory.store, list(holders.values()))
    spellings = {word: _spelling(word.lower(), near[word], read[number]) for word, number in holders.items()}
    return {word: spelling for word, spelling in spellings.items() if spelling}


def _is_word(memory: Memory, word: str) -> bool:
    """True if a word is known to be spelled as it should be."""
    try:
        return memory.embedder is not None and memory.embedder.knows(word.lower())
    except EmbedderError:  # a note of the answer names the problem
        return False


def _spelling(word: str, token: list[str], record: Record) -> str:
    """Return the word of a record with an index word that is most like a misspelled one; "" if none is."""
    spelled = {one.lower() for one in _WORD.findall(f"{record.title} {record.text}") if tokens(one) == token}
    about_as_long = [one for one in spelled if abs(len(one) - len(word)) <= ENDING]
    return next(iter(_closest(word, about_as_long, ALIKE_WHOLE)), "")


def _closest(word: str, others: Iterable[str], alike: float) -> list[str]:
    from difflib import get_close_matches  # noqa: PLC0415  most questions need no correction

    return get_close_matches(word, list(others), n=1, cutoff=alike)
