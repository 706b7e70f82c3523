"""Cost of a recall for one client: in a project, in a large part of the store, everywhere, and behind row policies.

CPU time is that of this process, embedding the question included, plus that of the PostgreSQL backend if it runs on
this machine. Vector search is also measured by itself, next to an exact scan.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import spread_of
from holdfast.compose import served_store
from holdfast.compose.team import MEMBER
from holdfast.engine.database import Halves
from holdfast.engine.postgres.row_security import protect
from holdfast.engine.views.words import Span
from holdfast.model.event import Access, asking
from holdfast.model.ports import RemoteCheckout
from holdfast.model.query import Query
from holdfast.verbs.memory import Memory
from holdfast.verbs.search.recall import recall

Pair = tuple[float, float]  # median and 95th percentile
K = 10
SLICES = 50  # of all vectors, so that they are never all in memory as float32


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """Vector search in a part of the store: CPU ms, those of an exact scan, and the share found of the true ten."""

    records: int
    quick: Pair
    exact: Pair
    share: float


def recalls(memory: Memory, questions: Sequence[str], query: Query) -> tuple[Pair, Pair]:
    """Measure recall: CPU and wall time."""
    asked = [replace(query, text=text) for text in questions]
    for one in asked:  # warm-up: word frequencies are counted once per process
        recall(memory, one)
    times = [_timed(memory, lambda one=one: recall(memory, one)) for one in asked]  # type: ignore[misc]
    return _pair([cpu for cpu, _ in times]), _pair([wall for _, wall in times])


def reached(memory: Memory, questions: Sequence[str], place: Span) -> Reached:
    """Measure vector search in a span, and compare its results with the exact ones."""
    assert memory.embedder is not None
    numbers, matrix = _all(memory, place)
    quick, exact, shares = [], [], []
    codes = memory.caches.codes
    for vector in (encoded.vector for encoded in memory.embedder.embed(list(questions))):
        codes.nearest(vector, [place])
        found: dict[int, float] = {}
        quick.append(_timed(memory, lambda v=vector, f=found: f.update(codes.nearest(v, [place])))[0])  # type: ignore[misc]
        exact.append(_timed(memory, lambda v=vector: _scan(memory, v, place, matrix))[0])  # type: ignore[misc]
        true = set(numbers[np.argsort(-_cosines(matrix, vector))[:K]].tolist())
        shares.append(len(true.intersection(list(found)[:K])) / K)
    return Reached(records=len(numbers), quick=_pair(quick), exact=_pair(exact), share=sum(shares) / len(shares))


@contextmanager
def guarded(memory: Memory, projects: tuple[str, ...]) -> Iterator[Memory]:
    """Yield the memory as a user of a server has it: behind row policies, limited to these projects."""
    protect(memory.store.db)
    store = served_store(memory.config, MEMBER)
    user = Access(user="bench", role="write", projects=projects)
    try:
        with asking(user):
            yield replace(
                memory,
                store=store,
                checkout=RemoteCheckout(memory.project),
                context=replace(memory.context, user=user.user),
                feedback={},
            )
    finally:
        store.close()


def _all(memory: Memory, place: Span) -> tuple[Any, Any]:
    """Return every vector of a span, and the numbers of their records."""
    rows = memory.store.db.query(
        "select number, vector from vectors where number between :low and :high", {"low": place[0], "high": place[1]}
    )
    matrix = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.float16).reshape(len(rows), -1)
    return np.array([row[0] for row in rows]), matrix


def _cosines(matrix: Any, vector: Any) -> Any:
    return np.concatenate([part.astype(np.float32) @ vector for part in np.array_split(matrix, SLICES)])


def _scan(memory: Memory, vector: Any, place: Span, matrix: Any) -> object:
    """Scan every vector: in memory for SQLite, else in the server, where this query cannot use the index."""
    if memory.store.db.dialect == "sqlite":
        return np.argsort(-_cosines(matrix, vector))[:K]
    halves = Halves(np.asarray(vector, dtype=np.float16).tobytes())
    return memory.store.db.query(_EXACTLY, {"vector": halves, "low": place[0], "high": place[1], "most": K})


_EXACTLY = """
select number from vectors where number between :low and :high order by vector <#> :vector limit :most
"""


def _timed(memory: Memory, step: Callable[[], object]) -> tuple[float, float]:
    """Return the CPU milliseconds (including the server's) and the wall milliseconds that a step takes."""
    cpu, served, wall = time.process_time(), _served(memory), time.perf_counter()
    step()
    took = time.process_time() - cpu + _served(memory) - served
    return 1000 * took, 1000 * (time.perf_counter() - wall)


def _served(memory: Memory) -> float:
    """Return the CPU seconds used so far by our PostgreSQL backend, or 0 if it runs elsewhere."""
    if memory.store.db.dialect == "sqlite":
        return 0.0
    backend = int(memory.store.db.query("select pg_backend_pid()")[0][0])
    path = Path(f"/proc/{backend}/schedstat")
    return int(path.read_text().split()[0]) / 1e9 if path.exists() else 0.0


def _pair(times: Sequence[float]) -> Pair:
    one = spread_of(times)
    return one.p50, one.p95
