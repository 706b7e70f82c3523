"""The seam to both engines: turns of writers, threads that do not wait, servers that come back, disks that are full."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from holdfast.engine.database import Bits, Database, Halves
from holdfast.engine.postgres import database as connections
from holdfast.engine.postgres.database import Postgres, statement
from holdfast.engine.search.vectors import code_of, vector_search
from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import Store, open_store
from holdfast.engine.views import records, vectors, words
from holdfast.engine.views.records import Filter, span
from holdfast.engine.views.vectors import Passage
from holdfast.model.errors import StoreBusy, StoreError, StoreFull
from holdfast.model.ids import Clock
from tests import engines
from tests.conftest import no_growth, recorded
from tests.hosts.running import Forked
from tests.rows import examples, refused

Open = Callable[[], Database]


def test_writers_take_turns_and_no_number_is_skipped_or_given_twice(database: Open) -> None:
    stores = [open_store(database()) for _ in range(3)]

    def write(store: Store) -> None:
        ids = Clock(time.time)
        for place in range(15):
            event = recorded(ids, f"thing {place}", project="p")
            store.commit([event])
            assert event.id in {entry.record.id for entry in records.page(store, Filter(), limit=100)}

    # Two threads of one process on one store, and two other processes' worth of connections.
    with ThreadPoolExecutor() as threads:
        list(threads.map(write, [*stores, stores[0]]))
    assert [seq for seq, _ in stores[0].journal()] == list(range(1, 61))
    numbers = [row[0] & 0xFFFF for row in stores[0].db.query("select number from records order by number")]
    assert numbers == list(range(1, 61))


@contextmanager
def writing(store: Store) -> Iterator[None]:
    """Let another thread of this process hold a transaction in which it wrote one event."""
    inside, done = threading.Event(), threading.Event()

    def write() -> None:
        with store.db.transaction():
            store.commit([recorded(Clock(time.time))])
            assert len(list(store.journal())) == 1  # a writer sees what it wrote
            inside.set()
            assert done.wait(20)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert inside.wait(20)
        yield
    finally:
        done.set()
        thread.join()


def test_a_reader_does_not_wait_for_a_writer(database: Open) -> None:
    """Be it another thread of the process, or who has a connection of their own."""
    store, other = open_store(database()), open_store(database())
    with writing(store):  # at once, and without what is not committed
        assert (list(store.journal()), list(other.journal())) == ([], [])
    assert len(list(store.journal())) == len(list(other.journal())) == 1


def test_a_reader_beside_a_writer_can_change_nothing_and_leaves_no_file_behind(tmp_path: Path) -> None:
    store = open_store(SQLite(tmp_path / "holdfast.db"))
    with writing(store):
        refused(StoreError, store.db.query, "delete from settings", says="readonly")
        assert store.last_seq() == 0
    assert store.setting("schema")
    store.close()
    # The last connection that closes takes the write-ahead log away.
    assert [path.name for path in tmp_path.iterdir()] == ["holdfast.db"]


@patch.object(connections, "BUSY_SECONDS", 0.05)
def test_connections_are_few_and_who_finds_none_is_told(tmp_path: Path) -> None:
    with closing(Postgres(engines.schema(str(tmp_path)), most=1)) as db, ThreadPoolExecutor(1) as other:
        with db.transaction():
            assert db.query("select 2")[0][0] == 2  # the thread's own connection
            assert isinstance(other.submit(db.query, "select 1").exception(), StoreBusy)
        assert db.query("select 1")


def test_a_store_outlives_its_connections(tmp_path: Path, clock: Clock) -> None:
    with engines.use("postgres", keep_open=True):
        store, other = open_store(engines.database(tmp_path)), open_store(engines.database(tmp_path))
    store.commit([recorded(clock, "before")])
    hang_up(other.db)
    assert len(list(store.journal())) == 1  # a read is asked again
    hang_up(other.db)
    store.commit([recorded(clock, "after")])  # a transaction that had not begun begins elsewhere
    assert len(list(store.journal())) == 2

    def lose_the_line() -> None:
        with store.db.transaction():
            store.commit([recorded(clock, "lost")])
            hang_up(other.db)
            store.commit([recorded(clock, "never")])

    refused(StoreError, lose_the_line)
    assert [event.data["body"] for _, event in store.journal()] == ["before", "after"]


def hang_up(db: Database) -> None:
    """End every other connection of this role to the server, as its restart would."""
    others = "usename = current_user and pid <> pg_backend_pid()"
    db.query(f"select pg_terminate_backend(pid) from pg_stat_activity where {others}")


def test_a_server_that_is_not_there_is_said_clearly() -> None:
    before, began = threading.active_count(), time.monotonic()
    with pytest.raises(StoreError, match="cannot be reached") as raised:
        Postgres("postgresql://127.0.0.1:1/nowhere?connect_timeout=2")
    assert time.monotonic() - began < 28  # not until the pool gives up
    assert (threading.active_count(), "HOLDFAST_DATABASE" in raised.value.hint) == (before, True)


def test_retired_records_are_outside_of_search_but_found_by_their_words(store: Store, clock: Clock) -> None:
    event = recorded(clock, "the zebra crossing", project="p")
    store.commit([event])
    low, high = span(store.project_number("p"))
    assert words.counts(store.db, {(low, high): ["zebra", "lion"]}) == {(low, high): {"zebra": 1, "lion": 0}}
    store.commit([replace(event, id=clock.tick(), verb="retired", data={"reason": "old"})])
    assert words.holders(store.db, ["zebra"], [(low, high)]) == {"zebra": []}
    assert words.holders(store.db, ["zebra"], [(0, 2**62)]) == {"zebra": []}
    assert words.newest_holders(store.db, [["zebra", "cross"], ["lion"]], (-high, -low), 5) == [[-(low + 1)], []]


def test_words_are_counted_in_a_project_and_everywhere(store: Store, clock: Clock) -> None:
    everywhere = (0, 2**62)
    store.commit([recorded(clock, f"zebra number {n}", project=f"p{n % 12}") for n in range(24)])
    spans = [span(store.project_number(name)) for name in ("p0", "p1", "p11")]
    assert words.counts(store.db, {place: ["zebra"] for place in spans}) == {place: {"zebra": 2} for place in spans}
    assert words.counts(store.db, {everywhere: ["zebra", "zeb"]}) == {everywhere: {"zebra": 24, "zeb": 0}}
    held = words.holders(store.db, ["zebra", "zeb", "13"], spans)
    assert held == {"zebra": [low + n for low, _ in spans for n in (1, 2)], "zeb": [], "13": [spans[1][0] + 2]}
    assert (words.counts(store.db, {}), words.holders(store.db, [], spans)) == ({}, {})


@pytest.mark.parametrize("large", [10, 50_000])
def test_the_nearest_are_those_an_exact_search_finds(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch, large: int
) -> None:
    """By sign bits and, where a project is large, by the graph, past the vectors of other projects."""
    monkeypatch.setattr("holdfast.engine.search.vectors.LARGE", large)
    random = np.random.default_rng(1)
    store.commit([recorded(clock, f"thing {n}", project=f"p{n % 3}") for n in range(600)])
    numbers = [row[0] for row in store.db.query("select number from records order by number")]
    made = random.standard_normal((20, 64))[np.arange(600) % 20] + 0.3 * random.standard_normal((600, 64))
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    vectors.store(store, numbers, [passage(n, row) for n, row in zip(numbers, made, strict=True)])
    (row,) = store.db.query("select vector, code from vectors where number = :number", {"number": numbers[0]})
    assert tuple(map(bytes, row)) == (passage(0, made[0]).vector, passage(0, made[0]).code)
    finder, question, place = vector_search(store, 0.0), made[7], span(store.project_number("p1"))
    mine = [n for n in numbers if place[0] <= n <= place[1]]
    cosines = {n: float(row @ question) for n, row in zip(numbers, made, strict=True)}
    found = finder.nearest(question, [place])
    assert list(found)[:10] == sorted(mine, key=cosines.__getitem__, reverse=True)[:10]
    assert [round(value, 2) for value in found.values()] == [round(cosines[n], 2) for n in found]
    few = mine[::20]
    assert set(finder.nearest(question, [place], allowed=few)) <= set(few)
    assert finder.nearest(question, [place], allowed=[]) == {}
    everywhere = finder.nearest(question, [(0, 2**62)])
    assert list(everywhere)[:10] == sorted(numbers, key=cosines.__getitem__, reverse=True)[:10]


def passage(number: int, values: np.ndarray) -> Passage:
    code, vector = Bits(code_of(values, 0.0).tobytes()), Halves(values.astype(np.float16).tobytes())
    return Passage(number=number, passage=0, fingerprint="f", code=code, vector=vector)


@examples
def test_a_statement_is_written_with_the_words_of_postgresql(shared: str, native: str) -> None:
    assert statement(shared).decode() == native


def test_a_full_disk_is_said_and_what_was_acknowledged_is_there(tmp_path: Path, clock: Clock) -> None:
    """The limit on file size stands in for the disk's end: the system refuses the write in the same place."""
    kept = list[str]()
    with closing(open_store(SQLite(tmp_path / "holdfast.db"))) as store:

        def fill() -> None:
            while len(kept) < 5_000:
                kept.append(store.commit([recorded(clock, f"thing {len(kept)} " * 50)])[0].record.id)

        with no_growth(3_000_000):
            refused(StoreFull, fill)
    assert len(kept) > 10
    with closing(SQLite(tmp_path / "holdfast.db")) as db, closing(open_store(db)) as store:
        assert (db.damage(), {row[0] for row in db.query("select id from records")}) == ([], set(kept))
        store.commit([recorded(clock, "There is room again.")])


@patch("holdfast.engine.sqlite.BUSY_SECONDS", 0.05)
def test_a_lock_held_too_long_is_said(tmp_path: Path, clock: Clock) -> None:
    with closing(SQLite(tmp_path / "holdfast.db")) as first, closing(open_store(SQLite(first.path))) as store:
        with first.transaction():
            refused(StoreBusy, store.commit, [recorded(clock)])
        store.commit([recorded(clock)])


def test_many_processes_may_make_the_same_store_at_once(tmp_path: Path) -> None:
    command = ("-c", "from holdfast.compose import open_memory; open_memory().close()")
    environment = {**os.environ, "HOLDFAST_HOME": str(tmp_path / "new"), "HOLDFAST_EMBEDDER": "none"}
    started = [Forked(command, tmp_path, environment, text=True) for _ in range(6)]
    assert [(process.communicate()[1], process.returncode) for process in started] == [("", 0)] * 6
