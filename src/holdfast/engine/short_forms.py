"""Equate short and long forms of software work, such as “db” and “database” or “PR” and “pull request”.

`short_forms.txt` lists them. The index has one form of each: the long form of a word, the short form of a phrase.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

MOST_WORDS = 12  # a longer question says enough by itself; the encoder would read two forms of many words
LONGEST = 8  # letters of a short form and its plural
# A word that is not part of a path, an address or an identifier.
_WORD = re.compile(rf"(?<![\w./\\:@#-])[A-Za-z0-9]{{2,{LONGEST}}}(?![\w/\\@#-]|[.:]\w)")


@cache
def long_forms() -> Mapping[str, str]:
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
    long = long_forms().get(word) or long_forms().get(word.removesuffix("s"))
    return f"{found[0]} {long}" if long else found[0]
