"""Run the `holdfast` command in a process of its own, and read what it answers."""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
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
        # What the interpreter or the loader reads when it starts needs a fresh process.
        is_fresh = any(name.startswith(("LD_", "PYTHON", "LANG", "LC_")) for name in environment)
        if module == "holdfast" and not is_fresh:
            return preloaded(arguments, cwd, clean, given or b"")
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


def preloaded(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], given: bytes = b"", program: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run `holdfast` in a process forked from one that has imported the command line (`tests/hosts/preloaded.py`).

    A program in Python that is given runs instead; only such a program may be killed, and then its exit code is -9.
    """
    asked = {"arguments": list(arguments), "folder": str(folder), "environment": dict(environment), "program": program}
    with (
        tempfile.TemporaryFile() as request,
        tempfile.TemporaryFile() as stdin,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        request.write(json.dumps(asked).encode())
        stdin.write(given)
        for file in (request, stdin):
            file.seek(0)
        reading, ending = os.pipe()
        requests, _ = _forking()
        socket.send_fds(requests, [b"."], [request.fileno(), stdin.fileno(), out.fileno(), err.fileno(), ending])
        os.close(ending)
        with os.fdopen(reading, "rb") as exit_code:
            code = exit_code.read()
        for file in (out, err):
            file.seek(0)
        assert code or program, f"holdfast {' '.join(arguments)} was killed: {err.read().decode()}"
        ended = int(code) if code else -signal.SIGKILL
        return subprocess.CompletedProcess(list(arguments), ended, out.read().decode(), err.read().decode())


def script_command(folder: Path) -> tuple[Path, int]:
    """Make a `holdfast` for shell scripts; return it and the file a script has to inherit (`pass_fds`)."""
    requests, _ = _forking()
    command = folder / "holdfast"
    asking = Path(__file__).with_name("asking.py")
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{asking}" {requests.fileno()} "$@"\n')
    command.chmod(0o755)
    return command, requests.fileno()


@cache
def _forking() -> tuple[socket.socket, "subprocess.Popen[bytes]"]:
    """Start the process that commands are forked from; it ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [sys.executable, "-m", "tests.hosts.preloaded", str(theirs.fileno())]
        return ours, subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)


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
