"""Find the text of an erased memory in other texts, and mask it there."""
# Copies are rarely exact: they are cut short, wrapped, or written as JSON. So two texts share something if they share a
# run of `RUN` characters (or all of a shorter text), whatever white space is in it. Shorter runs are ordinary phrases
# and stay.

import json
import re
from collections.abc import Iterable, Iterator
from os.path import commonprefix
from typing import Any

from holdfast.model.event import Json
from holdfast.model.foreign_json import json_or_none, texts_in

MASK = "[erased]"
RUN = 48  # characters in common that are not a coincidence
BLOCK = RUN // 2  # any run of RUN characters contains a whole block
SHORTEST, FEWEST_WORDS = 16, 3  # shorter texts are too common to search for
SIGN, SHORTEST_SIGN = 24, 8  # letters and digits of a signature
# Parts of an event that hold written text; the others are labels and names of files and sessions.
_SENTENCES = ("title", "body", "fields", "extra", "reason", "note", "why", "evidence", "said")
_WORD = re.compile(r"\S+")


def sentences_in(payloads: Iterable[Json]) -> tuple[str, ...]:
    """Return the texts of events that are long enough to search for: whole, and line by line."""
    texts = [text for data in payloads for name in _SENTENCES for text in texts_in(data.get(name))]
    texts += [line.strip(" #*->\t") for text in texts for line in text.splitlines()]
    long = (text for text in texts if len(text.strip()) >= SHORTEST and len(text.split()) >= FEWEST_WORDS)
    return tuple(dict.fromkeys(long))


def signs_in(payloads: Iterable[Json]) -> frozenset[str]:
    """Return the first letters and digits of each text, short ones too: for files that can be regenerated."""
    texts = (text for data in payloads for name in _SENTENCES for text in texts_in(data.get(name)))
    lines = (_letters(line)[:SIGN] for text in texts for line in (text, *text.splitlines()) if " " in line.strip())
    return frozenset(line for line in lines if len(line) >= SHORTEST_SIGN)


def resembles(content: str, signs: Iterable[str]) -> bool:
    """True if a file, JSON or text, contains one of the signatures, however it was escaped, fenced or wrapped."""
    value = json_or_none(content)
    letters = _letters(content if value is None else "\n".join(texts_in(value)))
    return any(sign in letters for sign in signs)


class Eraser:
    """Searches for the texts of erased memories."""

    def __init__(self, texts: Iterable[str]) -> None:
        forms = dict.fromkeys(flat for text in texts for form in _forms(text) if (flat := " ".join(form.split())))
        self._texts = sorted(forms, key=len, reverse=True)
        # Blocks stand side by side, the last one ends with the text.
        ends = ((text, max(0, len(text) - BLOCK)) for text in self._texts)
        self._blocks = [(text, place) for text, end in ends for place in sorted({*range(0, end + 1, BLOCK), end})]

    def masked(self, text: str) -> str:
        """Return a text without what it shares with the erased ones; the same object if it shares nothing."""
        flat = " ".join(text.split())
        if not (runs := self._runs(flat)):
            return text
        words = list(_WORD.finditer(text))
        # Position in the original of each character of the flat text; a space belongs to the word before it.
        places = [place for word in words for place in (*range(word.start(), word.end()), word.end())]
        parts, last = [], 0
        for start, end in runs:
            parts += [text[last : places[start]], MASK]
            last = places[end - 1] + 1
        return "".join((*parts, text[last:]))

    def is_in(self, value: Any) -> bool:
        """True if any text in a value shares something with the erased ones."""
        return any(self._runs(" ".join(text.split())) for text in texts_in(value))

    def is_in_bytes(self, raw: Any) -> bool:
        """True if raw bytes, or a mapped file, contain part of the erased texts."""
        windows = (text[place : place + RUN] for text in self._texts for place in range(0, len(text), RUN))
        return any(raw.find(window.encode()) >= 0 for window in windows if len(window) == RUN or window in self._texts)

    def samples(self, most: int) -> list[str]:
        """Return fragments to search for first, as JSON writes them: any long overlap contains one of them."""
        blocks = list(dict.fromkeys(text[place : place + BLOCK] for text, place in self._blocks))
        step = max(1, -(-len(blocks) // most))
        return blocks[::step]

    def _runs(self, flat: str) -> list[tuple[int, int]]:
        runs: list[tuple[int, int]] = []
        for text, place in self._blocks:
            block = text[place : place + BLOCK]
            at = flat.find(block)
            while at >= 0:
                start = at - len(commonprefix([flat[max(0, at - place) : at][::-1], text[:place][::-1]]))  # noqa: RUF071
                end = at + len(commonprefix([flat[at : at + len(text)], text[place:]]))  # noqa: RUF071  of any texts
                # A JSON escape is not cut in two, so that the rest stays readable.
                cut_start, cut_end = ((edge - len(flat[:edge].rstrip("\\"))) % 2 for edge in (start, end))
                start, end = start - cut_start, end + (cut_end if end < len(flat) else 0)
                if end - start >= min(len(text), RUN):
                    runs.append((start, end))
                at = flat.find(block, at + 1)
        merged: list[tuple[int, int]] = []
        for start, end in sorted(runs):
            first, last = merged.pop() if merged and start <= merged[-1][1] else (start, end)
            merged.append((first, max(end, last)))
        return merged


def _forms(text: str) -> Iterator[str]:
    """Yield a text as files contain it: plain, in JSON, and in JSON that is a string in JSON."""
    yield text
    for ascii_only in (False, True):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield once
        yield json.dumps(once, ensure_ascii=ascii_only)[1:-1]


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())
