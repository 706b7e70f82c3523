"""A file system whose locks fail, or are given to everybody: said in plain words, and nothing is written blindly."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.engine import locks
from tests.hosts.running import Run, answer, kept
from tests.rows import missing, sampled

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.skipif(sys.platform != "linux", reason="a library is loaded before libc, as Linux does it"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler to make that library"),
]


def preloaded(folder: Path, *flags: str) -> dict[str, str]:
    source, made = Path(__file__).with_name("locks.c"), folder / f"locks{'-'.join(flags)}.so"
    subprocess.run(["cc", "-shared", "-fPIC", *flags, "-o", str(made), str(source), "-ldl"], check=True)
    return {"LD_PRELOAD": str(made)}


def test_locks_that_fail_are_said_and_nothing_changes(run: Run, tmp_path: Path, own_home: Path) -> None:
    record = kept(run, "The deploy needs two approvals.")
    [store] = own_home.rglob("holdfast.db")
    before = store.read_bytes()
    commands = [("remember", "One thing more."), ("recall", "deploy"), ("show", record), ("doctor",)]
    for error in sampled(["ENOLCK", "EOPNOTSUPP"], 2):
        broken = preloaded(tmp_path, f"-DFAIL={error}")
        for command in sampled(commands, 3):
            done = run(*command, **broken)
            assert (done.returncode, missing(done.stderr, "refuses locks", "local disk")) == (5, []), (command, done)
            assert "Traceback" not in done.stderr
    assert store.read_bytes() == before
    assert len(answer(run("list", "--json"))["records"]) == 1


def test_the_doctor_notices_locks_that_everybody_gets(run: Run, tmp_path: Path) -> None:
    kept(run, "The deploy needs two approvals.")
    whole, told = run("doctor"), run("doctor", **preloaded(tmp_path))
    assert "locks work between processes" in whole.stdout, whole.stdout
    assert missing(told.stdout, "gives the same lock to two processes", "local disk") == []
    assert told.returncode != whole.returncode or whole.returncode != 0


def test_the_kind_of_a_file_system_is_that_of_the_nearest_mount(tmp_path: Path) -> None:
    assert locks.file_system_of(Path("/proc/self")) == "proc"
    assert not locks.is_remote(locks.file_system_of(tmp_path)), os.fspath(tmp_path)
    assert all(locks.is_remote(kind) for kind in ("nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs"))
