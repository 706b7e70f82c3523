"""What hostile events, stale locks and giant inputs do to hooks and the worker: nothing that lasts."""

import fcntl
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from holdfast.compose import open_memory, worker_lock
from holdfast.compose.settings import _KNOWN, load_settings
from holdfast.engine import sqlite
from holdfast.hosts import worker
from holdfast.hosts.hooks import client, hook
from holdfast.hosts.hooks.places import OF_A_SESSION
from holdfast.model.ids import instant
from holdfast.model.record import Link
from holdfast.verbs.memory import find
from tests.conftest import keep, no_growth
from tests.hosts.running import Run, answer, fire, hold_worker, release_worker
from tests.hosts.scripts import spooled
from tests.rows import WHOLE, each, refused, rows, sampled, some

pytestmark = pytest.mark.embedded


def told(project: Path | str, **given: Any) -> bytes:
    return json.dumps({"session_id": "s1", "cwd": str(project), **given}).encode()


def spool(home: Path, name: str, **event: Any) -> Path:
    (home / "spool").mkdir(exist_ok=True)
    path = home / "spool" / f"{name}.json"
    plain = {"id": name, "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "event": "UserPromptSubmit"}
    path.write_text(json.dumps({**plain, "session": "hostile", "cwd": "/", **event}))
    return path


HOSTILE: list[dict[str, Any]] = [
    *({"cwd": folder} for folder in ("\0", "\ud800", "/" + "x" * 6_000)),
    *({"session": session} for session in ("a\0b", "s" * 5_000)),
    *({"at": ""}, {"at": "yesterday"}, {"event": "Nonsense"}, {"id": ""}, {"tool": "\x1b[31mBash"}),
    {"event": "Injected", "session": "a\0", "given": {"ids": [1, {"x": "\ud800"}]}},
]


def test_a_hostile_event_is_set_aside_and_the_rest_is_processed(holdfast: Run, home: Path) -> None:
    hostile = [spool(home, f"{number:04}", **event) for number, event in enumerate(HOSTILE)]
    no_events = {"[": b"[" * 100_000, "bytes": b"\xff\xfe", "long": b" " * 3_000_000, "folder": None}
    for name, text in no_events.items():
        hostile.append(home / "spool" / f"1{name}.json")
        hostile[-1].mkdir() if text is None else hostile[-1].write_bytes(text)
    spool(home, "2000", session="fine", cwd="/nowhere/at/all", text="We decided to use Postgres for the ledger.")
    odd = {"result": "\0\ud800", "given": {"a\0": ["\ud800", float("inf")]}}
    spool(home, "2001", session="fine", cwd="", text="hello", **odd)
    done = answer(holdfast("work", "--json"))
    assert (done["drained"], done["problems"]) == (2, [])
    assert sorted((home / "spool").iterdir()) == sorted(path.with_suffix(".unreadable") for path in hostile)
    checks = {check["name"]: check for check in json.loads(holdfast("doctor", "--json").stdout)}
    assert checks["spool"]["found"].startswith(f"{len(hostile)} events set aside (")
    assert ".unreadable" in checks["spool"]["fix"]
    assert answer(holdfast("work", "--json"))["drained"] == 0


def test_an_event_of_a_wrong_clock_counts_from_when_it_is_read(holdfast: Run, home: Path, project: Path) -> None:
    for at in ("2199-01-01T00:00:00Z", "1970-01-01T00:00:09Z", "0001-01-01T00:00:00Z"):
        spool(home, at[:4], session=at, cwd=str(project), at=at, text="We decided to use Postgres for the ledger.")
    assert answer(holdfast("work", "--json"))["drained"] == 3
    years = [one["started_at"][:4] for one in answer(holdfast("session", "list", "--json"))]
    assert years == [instant(time.time())[:4]] * 3


def test_a_lock_is_held_by_who_holds_it_not_by_a_number_in_a_file(home: Path) -> None:
    lock = home / "work.lock"
    lock.write_text(str(os.getpid()))  # a process that lives, and is no worker
    assert not hook._is_locked(str(lock))
    with worker_lock(home) as ours:
        assert ours
        assert hook._is_locked(str(lock))
        with worker_lock(home) as again:
            assert not again
    assert not hook._is_locked(str(lock))
    assert "1" not in lock.read_text().replace(str(os.getpid()), "")


def test_where_locks_do_not_work_the_worker_still_does(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    assert not hook._is_locked(str(home / "work.lock"))
    with worker_lock(home) as ours:
        assert ours


def test_an_event_is_in_the_spool_as_a_whole_or_not_at_all(home: Path) -> None:
    hook._spool(str(home), {"event": "Stop", "text": "x" * 1_000})
    (path,) = (home / "spool").iterdir()
    assert spooled(home)[0]["text"] == "x" * 1_000
    for room in (0, 700):
        with no_growth(room):
            refused(OSError, hook._spool, str(home), {"event": "Stop", "text": "x" * 1_000}, says="File too large")
        assert list((home / "spool").iterdir()) == [path]


def test_the_settings_that_travel_with_a_session_exist() -> None:
    assert set(OF_A_SESSION) < set(_KNOWN)


def test_a_wholly_private_prompt_keeps_nothing_of_its_turn(holdfast: Run, home: Path, project: Path) -> None:
    word = "quxzyplugh"
    hold_worker(home)
    for event, given in rows("a_turn_with_a_wholly_private_prompt"):
        fire(home, event, told(project, **given))
    release_worker(home)
    assert answer(holdfast("work", "--json"))["drained"] == 4
    assert [path for path in home.rglob("*") if path.is_file() and word.encode() in path.read_bytes()] == []


PIECES: list[str] = rows("pieces_of_large_inputs")
MOST_STARTS = 10  # bare starts of the interpreter that a hook may cost


def cpu_seconds(*command: str, raw: bytes = b"") -> float:
    """Run Python, which must succeed without a complaint; return the CPU time it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryFile() as err:
        process = subprocess.Popen([sys.executable, *command], stdin=PIPE, stdout=subprocess.DEVNULL, stderr=err)
        with suppress(BrokenPipeError), some(process.stdin) as stdin:
            stdin.write(raw)  # as a whole: `communicate` writes 512 bytes at a time
        code = process.wait()
        err.seek(0)
        assert (code, err.read()) == (0, b"")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def costs_little(home: Path, event: str, raw: bytes) -> bool:
    """True if a hook costs at most `MOST_STARTS`; the bare start is measured beside it, since the machine may be busy."""
    hook = ("-I", "-S", client.__file__, event, "--home", str(home))
    return any(cpu_seconds(*hook, raw=raw) <= MOST_STARTS * cpu_seconds("-c", "pass") for _ in range(3))


@each("piece", sampled(PIECES, 5))
def test_no_input_of_any_size_keeps_a_hook(home: Path, project: Path, piece: str) -> None:
    hold_worker(home)
    text = json.dumps(piece * ((9_000_000 if WHOLE else 3_000_000) // len(piece))).encode()
    for event, given in (
        ("UserPromptSubmit", {"prompt": "TEXT"}),
        ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "TEXT"}}),
        ("PostToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": "TEXT"}}),
    ):
        assert costs_little(home, event, told(project, **given).replace(b'"TEXT"', text)), event


SHAPES: dict[str, Callable[[], dict[str, Any]]] = {
    "many arguments": lambda: {"tool_name": "Bash", "tool_input": {f"key{n}": "curl x -u " * 5_000 for n in range(50)}},
    "many small values": lambda: {"tool_input": {str(number): number for number in range(100_000)}},
    "a wide list": lambda: {"tool_response": list(range(300_000))},
    "objects in objects": lambda: {"tool_response": {"content": [{"text": "a", "b": {"c": [1, 2]}}] * 30_000}},
    "a long key": lambda: {"tool_input": {"k" * 900_000: "v"}},
    "a long command in pieces": lambda: {"tool_name": "Bash", "tool_input": {"command": ["git", "push"] * 200_000}},
    "a long path": lambda: {"tool_name": "Edit", "tool_input": {"file_path": "../" * 300_000}},
    "a long folder": lambda: {"cwd": "/x" * 400_000},
}


@each("shape", sampled(SHAPES, 2))
def test_no_shape_of_input_keeps_a_hook(home: Path, project: Path, shape: str) -> None:
    hold_worker(home)
    for event in ("PreToolUse", "PostToolUse"):
        assert costs_little(home, event, told(project, **SHAPES[shape]())), event


def test_a_hook_does_not_wait_for_a_client_that_keeps_the_pipe_open(home: Path, project: Path) -> None:
    hold_worker(home)
    command = [sys.executable, "-I", "-S", client.__file__, "UserPromptSubmit", "--home", str(home)]
    raw = told(project, prompt="deploy with make ship")
    for given in (raw, raw[:-1]):
        with subprocess.Popen(command, stdin=PIPE, bufsize=0) as process:
            some(process.stdin).write(given)
            assert process.wait(timeout=60) == 0  # it waits a second; one that read to the end would never leave
    assert [event["text"] for event in spooled(home)] == ["deploy with make ship"] * 2


def test_of_an_event_that_is_too_long_what_comes_first_is_kept(home: Path, project: Path) -> None:
    hold_worker(home)
    given = {"tool_name": "Bash", "tool_input": {"command": "make report"}, "tool_response": 'row \\ "1"\n' * 300_000}
    fire(home, "PostToolUse", told(project, **given))
    fire(home, "UserPromptSubmit", told(project, prompt="long ü " * 300_000, extra={"x": 1}))
    first, second = spooled(home)
    assert (first["session"], first["cwd"], first["tool"]) == ("s1", str(project), "Bash")
    assert first["given"] == {"command": "make report"}
    assert first["result"].startswith('row \\ "1"\nrow')
    assert second["text"].startswith("long ü long ü")
    assert not (home / "hooks.log").exists()


def test_the_worker_compares_what_is_new_and_the_session_that_wrote_it_is_told_once(home: Path, project: Path) -> None:
    flags = {"home": str(home), "embedder": "none"}
    with open_memory(load_settings(flags=flags), folder=project) as memory:
        older = keep(memory, "The API listens on port 8080.")
        newer = keep(memory.acting_in("s1"), "The API listens on port 9090.")
        assert worker.work(flags, home, project, environment={}) is not None
        assert find(memory, newer.id).record.links == (Link(relation="contradicts", target=older.id),)
    heard = list[bool]()
    for session in ("s1", "s2", "s1"):
        said = fire(home, "UserPromptSubmit", told(project, session_id=session, prompt="go on"))
        heard.append("saved in this session" in said)
    assert heard == [True, False, False]


@pytest.mark.parametrize(("seconds", "drained", "problems"), [(60.0, 1, 0), (0.0, 0, 1)])
def test_a_worker_waits_for_a_store_that_others_keep_busy(
    home: Path, holdfast: Run, monkeypatch: pytest.MonkeyPatch, seconds: float, drained: int, problems: int
) -> None:
    assert holdfast("remember", "Something.").returncode == 0
    release_worker(home)
    spool(home, "01J00000000000000000000001", text="hello")
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.2)
    other = sqlite3.connect(home / "holdfast.db", isolation_level=None, check_same_thread=False)
    other.execute("begin immediate")
    freeing = threading.Timer(1.0, other.rollback)
    if seconds:
        freeing.start()
    done = worker.work({"home": str(home), "embedder": "none"}, home, home, seconds=seconds)
    freeing.cancel()
    other.close()
    assert done is not None
    assert (done.drained, len(done.problems)) == (drained, problems)
