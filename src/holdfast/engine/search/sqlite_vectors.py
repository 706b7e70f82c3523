"""Find records by meaning: sign bits of all vectors for a first look, float16 values of the nearest for the second.

An embedded store is searched here, in memory; PostgreSQL searches itself (`neighbours`).
"""

import json
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from holdfast.engine.database import Database

Span = tuple[int, int]


@dataclass(slots=True)
class _Held:
    """The codes of one span, up to a stamp: a column for each vector."""

    stamp: int = -1
    numbers: Any = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    codes: Any = None


@dataclass(slots=True)
class Codes:
    """Vector codes of the spans searched so far, kept current as vectors arrive from any process."""

    db: Database
    center: Any = 0.0
    held: dict[Span, _Held] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def nearest(
        self, vector: Any, spans: Sequence[Span], *, most: int, allowed: Collection[int] | None = None
    ) -> dict[int, float]:
        """Give the records nearest to a unit vector with their cosine, best passage each."""
        query = code_of(vector, self.center)
        found: list[tuple[int, int]] = []
        for span in spans:
            found.extend(self._close(query, span, allowed))
        numbers = dict.fromkeys(number for _, number in sorted(found))
        cosines = self.cosines(vector, numbers)
        best = sorted(cosines, key=cosines.__getitem__, reverse=True)[:most]
        return {number: cosines[number] for number in best}

    def cosines(self, vector: Any, numbers: Collection[int]) -> dict[int, float]:
        """Give the best cosine of each record's passages to a unit vector."""
        rows = self.db.query(_VECTORS, {"numbers": json.dumps(list(numbers))}) if numbers else []
        if not rows:
            return {}
        matrix = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.float16).reshape(len(rows), -1)
        values = (matrix.astype(np.float32) @ np.asarray(vector, dtype=np.float32)).tolist()
        best: dict[int, float] = {}
        for row, value in zip(rows, values, strict=True):
            best[row[0]] = max(value, best.get(row[0], -1.0))
        return best

    def _close(self, query: Any, span: Span, allowed: Collection[int] | None) -> list[tuple[int, int]]:
        with self.lock:  # sessions of one process share this
            held = self._current(span)
            numbers, codes = held.numbers, held.codes
        if not len(numbers):
            return []
        if allowed is not None:
            mask = np.isin(numbers, np.fromiter(allowed, dtype=np.int64, count=len(allowed)))
            numbers, codes = numbers[mask], codes[:, mask]
        # Word by word over all vectors: each step runs through memory once.
        distances = np.zeros(len(numbers), dtype=np.uint16)
        for words, word in zip(codes, query, strict=True):
            distances += np.bitwise_count(words ^ word)
        looked_at = first_look(len(distances))
        if len(distances) > looked_at:
            places = np.argpartition(distances, looked_at)[:looked_at]
            numbers, distances = numbers[places], distances[places]
        return list(zip(distances.tolist(), numbers.tolist(), strict=True))

    def _current(self, span: Span) -> _Held:
        stamp = int(self.db.query("select value from counters where name = 'stamp'")[0][0])
        held = self.held.setdefault(span, _Held())
        if held.stamp != stamp:
            low, high = span
            given = {"low": low, "high": high, "stamp": held.stamp, "now": stamp}
            rows = self.db.query(_ALL if held.stamp < 0 else _NEW, given)
            if rows:
                held.numbers = np.append(held.numbers, [row[0] for row in rows])
                fresh = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.uint64).reshape(len(rows), -1).T
                held.codes = np.ascontiguousarray(fresh if held.codes is None else np.hstack((held.codes, fresh)))
            held.stamp = stamp
        return held


# A vector that was replaced leaves its old code behind; the second look reads what is true now.
# Never past the stamp just read: what others store meanwhile would come a second time. (+: by number, not by stamp)
_ALL = "select number, code from vectors where number between :low and :high and +stamp <= :now"
_NEW = "select number, code from vectors where stamp > :stamp and stamp <= :now and number between :low and :high"
_VECTORS = "select number, vector from vectors where number in (select cast(value as bigint) from json_each(:numbers))"


def first_look(passages: int) -> int:
    """Tell how many passages are looked at exactly: enough to hold 98 % of the true ten nearest, measured."""
    return min(1_000, 120 + passages // 500)


def code_of(vectors: Any, center: Any) -> Any:
    """Give the sign bits of vectors, packed into whole 64-bit words.

    Seen from the origin all texts lie to one side and many bits would be the same for all; seen from their centre each
    bit tells something.
    """
    bits = np.packbits(np.asarray(vectors) > center, axis=-1)
    spare = -bits.shape[-1] % 8
    padded = np.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, spare)]) if spare else bits
    return np.ascontiguousarray(padded).view(np.uint64)
