"""A disk without one free byte, one that is mounted read-only, and a store whose modes forbid writing: reading works, writing is refused with a reason."""

import json
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from unittest.mock import patch

import click
import pytest

from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import open_store, schema_steps
from holdfast.model.errors import StoreFull
from holdfast.model.query import Query
from holdfast.verbs.records.read import list_records
from tests.conftest import Time, keep, make_memory, new_folder, no_growth
from tests.hostile.test_outside import COMMANDS
from tests.hosts.running import Run, kept
from tests.hosts.test_mcp import messages, tool_call
from tests.rows import refused, rows, sampled

pytestmark = [pytest.mark.embedded, pytest.mark.skipif(sys.platform != "linux", reason="mounts a tmpfs")]
# A session's use of the first ones is recorded.
READING: list[str] = rows("commands_that_only_read")
WRITING = ("remember 'One thing more.' --json", "work", "store backup")
# Run in a process with mounts of its own: a small disk that holds the store, filled to the last byte.
FULL = 'mount -t tmpfs -o size=3m none "$1" && cp -a "$2/." "$1/" && ! dd if=/dev/zero of="$1/fill" bs=1k 2>/dev/null'
READ_ONLY = 'mount -t tmpfs none "$1" && cp -a "$2/." "$1/" && mount -o remount,ro "$1"'
MOUNTED = """
import ctypes, subprocess, sys
script, place, store = sys.argv[1:4]
del sys.argv[1:4]
assert ctypes.CDLL(None).unshare(0x20000) == 0  # CLONE_NEWNS
subprocess.run(["mount", "--make-rprivate", "/"], check=True)
subprocess.run(["sh", "-c", script, "sh", place, store], check=True)
from holdfast.hosts.cli.entry import main
main()
"""
# Run in a process that obeys modes, as root does not. Not even the folder can be written.
MODES = """
import ctypes
assert ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()) == 0
from holdfast.hosts.cli.entry import main
main()
"""
Disk = Callable[..., subprocess.CompletedProcess[str]]
MOUNTING = ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"]
CAN_MOUNT = shutil.which("unshare") is not None and subprocess.run(MOUNTING, check=False).returncode == 0


store = pytest.fixture(lambda own_home: own_home / ".holdfast-store")


@pytest.fixture
def memory_id(run: Run, store: Path) -> str:
    return kept(partial(run, HOLDFAST_HOME=str(store)), "The deploy needs two approvals.")


