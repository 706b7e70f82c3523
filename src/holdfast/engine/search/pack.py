"""Fit hits into a token budget, each with the snippet that answers best. Pure functions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from holdfast.model.query import Hit
from holdfast.model.text import shorten, tokens_of

SNIPPET = 280  # characters: two or three lines
LOOKED_AT = 20_000  # characters of a long text that are searched for the snippet
TRIED = 4  # places that are compared: those of the rarest words
OVERHEAD = 24  # tokens for id, kind, date and confidence, in addition to the text


def pack(hits: Sequence[Hit], idf: Mapping[str, float], *, limit: int, budget: int) -> tuple[list[Hit], int]:
    """Return the first hits that fit, with snippets and costs, and how many were cut. A budget of 0 means no limit."""
    packed: list[Hit] = []
    spent = 0
    for hit in hits[:limit]:
        text = snippet(hit.record.text, idf)
        cost = OVERHEAD + tokens_of(hit.record.title) + tokens_of(text)
        if budget and spent + cost > budget:
            break
        packed.append(replace(hit, snippet=text, tokens=cost))
        spent += cost
    return packed, len(hits) - len(packed)


def snippet(text: str, idf: Mapping[str, float]) -> str:
    """Return the part of a text with the most weight of question words, from the start of a sentence."""
    if len(text) <= SNIPPET:
        return " ".join(text.split())
    low = text[:LOOKED_AT].lower()
    # Index words are stems, so a plain substring search finds most of their forms, and is cheap.
    rarest = sorted(idf, key=idf.__getitem__, reverse=True)
    found = (at for word in rarest if (at := low.find(word)) >= 0)
    starts = [_sentence_start(low, at) for at in islice(found, TRIED)]

    def worth(start: int) -> float:
        stretch = low[start : start + SNIPPET]
        return sum([weight for word, weight in idf.items() if word in stretch])

    best = max(starts, key=worth, default=0)
    return ("…" if best else "") + shorten(text[best:], SNIPPET)


def _sentence_start(text: str, at: int) -> int:
    """Return the start of the sentence around a position, or the position itself if the start is far away."""
    nearest = max(0, at - SNIPPET // 2)
    begins = [found + len(end) for end in ("\n", ". ", "! ", "? ") if (found := text.rfind(end, nearest, at)) >= 0]
    return max(begins, default=at if nearest else 0)
