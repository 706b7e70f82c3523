"""The tokenizer of the built-in encoder: byte-level BPE as RoBERTa uses it, read from the model's `tokenizer.json`.

The `tokenizers` package does the same and brings 30 MB of downloading code along. A test compares the two.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from heapq import heapify, heappop, heappush
from pathlib import Path
from unicodedata import category

SPACES = frozenset("\t\n\v\f\r\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | set(map(chr, range(0x2000, 0x200B)))
CACHED = 10_000  # words whose tokens are kept
# A contraction, or letters, digits or signs with the space before them, or spaces; see `_Shapes` for how a text is read.
_WORD = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?0+| ?[!']+|\s+(?!\S)|\s+")


class Tokenizer:
    """Turns a text into the numbers of its tokens."""

    def __init__(self, file: Path, longest: int) -> None:
        read = json.loads(file.read_text(encoding="utf-8"))
        self._numbers: dict[str, int] = read["model"]["vocab"]
        self._ranks = {pair: rank for rank, pair in enumerate(read["model"]["merges"])}
        self._special = {token["content"]: token for token in read["added_tokens"]}
        self._marks = re.compile("|".join(_pattern(token) for token in self._special.values()))
        self._first, self._last = (read["post_processor"][name][1] for name in ("cls", "sep"))
        self._longest = longest
        self._tokens = lru_cache(CACHED)(self._merged)

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text between the mark of its beginning and that of its end, cut to the longest."""
        found: list[int] = []
        room = self._longest - 2
        for word in self._words(text):
            found += [self._numbers[word]] if word in self._special else self._tokens(word)
            if len(found) >= room:
                break
        return [self._first, *found[:room], self._last]

    def _words(self, text: str) -> Iterator[str]:
        """Yield the words of a text; the name of a special token is a word of its own."""
        start = 0
        for mark in self._marks.finditer(text):
            yield from _split(text[start : mark.start()])
            yield mark[0].strip()
            start = mark.end()
        yield from _split(text[start:])

    def _merged(self, word: str) -> tuple[int, ...]:
        """Return the tokens of a word: its bytes, joined pair by pair in the order the pairs were learned."""
        parts = [_BYTES[byte] for byte in word.encode(errors="replace")]
        count = len(parts)
        before, after = list(range(-1, count - 1)), list(range(1, count + 1))
        queue: list[tuple[int, int]] = []

        def rank(at: int) -> int | None:
            return self._ranks.get(f"{parts[at]} {parts[after[at]]}") if after[at] < count else None

        queue = [(found, at) for at in range(count) if (found := rank(at)) is not None]
        heapify(queue)
        while queue:
            wanted, at = heappop(queue)
            if rank(at) != wanted:  # one of the two was joined to something else
                continue
            right = after[at]
            parts[at], parts[right] = parts[at] + parts[right], ""
            after[at] = after[right]
            if after[at] < count:
                before[after[at]] = at
            for place in (before[at], at):
                if place >= 0 and (found := rank(place)) is not None:
                    heappush(queue, (found, place))
        return tuple(self._numbers[part] for part in parts if part)


class _Shapes(dict[int, str]):
    """What a character is to the tokenizer: a letter, space or apostrophe is itself, the others are 0, newline or !."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kind = category(character)[0]
        if kind == "L" or character in " '":
            shape = character
        elif kind == "N":
            shape = "0"
        else:
            shape = "\n" if character in SPACES else "!"
        self[code] = shape
        return shape


_SHAPES = _Shapes()


def _split(text: str) -> Iterator[str]:
    return (text[found.start() : found.end()] for found in _WORD.finditer(text.translate(_SHAPES)))


def _pattern(token: dict[str, object]) -> str:
    """Return what matches a special token in a text; some take the spaces before them."""
    return (r"\s*" if token["lstrip"] else "") + re.escape(str(token["content"]))


def _alphabet() -> list[str]:
    """Return the character that stands for each byte: itself if it can be printed, else one from 256 on."""
    printed = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte if byte in printed else next(others)) for byte in range(256)]


_BYTES = _alphabet()
