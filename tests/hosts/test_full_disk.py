"""A disk without one free byte, one that is mounted read-only, and a store whose modes forbid writing: reading works, writing is refused with a reason."""

import json
import os
import resource
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import schema_steps
from holdfast.hosts.cli.main import cli
from holdfast.model.errors import StoreFull
from holdfast.model.query import Query
from holdfast.verbs.records.read import list_records
from tests.conftest import Time, keep, make_memory, new_folder
from tests.hostile.test_outside import commands_of
from tests.hosts.running import Run, kept, preloaded, runner
from tests.rows import sampled

pytestmark = [pytest.mark.embedded, pytest.mark.skipif(sys.platform != "linux", reason="mounts a tmpfs")]
# A session's use of these is recorded.
NOTED = (
    "recall 'deploy approvals' --json",
    "show {id} --json",
    "brief 'deploy the shop'",
    "opening",
    "session refresh",
)
READING = (
    *(*NOTED, "list --json", "replica status", "review list", "session list", "config", "history {id}"),
    *("store export", "status --json", "doctor"),
)
WRITING = ("remember 'One thing more.' --json", "work", "store backup")
# Run in a process with mounts of its own: a small disk that holds the store, filled to the last byte.
FULL = (
    'mount -t tmpfs -o size=3m none "$1" && cp -a "$2/." "$1/" && ! dd if=/dev/zero of="$1/fill" bs=1k >/dev/null 2>&1'
)
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
# Run in a process none of whose files may grow: what it prints goes through pipes, for its output is a file too.
NO_GROWTH = """
import os, resource
pipes = [os.pipe(), os.pipe()]
if os.fork():
    for number, (reading, writing) in enumerate(pipes, 1):
        os.close(writing)
        with os.fdopen(reading, "rb") as printed:
            os.write(number, printed.read())
    os._exit(0)
for number, (_, writing) in enumerate(pipes, 1):
    os.dup2(writing, number)
    os.close(writing)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
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


def _can_mount() -> bool:
    return (
        shutil.which("unshare") is not None
        and subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], check=False).returncode == 0
    )


CAN_MOUNT = sys.platform == "linux" and _can_mount()


@pytest.fixture
def run(tmp_path: Path, own_home: Path) -> Run:
    (tmp_path / "work").mkdir(exist_ok=True)
    return runner(tmp_path / "work", own_home)


@pytest.fixture(params=["full", "no growth", "read-only", "read-only modes"])
def disk(request: pytest.FixtureRequest, tmp_path: Path, own_home: Path) -> Iterator[Disk]:
    """Yield a function that runs `holdfast` (or other arguments) on a copy of the store on such a disk."""
    if request.param in ("full", "read-only") and not CAN_MOUNT:
        pytest.skip("this user may not mount; the limit on file sizes stands in")
    place = new_folder(tmp_path / "disk")
    (tmp_path / "work").mkdir(exist_ok=True)

    def holdfast(*arguments: str, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        store = own_home / ".holdfast-store"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
        environment |= {"HOME": str(own_home), "HOLDFAST_EMBEDDER": "none", "HOLDFAST_HOME": str(place), **more}
        if request.param == "read-only modes":
            if not (place / "holdfast.db").exists():
                shutil.copytree(store, place, dirs_exist_ok=True)
                _set_modes(place, 0o400, 0o500)
            return preloaded(arguments, tmp_path / "work", environment, stdin.encode(), program=MODES)
        if request.param != "no growth":
            words = (FULL if request.param == "full" else READ_ONLY, str(place), str(store), *arguments)
            return preloaded(words, tmp_path / "work", environment, stdin.encode(), program=MOUNTED)
        shutil.copytree(store, place, dirs_exist_ok=True)
        return preloaded(arguments, tmp_path / "work", environment, stdin.encode(), program=NO_GROWTH)

    yield holdfast
    _set_modes(place, 0o600, 0o700)


def _set_modes(folder: Path, file: int, inner: int) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod(inner if path.is_dir() else file)


@pytest.fixture
def memory_id(run: Run, own_home: Path) -> str:
    place = {"HOLDFAST_HOME": str(own_home / ".holdfast-store")}
    return kept(lambda *given, **more: run(*given, **place, **more), "The deploy needs two approvals.")


@pytest.mark.parametrize(("session", "commands"), [("", READING), ("s-1", NOTED)], ids=["", "s-1"])
def test_reading_works(disk: Disk, memory_id: str, session: str, commands: tuple[str, ...]) -> None:
    for command in sampled(commands, 2):
        done = disk(*shlex.split(command.format(id=memory_id)), HOLDFAST_SESSION=session)
        if command == "session refresh":
            assert (done.returncode, "Traceback" in done.stderr) == (3, False), done.stderr
            continue
        assert done.returncode == 0, (command, done.stderr, done.stdout)
        assert "Traceback" not in done.stderr
        if command.startswith(("recall", "show", "list", "brief", "store")):
            assert "two approvals" in done.stdout, (command, done.stdout)


@pytest.mark.usefixtures("memory_id")
@pytest.mark.parametrize("log", [True, False], ids=["with a log", "without a log"])
def test_writing_is_refused_with_a_reason(disk: Disk, own_home: Path, log: bool) -> None:
    store = own_home / ".holdfast-store"
    if log:  # as a process that was killed leaves it
        with sqlite3.connect(store / "holdfast.db") as other:
            other.execute("select count(*) from events").fetchall()
            shutil.copytree(store, own_home / "killed")
        other.close()
        shutil.rmtree(store)
        (own_home / "killed").rename(store)
    for command in WRITING:
        done = disk(*shlex.split(command))
        assert done.returncode == 5, (command, done.stderr + done.stdout)
        assert "Traceback" not in done.stderr
        reasons = ("Free some space", "Check the permissions", "folder you can write", "Check who owns")
        assert any(word in done.stderr for word in reasons), done.stderr


def _call(number: int, tool: str, **arguments: Any) -> str:
    params = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}) + "\n"


def test_the_mcp_server_answers_questions_and_refuses_to_remember(disk: Disk, memory_id: str) -> None:
    asked = _call(1, "recall", query="deploy approvals") + _call(2, "remember", text="One thing more, about queues.")
    done = disk("mcp", stdin=asked + _call(3, "read", ids=[memory_id]) + _call(4, "brief", plan="deploy the shop"))
    answers = {one["id"]: one["result"] for one in map(json.loads, done.stdout.splitlines())}
    for number in (1, 3, 4):
        assert not answers[number]["isError"], answers[number]
        assert "two approvals" in answers[number]["content"][0]["text"]
    assert answers[2]["isError"]
    assert "pace" in answers[2]["content"][0]["text"] or "permissions" in answers[2]["content"][0]["text"]


@pytest.mark.usefixtures("memory_id")
def test_hooks_succeed_where_nothing_can_be_written(own_home: Path, tmp_path: Path) -> None:
    store = own_home / ".holdfast-store"
    (store / "spool").mkdir()
    _set_modes(store, 0o400, 0o500)
    program = MODES.replace(
        "holdfast.hosts.cli.entry import main\nmain()",
        "holdfast.hosts.hooks.hook import main\nimport sys\nmain(sys.argv[1:])",
    )
    assert "hooks" in program
    told = {
        "session_id": "s",
        "cwd": str(tmp_path),
        "prompt": "hello",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
    }
    given = json.dumps(told).encode()
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"):
        done = preloaded([event, "--home", str(store)], tmp_path, os.environ, given, program=program)
        assert (done.returncode, done.stderr) == (0, ""), event
    _set_modes(store, 0o600, 0o700)
    assert list((store / "spool").iterdir()) == []


@pytest.fixture
def unwritable(tmp_path: Path, time: Time) -> Path:
    """Return a store whose log cannot be indexed: its index is there, read-only for everybody and of no use."""
    with make_memory(tmp_path, time) as memory:
        keep(memory, "The deploy needs two approvals.")
        assert isinstance(memory.store.db, SQLite)
        return memory.store.db.path


def test_writing_works_again_as_soon_as_there_is_room(unwritable: Path) -> None:
    script = f"""
