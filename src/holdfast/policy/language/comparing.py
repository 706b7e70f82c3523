"""Compare texts by their words: which sentences face each other, whether one says something else, and all merged."""

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import product

from holdfast.model.patterns import lazy, patterns_of
from holdfast.policy.language.cues import CUES
from holdfast.policy.language.overlap import in_order, words
from holdfast.policy.language.reading import sentences
from holdfast.policy.language.user_statements import needs_subject

_RE, _DENIAL = patterns_of(__file__, "patterns"), lazy(CUES["negation"])
MOST_SENTENCES, MOST_WORDS = 12, 40  # of each text, and of a sentence about “it”
COVERED = 0.75  # share of a sentence's words from which it adds nothing
ALIKE = 0.8  # of two spellings of one word


def says_otherwise(first: str, second: str, *, may_add: bool = False) -> bool:
    """True unless numbers, negations and words of weight are the same in the same order, or one only adds words if it `may_add`."""
    if _denials(first) != _denials(second) or other_numbers(first, second):
        return True
    left, right = in_order(first), in_order(second)
    adds = may_add and ({*left} < {*right} or {*left} > {*right})
    return not adds and (len(left) != len(right) or not all(map(_is_spelling, left, right)))


def _denials(text: str) -> int:
    return len(_DENIAL.findall(text.lower()))


def other_numbers(first: str, second: str) -> int:
    """Return how many numbers each of two texts has that the other lacks."""
    own, others = (Counter(_RE["number"].findall(text.lower())) for text in (first, second))
    return min((own - others).total(), (others - own).total())


def _is_spelling(word: str, other: str) -> bool:
    is_name = any(map(str.isdigit, word + other)) or min(len(word), len(other)) < 4
    return word == other or (not is_name and SequenceMatcher(None, word, other).ratio() >= ALIKE)


def facing(first: str, second: str, most: int = 1) -> list[tuple[str, str]]:
    """Return the pairs of sentences, one of each text, that share most words; those about “it” only if all are."""
    own = ([text for text, *_ in sentences(side)][:MOST_SENTENCES] or [side] for side in (first, second))
    left, right = ([text for text in texts if not needs_subject(text, MOST_WORDS)] or texts for texts in own)

    def shared(pair: tuple[str, str]) -> float:
        own, other = map(words, pair)
        return len(own & other) / (len(own) + len(other) + 1)

    pairs, found = sorted(product(left, right), key=shared, reverse=True), list[tuple[str, str]]()
    for pair in pairs:
        if len(found) < most and not any(pair[0] == one or pair[1] == other for one, other in found):
            found.append(pair)
    return found


def merge(versions: Sequence[tuple[str, str]]) -> tuple[str, str, list[dict[str, str]]]:
    """Return one text for several (id, text; oldest first): the longest, its id, and each `sentence` that another (`id`) added."""
    base, text = max(reversed(versions), key=lambda version: len(words(version[1])))
    known, added = [sentence for sentence, *_ in sentences(text)], list[dict[str, str]]()
    for id_, other in reversed(versions):
        for sentence, *_ in sentences(other) if id_ != base else ():
            if not any(_covers(each, sentence) for each in known):
                added.append({"id": id_, "sentence": sentence})
                known.append(sentence)
    start = text.strip()
    separator, bullet = "\n" if "\n" in start else " ", "- " * start.startswith("- ")
    start += "." if added and separator == " " and start[-1:].isalnum() else ""
    return separator.join([start, *(f"{bullet}{part['sentence']}" for part in added)]), base, added


def _covers(known: str, sentence: str) -> bool:
    """True if a sentence adds no word, number or negation of weight to a known one."""
    own = words(sentence)
    has_numbers = set(_RE["number"].findall(sentence)) <= set(_RE["number"].findall(known))
    return len(own & words(known)) >= COVERED * len(own) and has_numbers and _denials(known) == _denials(sentence)
