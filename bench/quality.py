"""Retrieval quality on labelled data: the real engine, from write to recall, next to plain FTS5 in the same run."""

import gzip
import hashlib
import json
import math
import os
import pickle
import re
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import Spread, spread, table
from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from holdfast.model.errors import NotFound
from holdfast.model.event import Actor, Event
from holdfast.model.ids import instant, parse_instant
from holdfast.model.ports import Embedder, Encoded, Vectors
from holdfast.model.query import Query
from holdfast.model.text import headline
from holdfast.verbs.memory import Memory
from holdfast.verbs.search.embed import catch_up
from holdfast.verbs.search.recall import recall

SETS = ("locomo-turn", "locomo-session", "swe-patch", "swe-notes", "gitbugs", "cosqa")
# nDCG@10 and R@5 that the same configuration must reach on each set.
BARS = {
    "locomo-turn": (0.650, 0.745),
    "locomo-session": (0.860, 0.902),
    "swe-patch": (0.815, 0.873),
    "swe-notes": (0.963, 0.980),
    "gitbugs": (0.690, 0.785),
    "cosqa": (0.590, 0.712),
}
NOT_HEADLINE = {"adversarial"}
K = 10


Text = tuple[str, str, dict[str, Any]]  # id, text, metadata
Search = Callable[[str, int], list[str]]


