"""Recognize text that is not in English, translate terms of software work, and equate their short and long forms.

`terms.txt` lists the terms, so that words match across languages. English is the common language of the index: a text in another language is indexed by the
English words for its terms, and a question is translated in the same way.

`short_forms.txt` lists pairs such as “db” and “database”, “PR” and “pull request”. The index has one form of each: the
long form of a word, the short form of a phrase.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from holdfast.model.patterns import lazy, tables

# English function words and words that occur in most questions, and those of other languages.
STOP, FOREIGN = (frozenset(words.split()) for _, words in tables(__file__)["function words"])
LONGEST_TERM = 8  # characters of a term in a script without spaces
SHORT, ENDING = 4, 4  # a shorter term matches whole words only; longer ones may have an ending of so many letters
_OTHER_SCRIPT = lazy(r"[\u0370-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WORD = lazy(r"[^\W\d_]{2,}")  # one letter is often a variable's name
_ACCENTS = lazy(r"[\u0300-\u036f]+")  # which NFKD separates from their letters


def is_foreign(text: str) -> bool:
    """True if a text is in another language than English, by its script or its function words."""
    return bool(_OTHER_SCRIPT.search(text)) or is_foreign_in_latin(text)


def is_foreign_in_latin(text: str) -> bool:
    """True if the Latin words of a text are in another language than English."""
    words = set(_WORD.findall(text.lower()))
    accented = sum(not word.isascii() for word in words - FOREIGN)
    return len(words & FOREIGN) + accented > len(words & STOP)


def folded(text: str) -> str:
    """Return a text without accents, so that a word is the same with and without them."""
    if text.isascii():
        return text
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    # Other scripts write vowels as marks, which would cut a word in parts: without them it stays whole.
    return unicodedata.normalize("NFC", plain if plain.isascii() else _vowel_marks().sub("", plain))


@cache
def _vowel_marks() -> re.Pattern[str]:
    """Return a pattern of the marks of scripts from Hebrew to Khmer."""
    marks = [chr(code) for code in range(0x0590, 0x1800) if unicodedata.category(chr(code))[0] == "M"]
    return re.compile(f"[{''.join(marks)}]+")


Meanings = tuple[tuple[str, ...], ...]  # the English words for each meaning of a term, the most usual one first


def english_of(word: str) -> Meanings:
    """Return the English words for a term in lower case without accents; none if it is not known.

    A compound such as “datenbankschema” gives the words of its parts.
    """
    terms = _terms()
    for end in range(len(word), SHORT - 2, -1):
        if (found := terms.get(word[:end])) and (end == len(word) or end >= SHORT):
            rest = word[end:]
            if len(rest) <= ENDING:
                return found
            if more := english_of(rest) or english_of(rest.removeprefix("s")):
                return *found, *more
    return ()


def terms_in(run: str) -> Iterator[tuple[str, Meanings]]:
    """Cut a text without spaces into terms with their English words, and what is between them, with none.

    A single character is a term only if it stands alone: in a longer word it means something else.
    """
    terms, start, place, shortest = _terms(), 0, 0, min(2, len(run))
    while place < len(run):
        sizes = range(min(LONGEST_TERM, len(run) - place), shortest - 1, -1)
        size = next((size for size in sizes if run[place : place + size] in terms), 0)
        if not size:
            place += 1
            continue
        if start < place:
            yield run[start:place], ()
        yield run[place : place + size], terms[run[place : place + size]]
        start = place = place + size
    if start < len(run):
        yield run[start:], ()


@cache
def _terms() -> Mapping[str, Meanings]:
    found: dict[str, Meanings] = {}
    for line in (Path(__file__).parent / "terms.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            english, *others = line.split("|")
            for term in set(folded(" ".join(others)).split()):
                found[term] = (*found.get(term, ()), tuple(english.split()))
    return found


MOST_WORDS = 12  # a longer question says enough by itself; the encoder would read two forms of many words
LONGEST_SHORT = 8  # letters of a short form and its plural
# A word that is not part of a path, an address or an identifier.
_SHORT_FORM = re.compile(rf"(?<![\w./\\:@#-])[A-Za-z0-9]{{2,{LONGEST_SHORT}}}(?![\w/\\@#-]|[.:]\w)")


@cache
def long_forms() -> Mapping[str, str]:
    """Return the long form of each short form."""
    lines = (Path(__file__).parent / "short_forms.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split(" | ") for line in lines if not line.startswith("#")]
    return {short: long for long, shorts in pairs for short in shorts.split()}


def spelled_out(question: str) -> str:
    """Return a short question with the long form after each short form, for an encoder that knows only some of them."""
    return _SHORT_FORM.sub(_with_long_form, question) if len(question.split()) <= MOST_WORDS else question


def _with_long_form(found: re.Match[str]) -> str:
    if found.start() and found[0].istitle():  # a name, such as Max
        return found[0]
    word = found[0].lower()
    long = long_forms().get(word) or long_forms().get(word.removesuffix("s"))
    return f"{found[0]} {long}" if long else found[0]
