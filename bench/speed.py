"""Speed and memory at several sizes, next to plain FTS5 and a brute-force scan over the same texts and vectors.

Vectors of made-up memories are random unit vectors (embedding 100k real texts takes half an hour); questions are
really embedded, and so are the texts that measure how fast vectors catch up. All times are CPU times.
"""

import json
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.corpus import Corpus
from bench.measure import Spread, best, cpu_seconds, resident_mib, spread, spread_of, table
from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from holdfast.engine.search.vectors import code_of
from holdfast.engine.views import vectors
from holdfast.engine.views.vectors import Passage
from holdfast.model.query import Query
from holdfast.model.record import Draft
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.exchange.jsonl import export, import_lines
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import Written, write
from holdfast.verbs.search.embed import MOST_TOKENS, catch_up, keeping_up
from holdfast.verbs.search.recall import recall

QUESTIONS = 60
ROUNDS = 5  # the fastest counts
WRITES, LAGGING = 100, 1_000
PROJECT = "bench/project-0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One store: how many projects, and how many records in each."""

    projects: int
    each: int

    @property
    def name(self) -> str:
        """The name in the table."""
        return f"{self.each:,}" if self.projects == 1 else f"{self.each:,} of {self.each * self.projects:,}"


CASES = {
    "1k": Case(projects=1, each=1_000),
    "10k": Case(projects=1, each=10_000),
    "100k": Case(projects=1, each=100_000),
    "1m": Case(projects=100, each=10_000),
}


def run(names: list[str]) -> None:
    """Measure the named sizes and print the tables."""
    recalls, writes = [], []
    for name in names:
        folder = Path(tempfile.mkdtemp(prefix="holdfast-bench-"))
        try:
            recall_row, write_row = _measure(CASES[name], folder)
            recalls.append(recall_row)
            writes.append(write_row)
        finally:
            shutil.rmtree(folder)
    asked = (
        "records in the project",
        "recall",
        "recall, words only",
        "plain FTS5 bm25()",
        "brute-force scan",
        "open",
        f"after {LAGGING:,} writes, wall",
    )
    table("recall, CPU ms p50 / p95 (12-word questions, embedding included; quickest of 5 rounds)", asked, recalls)
    kept = (
        "records in the project",
        "write p50 / p95 ms",
        "writes/s",
        "import/s",
        "vectors/s",
        "store MB",
        "kB a memory",
        "RSS MiB before → after",
    )
    table("write (CPU)", kept, writes)


def _measure(case: Case, folder: Path) -> tuple[list[object], list[object]]:
    corpus = Corpus()
    opened = open_bench(folder)
    before = resident_mib()
    imported = fill(opened, case, corpus)
    fake_vectors(opened)
    opened.close()
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    memory = open_bench(folder)
    questions = [corpus.question() for _ in range(ROUNDS * QUESTIONS)]
    opening = spread(lambda _: open_bench(folder).close(), range(10))
    words_only = _rounds(lambda text: recall(memory, Query(text=text, words_only=True, weak=True)), questions)
    recall(memory, Query(text="warm up", weak=True))
    after = resident_mib()
    hybrid = _rounds(lambda text: recall(memory, Query(text=text, weak=True)), questions)
    plain, brute = _baselines(memory, questions)
    written = best([spread(partial(_write, memory), [corpus.text() for _ in range(WRITES)]) for _ in range(ROUNDS)])
    rate = _catch_up_rate(memory)
    lagging = _after_writes(memory, case, corpus, questions[:QUESTIONS])
    memory.close()
    return (
        [case.name, hybrid, words_only, plain, brute, opening, lagging],
        [
            case.name,
            written,
            f"{1000 / written.p50:.0f}",
            f"{imported:.0f}",
            f"{rate:.0f}",
            f"{size:.0f}",
            f"{1000 * size / (case.projects * case.each):.1f}",
            f"{before:.0f} → {after:.0f}",
        ],
    )


def _rounds(step: Callable[[str], object], questions: list[str]) -> Spread:
    """Measure a step in several rounds, each with its own questions."""
    return best([spread(step, questions[start::ROUNDS]) for start in range(ROUNDS)])


def open_bench(folder: Path) -> Memory:
    """Open the memory of a benchmark."""
    return open_memory(load_settings(environment={}, flags={"home": str(folder), "project": PROJECT}))


def fill(memory: Memory, case: Case, corpus: Corpus) -> float:
    """Import that many records and return how many were stored per CPU second."""
    total = case.projects * case.each
    lines = list(_export_lines(memory, case, corpus, min(total, 20_000)))
    seconds = cpu_seconds(lambda: import_lines(memory, lines))
    rate = (len(lines) - 1) / seconds
    done = len(lines) - 1
    while done < total:  # the rest is stored by `commit` directly, without parsing JSON
        batch = [_event(memory, case, corpus, number) for number in range(done, min(done + 5_000, total))]
        memory.store.commit(batch)
        done += len(batch)
    return rate


def _export_lines(memory: Memory, case: Case, corpus: Corpus, count: int) -> Iterator[str]:
    from holdfast.model.event import event_to_json

    yield next(export(memory))
    for number in range(count):
        yield json.dumps(event_to_json(_event(memory, case, corpus, number)))


def _event(memory: Memory, case: Case, corpus: Corpus, number: int) -> Any:
    text = corpus.text()
    project = f"bench/project-{number % case.projects}"
    return memory.event(
        "recorded", data={"kind": "fact", "title": text[:60], "body": text, "project": project, "scopes": ["bench"]}
    )