@pytest.fixture(params=["full", "read-only", "read-only modes"])
def disk(request: pytest.FixtureRequest, run: Run, tmp_path: Path, store: Path) -> Iterator[Disk]:
    """Yield a function that runs `holdfast` on a copy of the store on such a disk."""
    kind = request.param
    if kind in ("full", "read-only") and not CAN_MOUNT:
        pytest.skip("this user may not mount; tests/engine/test_databases.py limits the size of files")
    place = new_folder(tmp_path / "disk")

    def holdfast(*arguments: str, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        more |= {"HOLDFAST_HOME": str(place)}
        if kind != "read-only modes":
            words = (FULL if kind == "full" else READ_ONLY, str(place), str(store), *arguments)
            return run(*words, stdin=stdin, program=MOUNTED, **more)
        if not (place / "holdfast.db").exists():
            shutil.copytree(store, place, dirs_exist_ok=True)
            _set_modes(place, 0o400, 0o500)
        return run(*arguments, stdin=stdin, program=MODES, **more)

    yield holdfast
    _set_modes(place, 0o600, 0o700)


def _set_modes(folder: Path, file: int, inner: int) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod(inner if path.is_dir() else file)


def test_reading_works(disk: Disk, memory_id: str) -> None:
    for number, command in enumerate(sampled(READING, 2)):
        session = "s-1" if number % 2 else ""
        done = disk(*shlex.split(command.format(id=memory_id)), HOLDFAST_SESSION=session)
        expected = (5 if command == "doctor" else 0, False)
        assert (done.returncode, "Traceback" in done.stderr) == expected, (command, done.stderr, done.stdout)
        if command.startswith(("recall", "show", "list", "brief", "store export")):
            assert "two approvals" in done.stdout, (command, done.stdout)
    done = disk("session", "refresh", HOLDFAST_SESSION="s-1")
    assert (done.returncode, "Traceback" in done.stderr) == (3, False), done.stderr


@pytest.mark.usefixtures("memory_id")
@pytest.mark.parametrize("log", sampled([True, False], 2), ids=str)
def test_writing_is_refused_with_a_reason(disk: Disk, store: Path, log: bool) -> None:
    if log:  # as a process that was killed leaves it
        with closing(sqlite3.connect(store / "holdfast.db")) as other:
            other.execute("select count(*) from events").fetchall()
            shutil.copytree(store, store.parent / "killed")
        shutil.rmtree(store)
        (store.parent / "killed").rename(store)
    for command in WRITING:
        done = disk(*shlex.split(command))
        assert (done.returncode, "Traceback" in done.stderr) == (5, False), (command, done.stderr + done.stdout)
        assert re.search(r"Free some space|Check the folder and its permissions", done.stderr), done.stderr


def test_the_mcp_server_answers_questions_and_refuses_to_remember(disk: Disk, memory_id: str) -> None:
    calls = [tool_call("recall", query="deploy approvals"), tool_call("remember", text="One thing more, about queues.")]
    calls += [tool_call("read", ids=[memory_id]), tool_call("brief", plan="deploy the shop")]
    done = disk("mcp", stdin=messages(*calls))
    answers = {one["id"]: one["result"] for one in map(json.loads, done.stdout.splitlines())}
    for number in (1, 3, 4):
        assert not answers[number]["isError"], answers[number]
        assert "two approvals" in answers[number]["content"][0]["text"]
    assert answers[2]["isError"]
    assert re.search("pace|permissions", answers[2]["content"][0]["text"])


@pytest.mark.usefixtures("memory_id")
def test_hooks_succeed_where_nothing_can_be_written(run: Run, store: Path, tmp_path: Path) -> None:
    spool = new_folder(store / "spool")
    _set_modes(store, 0o400, 0o500)
    started = "from holdfast.hosts.hooks.hook import main\nimport sys\nmain(sys.argv[1:])"
    program = MODES.replace("from holdfast.hosts.cli.entry import main\nmain()", started)
    assert started in program
    told = {"session_id": "s", "cwd": str(tmp_path), "prompt": "hello", "tool_name": "Bash"}
    given = json.dumps(told | {"tool_input": {"command": "ls"}}).encode()
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"):
        done = run(event, "--home", str(store), stdin=given, program=program)
        assert (done.returncode, done.stderr) == (0, ""), event
    _set_modes(store, 0o600, 0o700)
    assert list(spool.iterdir()) == []


@pytest.fixture
def unwritable(tmp_path: Path, time: Time) -> Path:
    """Return a store whose log cannot be indexed: its index is there, read-only for everybody and of no use."""
    with make_memory(tmp_path, time) as memory:
        keep(memory, "The deploy needs two approvals.")
        assert isinstance(memory.store.db, SQLite)
        return memory.store.db.path


def test_writing_works_again_as_soon_as_there_is_room(unwritable: Path) -> None:
    with no_growth():
        store = open_store(SQLite(unwritable))
        assert store.last_seq() == 1
        refused(StoreFull, store.note, "a", "b")
    store.note("a", "b")
    assert (store.setting("a"), store.last_seq()) == ("b", 1)
    store.close()


def test_a_store_of_an_older_version_is_read_on_a_full_disk(unwritable: Path, tmp_path: Path, time: Time) -> None:
    """It is brought up to date in memory; the file stays as it was."""
    before = unwritable.read_bytes()
    steps = (*schema_steps(), "create table later (number integer);\n")
    with no_growth(), patch("holdfast.engine.store.schema_steps", lambda: steps), make_memory(tmp_path, time) as memory:
        found = list_records(memory, Query(text="")).records
        later = memory.store.db.query("select count(*) from later")[0][0]
        refused(StoreFull, keep, memory, "One thing more.", says="Free some space")
    assert ([one.body for one in found], later) == (["The deploy needs two approvals."], 0)
    assert unwritable.read_bytes() == before


def test_every_command_answers_or_refuses_where_nothing_can_be_written(run: Run, store: Path, memory_id: str) -> None:
    _set_modes(store, 0o400, 0o500)
    failures = {}
    for path, command in sampled(COMMANDS, 4):
        given = [memory_id for one in command.params if isinstance(one, click.Argument) and one.required]
        done = run(*path, *given, program=MODES, HOLDFAST_HOME=str(store))
        if done.returncode not in (*range(6), 64) or "Traceback" in done.stderr:
            failures[" ".join(path)] = (done.returncode, done.stderr[-300:])
    _set_modes(store, 0o600, 0o700)
    assert failures == {}
