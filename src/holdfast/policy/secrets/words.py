"""Judge names and values: which names announce a secret, and which values look random rather than like words or code."""

import math
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from holdfast.model.patterns import lazy, tables

_TABLES = tables(__file__)
# Name, hints, pattern, and where the format is described.
RULES = [(name.rstrip("?!"), *row.split("\t")) for name, row in _TABLES["shapes"]]
JUDGED = frozenset(name[:-1] for name, _ in _TABLES["shapes"] if name.endswith("?"))
WHOLE = frozenset(name[:-1] for name, _ in _TABLES["shapes"] if name.endswith("!"))
# Programs, a word that must be among their arguments, and the place of the password.
COMMANDS = [(names, *row.removeprefix("-").split("\t")) for names, row in _TABLES["commands"]]
# What names of secrets, and values that are none, look like.
NAMES = dict(_TABLES["names"])

LONGEST_JUDGED = 400  # characters of a value that are examined
_LONG, _SHORT, _KEYS = (tuple(NAMES[name].split("|")) for name in ("long", "short", "keys"))
_ABOUT, _PLACEHOLDER, _DEFAULTS = lazy(NAMES["about"]), lazy(NAMES["placeholder"]), lazy(NAMES["default"])
# One part of a name, path, version or sentence; only one part may end in digits (sha256, v2, token2).
_WORD = lazy(r"\d{1,13}|[A-Z]+|[A-Za-z]{1,3}|[A-Z]?[a-z]+|")
_NUMBERED = lazy(r"(?:[A-Z]{1,4}|[a-z]{1,4}|[A-Z][a-z]{0,3})\d{1,4}|[a-z]+\d")
# Names of classes and types: long words and hardly a digit (BCryptPasswordEncoder, Argon2Hasher, tokenProviderV2).
_CAMEL = lazy(r"[a-z]*(?:[A-Z]{1,4}[a-z]{2,}+)*[A-Z]{0,4}")
_CAMEL_NUMBERED = lazy(
    r"(?:[a-z]{3,}|[A-Z]{1,5})?(?:[A-Z]{1,3}[a-z]{2,}+)*(?:\d{1,2}(?:[A-Z]{1,3}[a-z]{2,}+)+|V?\d{1,2})"
)
_REST = lazy(r"[\w.\-]{0,60}")  # of a name
_WORD_AND_NUMBER = lazy(r"[A-Za-z]{4,16}\d{2,6}")
_CODE = lazy(r"[\w.]+")
_KINDS = tuple(map(lazy, (r"[a-z]", r"[A-Z]", r"\d", r"[^\w]")))  # of characters
_ODD = lazy(r"[^\w\-./:~,@]|^\w+://\S*@")
_SEPARATORS, _CAPITALS = lazy(r"[\W_]+"), lazy(r"[A-Z]+")


def secret_names(text: str) -> Iterator[tuple[int, str]]:
    """Yield the end of each name part that announces a secret, and its word; the caller checks what follows."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters get longer in lower case, which would shift positions
        lowered = "".join(letter.lower() if letter.isascii() else " " for letter in text)
    for word in (*_LONG, *_SHORT, "key"):
        start = lowered.find(word)
        while start >= 0:
            end = start + len(word)
            is_key = word == "key" and lowered[max(0, start - 14) : start].rstrip("_-. ").endswith(_KEYS)
            if is_key or word in _LONG or (word in _SHORT and _is_separate(text, start, end)):
                yield end, word
            start = lowered.find(word, end)


def is_about(rest: str) -> bool:
    """True if the rest of such a name shows that it is about a secret, not the secret itself."""
    return bool(_ABOUT.search(rest))


@lru_cache(maxsize=2_048)  # the names of fields, over and over
def is_name(text: str) -> bool:
    """True if a text as a whole is the name of a secret."""
    rests = [text[end:] for end, _ in secret_names(text)]
    return any(_REST.fullmatch(rest) and not is_about(rest) for rest in rests)


def is_placeholder(value: str) -> bool:
    """True if a value only stands for a secret: a placeholder, a look-up, or a well-known default."""
    return bool(_PLACEHOLDER.search(value) or _DEFAULTS.fullmatch(value))


def is_secret(value: str, *, least: int = 4, code: bool = False, spoken: bool = False) -> bool:
    """True if a value where a secret might be looks like one: random, not words, not a stand-in."""
    # If a password was `spoken` of, a word with a number at its end counts too.
    value = value[:LONGEST_JUDGED]
    if len(value) < least or " " in value.strip() or is_placeholder(value):
        return False
    if spoken and _WORD_AND_NUMBER.fullmatch(value):
        return True
    if is_wordy(value) or (code and _CODE.fullmatch(value)):
        return False
    kinds = sum(bool(kind.search(value)) for kind in _KINDS)
    shares = [count / len(value) for count in Counter(value).values()]
    return kinds >= 2 and -sum(share * math.log2(share) for share in shares) >= 2.3  # bits of entropy a character


def is_wordy(value: str) -> bool:
    """True if a text consists of words and numbers with plain separators, like a name or a path."""
    if _ODD.search(value):
        return False
    parts = _SEPARATORS.split(value)
    odd = [part for part in parts if not _is_word(part)]
    return not odd or (len(parts) > 1 and len(odd) == 1 and bool(_NUMBERED.fullmatch(odd[0])))


def _is_word(part: str) -> bool:
    if _WORD.fullmatch(part):
        return True
    # Names run together are no longer than this.
    camel = len(part) <= 36 and (_CAMEL.fullmatch(part) or (len(part) > 8 and _CAMEL_NUMBERED.fullmatch(part)))
    return bool(camel) and 3.5 * len(_CAPITALS.findall(part)) <= len(part)


def _is_separate(text: str, start: int, end: int) -> bool:
    """True if a short word is a separate part of a name: after an underscore, a capital, or nothing."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if before.isalnum() and not (text[start].isupper() and before.islower()):
        return False
    return not after.isalpha() or (after.isupper() and text[end - 1].islower())
