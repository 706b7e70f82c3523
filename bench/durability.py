"""Durability of any memory server: acknowledged writes that are missing after several wrote at once, and after kill -9.

An acknowledged text is there if a server that was started afterwards and has written once more left it in its files.
"""

import re
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from threading import Thread

from bench.corpus import Corpus
from bench.stdio import Place, Server, System, Trouble, serving
from holdfast.compose import open_memory
from holdfast.compose.settings import load_settings
from holdfast.engine.sqlite import SQLite
from holdfast.verbs.records.read import get

MOST, SLOWEST = 60, 10  # writes, and seconds, until a writer is killed
_NAMED = re.compile(rb"kept\d{7}x")
CHECKOUT = System(
    start=(sys.executable, "-m", "holdfast", "mcp"),
    write=("remember", lambda text: {"text": text}),
    search=("recall", lambda text: {"query": text}),
    saved="Saved as",
    variables={"HOLDFAST_HOME": "{home}/store", "HOLDFAST_PROJECT": "bench", "HOLDFAST_EMBEDDER": "none"},
)  # Holdfast as it stands in this checkout, without vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How many writes were acknowledged, how many of them are missing, how many were refused, and what was done meanwhile."""

    acknowledged: int
    lost: int
    errors: int = 0
    rounds: int = 0

    def __str__(self) -> str:
        said = f"{self.lost} of {self.acknowledged}"
        if self.rounds:
            said += f", {self.rounds} kills"
        return said + (f", {self.errors} errors" if self.errors else "")


def concurrent(place: Place, writers: int = 4, each: int = 100, seconds: float = 60) -> Outcome:
    """Write from several servers on one store, at most for so many seconds."""
    until = time.monotonic() + seconds

    def write(number: int) -> tuple[list[bytes], int]:
        acknowledged, errors = list[bytes](), 0
        with serving(place) as server:
            server.begin()
            for name, text in _texts(number):
                if time.monotonic() > until or len(acknowledged) + errors == each:
                    return acknowledged, errors
                try:
                    server.write(text)
                    acknowledged.append(name)
                except Trouble:
                    errors += 1
        raise AssertionError("texts do not end")

    with ThreadPoolExecutor(writers) as pool:
        results = list(pool.map(write, range(writers)))
    written = [name for names, _ in results for name in names]
    errors = sum(errors for _, errors in results)
    return Outcome(acknowledged=len(written), lost=_lost(place, written), errors=errors)


def killed(place: Place, rounds: int = 8, seconds: float = 90, seed: int = 1) -> Outcome:
    """Kill the server and all it started while it writes, again and again on one store."""
    until, random, acknowledged, kills = time.monotonic() + seconds, Random(seed), list[bytes](), 0
    while kills < rounds and (not kills or time.monotonic() < until):
        before = len(acknowledged)
        with serving(place) as server:
            server.begin()
            writer = Thread(target=_until_it_ends, args=(server, 50 + kills, acknowledged.append))
            writer.start()
            wanted, latest = before + random.randint(1, MOST), time.monotonic() + SLOWEST
            while len(acknowledged) < wanted and writer.is_alive() and time.monotonic() < latest:
                time.sleep(0.001)
            time.sleep(random.uniform(0, 0.02))
            place.kill()
            writer.join()
        kills += 1
    return Outcome(acknowledged=len(acknowledged), lost=_lost(place, acknowledged), rounds=kills)


def sound(place: Place) -> bool:
    """True if Holdfast's store is undamaged and its newest records agree with the journal."""
    flags = {"home": str(place.home / "store"), "project": "bench", "embedder": "none"}
    with open_memory(load_settings(environment={}, flags=flags)) as memory:
        assert isinstance(memory.store.db, SQLite)
        newest = memory.store.db.query("select id from records order by id desc limit 5")
        agree = all(get(memory, record_id).record == memory.store.folded(record_id) for (record_id,) in newest)
        return agree and bool(newest) and memory.store.db.damage() == []


def _until_it_ends(server: Server, number: int, acknowledged: Callable[[bytes], None]) -> None:
    with suppress(Trouble):
        for name, text in _texts(number):
            server.write(text)
            acknowledged(name)


def _texts(writer: int) -> Iterator[tuple[bytes, str]]:
    """Yield texts without end, each with a name that no other text of any writer has."""
    corpus, number = Corpus(writer + 2), 0
    while True:
        name = f"kept{writer:02}{number:05}x"
        yield name.encode(), f"{name} {corpus.text(25)}"
        number += 1


def _lost(place: Place, names: list[bytes]) -> int:
    """Return how many names are in none of the store's files after a restart and one more write."""
    with serving(place) as server, suppress(Trouble):
        server.begin()
        server.write(next(_texts(99))[1])
        place.idle(20)
    place.kill()
    kept: set[bytes] = set()
    for file in place.home.rglob("*"):
        if file.is_file() and file.suffix != ".log" and not file.name.endswith(("-wal", "-shm")):
            kept.update(_NAMED.findall(_contents(file)))
    return len(set(names) - kept)


def _contents(file: Path) -> bytes:
    """Return a file's bytes, or of a SQLite database the rows that a reader gets."""
    raw = file.read_bytes()
    if not raw.startswith(b"SQLite format 3\0"):
        return raw
    parts = []
    with closing(sqlite3.connect(file)) as database:
        for (name,) in database.execute("select name from sqlite_master where type = 'table'").fetchall():
            with suppress(sqlite3.Error):  # a virtual table of an extension that is not here
                parts += [repr(row).encode() for row in database.execute(f'select * from "{name}"')]
    return b"\n".join(parts)
