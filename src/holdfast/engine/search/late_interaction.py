"""Compare a question with records word by word: each word of the question with the most similar word of a passage."""

from collections.abc import Collection
from typing import Any

import numpy as np

from holdfast.engine.database import Database
from holdfast.engine.views.vectors import TOKEN_SIZE, tokens_of


def similarities(db: Database, tokens: Any, weights: Any, numbers: Collection[int]) -> dict[int, float]:
    """Return the similarity of a question to the best passage of each record that has vectors of words.

    It is the weighted mean, over the question's words, of the cosine of the most similar word of the passage.
    """
    if not len(tokens) or not numbers:
        return {}
    rows = [row for row in tokens_of(db, numbers) if row[1]]
    if not rows:
        return {}
    stored = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.int8).reshape(-1, TOKEN_SIZE)
    starts = np.cumsum([0, *(len(row[1]) // TOKEN_SIZE for row in rows[:-1])])
    cosines = (tokens.astype(np.float32) / 127**2) @ stored.astype(np.float32).T
    nearest = np.maximum.reduceat(cosines, starts, axis=1)
    means = (weights @ nearest) / max(float(weights.sum()), 1e-9)
    best: dict[int, float] = {}
    for (number, _), value in zip(rows, means.tolist(), strict=True):
        best[number] = max(value, best.get(number, -1.0))
    return best
