"""Find near-duplicates by vectors: pairs of short records that mean nearly the same, for a whole project at once."""

from collections.abc import Collection
from typing import Any

import numpy as np

from holdfast.engine.journal import Journal
from holdfast.engine.search.near_duplicates import NEWEST, Pair
from holdfast.engine.views import vectors

# Measured: two texts that say the same differ in at most a quarter of their sign bits, unrelated texts in nearly half.
# Comparing a third of the 64-bit words first, with a looser limit, rules out most unrelated texts.
APART, APART_AT_A_GLANCE, GLANCE = 0.26, 0.36, 3


def near_duplicates(store: Journal, project: int, *, least: float) -> list[Pair]:
    """Return pairs with a cosine of at least `least`, best first; one of each is among the newest active records."""
    rows = vectors.codes_of_short(store.db, project)
    if len(rows) < 2:
        return []
    numbers = np.array([row[0] for row in rows])
    codes = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.uint64).reshape(len(rows), -1).T
    columns = np.ascontiguousarray(codes)
    near = [
        (int(numbers[place]), int(numbers[other]))
        for place in range(min(NEWEST, len(rows) - 1))
        for other in _close(columns, place)
    ]
    found = [Pair(first=first, second=second, share=share) for (first, second), share in _cosines(store, near).items()]
    return sorted((one for one in found if one.share >= least), key=lambda one: -one.share)


def _close(codes: Any, place: int) -> list[int]:
    """Return the positions after `place` whose codes differ little: compares a part of the words first, then all."""
    words, rest = codes.shape[0], codes[:, place + 1 :]
    glance = max(1, words // GLANCE)
    maybe = np.flatnonzero(_distances(rest[:glance], codes[:glance, place]) <= APART_AT_A_GLANCE * 64 * glance)
    exact = _distances(rest[:, maybe], codes[:, place])
    return [int(other) + place + 1 for other in maybe[exact <= APART * 64 * words]]


def _distances(codes: Any, code: Any) -> Any:
    """Count the differing bits, word by word so that memory is read once. Bytes are enough for three 64-bit words."""
    found = np.bitwise_count(codes[0] ^ code[0])
    found = found if len(code) <= 3 else found.astype(np.uint16)
    for word, own in zip(codes[1:], code[1:], strict=True):
        found += np.bitwise_count(word ^ own)
    return found


def _cosines(store: Journal, near: Collection[tuple[int, int]]) -> dict[tuple[int, int], float]:
    """Return the exact cosine of each pair that is still there."""
    stored = vectors.of(store, sorted({number for pair in near for number in pair}))
    values = {number: np.frombuffer(raw, dtype=np.float16).astype(np.float32) for number, raw in stored}
    return {pair: float(values[pair[0]] @ values[pair[1]]) for pair in near if values.keys() >= set(pair)}
