"""Search by vectors: of passages in memory (SQLite) or on the server (PostgreSQL), and word by word."""
# In memory the sign bits of all vectors are compared, then the float16 values of the nearest. PostgreSQL does the same
# in an index, or follows its HNSW graph if there are many records.

import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np

from holdfast.engine.database import Bits, Database, Halves, Queries, Row, query_each
from holdfast.engine.journal import Journal
from holdfast.engine.views.records import NUMBERS, PROJECT_BITS
from holdfast.engine.views.vectors import LARGEST, TOKEN_SIZE, tokens_of
from holdfast.engine.views.words import Span

_SQL = Queries(__file__)
# Above this number of records, the graph is faster than reading all sign bits, although it also visits other projects.
LARGE = 100_000
# Passages read from the graph. Measured on a million: they contain 95 % of the true ten nearest; half as many, 90 %.
FOLLOWED = 2_000
# The width of one of the 16 levels that values of vectors of words are stored in: of 127 for 1, and nearly all are within
# ±.35 of 1. Measured, the similarity of a question varies by .006 from that of exact values, among records by .07.
LEVEL = 0.35 / 8 * 127
MORE = 2  # factor on `first_look`: it expects passages, but here only the lower number of records is known


@dataclass(slots=True)
class _Held:
    stamp: int = -1
    numbers: Any = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    codes: Any = None


@dataclass(slots=True)
class Codes:
    """A cache of vector codes for the spans searched so far, updated with vectors that any process adds."""

    db: Database
    center: Any = 0.0
    held: dict[Span, _Held] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def nearest(
        self, vector: Any, spans: Sequence[Span], *, allowed: Collection[int] | None = None, also: Iterable[int] = ()
    ) -> dict[int, float]:
        """Return the records nearest to a unit vector, and `also` others, with the cosine of the best passage, best first."""
        query = code_of(vector, self.center)
        with self.lock:  # sessions of one process share this cache
            self._catch_up(spans)
            held = [(self.held[span].numbers, self.held[span].codes) for span in spans]
        return self.cosines(vector, sorted({*also, *[each for part in held for each in _close(query, *part, allowed)]}))

    def cosines(self, vector: Any, numbers: Collection[int]) -> dict[int, float]:
        """Return, for each record, the best cosine of its passages to a unit vector, the best first."""
        sql = f"select number, vector from vectors where number in ({NUMBERS})"
        rows = self.db.query(sql, {"numbers": list(numbers)}) if numbers else []
        if not rows:
            return {}
        matrix = np.frombuffer(b"".join([row[1] for row in rows]), dtype=np.float16).reshape(len(rows), -1)
        values = (matrix.astype(np.float32) @ np.asarray(vector, dtype=np.float32)).tolist()
        return _best(zip([row[0] for row in rows], values, strict=True))

    def _catch_up(self, spans: Sequence[Span]) -> None:
        """Read the codes added since the last update, and the current stamp, in one statement so that they agree."""
        olds = [self.held.setdefault(span, _Held()) for span in spans]
        params, parts = dict[str, int](), defaultdict[int, list[Row]](list)
        for place, ((low, high), old) in enumerate(zip(spans, olds, strict=True)):
            params |= {f"low{place}": low, f"high{place}": high, f"stamp{place}": old.stamp}
        for row in self.db.query(_codes_since(tuple(old.stamp < 0 for old in olds)), params):
            parts[row[0]].append(row)
        stamp = int(parts[-1][0][1])
        for place, old in enumerate(olds):
            if fresh := parts[place]:
                old.numbers = np.append(old.numbers, [row[1] for row in fresh])
                codes = np.frombuffer(b"".join(row[2] for row in fresh), dtype=np.uint64).reshape(len(fresh), -1).T
                old.codes = np.ascontiguousarray(codes if old.codes is None else np.hstack((old.codes, codes)))
            old.stamp = stamp


def _close(query: Any, numbers: Any, codes: Any, allowed: Collection[int] | None) -> list[int]:
    """Return the records whose sign bits differ least from those of a question."""
    if not len(numbers):
        return []
    if allowed is not None:
        mask = np.isin(numbers, np.fromiter(allowed, dtype=np.int64, count=len(allowed)))
        numbers, codes = numbers[mask], codes[:, mask]
    # Word by word over all vectors, so that each step reads memory sequentially.
    distances = np.zeros(len(numbers), dtype=np.uint16)
    for words, word in zip(codes, query, strict=True):
        distances += np.bitwise_count(words ^ word)
    looked_at = first_look(len(distances))
    if len(distances) > looked_at:
        # Distances are small numbers: counting how often each occurs takes a third of the time of a partial sort.
        farthest = np.searchsorted(np.cumsum(np.bincount(distances)), looked_at)
        nearer = np.flatnonzero(distances < farthest)
        places = np.append(nearer, np.flatnonzero(distances == farthest)[: looked_at - len(nearer)])
        numbers = numbers[places]
    found: list[int] = numbers.tolist()
    return found


