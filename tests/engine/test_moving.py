"""A store moves between a file and a server: nothing is lost, an interruption changes nothing, strangers are refused."""

import subprocess
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from holdfast.engine.database import Database, value
from holdfast.engine.postgres.database import Postgres
from holdfast.engine.raw import transcripts
from holdfast.engine.raw.transcripts import Transcript
from holdfast.engine.recovery import copy_store
from holdfast.engine.recovery.copy_store import journal_hash, move
from holdfast.engine.store import Store, open_store
from holdfast.engine.views import records, vectors
from holdfast.engine.views.records import Filter
from holdfast.model.errors import Conflict, StoreError
from holdfast.model.ids import Clock
from holdfast.model.query import Query
from holdfast.verbs.records.lifecycle import Revision, revise
from holdfast.verbs.search.embed import catch_up
from holdfast.verbs.search.recall import recall
from holdfast.verbs.upkeep.erasing import erase
from tests import engines
from tests.conftest import Time, keep, make_memory, recorded
from tests.engine.test_store import everything, some_history
from tests.rows import refused
from tests.verbs.test_recall import Topics

ENGINES = ("sqlite", "postgres")
Place = Callable[[str, str], Database]


def shared(store: Store) -> dict[str, Any]:
    """Give what both engines keep: whose own a record is only stands apart where policies look at it."""
    return {table: rows for table, rows in everything(store).items() if table != "privates"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Give a function that opens the database of a name on an engine."""

    def open_one(engine: str, name: str) -> Database:
        with engines.use(engine, keep_open=True):
            return engines.database(tmp_path / name)

    return open_one


def filled(db: Database) -> Store:
    store = open_store(db)
    for event in some_history(3):
        store.commit([event])
    return store


@pytest.mark.parametrize(("one", "other"), list(product(ENGINES, ENGINES)))
def test_a_moved_store_is_the_same_store(place: Place, one: str, other: str) -> None:
    source = filled(place(one, "source"))
    target = open_store(place(other, "target"))
    told: list[str] = []
    moved = move(source, target, lambda what, _done, _all: told.append(what))
    assert shared(target) == shared(source)
    assert list(target.journal()) == list(source.journal())
    assert (moved.events, moved.hash) == (len(list(source.journal())), journal_hash(source.db))
    assert target.projects() == source.projects()
    assert {"events", "entries", "views", "hash of the target"} <= set(told)
    clock, numbers = Clock(lambda: 1_800_000_000.0), []
    for store in (source, target):  # what is written afterwards gets the same numbers too
        store.commit([recorded(clock, "afterwards", project="p")])
        numbers.append([entry.number for entry in records.page(store, Filter(), limit=1)])
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize("other", ENGINES)
def test_a_target_that_holds_something_else_is_refused_and_left_alone(place: Place, other: str) -> None:
    source, target = filled(place("sqlite", "source")), filled(place(other, "target"))
    target.commit([recorded(Clock(lambda: 1_800_000_000.0), "its own")])
    before = journal_hash(target.db)
    refused(Conflict, move, source, target, says="another store")
    assert journal_hash(target.db) == before
    refused(Conflict, move, source, source, says="itself")
    refused(Conflict, move, open_store(place("sqlite", "empty")), source, says="nothing")
    half = open_store(place(other, "half"))
    with patch.object(copy_store, "_hashes", side_effect=ZeroDivisionError):
        refused(ZeroDivisionError, move, source, half)
    refused(Conflict, move, target, half, says="another store")
    refused(StoreError, open_store, place(other, "half"), says="being moved")


@pytest.mark.parametrize(("one", "other"), [("sqlite", "postgres"), ("postgres", "sqlite"), ("sqlite", "sqlite")])
def test_meaning_and_transcripts_move_along_but_not_what_was_erased_after_a_move_was_interrupted(
    tmp_path: Path, time: Time, place: Place, one: str, other: str
) -> None:
    with engines.use(one, keep_open=True):
        memory = make_memory(tmp_path / "source", time, embedder=Topics())
    secret = keep(memory, "The vault code is on the whiteboard.")
    revised = keep(memory, "The wolf sleeps in the den.")
    text = "the flux capacitor broke"
    said = Transcript(session="s1", project=1, format="text", saved_at="2026", tokens=4, body=text)
    transcripts.save(memory.store, said, [said.body])
    catch_up(memory)
    target = open_store(place(other, "target"))
    with patch.object(copy_store, "_hashes", side_effect=ZeroDivisionError):
        refused(ZeroDivisionError, move, memory.store, target)
    erase(memory, secret.id)
    revise(memory, revised.id, Revision(body="Storage is billed by the hour."))
    catch_up(memory)
    moved = move(memory.store, target)
    assert moved.hash == journal_hash(memory.store.db) == journal_hash(target.db)
    assert moved.vectors == int(value(memory.store.db, "select count(*) from vectors")) > 0
    assert shared(open_store(place(other, "target"))) == shared(memory.store)
    assert "vault" not in str(everything(target))
    expected = [(hit.record.id, round(hit.score, 3)) for hit in recall(memory, Query(text="storage")).hits]
    memory = replace(memory, store=target)
    assert [(hit.record.id, round(hit.score, 3)) for hit in recall(memory, Query(text="storage")).hits] == expected
    assert [piece.body for piece in transcripts.search(target, "flux capacitor", None, 3)] == [said.body]
    assert (vectors.lag(target), expected[0][0]) == (0, revised.id)


def test_a_journal_that_differs_is_noticed(place: Place) -> None:
    source, target = filled(place("sqlite", "source")), open_store(place("postgres", "target"))

    def spoil(what: str, _done: int, _all: int) -> None:
        if what == "entries":
            target.db.execute("update events set data = '{}' where seq = 1")

    refused(StoreError, move, source, target, spoil, says="not the same")


@pytest.mark.skipif(bool(engines.URL), reason="needs the tools and a second database of the server from PyPI")
def test_a_dump_restored_elsewhere_is_the_same_store(tmp_path: Path, time: Time) -> None:
    tools = Path(engines.tools())
    server = engines.server()
    admin = Postgres(server)
    for name in ("original", "restored"):
        admin.outside(f"drop database if exists {name}")
        admin.outside(f"create database {name} template template0")
    admin.close()
    original, restored = (server.replace("/postgres?", f"/{name}?") for name in ("original", "restored"))
    memory = make_memory(tmp_path, time, embedder=Topics())
    memory.store.close()
    memory = replace(memory, store=open_store(Postgres(original)))
    for body in ("Storage is billed by the hour.", "The wolf sleeps in the den."):
        keep(memory, body)
    catch_up(memory)
    dump = tmp_path / "dump"
    subprocess.run([tools / "pg_dump", "--format=custom", f"--file={dump}", original], check=True)
    subprocess.run([tools / "pg_restore", "--no-owner", f"--dbname={restored}", dump], check=True)
    store = open_store(Postgres(restored))
    assert journal_hash(store.db) == journal_hash(memory.store.db)
    assert everything(store) == everything(memory.store)
    expected = [hit.record.id for hit in recall(memory, Query(text="storage")).hits]
    memory.store.close()
    memory = replace(memory, store=store)
    assert [hit.record.id for hit in recall(memory, Query(text="storage")).hits] == expected != []
    keep(memory, "Written after the restore.")  # counters came along
    store.close()
