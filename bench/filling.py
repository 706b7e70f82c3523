"""Fill a large store quickly with records of many projects.

Texts are made up (`Corpus`). Vectors are mixtures of two real embeddings of passages of Python's manual, with noise:
they are distributed like real ones, while random vectors would all be far apart. The first records are written through
`Store.commit`; beyond that whole projects are copied inside the database, with other ids and vectors, because writing a
million texts would take longer than all measurements.
"""

import sys
import time
from typing import Any

import numpy as np

from bench.corpus import Corpus
from holdfast.engine.database import Database, Dialect
from holdfast.engine.search.vectors import code_of
from holdfast.engine.views import vectors
from holdfast.engine.views.records import PROJECT_BITS, span
from holdfast.engine.views.vectors import Passage
from holdfast.verbs.memory import Memory

BATCH = 5_000
WRITTEN = 20_000  # records written through `Store.commit`, if that fills whole projects
NOISE = 0.25  # of a vector's length
PRIVATE = 50  # one record in this many is private
# Id prefixes that the current time does not produce.
BEGINNINGS = [first + second for first in "01234567" for second in "0123456789ABCDEFGHJKMNPQRSTVWXYZ"][2:]


def project_name(number: int) -> str:
    """Return the name of a made-up project."""
    return f"bench/project-{number}"


def fill(memory: Memory, records: int, projects: int, pool: Any) -> float:
    """Store records with vectors in several projects; return how many `Store.commit` wrote per second."""
    each = records // projects
    written = min(projects, max(1, WRITTEN // each))
    assert projects % written == 0, "projects are copied as often as they fit"
    rate = _write(memory, each * written, written)
    note(f"{each * written:,} records written, {rate:.0f} a second")
    numbers = [memory.store.project_number(project_name(place)) for place in range(written)]
    if projects > written and memory.store.db.dialect == "postgres":
        memory.store.db.script("drop index if exists words_lexemes;\n")
    for copy in range(1, projects // written):
        _copy(memory.store.db, numbers, copy * written, BEGINNINGS[copy - 1])
        if copy % 10 == 0:
            note(f"copied {copy} times")
    _embed(memory, pool)
    note("vectors are there")
    return rate


def note(what: str) -> None:
    """Print progress: some steps take minutes."""
    print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)


def _write(memory: Memory, records: int, projects: int) -> float:
    corpus, start = Corpus(), time.perf_counter()
    for first in range(0, records, BATCH):
        numbers = range(first, min(first + BATCH, records))
        memory.store.commit([memory.event("recorded", data=_data(corpus.text(), n, projects)) for n in numbers])
    return records / (time.perf_counter() - start)


def _data(text: str, number: int, projects: int) -> dict[str, Any]:
    told = {"kind": "fact", "title": text[:60], "body": text, "project": project_name(number % projects)}
    return told | {"scopes": ["bench"], "visibility": "team" if number // projects % PRIVATE else "private"}


def _copy(db: Database, numbers: list[int], shift: int, beginning: str) -> None:
    """Copy projects to the names `shift` places further; the copied ids differ from the originals in their prefix."""
    with db.transaction():
        events = int(db.query("select value from counters where name = 'seq'")[0][0])
        given = {"beginning": beginning, "events": events, "shift": shift << PROJECT_BITS, "places": shift}
        for place, number in enumerate(numbers):
            low, high = span(number)
            here = {"low": low, "high": high, "number": number}
            named = {"name": f'"{project_name(place)}"', "other": f'"{project_name(place + shift)}"'}
            ends = {"end": f"/{number}'", "other_end": f"/{number + shift}'"}
            for sql in (*_COPIES, _WORDS[db.dialect]):
                db.execute(sql, given | here | named | ends | {"bare": project_name(place + shift)})
        db.execute("update counters set value = (select max(seq) from events) where name = 'seq'")
        db.execute("update counters set value = (select max(number) from projects) where name = 'projects'")


_ID = ":beginning || substr(id, 3)"
_COPIES = (
    f"""
    insert into events (seq, id, about, verb, at, actor, name, session, data)
    select seq + :events, {_ID}, :beginning || substr(about, 3), verb, at, actor, name, session, replace(data, :name, :other)
    from events where about in (select id from entries where number between :low and :high)
    """,
    f"""
    insert into records
        (number, id, tail, kind, state, waits, cites, title, session, author, created_at, updated_at, verified_at, source, fingerprint, doc)
    select number + :shift, {_ID}, tail, kind, state, waits, cites, title, session, author, created_at, updated_at, verified_at, source, fingerprint,
        replace(replace(doc, id, {_ID}), :name, :other)
    from records where number between :low and :high
    """,
    f"insert into entries (number, id) select number + :shift, {_ID} from entries where number between :low and :high",
    """
    insert into labels (facet, value, number)
    select facet, value, number + :shift from labels where number between :low and :high
    """,
    "insert into projects (number, name, records) select number + :places, :bare, records from projects where number = :number",
    "insert into unembedded (number) select number + :shift from unembedded where number between :low and :high",
)
_WORDS: dict[Dialect, str] = {
    "sqlite": "insert into words (rowid, body) select rowid + :shift, body from words where rowid between :low and :high",
    "postgres": """
    insert into words (rowid, body, lexemes)
    select rowid + :shift, body, cast(replace(cast(lexemes as text), :end, :other_end) as tsvector)
    from words where rowid between :low and :high
    """,
}


def _embed(memory: Memory, pool: Any) -> None:
    """Store a made-up vector for every record."""
    assert memory.embedder is not None
    memory.store.note("embedder", f"{memory.embedder.name}/{memory.embedder.size}")
    random, center = np.random.default_rng(1), memory.embedder.center
    vectors.drop_graph(memory.store.db)
    while numbers := vectors.waiting(memory.store, None, BATCH):
        made = _mixtures(random, pool, len(numbers))
        codes, halves = code_of(made, center), made.astype(np.float16)
        rows = [
            Passage(number=number, passage=0, fingerprint="", code=codes[row].tobytes(), vector=halves[row].tobytes())
            for row, number in enumerate(numbers)
        ]
        vectors.store(memory.store, numbers, rows, graph=False)


def _mixtures(random: Any, pool: Any, count: int) -> Any:
    """Return made-up unit vectors: each a mixture of two real ones with some noise."""
    share = random.uniform(0.5, 1.0, (count, 1)).astype(np.float32)
    one, other = (pool[random.integers(0, len(pool), count)] for _ in range(2))
    aside = random.standard_normal((count, pool.shape[1])).astype(np.float32)
    made = share * one + (1 - share) * other + NOISE * aside / np.linalg.norm(aside, axis=1, keepdims=True)
    return made / np.linalg.norm(made, axis=1, keepdims=True)