@cache
def _codes_since(new: tuple[bool, ...]) -> str:
    """Return the SQL for the stamp and the codes of spans; `+` makes new spans use the key, others the stamp index."""
    ways = [{"by_number": "+", "by_stamp": ""} if is_new else {"by_number": "", "by_stamp": "+"} for is_new in new]
    asked = [_SQL["since"].format(place=place, **way) for place, way in enumerate(ways)]
    return "\nunion all\n".join((_SQL["stamp"], *asked))


def first_look(passages: int) -> int:
    """Return how many passages are compared exactly: as measured, they contain 98 % of the true ten nearest."""
    return min(1_000, 120 + passages // 500)


def code_of(vectors: Any, center: Any) -> Any:
    """Return the sign bits of vectors relative to a centre, packed into whole 64-bit words."""
    # Without the centre many bits would be the same for all texts, because their vectors point in a similar direction.
    bits = np.packbits(np.asarray(vectors) > center, axis=-1)
    spare = -bits.shape[-1] % 8
    padded = np.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, spare)]) if spare else bits
    return np.ascontiguousarray(padded).view(np.uint64)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Vector search in PostgreSQL, with the methods of `Codes`; it caches nothing."""

    db: Database
    center: Any = 0.0

    def nearest(
        self, vector: Any, spans: Sequence[Span], *, allowed: Collection[int] | None = None, also: Iterable[int] = ()
    ) -> dict[int, float]:
        """Return the records nearest to a unit vector, and `also` others, with the cosine of the best passage, best first."""
        asked = {"vector": Halves(np.asarray(vector, dtype=np.float16).tobytes())}
        if allowed is not None:
            given = asked | {"numbers": list(allowed), "most": FOLLOWED}
            rows = list(self.db.query(_SQL["among"], given)) if allowed else []
            return _best([(row[0], row[1]) for row in rows])  # all that is found by words is among them
        homes = [{"first": low >> PROJECT_BITS, "last": high >> PROJECT_BITS} for low, high in spans]
        rows, smaller = list[Row](), list[dict[str, int]]()
        for (low, high), ((records, _),) in zip(spans, query_each(self.db, _SQL["records"], homes), strict=True):
            size = int(records)
            if size > LARGE and len(vector) <= LARGEST:
                sql = _SQL["by_graph"].format(size=len(vector), low=low, high=high, followed=FOLLOWED)
                rows += self.db.query(sql, asked)
            elif size:
                smaller.append({"low": low, "high": high, "looked_at": MORE * first_look(size)})
        code = Bits(code_of(vector, self.center).tobytes())
        for near in query_each(self.db, _SQL["by_code"], smaller, {**asked, "code": code}):
            rows += near
        found = [(row[0], row[1]) for row in rows]
        return _best([*found, *self.cosines(vector, set(also) - {number for number, _ in found}).items()])

    def cosines(self, vector: Any, numbers: Collection[int]) -> dict[int, float]:
        """Return, for each record, the best cosine of its passages to a unit vector, the best first."""
        given = {"vector": Halves(np.asarray(vector, dtype=np.float16).tobytes()), "numbers": list(numbers)}
        return _best((row[0], row[1]) for row in self.db.query(_SQL["cosines"], given)) if numbers else {}


def vector_search(store: Journal, center: Any) -> Codes | Neighbours:
    """Return the vector search for this database."""
    return Neighbours(store.db, center) if store.db.dialect == "postgres" else Codes(store.db, center)


def _best(passages: Iterable[tuple[int, float]]) -> dict[int, float]:
    found: dict[int, float] = {}
    for number, value in passages:
        found[number] = max(value, found.get(number, -1.0))
    return dict(sorted(found.items(), key=itemgetter(1), reverse=True))


def packed(tokens: Any) -> bytes:
    """Return vectors of words as stored: the level of each value, two in a byte."""
    levels = np.clip(np.floor(tokens / LEVEL) + 8, 0, 15).astype(np.uint8)
    return bytes((levels[:, ::2] << 4 | levels[:, 1::2]).tobytes())


def similarities(db: Database, tokens: Any, weights: Any, numbers: Collection[int]) -> dict[int, float]:
    """Return the similarity of a question to the best passage of each record that has vectors of words."""
    # It is the weighted mean, over the question's words, of the cosine of the most similar word of the passage.
    if not len(tokens) or not numbers:
        return {}
    rows = [row for row in tokens_of(db, numbers) if row[1]]
    if not rows:
        return {}
    pairs = np.frombuffer(b"".join([row[1] for row in rows]), dtype=np.uint8).reshape(-1, TOKEN_SIZE // 2)
    stored = np.empty((len(pairs), TOKEN_SIZE), dtype=np.float32)
    stored[:, ::2], stored[:, 1::2] = pairs >> 4, pairs & 15
    starts = np.cumsum([0, *[2 * len(row[1]) // TOKEN_SIZE for row in rows[:-1]]])
    cosines = (tokens.astype(np.float32) * (LEVEL / 127**2)) @ (stored - 7.5).T
    nearest = np.maximum.reduceat(cosines, starts, axis=1)
    means = (weights @ nearest) / max(float(weights.sum()), 1e-9)
    return _best(zip([row[0] for row in rows], means.tolist(), strict=True))