@dataclass(frozen=True, slots=True)
class Task:
    """One haystack: every query is answered from these docs only."""

    docs: list[Text]
    queries: list[Text]
    relevant: dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Means over the headline queries of one set."""

    ndcg: float
    recall5: float
    recall10: float
    mrr: float
    cpu: Spread


def load(folder: Path, name: str) -> list[Task]:
    """Read one labelled set."""
    path = folder / f"{name}.json.gz"
    if not path.exists():
        raise NotFound(f"{path} is not there.", hint="Give the folder of the labelled sets with --data.")
    raw = json.loads(gzip.decompress(path.read_bytes()))
    return [Task([tuple(d) for d in t["docs"]], [tuple(q) for q in t["queries"]], t["qrels"]) for t in raw["tasks"]]


def run(folder: Path, names: Sequence[str], cache: Path | None, *, url: str | None = None) -> bool:
    """Measure the sets and print a table; return True if every bar was reached. With a URL, measure PostgreSQL too."""
    rows, reached = [], True
    dense: list[float] = []
    beside: list[tuple[str, Score, Score]] = []
    for name in names:
        tasks = load(folder, name)
        plain = _score(tasks, plain_fts5)
        with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as scratch:
            ours = _score(tasks, partial(_holdfast, scratch=Path(scratch), cache=cache, dense=dense))
        if url is not None:
            beside.append((name, ours, on_postgres(tasks, url, cache)))
        bar = BARS[name]
        good = round(ours.ndcg, 3) >= bar[0] and round(ours.recall5, 3) >= bar[1] and ours.ndcg >= plain.ndcg
        reached &= good
        rows.append((name, f"{plain.ndcg:.3f} ({plain.recall5:.3f})", f"{ours.ndcg:.3f} ({ours.recall5:.3f})",
                     f"{bar[0]:.3f} ({bar[1]:.3f})", "yes" if good else "NO", ours.recall10, ours.mrr, str(ours.cpu)))  # fmt: skip
    columns = ("set", "plain FTS5 nDCG@10 (R@5)", "holdfast", "bar", "reached", "R@10", "MRR@10", "CPU ms p50 / p95")
    table("retrieval quality", columns, rows)
    if beside:
        _show_both(beside)
    if dense:
        print(f"dense side: recall@10 against exact search {sum(dense) / len(dense):.4f} over {len(dense)} queries")
    return reached


def on_postgres(tasks: list[Task], url: str, cache: Path | None) -> Score:
    """Measure a set on PostgreSQL, each haystack in its own schema; a server is started if the URL is empty."""
    from bench.scale import server

    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="holdfast-bench-")))
        base = stack.enter_context(server(scratch, url, schema=""))

        def system(docs: list[Text]) -> Search:
            place = len(list(scratch.iterdir()))
            own = stack.enter_context(server(scratch, base, schema=f"holdfast_bench_{os.getpid()}_{place}"))
            return _holdfast(docs, scratch=scratch, cache=cache, dense=[], database=own)

        return _score(tasks, system)


def _show_both(beside: Sequence[tuple[str, Score, Score]]) -> None:
    columns = ("set", "SQLite nDCG@10 (R@5)", "PostgreSQL nDCG@10 (R@5)", "difference", "client CPU ms p50 / p95")
    rows = [
        (
            name,
            f"{one.ndcg:.3f} ({one.recall5:.3f})",
            f"{other.ndcg:.3f} ({other.recall5:.3f})",
            f"{other.ndcg - one.ndcg:+.4f}",
            f"{one.cpu}  ·  {other.cpu}",
        )
        for name, one, other in beside
    ]
    table("the same on both engines: FTS5 and sign bits in memory, GIN and pgvector", columns, rows)


def _score(tasks: list[Task], system: Callable[[list[Text]], Search]) -> Score:
    found: list[tuple[float, float, float, float]] = []
    times: list[Spread] = []
    for task in tasks:
        search = system(task.docs)
        answers: list[list[str]] = []

        def ask(query: Text, search: Search = search, answers: list[list[str]] = answers) -> None:
            answers.append(search(query[1], K + 1))

        times.append(spread(ask, task.queries))
        for (query_id, _, meta), answer in zip(task.queries, answers, strict=True):
            if meta.get("category") not in NOT_HEADLINE:
                ranked = [doc for doc in answer if doc != meta.get("exclude")][:K]
                found.append(_metrics(ranked, task.relevant[query_id]))
    ndcg, recall5, recall10, mrr = (sum(column) / len(found) for column in zip(*found, strict=True))
    cpu = Spread(p50=sorted(one.p50 for one in times)[len(times) // 2], p95=max(one.p95 for one in times))
    return Score(ndcg=ndcg, recall5=recall5, recall10=recall10, mrr=mrr, cpu=cpu)


def _metrics(ranked: list[str], relevant: dict[str, int]) -> tuple[float, float, float, float]:
    gain = sum(relevant.get(doc, 0) / math.log2(place + 2) for place, doc in enumerate(ranked))
    ideal = sum(value / math.log2(place + 2) for place, value in enumerate(sorted(relevant.values(), reverse=True)[:K]))
    share = [sum(doc in relevant for doc in ranked[:k]) / len(relevant) for k in (5, 10)]
    first = next((1 / (place + 1) for place, doc in enumerate(ranked) if doc in relevant), 0.0)
    return gain / ideal, share[0], share[1], first


_STOP = frozenset(
    "a an and are as at be by did do does for from had has have how i in is it its me my of on or our that the their "
    "them they this to was we were what when where which who why will with you your".split()
)


def plain_fts5(docs: list[Text]) -> Search:
    """Return the baseline: FTS5 with porter stemming, stop words dropped, ranked by bm25()."""
    db = sqlite3.connect(":memory:")
    db.execute("create virtual table t using fts5 (text, tokenize = 'porter unicode61')")
    db.executemany("insert into t (rowid, text) values (?, ?)", [(place, doc[1]) for place, doc in enumerate(docs)])

    def search(text: str, k: int) -> list[str]:
        words = [word for word in re.findall(r"\w+", text.lower()) if word not in _STOP] or ["zzz"]
        match = " OR ".join(f'"{word}"' for word in dict.fromkeys(words))
        return [
            docs[row[0]][0]
            for row in db.execute("select rowid from t where t match ? order by rank limit ?", (match, k))
        ]

    return search


def _holdfast(docs: list[Text], *, scratch: Path, cache: Path | None, dense: list[float], database: str = "") -> Search:
    """Return Holdfast itself: its own store, filled through commit, queried through recall."""
    folder = scratch / str(len(list(scratch.iterdir())))
    folder.mkdir()
    memory = filled(docs, folder, cache, database)
    exact = _Exact(memory)

    def search(text: str, k: int) -> list[str]:
        found = recall(memory, Query(text=text, limit=k))
        return [str(hit.record.extra["doc"]) for hit in found.hits]

    dense.extend(exact.recall(doc[1][:300]) for doc in docs[:: max(1, len(docs) // 20)])
    return search


def filled(docs: list[Text], folder: Path, cache: Path | None, database: str = "") -> Memory:
    """Return a memory in a folder or on a server, filled with these docs and their vectors."""
    flags = {"home": str(folder), "project": "bench", "database": database}
    memory = open_memory(load_settings(environment={}, flags=flags))
    if cache is not None and memory.embedder is not None:
        memory = replace(memory, embedder=Remembering(memory.embedder, cache))
    memory.store.commit([event_of(memory, doc) for doc in docs])
    catch_up(memory)
    return memory


def event_of(memory: Memory, doc: Text) -> Event:
    """Return the event that records a doc."""
    doc_id, text, meta = doc
    when = str(meta.get("date", ""))
    at = parse_instant(when) if re.match(r"\d{4}-", when) else instant(0)
    by = Actor(kind="user", name=str(meta.get("speaker", "")), session=str(meta.get("session", "")))
    made = memory.event(
        "recorded",
        data={
            "kind": "observation",
            "title": headline(text),
            "body": text,
            "project": "bench",
            "extra": {"doc": doc_id},
        },
        at=at,
    )
    return replace(made, by=by)


class _Exact:
    """Exact nearest neighbours over every vector, as a reference for the approximate search."""

    def __init__(self, memory: Memory) -> None:
        rows = memory.store.db.query("select number, vector from vectors")
        self.memory = memory
        self.numbers = [row[0] for row in rows]
        self.matrix = (
            np.frombuffer(b"".join(row[1] for row in rows), dtype=np.float16).reshape(len(rows), -1).astype(np.float32)
        )

    def recall(self, text: str) -> float:
        """Return the share of the true ten nearest records that the approximate search finds."""
        assert self.memory.embedder is not None
        vector = self.memory.embedder.embed([text])[0].vector
        best: dict[int, float] = {}
        for number, cosine in zip(self.numbers, (self.matrix @ vector).tolist(), strict=True):
            best[number] = max(cosine, best.get(number, -1.0))
        true = set(sorted(best, key=best.__getitem__, reverse=True)[:K])
        quick = list(self.memory.caches.codes.nearest(vector, [(0, 2**62)]))[:K]
        return len(true.intersection(quick)) / len(true)


@dataclass
class Remembering:
    """An embedder that caches its vectors in a file, so that a second run of the benchmark takes seconds."""

    inner: Embedder
    cache: Path
    name: str = field(init=False)
    size: int = field(init=False)
    earlier: Sequence[str] = ()
    floor: float = field(init=False)
    ceiling: float = field(init=False)
    center: Vectors = field(init=False)

    def __post_init__(self) -> None:
        self.name, self.size = self.inner.name, self.inner.size
        self.floor, self.ceiling = self.inner.floor, self.inner.ceiling
        self.center = self.inner.center
        self.cache.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(self.cache / f"{self.name.replace('/', '-')}.db", isolation_level=None, timeout=60)
        self._db.execute("create table if not exists made (key blob primary key, encoded blob not null)")

    def embed(self, texts: Sequence[str]) -> list[Encoded]:
        """Return vectors from the file; compute those it does not have."""
        keys = [hashlib.sha256(text.encode()).digest() for text in texts]
        known = dict(self._known(keys))
        missing = [place for place, key in enumerate(keys) if key not in known]
        if missing:
            made = self.inner.embed([texts[place] for place in missing])
            for place, encoded in zip(missing, made, strict=True):
                known[keys[place]] = encoded
                self._db.execute("insert or ignore into made values (?, ?)", (keys[place], pickle.dumps(encoded)))
        return [known[key] for key in keys]

    def knows(self, word: str) -> bool:
        """True if the inner embedder knows a word."""
        return self.inner.knows(word)

    def _known(self, keys: list[bytes]) -> Iterator[tuple[bytes, Encoded]]:
        for key in keys:
            if row := self._db.execute("select encoded from made where key = ?", (key,)).fetchone():
                yield key, pickle.loads(row[0])  # noqa: S301  written by this benchmark
