"""Backups while others write, putting one back, and filling a store from markdown alone."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.compose import worker_lock
from holdfast.engine.recovery.backup import back_up, look_at
from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import open_store
from holdfast.model.errors import Conflict, NotAStore, StoreError, StoreFull
from holdfast.model.ids import Clock
from tests.conftest import no_growth, recorded
from tests.hosts.running import Forked, Run
from tests.hosts.scripts import scripts_in
from tests.rows import refused

scripts_in(globals(), HOLDFAST_HOME="{tmp}/store")
pytestmark = pytest.mark.embedded  # it is about the file

_WRITER = """
import holdfast
memory = holdfast.open()
for number in range(100_000):
    print(memory.remember(f"thing {number}", force=True).id, flush=True)
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "store"))
    return tmp_path / "store"


def test_a_backup_is_whole_while_others_write(tmp_path: Path, home: Path) -> None:
    environment = {**os.environ, "HOLDFAST_EMBEDDER": "none", "HOLDFAST_PROJECT": "shop"}
    with closing(Forked(("-c", _WRITER), tmp_path, environment, text=True)) as writer:
        for number in range(5):
            acknowledged = writer.stdout.readline().strip()
            mark = back_up(home / "holdfast.db", tmp_path / f"{number}.db")
            with closing(open_store(SQLite(tmp_path / f"{number}.db"))) as store:
                assert store.folded(acknowledged) is not None
                events = [event for _, event in store.journal()]
                assert [event.data["body"] for event in events] == [f"thing {place}" for place in range(mark.events)]
        writer.kill()


def test_restoring_waits_for_nobody_and_changes_nothing_where_others_are_at_work(
    run: Run, home: Path, tmp_path: Path
) -> None:
    def answers(why: str) -> list[tuple[int, bool]]:
        done = [run(*command, HOLDFAST_HOME=str(home)) for command in commands]
        return [(one.returncode, why in one.stderr.lower()) for one in done]

    commands = [("remember", "Deploys wait for the backup."), ("store", "backup", str(tmp_path / "one.db"))]
    assert answers("") == [(0, True)] * 2
    commands = [("store", "restore", str(tmp_path / "one.db"), "--yes"), ("store", "recover", "--yes")]
    with closing(open_store(SQLite(home / "holdfast.db"))) as other:
        other.commit([recorded(Clock(), "written meanwhile")])
        assert answers("other processes") == [(5, True)] * 2
    with worker_lock(home) as is_ours:
        assert is_ours
        assert answers("worker") == [(5, True)] * 2
    assert look_at(home / "holdfast.db").events == 2


def test_a_full_disk_leaves_no_half_backup(home: Path, tmp_path: Path) -> None:
    with closing(open_store(SQLite(home / "holdfast.db"))) as store:
        store.commit([recorded(Clock(), "word " * 1_000) for _ in range(200)])
    with no_growth(500_000):
        refused(StoreFull, back_up, home / "holdfast.db", tmp_path / "b" / "one.db")
    assert list((tmp_path / "b").iterdir()) == []


def test_what_is_no_store_is_not_backed_up(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("create table events (id, about, verb, at, actor, name, session, data, seq)")
    refused(NotAStore, back_up, tmp_path / "other.db", tmp_path / "copy.db")
    refused(StoreError, back_up, tmp_path / "nowhere.db", tmp_path / "copy.db")
    (tmp_path / "copy.db").touch()
    refused(Conflict, back_up, tmp_path / "other.db", tmp_path / "copy.db")
