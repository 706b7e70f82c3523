"""What must survive: a full disk, a read-only store, a thread beside another."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import open_store
from holdfast.model.errors import StoreBusy, StoreFull, StoreUnwritable
from holdfast.model.ids import Clock
from holdfast.model.query import Query
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.read import list_records
from tests.conftest import Time, keep, make_memory, recorded
from tests.hosts.running import Forked
from tests.rows import refused

_UNTIL_FULL = """
import json
from holdfast.compose import open_memory
from holdfast.model.errors import StoreError
from holdfast.model.record import Draft
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.records.write import write
memory = open_memory()
ids = []
try:
    for number in range(5000):
        ids.append(write(memory, Draft(body=f"thing {number} " * 50), waivers=Waivers(duplicate=True)).record.id)
except StoreError as problem:
    print(json.dumps({"ids": ids, "code": problem.code, "message": str(problem)}))
"""


def _environment(home: Path) -> dict[str, str]:
    return {**os.environ, "HOLDFAST_HOME": str(home), "HOLDFAST_EMBEDDER": "none"}


@pytest.mark.embedded
def test_a_full_disk_is_said_and_what_was_acknowledged_is_there(tmp_path: Path, time: Time) -> None:
    """The limit on file size stands in for the disk's end: the system refuses the write in the same place."""
    environment = _environment(tmp_path / "store") | {"HOLDFAST_PROJECT": "example.org/acme/shop"}
    limited = ["bash", "-c", 'ulimit -f 3000; exec "$@"', "limited", sys.executable, "-c", _UNTIL_FULL]
    done = subprocess.run(limited, env=environment, capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)
    assert (said["code"], len(said["ids"]) > 10) == ("store_full", True)
    with make_memory(tmp_path, time) as memory:
        assert isinstance(memory.store.db, SQLite)
        assert memory.store.db.damage() == []
        found = {row[0] for row in memory.store.db.query("select id from records")}
        assert found == set(said["ids"])
        keep(memory, "There is room again.")


@pytest.mark.embedded
def test_a_full_database_changes_nothing(memory: Memory) -> None:
    keep(memory, "Something small first.")
    assert isinstance(memory.store.db, SQLite)
    pages = memory.store.db.query("pragma page_count")[0][0]
    memory.store.db.query(f"pragma max_page_count = {pages}")
    refused(StoreFull, keep, memory, "Something large. " * 5_000)
    memory.store.db.query(f"pragma max_page_count = {pages * 100}")
    assert list_records(memory, Query(text="")).total == 1
    keep(memory, "Something large. " * 5_000)


@pytest.mark.embedded
def test_a_read_only_store_is_said_and_still_read(memory: Memory) -> None:
    keep(memory, "Something small first.")
    memory.store.db.query("pragma query_only = on")
    refused(StoreUnwritable, keep, memory, "One thing more.")
    assert list_records(memory, Query(text="")).total == 1


def test_a_lock_held_too_long_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.engine.sqlite.BUSY_SECONDS", 0.05)
    first, second = (SQLite(tmp_path / "holdfast.db") for _ in range(2))
    store = open_store(second)
    with first.transaction(), pytest.raises(StoreBusy):
        store.commit([recorded(Clock())])
    store.commit([recorded(Clock())])
    first.close()
    second.close()


def test_many_processes_may_make_the_same_store_at_once(tmp_path: Path) -> None:
    command = ("-c", "from holdfast.compose import open_memory; open_memory().close()")
    started = [Forked(command, tmp_path, _environment(tmp_path / "new"), text=True) for _ in range(6)]
    assert [(process.communicate()[1], process.returncode) for process in started] == [("", 0)] * 6
