"""Equate short and long forms of software work, such as “db” and “database” or “PR” and “pull request”.

`short_forms.txt` lists them. The index has one form of each: the long form of a word, the short form of a phrase.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

MOST_WORDS = 12  # a longer question says enough by itself; the encoder would read two forms of many words
LONGEST = 8  # letters of a short form and its plural
# A word that is not part of a path, an address or an identifier.
_WORD = re.compile(rf"(?<![\w./\\:@#-])[A-Za-z0-9]{{2,{LONGEST}}}(?![\w/\\@#-]|[.:]\w)")

Phrases = Mapping[str, Sequence[tuple[tuple[str, ...], str]]]  # by their first word: their words, and their short form


@cache
def _long_forms() -> Mapping[str, str]:
    """Return the long form of each short form."""
    lines = (Path(__file__).parent / "short_forms.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split(" | ") for line in lines if not line.startswith("#")]
    return {short: long for long, shorts in pairs for short in shorts.split()}


def spelled_out(question: str) -> str:
    """Return a short question with the long form after each short form, for an encoder that knows only some of them."""
    return _WORD.sub(_with_long_form, question) if len(question.split()) <= MOST_WORDS else question


def _with_long_form(found: re.Match[str]) -> str:
    if found.start() and found[0].istitle():  # a name, such as Max
        return found[0]
    word = found[0].lower()
    long = _long_forms().get(word) or _long_forms().get(word.removesuffix("s"))
    return f"{found[0]} {long}" if long else found[0]


@cache
def one_form(stem: Callable[[str], str]) -> tuple[Mapping[str, str], Phrases]:
    """Return which index word stands for another form of it, and the phrases that have a short form."""
    words, phrases, named = dict[str, str](), dict[str, list[tuple[tuple[str, ...], str]]](), dict[str, str]()
    for short, long in _long_forms().items():
        stems = tuple(map(stem, long.split()))
        chosen = stems[0] if len(stems) == 1 else named.setdefault(long, short)
        words |= {stem(short): chosen, stem(f"{short}s"): chosen}
        if len(stems) > 1 and chosen == short:
            first, second, *_ = long.split()
            joined = (*stems[:2], first + second, *stems[2:])  # as “multi-factor authentication” is indexed
            phrases.setdefault(stems[0], []).extend([(stems, short), (joined, short)])
    return words, phrases
