"""Measure how similar a text is to records: by meaning if an embedder is available, else by shared words."""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.engine.views import Entry, records, vectors
from holdfast.engine.views.records import span
from holdfast.model.errors import EmbedderError
from holdfast.model.record import Record
from holdfast.policy.admission.admit import Similar
from holdfast.policy.language.overlap import is_same, overlap
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.conflicts import claim_of, is_comparable

# On the embedder's own scale, where 0 is unrelated and 1 clearly related. Measured on pairs of thread titles: at 1.1
# (cosine 0.885 of the built-in encoder) eight of ten rewordings pass and none of eleven neighbours does.
SAME, RELATED = 1.1, 0.8
# From here on two memories say the same in other words, unless their numbers, names or polarity differ (`bench pairs`).
SAME_MEANING = 1.25
MOST_PARAPHRASES = 4


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


def paraphrases(memory: Memory, record: Record) -> list[Similar]:
    """Return records of the project that say the same in other words; none if the encoder would have to be loaded for it."""
    embedder = memory.embedder
    if embedder is None or not getattr(embedder, "ready", False):
        return []
    from holdfast.policy.language.slots import agrees, filled  # noqa: PLC0415  20 ms: only when there is something to compare
    from holdfast.verbs.search.embed import usable  # noqa: PLC0415

    claim = claim_of(record)
    if filled(claim) is None or usable(memory):  # of longer texts nobody can say whether they agree
        return []
    least = embedder.floor + SAME_MEANING * (embedder.ceiling - embedder.floor)
    place = span(memory.store.project_number(record.project))
    asked = embedder.embed([claim])[0]
    near = memory.codes.nearest(asked.vector, [place], most=MOST_PARAPHRASES)
    close = {number: cosine for number, cosine in near.items() if cosine >= least}
    known = records.by_numbers(memory.store, close)
    return [
        Similar(record=other, similarity=min(1.0, close[number]))
        for number, other in known.items()
        if other.state == "active" and is_comparable(record, other) and agrees(claim_of(other), claim)
    ]


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
