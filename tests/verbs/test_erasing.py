"""What erasing reaches beside the journal, on both engines, and by whatever way the erasure comes."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from holdfast.engine.locks import turn
from holdfast.engine.raw import trail
from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import open_store
from holdfast.model.session import HookEvent
from holdfast.policy.erasing import Eraser, sentences_in
from holdfast.verbs.capture.prepare import prepare
from holdfast.verbs.exchange.replicas import pull
from holdfast.verbs.memory import Memory
from holdfast.verbs.upkeep import erasing
from holdfast.verbs.upkeep.erasing import erase, finish, unfinished
from tests.conftest import keep
from tests.verbs.scripts import scripts_in

MEMORY = {"config": {"starters": False}}
TEXT = (
    'The heron gateway "must" never be\nrestarted by hand, since it forgets its leases and answers nobody for an hour.'
)
PROMPT: dict[str, Any] = {"id": "1", "at": "2026-01-10T09:15:30.250Z", "event": "UserPromptSubmit", "session": "s1"}


def prepared(memory: Memory, name: str) -> Path:
    file = Path(str(memory.store.folder)) / "prepared" / f"{name}.json"
    prepare(memory, file)
    return file


scripts_in(
    globals(),
    prepare=prepared,
    prompted=lambda script, given: trail.add(script.memory.store, [HookEvent(**PROMPT | given)]),
    masked=lambda _, given: Eraser(sentences_in([{"body": TEXT}])).masked(given["of"]),
    unfinished=lambda script, _: unfinished(script.memory.store.folder),
)


@contextmanager
def busy_worker(memory: Memory, at_last: Callable[[], object] = lambda: None) -> Iterator[Callable[[], None]]:
    """Let a worker hold its turn until it is told to go on, and do something at last."""
    holding, told = threading.Event(), threading.Event()

    def work() -> None:
        with turn(memory.store.folder):
            holding.set()
            assert told.wait(20)
            at_last()

    worker = threading.Thread(target=work)
    worker.start()
    assert holding.wait(20)
    yield told.set
    told.set()
    worker.join()


def test_whoever_prepares_while_it_is_erased_leaves_nothing_of_it(memory: Memory) -> None:
    """The worker holds its turn from reading to writing, so the file it writes late is found all the same."""
    record = keep(memory, TEXT, kind="decision")
    file = prepared(memory, "one")
    read = file.read_text()
    with busy_worker(memory, lambda: file.write_text(read)) as go_on:
        remains = erasing.note_remains(memory.store, events := [memory.event("erased", record.id, after=record.head)])
        memory.store.commit(events)
        go_on()
        assert finish(memory, remains).finished
    assert not file.exists()


def test_preparing_waits_for_an_erasure_that_is_under_way(memory: Memory) -> None:
    record = keep(memory, TEXT, kind="decision")
    keep(memory, "Orders live in PostgreSQL.", kind="decision")
    file = Path(str(memory.store.folder)) / "prepared" / "one.json"
    worker = threading.Thread(target=lambda: prepare(memory, file))
    with turn(memory.store.folder):
        worker.start()
        worker.join(0.3)
        assert not file.exists()
        memory.store.commit([memory.event("erased", record.id, after=record.head)])
    worker.join()
    assert "heron" not in file.read_text()
    assert "Orders live in PostgreSQL" in file.read_text()


@patch.object(erasing, "PATIENCE", 0.1)
def test_where_the_worker_does_not_let_go_the_erasure_says_so_and_is_finished_later(memory: Memory) -> None:
    record = keep(memory, TEXT, kind="decision")
    with busy_worker(memory):
        left = erase(memory, record.id)
    assert (left.finished, list(unfinished(memory.store.folder))) == (False, [record.id])
    assert erase(memory, record.id).finished
    assert unfinished(memory.store.folder) == {}


@pytest.mark.embedded  # of a server's database, more than this is not reached
def test_databases_beside_it_are_swept_or_named_and_what_is_no_store_is_left(memory: Memory, tmp_path: Path) -> None:
    record, folder = keep(memory, TEXT), tmp_path / "store"
    copy = open_store(SQLite(folder / "team.db"))
    pull(copy, memory.store, memory.project, "ada")
    trail.add(copy, [HookEvent(**PROMPT, text=TEXT)])
    copy.close()
    assert b"heron" in (folder / "team.db").read_bytes().lower()
    (folder / "empty.db").touch()
    (folder / "notes.db").write_text("not a database, but about the heron gateway")
    newer = open_store(SQLite(folder / "newer.db"))
    newer.note("schema", "999")
    newer.close()
    done = erase(memory, record.id)
    assert b"heron" not in b"".join(path.read_bytes() for path in folder.glob("team.db*")).lower()
    assert ([one for one in done.not_reached if "newer.db" in one] != [], len(done.not_reached)) == (True, 2)
    assert (folder / "empty.db").read_bytes() == b""
