"""Backups while others write, putting one back, and filling a store from markdown alone."""

import json
import os
import resource
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from holdfast.compose.locks import worker_lock
from holdfast.engine.recovery.backup import back_up, look_at
from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import open_store
from holdfast.model.errors import Conflict, NotAStore, StoreError
from holdfast.model.ids import Clock
from tests.conftest import new_folder, recorded
from tests.hosts.running import Run, answer

pytestmark = pytest.mark.embedded  # it is about the file

_WRITER = """
import sys
from holdfast.compose import open_memory
from holdfast.model.record import Draft
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.records.write import write
memory = open_memory()
for number in range(100_000):
    print(write(memory, Draft(body=f"thing {number}"), waivers=Waivers(duplicate=True)).record.id, flush=True)
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "store"))
    return tmp_path / "store"


@pytest.fixture
def run(run: Run, home: Path) -> Run:
    return partial(run, HOLDFAST_HOME=str(home))


def bodies(run: Run) -> set[str]:
    return {record["body"] for record in answer(run("list", "--json"))["records"]}


def test_a_backup_is_whole_while_others_write(tmp_path: Path, home: Path) -> None:
    environment = {**os.environ, "HOLDFAST_EMBEDDER": "none", "HOLDFAST_PROJECT": "shop"}
    writer = subprocess.Popen([sys.executable, "-c", _WRITER], env=environment, stdout=subprocess.PIPE, text=True)
    assert writer.stdout
    try:
        for number in range(5):
            acknowledged = writer.stdout.readline().strip()
            mark = back_up(home / "holdfast.db", tmp_path / f"{number}.db")
            with closing(open_store(SQLite(tmp_path / f"{number}.db"))) as store:
                assert store.folded(acknowledged) is not None
                events = [event for _, event in store.journal()]
                assert len(events) == mark.events
                assert [event.data["body"] for event in events] == [f"thing {place}" for place in range(mark.events)]
    finally:
        writer.kill()
        writer.communicate()


def test_a_backup_is_one_private_file_and_overwrites_nothing(run: Run, home: Path, tmp_path: Path) -> None:
    run("remember", "Deploys wait for the backup.")
    made = answer(run("store", "backup", "--json"))
    file = Path(made["backup"])
    assert (file.parent, made["events"], file.stat().st_mode & 0o777) == (home / "backups", 1, 0o600)
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert run("store", "backup", str(file)).returncode == 4
    (tmp_path / "link.db").symlink_to(tmp_path / "elsewhere.db")
    assert run("store", "backup", str(tmp_path / "link.db")).returncode == 4
    assert not (tmp_path / "elsewhere.db").exists()
    for _ in range(2):
        answer(run("store", "backup", "--keep", "2", "--json"))
    assert len(list(file.parent.iterdir())) == 2
    assert not file.exists()


def test_a_backup_comes_back_and_what_was_there_is_kept(run: Run, tmp_path: Path) -> None:
    run("remember", "Deploys wait for the backup.")
    run("store", "backup", str(tmp_path / "one.db"))
    before = (tmp_path / "one.db").read_bytes()
    run("remember", "The canteen closes at two.")
    refused = run("store", "restore", str(tmp_path / "one.db"))
    assert (refused.returncode, "--yes" in refused.stderr) == (64, True)
    done = answer(run("store", "restore", str(tmp_path / "one.db"), "--yes", "--json"))
    assert bodies(run) == {"Deploys wait for the backup."}
    assert (tmp_path / "one.db").read_bytes() == before
    answer(run("store", "restore", done["former"], "--yes", "--json"))
    assert bodies(run) == {"Deploys wait for the backup.", "The canteen closes at two."}
    assert answer(run("doctor", "--json"))[1]["fix"] == ""


def test_restoring_waits_for_nobody_and_changes_nothing_where_others_are_at_work(
    run: Run, home: Path, tmp_path: Path
) -> None:
    run("remember", "Deploys wait for the backup.")
    run("store", "backup", str(tmp_path / "one.db"))
    with closing(open_store(SQLite(home / "holdfast.db"))) as other:
        other.commit([recorded(Clock(), "written meanwhile")])
        for command in (("store", "restore", str(tmp_path / "one.db")), ("store", "recover")):
            refused = run(*command, "--yes")
            assert (refused.returncode, "other processes" in refused.stderr.lower()) == (5, True), command
    with worker_lock(home) as is_ours:
        assert is_ours
        for command in (("store", "restore", str(tmp_path / "one.db")), ("store", "recover")):
            refused = run(*command, "--yes")
            assert (refused.returncode, "worker" in refused.stderr) == (5, True), command
    assert look_at(home / "holdfast.db").events == 2


def test_only_a_sound_store_of_this_version_or_an_older_one_is_restored(run: Run, home: Path, tmp_path: Path) -> None:
    run("remember", "Deploys wait for the backup.")
    run("store", "backup", str(tmp_path / "sound.db"))
    whole = (tmp_path / "sound.db").read_bytes()
    (tmp_path / "cut.db").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.db").write_text("not a database")
    (tmp_path / "newer.db").write_bytes(whole)
    with closing(sqlite3.connect(tmp_path / "newer.db")) as newer:
        newer.execute("update settings set value = '999' where name = 'schema'")
        newer.commit()
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("create table t (x)")
    (tmp_path / "gone").mkdir()
    for name, code in (("cut", 5), ("text", 5), ("newer", 5), ("other", 5), ("nowhere", 3)):
        refused = run("store", "restore", str(tmp_path / f"{name}.db"), "--yes", "--json")
        assert (refused.returncode, "Traceback" in refused.stderr) == (code, False), (name, refused.stderr)
    assert run("store", "restore", str(home / "holdfast.db"), "--yes").returncode == 64
    assert list((home / "backups").glob("*.db")) == []
    assert look_at(home / "holdfast.db").events == 1


def test_a_damaged_store_is_replaced_by_a_backup_and_kept_aside(run: Run, home: Path, tmp_path: Path) -> None:
    run("remember", "Deploys wait for the backup.")
    run("store", "backup", str(tmp_path / "one.db"))
    (home / "holdfast.db").write_bytes(b"\xff" * 20_000)
    refused = run("list")
    assert (refused.returncode, "recover" in refused.stderr) == (5, True)
    assert (home / "holdfast.db").read_bytes() == b"\xff" * 20_000
    done = answer(run("store", "restore", str(tmp_path / "one.db"), "--yes", "--json"))
    assert (Path(done["former"]) / "holdfast.db").read_bytes() == b"\xff" * 20_000
    assert bodies(run) == {"Deploys wait for the backup."}


def test_a_memory_is_still_restored_by_its_id(run: Run) -> None:
    made = answer(run("remember", "--json", "Deploys wait for the backup."))["record"]["id"]
    run("forget", made, "--reason", "by mistake")
    answer(run("restore", made, "--json"))
    assert bodies(run) == {"Deploys wait for the backup."}


def test_a_full_disk_leaves_no_half_backup(home: Path, tmp_path: Path) -> None:
    with closing(open_store(SQLite(home / "holdfast.db"))) as store:
        store.commit([recorded(Clock(), "word " * 1_000) for _ in range(200)])
    script = (
        "import sys; from pathlib import Path; from holdfast.engine.recovery.backup import back_up\n"
        "from holdfast.model.errors import StoreError\n"
        "try: back_up(Path(sys.argv[1]), Path(sys.argv[2]))\n"
        "except StoreError as problem: print(problem.code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(home / "holdfast.db"), str(tmp_path / "b" / "one.db")],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000)),
    )
    assert done.stdout.strip() == "store_full"
    assert list((tmp_path / "b").iterdir()) == []


def test_what_is_no_store_is_not_backed_up(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("create table events (id, about, verb, at, actor, name, session, data, seq)")
    with pytest.raises(NotAStore):
        back_up(tmp_path / "other.db", tmp_path / "copy.db")
    with pytest.raises(StoreError):
        back_up(tmp_path / "nowhere.db", tmp_path / "copy.db")
    (tmp_path / "copy.db").touch()
    with pytest.raises(Conflict):
        back_up(tmp_path / "other.db", tmp_path / "copy.db")


def test_a_store_is_filled_from_markdown_alone(run: Run, home: Path, tmp_path: Path) -> None:
    store = {"HOLDFAST_HOME": str(home), "HOLDFAST_PROJECT": "example.org/acme/shop"}
    scar = ("--kind", "scar", "--field", "severity=high", "--field", 'counter_arguments=["only once", "a backup"]')
    answer(run("remember", "--json", "Deploys wait for the backup.", "--scope", "tools", **store))
    answer(run("remember", "--json", "A migration without a rehearsal broke the shop.", *scar, **store))
    run("replica", "on", "folder", **store)
    answer(run("sync", "--json", **store))
    (home / "markdown" / "broken.md").write_text("---\nid: [\n---\nx")
    fresh = {**store, "HOLDFAST_HOME": str(tmp_path / "fresh")}
    done = answer(run("store", "rebuild", "--from-markdown", str(home / "markdown"), "--json", **fresh))
    assert (done["records"], [remark["where"] for remark in done["left_alone"]]) == (2, ["broken.md"])
    listed = [json.loads(run("list", "--json", **one).stdout)["records"] for one in (store, fresh)]
    parts = ("id", "body", "kind", "scopes", "fields", "created_at", "project")
    assert [{name: one.get(name) for name in parts} for one in listed[0]] == [
        {name: one.get(name) for name in parts} for one in listed[1]
    ]
    assert run("store", "rebuild", "--from-markdown", str(home / "markdown"), **fresh).returncode == 4


def test_the_teams_files_of_a_repository_fill_a_store_too(run: Run, home: Path, tmp_path: Path) -> None:
    store = {"HOLDFAST_HOME": str(home), "HOLDFAST_PROJECT": "example.org/acme/shop"}
    folder = new_folder(tmp_path / "clone" / ".holdfast" / "memories")
    (folder / "one.md").write_text("Prices are kept in cents.\n")
    assert answer(run("store", "rebuild", "--from-markdown", str(folder), "--json", **store))["records"] == 1
    [record] = answer(run("list", "--json", **store))["records"]
    assert (record["project"], record["visibility"]) == ("example.org/acme/shop", "team")


# What a file may hold besides rows, and what it would do to a store that took it over.
HOSTILE = {
    "a trigger": "create trigger sweep after insert on events begin delete from events where seq < new.seq; end",
    "a view": "create view spy as select * from events",
    "an index": "create unique index once on events (verb, at) where seq > 1000",
    "a table": "create table stowaway (said text)",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_nothing_but_rows_of_a_backup_comes_into_the_store(run: Run, tmp_path: Path, home: Path, what: str) -> None:
    run("remember", "Deploys go out on Tuesdays.")
    run("remember", "The ledger is closed in May.")
    before = _schema(home / "holdfast.db")
    assert run("store", "backup", str(tmp_path / "copy.db")).returncode == 0
    with closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
        copy.execute(HOSTILE[what])
        copy.commit()
    restored = run("store", "restore", "-y", str(tmp_path / "copy.db"))
    assert restored.returncode == 0, restored.stderr
    assert _schema(home / "holdfast.db") == before
    kept = bodies(run)
    assert len(kept) == 2
    run("remember", "The cache is warmed at night.")
    assert bodies(run) == kept | {"The cache is warmed at night."}


def test_a_store_with_a_trigger_is_refused_and_recovered_without_it(run: Run, home: Path) -> None:
    run("remember", "Deploys go out on Tuesdays.")
    with closing(sqlite3.connect(home / "holdfast.db")) as store:
        store.execute(HOSTILE["a trigger"])
        store.commit()
    refused = run("remember", "The ledger is closed in May.")
    assert (refused.returncode, "holdfast store recover" in refused.stderr) == (5, True), refused.stderr
    assert run("store", "recover", "-y").returncode == 0
    run("remember", "The ledger is closed in May.")
    assert bodies(run) == {"Deploys go out on Tuesdays.", "The ledger is closed in May."}


def _schema(file: Path) -> set[tuple[str, str, str]]:
    with closing(sqlite3.connect(file)) as db:
        return {tuple(row) for row in db.execute("select type, name, coalesce(sql, '') from sqlite_master")}


def test_an_empty_file_is_no_new_store(run: Run, tmp_path: Path, home: Path) -> None:
    run("remember", "Deploys go out on Tuesdays.")
    assert run("store", "backup", str(tmp_path / "copy.db")).returncode == 0
    for path in home.glob("holdfast.db*"):
        path.unlink()
    (home / "holdfast.db").touch()
    for command in (("remember", "The ledger is closed in May."), ("recall", "ledger"), ("status",)):
        refused = run(*command)
        assert (refused.returncode, "holdfast store restore" in refused.stderr) == (5, True), refused.stderr
    assert (home / "holdfast.db").stat().st_size == 0
    assert run("store", "restore", "-y", str(tmp_path / "copy.db")).returncode == 0
    assert bodies(run) == {"Deploys go out on Tuesdays."}
