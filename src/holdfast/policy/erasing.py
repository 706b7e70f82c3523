"""Find the text of an erased memory in other texts, and mask it there.

Copies are rarely exact: they are cut short, wrapped, or written as JSON. So two texts share something if they share a run of `RUN`
characters (or all of a shorter text), whatever white space is in it. Shorter runs are ordinary phrases and stay.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from holdfast.model.event import Json
from holdfast.model.text import texts_in

MASK = "[erased]"
RUN = 48  # characters in common that are no accident
BLOCK = RUN // 2  # a run of RUN characters holds one of these, wherever it begins
SHORTEST, FEWEST_WORDS = 16, 3  # a shorter text is too common to be looked for
SIGN, SHORTEST_SIGN = 24, 8  # letters and digits
# Parts of an event that are somebody's sentences; the others are labels, names of files and of sessions.
_SENTENCES = ("title", "body", "fields", "extra", "reason", "note", "why", "evidence", "said")
_WORD = re.compile(r"\S+")


def sentences_in(told: Iterable[Json]) -> tuple[str, ...]:
    """Return the texts of events that are long enough to be looked for: whole, and line by line."""
    found = [text for data in told for name in _SENTENCES for text in texts_in(data.get(name))]
    lines = [line.strip(" #*->\t") for text in found for line in text.splitlines()]
    return tuple(dict.fromkeys(text for text in (*found, *lines) if _is_telling(text)))


def signs_in(told: Iterable[Json]) -> frozenset[str]:
    """Return how each text of events begins, in letters and digits only: short ones too, for files that can be made again."""
    found = (text for data in told for name in _SENTENCES for text in texts_in(data.get(name)))
    lines = (_letters(line)[:SIGN] for text in found for line in (text, *text.splitlines()) if " " in line.strip())
    return frozenset(line for line in lines if len(line) >= SHORTEST_SIGN)


def resembles(content: str, signs: Iterable[str]) -> bool:
    """Tell whether a file, JSON or text, holds one of the signs, however it was escaped, fenced or wrapped."""
    try:
        said = "\n".join(texts_in(json.loads(content)))
    except (ValueError, RecursionError):
        said = content
    letters = _letters(said)
    return any(sign in letters for sign in signs)


class Eraser:
    """Looks for the texts of erased memories."""

    def __init__(self, texts: Iterable[str]) -> None:
        forms = dict.fromkeys(flat for text in texts for form in _forms(text) if (flat := " ".join(form.split())))
        self._texts = sorted(forms, key=len, reverse=True)
        self._blocks = [(text, place) for text in self._texts for place in _places(text)]

    def masked(self, text: str) -> str:
        """Return a text without what it shares with the erased ones; the same object if that is nothing."""
        flat = " ".join(text.split())
        if not (found := self._runs(flat)):
            return text
        words = list(_WORD.finditer(text))
        # Where each character of the flat text stands in the text itself; a space belongs to the word before it.
        places = [place for word in words for place in (*range(word.start(), word.end()), word.end())]
        parts, last = [], 0
        for start, end in found:
            parts += [text[last : places[start]], MASK]
            last = places[end - 1] + 1
        return "".join((*parts, text[last:]))

    def is_in(self, value: Any) -> bool:
        """Tell whether any text in a value shares something with the erased ones."""
        return any(self._runs(" ".join(text.split())) for text in texts_in(value))

    def is_in_bytes(self, raw: Any) -> bool:
        """Tell whether raw bytes, or a mapped file, hold a stretch of the erased texts."""
        windows = (text[place : place + RUN] for text in self._texts for place in range(0, len(text), RUN))
        return any(raw.find(one.encode()) >= 0 for one in windows if len(one) == RUN or one in self._texts)

    def samples(self, most: int) -> list[str]:
        """Return pieces to look for first, as they stand in JSON; whatever shares a long run with a text holds one of its pieces."""
        blocks = list(dict.fromkeys(text[place : place + BLOCK] for text, place in self._blocks))
        step = max(1, -(-len(blocks) // most))
        return blocks[::step]

    def _runs(self, flat: str) -> list[tuple[int, int]]:
        """Return from where to where a flat text says what an erased one said, merged and in order."""
        runs: list[tuple[int, int]] = []
        for text, place in self._blocks:
            block = text[place : place + BLOCK]
            at = flat.find(block)
            while at >= 0:
                start, end = _widened(flat, at, text, place, len(block))
                if end - start >= min(len(text), RUN):
                    runs.append((start, end))
                at = flat.find(block, at + 1)
        return _merged(runs)


def _widened(flat: str, at: int, text: str, place: int, length: int) -> tuple[int, int]:
    """Return the whole stretch two texts share around a block they share."""
    start, back = at, place
    while start and back and flat[start - 1] == text[back - 1]:
        start, back = start - 1, back - 1
    end, ahead = at + length, place + length
    while end < len(flat) and ahead < len(text) and flat[end] == text[ahead]:
        end, ahead = end + 1, ahead + 1
    return _whole_escapes(flat, start, end)


def _whole_escapes(flat: str, start: int, end: int) -> tuple[int, int]:
    """Return a stretch that cuts no escape of JSON in two, so that what is left can still be read."""
    if _slashes_before(flat, start) % 2:
        start -= 1
    if end < len(flat) and _slashes_before(flat, end) % 2:
        end += 1
    return start, end


def _slashes_before(flat: str, end: int) -> int:
    return end - len(flat[:end].rstrip("\\"))


def _merged(runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(runs):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _places(text: str) -> list[int]:
    """Return where the blocks of a text begin: side by side, the last one at its end."""
    return sorted({*range(0, max(1, len(text) - BLOCK + 1), BLOCK), max(0, len(text) - BLOCK)})


def _forms(text: str) -> Iterator[str]:
    """Yield a text as it stands in files: plain, in JSON, and in JSON that is a string in JSON."""
    yield text
    for ascii_only in (False, True):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield once
        yield json.dumps(once, ensure_ascii=ascii_only)[1:-1]


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _is_telling(text: str) -> bool:
    return len(text.strip()) >= SHORTEST and len(text.split()) >= FEWEST_WORDS