import resource, sys
from holdfast.engine.store import open_store
from holdfast.engine.sqlite import SQLite
from holdfast.model.errors import StoreFull
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
from pathlib import Path
store = open_store(SQLite(Path({str(unwritable)!r})))
print(store.last_seq())
try:
    store.note("a", "b")
except StoreFull as problem:
    print(problem.code)
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
store.note("a", "b")
print(store.setting("a"), store.last_seq())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout.split(), done.stderr) == (["1", "store_full", "b", "1"], "")


def test_a_store_of_an_older_version_is_read_on_a_full_disk(
    unwritable: Path, tmp_path: Path, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is brought up to date in memory; the file stays as it was."""
    before = unwritable.read_bytes()
    steps = (*schema_steps(), "create table later (number integer);\n")
    monkeypatch.setattr("holdfast.engine.store.schema_steps", lambda: steps)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        with make_memory(tmp_path, time) as memory:
            found = list_records(memory, Query(text="")).records
            later = memory.store.db.query("select count(*) from later")[0][0]
            with pytest.raises(StoreFull) as refused:
                keep(memory, "One thing more.")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert ([one.body for one in found], later) == (["The deploy needs two approvals."], 0)
    assert "Free some space" in str(refused.value)
    assert unwritable.read_bytes() == before


@pytest.mark.usefixtures("run")
def test_every_command_answers_or_refuses_where_nothing_can_be_written(
    tmp_path: Path, own_home: Path, memory_id: str
) -> None:
    store = own_home / ".holdfast-store"
    _set_modes(store, 0o400, 0o500)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
    environment |= {"HOME": str(own_home), "HOLDFAST_EMBEDDER": "none", "HOLDFAST_HOME": str(store)}
    failures = {}
    for path, command in sampled(commands_of(cli, ()), 3):
        given = [memory_id for one in command.params if isinstance(one, click.Argument) and one.required]
        done = preloaded([*path, *given], tmp_path / "work", environment, program=MODES)
        if done.returncode not in (*range(6), 64) or "Traceback" in done.stderr:
            failures[" ".join(path)] = (done.returncode, done.stderr[-300:])
    _set_modes(store, 0o600, 0o700)
    assert failures == {}
