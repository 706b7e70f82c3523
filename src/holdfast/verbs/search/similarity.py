"""Measure how similar a text is to records: by meaning if an embedder is available, else by shared words."""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.engine.views import Entry, vectors
from holdfast.model.errors import EmbedderError
from holdfast.policy.language.overlap import is_same, overlap
from holdfast.verbs.memory import Memory

# On the embedder's own scale, where 0 is unrelated and 1 clearly related. Measured on pairs of thread titles: at 1.1
# (cosine 0.885 of the built-in encoder) eight of ten rewordings pass and none of eleven neighbours does.
SAME, RELATED = 1.1, 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Similarity:
    """A record, its similarity to a text, and whether that makes it the same thing or a related one."""

    entry: Entry
    share: float
    same: bool
    related: bool


def similar_to(memory: Memory, text: str, entries: Sequence[Entry]) -> list[Similarity]:
    """Compare a text with records; most similar first."""
    cosines = _cosines(memory, text, entries)
    found = [
        _by_meaning(entry, cosines[entry.number]) if entry.number in cosines else _by_words(text, entry)
        for entry in entries
    ]
    return sorted(found, key=lambda one: -one.share)


def _by_meaning(entry: Entry, share: float) -> Similarity:
    return Similarity(entry=entry, share=share, same=share >= SAME, related=share >= RELATED)


def _by_words(text: str, entry: Entry) -> Similarity:
    share, same = overlap(text, entry.record.title), is_same(text, entry.record.title)
    return Similarity(entry=entry, share=share, same=same, related=same or share > 0.4)


def _cosines(memory: Memory, text: str, entries: Sequence[Entry]) -> dict[int, float]:
    """Return the similarity by number of each record that has vectors, on the embedder's scale."""
    embedder = memory.embedder
    if embedder is None or not entries:
        return {}
    import numpy as np  # noqa: PLC0415  numpy costs a tenth of a second: only for meaning

    from holdfast.verbs.search.embed import catch_up, usable  # noqa: PLC0415

    try:
        if usable(memory):
            return {}
        catch_up(memory, limit=len(entries), projects=(memory.store.project_number(memory.project),))
        asked = embedder.embed([text])[0].vector
    except EmbedderError:
        return {}  # fall back to shared words
    found: dict[int, float] = {}
    for number, raw in vectors.of(memory.store, [entry.number for entry in entries]):
        cosine = float(np.frombuffer(raw, dtype=np.float16).astype(np.float32) @ asked)
        scaled = (cosine - embedder.floor) / (embedder.ceiling - embedder.floor)
        found[number] = max(found.get(number, scaled), scaled)
    return found
