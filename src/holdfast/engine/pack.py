"""Fit hits into a token budget, each shown by the part that answers best. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from holdfast.model.query import Hit
from holdfast.model.text import shorten, tokens_of

SNIPPET = 280  # characters: two or three lines
LOOKED_AT = 20_000  # characters of a long text that are searched for the best part
OVERHEAD = 24  # tokens an id, kind, date and confidence take beside the text
_SENTENCE = re.compile(r"[^\n.!?]*(?:[.!?](?!\s)[^\n.!?]*)*(?:[.!?]+|\n|\Z)")


def pack(hits: Sequence[Hit], idf: Mapping[str, float], *, limit: int, budget: int) -> tuple[list[Hit], int]:
    """Give the first hits that fit, with snippets and costs, and how many were cut. A budget of 0 is none."""
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
    """Give the stretch of a text that holds most of the question's words."""
    if len(text) <= SNIPPET:
        return " ".join(text.split())
    sentences = [part for part in _SENTENCE.findall(text[:LOOKED_AT]) if part.strip()]
    # Index words are stems, so looking for them inside the sentence finds most of their forms, and is cheap.
    worth = [sum(weight for word, weight in idf.items() if word in part.lower()) for part in sentences]
    best = max(range(len(sentences)), key=lambda place: (worth[place], -place), default=0)
    stretch = sentences[best]
    for after in sentences[best + 1 :]:
        if len(stretch) + len(after) > SNIPPET:
            break
        stretch += after
    lead = "…" if best else ""
    return lead + shorten(stretch, SNIPPET)
