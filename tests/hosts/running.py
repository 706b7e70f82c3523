"""Run the `holdfast` command in a process of its own, and read what it answers."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests import engines

ROOT = Path(__file__).parent.parent.parent
Run = Callable[..., subprocess.CompletedProcess[str]]


def runner(work: Path, home: Path, module: str = "holdfast") -> Run:
    """Return a function that runs `holdfast`, or another module, in a folder with a home of its own."""

    def holdfast(
        *arguments: str, stdin: str | bytes | None = None, cwd: Path = work, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
        clean |= {"HOME": str(home), "HOLDFAST_EMBEDDER": "none", **environment}
        clean = engines.setting(clean.get("HOLDFAST_HOME", str(home))) | clean
        given = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=cwd,
            env=clean,
            input=given or b"",
            capture_output=True,
            check=False,
        )
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    return holdfast


def answer(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def kept(run: Run, *arguments: str) -> str:
    return str(answer(run("remember", "--json", *arguments))["record"]["id"])


_HELD: dict[Path, int] = {}


def hold_worker(home: Path) -> None:
    """Hold the worker's lock, so that hooks start none. A folder of the same name may have been held by an earlier test."""
    release_worker(home)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    _HELD[home] = os.open(home / "work.lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(_HELD[home], fcntl.LOCK_EX)


def release_worker(home: Path) -> None:
    """Let workers run again."""
    if home in _HELD:
        os.close(_HELD.pop(home))