def fake_vectors(memory: Memory) -> None:
    """Store a random vector for every record, and one for each of as many words as a made-up text has."""
    random = np.random.default_rng(1)
    assert memory.embedder is not None
    words = np.asarray(memory.embedder.embed([Corpus().text()])[0].tokens)[:MOST_TOKENS]
    tokens = random.integers(-127, 128, (64, *words.shape), dtype=np.int8)
    name = f"{memory.embedder.name}/{memory.embedder.size}"
    memory.store.note("embedder", name)
    while numbers := vectors.waiting(memory.store, None, 5_000):
        made = random.standard_normal((len(numbers), memory.embedder.size)).astype(np.float32)
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        codes, halves = code_of(made, memory.embedder.center), made.astype(np.float16)
        rows = [
            Passage(
                number=number,
                passage=0,
                fingerprint="",
                code=codes[row].tobytes(),
                vector=halves[row].tobytes(),
                tokens=tokens[row % len(tokens)].tobytes(),
            )
            for row, number in enumerate(numbers)
        ]
        vectors.store(memory.store, numbers, rows)


def _baselines(memory: Memory, questions: list[str]) -> tuple[Spread, Spread]:
    """Measure plain FTS5 (bm25, every word) over the whole store, and an exact scan of the project's vectors."""
    db = sqlite3.connect(":memory:")
    db.execute("create virtual table t using fts5 (text, tokenize = 'porter unicode61')")
    rows = memory.store.db.query("select number, doc from records")
    db.executemany("insert into t (rowid, text) values (?, ?)", ((row[0], json.loads(row[1])["body"]) for row in rows))

    def plain(text: str) -> object:
        match = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", text)))
        return db.execute("select rowid, bm25(t) from t where t match ? order by 2 limit 50", (match,)).fetchall()

    fts = _rounds(plain, questions[: 10 * ROUNDS])
    db.close()
    low, high = _span(memory)
    stored = memory.store.db.query(
        "select vector from vectors where number between :low and :high", {"low": low, "high": high}
    )
    matrix = (
        np.frombuffer(b"".join(row[0] for row in stored), dtype=np.float16).reshape(len(stored), -1).astype(np.float32)
    )
    assert memory.embedder is not None
    embed = memory.embedder.embed
    brute = _rounds(lambda text: np.argpartition(-(matrix @ embed([text])[0].vector), 50)[:50], questions)
    return fts, brute


def _span(memory: Memory) -> tuple[int, int]:
    from holdfast.engine.views.records import span

    return span(memory.store.project_number(PROJECT))


def _write(memory: Memory, text: str) -> None:
    outcome = write(memory, Draft(body=text), waivers=Waivers(transient=True, duplicate=False))
    assert isinstance(outcome, Written), outcome


def _catch_up_rate(memory: Memory) -> float:
    """Return how many records are really embedded per CPU second: those left by the write measurement."""
    done = 0

    def step() -> None:
        nonlocal done
        done = catch_up(memory)

    return done / seconds if (seconds := cpu_seconds(step)) else 0.0


def _after_writes(memory: Memory, case: Case, corpus: Corpus, questions: list[str]) -> Spread:
    """Return how long recalls take while a background thread embeds what was just written."""
    with keeping_up(memory) as idle:
        memory.store.commit([_event(memory, case, corpus, 0) for _ in range(LAGGING)])
        memory.wrote.set()
        times = []
        for text in questions:
            start = time.perf_counter()
            recall(memory, Query(text=text, weak=True))
            times.append(1000 * (time.perf_counter() - start))
        assert not idle.is_set(), "everything was embedded before the last question"
    return spread_of(times)


def fresh(size: int = 10_000) -> None:
    """Measure new processes on a store of 10k records: CPU until the answer, and resident memory."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-bench-"))
    try:
        memory = open_bench(folder)
        fill(memory, Case(projects=1, each=size), Corpus())
        fake_vectors(memory)
        memory.close()
        rows = [
            ("python -c pass", *_child(folder, "pass")),
            ("open + recall by words", *_child(folder, _RECALL.format(words=True))),
            ("open + recall by meaning", *_child(folder, _RECALL.format(words=False))),
            (
                "holdfast recall --words",
                *_child(folder, None, "recall", "--words", "--weak", "deploy", "the", "server"),
            ),
        ]
    finally:
        shutil.rmtree(folder)
    table("a fresh process at 10,000 records", ("what", "CPU s (best of 5)", "RSS MiB"), rows)


_RECALL = """
import sys
from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from holdfast.model.query import Query
from holdfast.verbs.search.recall import recall
memory = open_memory(load_settings())
assert recall(memory, Query(text="deploy the server when the cache token expires", words_only={words}, weak=True)).hits
"""
_MEMORY = "\nprint(next(int(l.split()[1]) // 1024 for l in open('/proc/self/status') if l.startswith('VmRSS')))\n"


def _child(folder: Path, code: str | None, *arguments: str) -> tuple[float, str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDFAST_", "PYTHON"))}
    environment |= {"HOLDFAST_HOME": str(folder), "HOLDFAST_PROJECT": PROJECT}
    command = (
        [sys.executable, "-c", code + _MEMORY] if code is not None else [sys.executable, "-m", "holdfast", *arguments]
    )
    best, memory = float("inf"), "–"
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        memory = done.stdout.strip().splitlines()[-1] if code is not None else "–"
    return best, memory
