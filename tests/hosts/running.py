"""Run the `holdfast` command in a process of its own, and read what it answers."""

import atexit
import fcntl
import io
import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from functools import cache, partialmethod
from pathlib import Path
from typing import IO, Any

import pytest

from holdfast.hosts.hooks import client
from holdfast.hosts.hooks.hook import main as hook_main
from tests import engines
from tests.rows import missing

ROOT = Path(__file__).parent.parent.parent
Run = Callable[..., subprocess.CompletedProcess[str]]


def runner(work: Path, home: Path, **own: str) -> Run:
    """Return a function that runs `holdfast`, or a program, in a folder with a home and variables of its own."""

    def holdfast(
        *arguments: str, stdin: str | bytes = b"", cwd: Path = work, program: str = "", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
        clean |= {"HOME": str(home), "HOLDFAST_EMBEDDER": "none", **own, **environment}
        clean = engines.setting(clean.get("HOLDFAST_HOME", str(home))) | clean
        given = stdin.encode() if isinstance(stdin, str) else stdin
        # What the interpreter or the loader reads when it starts needs a fresh process.
        if not any(name.startswith(("LD_", "PYTHON", "LANG", "LC_")) for name in environment):
            return preloaded(arguments, cwd, clean, given, program)
        command = [sys.executable, "-m", "holdfast", *arguments]
        done = subprocess.run(command, cwd=cwd, env=clean, input=given, capture_output=True, check=False)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    return holdfast


def preloaded(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], given: bytes = b"", program: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run `holdfast` in a process forked from one that has imported the command line (`tests/hosts/preloaded.py`).

    A program in Python that is given runs instead; only such a program may be killed, and then its exit code is -9.
    """
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        stdin.write(given)
        stdin.seek(0)
        reading, ending = os.pipe()
        _fork(arguments, folder, environment, program, [stdin.fileno(), out.fileno(), err.fileno(), ending])
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
    command, asking, requests = folder / "holdfast", Path(__file__).with_name("asking.py"), _forking().fileno()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{asking}" {requests} "$@"\n')
    command.chmod(0o755)
    return command, requests


def module(name: str) -> str:
    """Return a program that runs a module."""
    return f"import runpy; runpy.run_module({name!r}, run_name='__main__')"


def killed_at(step: int, calls: Sequence[str], before: str = "") -> str:
    """Return a program that runs `holdfast` until some functions of it are called for the n-th time; if it ends, it says how often they were."""
    return f"""
import atexit, os, sys
{before}
steps = 0
def look(frame, event, arg):
    global steps
    if event == "call" and frame.f_code.co_name in {tuple(calls)!r} and "holdfast" in frame.f_code.co_filename:
        steps += 1
        if steps == {step}:
            os.kill(os.getpid(), 9)
atexit.register(lambda: print(steps))
from holdfast.hosts.cli.entry import main
import holdfast.hosts.cli.main
sys.setprofile(look)
main()
"""


class Forked:
    """A process that goes on, forked from one that has imported everything, with what tests use of `subprocess.Popen`."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str], *, text: bool) -> None:
        """Run `-m MODULE ARGUMENTS` or `-c PROGRAM ARGUMENTS`."""
        flag, what, *arguments = command
        program = what if flag == "-c" else "" if what == "holdfast" else module(what)
        (stdin, to), (of, stdout), (errors, stderr), (self._ended, ending) = (os.pipe() for _ in range(4))
        mode = "" if text else "b"
        self.stdin: IO[Any] = os.fdopen(to, f"w{mode}")
        self.stdout: IO[Any] = os.fdopen(of, f"r{mode}")
        self.stderr: IO[Any] = os.fdopen(errors, f"r{mode}")
        self.returncode: int | None = None
        _fork(arguments, folder, environment, program, [stdin, stdout, stderr, ending], names_itself=True)
        for handle in (stdin, stdout, stderr, ending):
            os.close(handle)
        self.pid = int(os.read(self._ended, 20))

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs; -9 if it was killed."""
        return self._wait(0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._wait(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return code

    def _wait(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._ended], [], [], timeout)[0]:
            code = os.read(self._ended, 20)
            self.returncode = int(code) if code else -signal.SIGKILL
            os.close(self._ended)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    terminate = partialmethod(send_signal, signal.SIGTERM)
    kill = partialmethod(send_signal, signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[Any, Any]:
        """Close its stdin, wait until it ends and return what it printed."""
        with suppress(BrokenPipeError):
            self.stdin.close()
        with self.stdout, self.stderr:
            printed = self.stdout.read(), self.stderr.read()
        self.wait(timeout)
        return printed

    def close(self) -> None:
        """Stop it, and close what is left open."""
        self.terminate()
        self.wait(timeout=300)
        for file in (self.stdin, self.stdout, self.stderr):
            with suppress(BrokenPipeError):
                file.close()


class Terminal:
    """`holdfast` on a terminal of its own."""

    def __init__(self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self.leader, follower = pty.openpty()
        self._code, ending = os.pipe()
        _fork(arguments, folder, environment, "", [follower, follower, follower, ending])
        for handle in (follower, ending):
            os.close(handle)
        self.seen = ""

    def press(self, after: str, key: str) -> None:
        """Press a key once a text has been shown."""
        start = len(self.seen)
        while after not in self.seen[start:]:
            ready, _, _ = select.select([self.leader], [], [], 60)
            assert ready, self.seen
            self.seen += os.read(self.leader, 4096).decode()
        os.write(self.leader, key.encode())

    def ended(self) -> int:
        """Return the exit code, with everything that was shown read."""
        parts = [self.seen.encode()]
        with suppress(OSError):  # Linux: the other end is closed
            while part := os.read(self.leader, 4096):
                parts.append(part)
        self.seen = b"".join(parts).decode()
        os.close(self.leader)
        with os.fdopen(self._code) as code:
            return int(code.read())


def _fork(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], program: str, files: list[int], **more: bool
) -> None:
    """Have a request carried out: its stdin, stdout and stderr, and the pipe for its exit code."""
    where = {"folder": str(folder), "environment": dict(environment)}
    asked = {"arguments": list(arguments), "program": program, **where, **more}
    with tempfile.TemporaryFile() as request:
        request.write(json.dumps(asked).encode())
        request.seek(0)
        socket.send_fds(_forking(), [b"."], [request.fileno(), *files])


@cache
def _forking() -> socket.socket:
    """Start the process that commands and servers are forked from; it ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [sys.executable, "-m", "tests.hosts.preloaded", str(theirs.fileno())]
        process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
    atexit.register(process.wait)
    atexit.register(ours.close)  # is called first, and ends the process
    return ours


def answer(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def ended(done: subprocess.CompletedProcess[str], code: int, *said: str) -> None:
    """Check how a command ended and what it said: on stderr what stopped it, else on stdout."""
    printed = " ".join((done.stderr if code > 1 else done.stdout).split())
    assert (done.returncode, missing(printed, *said)) == (code, []), done


def kept(run: Run, *arguments: str) -> str:
    return str(answer(run("remember", "--json", *arguments))["record"]["id"])


def hooked(
    home: Path | str,
    folder: Path,
    event: str,
    client_name: str = "claude-code",
    *,
    raw: bytes | None = None,
    environment: Mapping[str, str] | None = None,
    **given: Any,
) -> Any:
    """Run the hook as clients do, in a process of its own; return its answer, or None if it has none."""
    told = {"session_id": "s1", "cwd": str(folder), "hook_event_name": event, **given}
    done = subprocess.run(
        [sys.executable, "-I", "-S", client.__file__, event, "--client", client_name, "--home", str(home)],
        input=json.dumps(told).encode() if raw is None else raw,
        capture_output=True,
        check=False,
        cwd=folder,
        env=environment,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout) if done.stdout else None


def fire(home: Path, event: str, raw: bytes, client_name: str = "claude-code") -> str:
    """Run the hook in this process; return what it prints."""
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out):
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))
        hook_main([event, "--client", client_name, "--home", str(home)])
    return out.getvalue()


def injected(reply: Any) -> str:
    """Return the text that a hook's answer gives the agent."""
    return str((reply or {}).get("hookSpecificOutput", {}).get("additionalContext", ""))


def wait_for(check: Any, seconds: float = 300.0) -> None:
    until = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < until, "it did not come to be"
        time.sleep(0.05)


def processes(word: str) -> dict[int, str]:
    """Give the other processes that have a word in their environment or command, and what they run; ended ones have neither."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):  # there is none on a Mac
        with suppress(OSError):  # it ended meanwhile, or is not ours to look at
            command = (entry / "cmdline").read_bytes()
            if word.encode() in command + (entry / "environ").read_bytes() and int(entry.name) != os.getpid():
                found[int(entry.name)] = command.replace(b"\0", b" ").decode(errors="replace")
    return found


_HELD: dict[Path, int] = {}


def hold_worker(home: Path) -> None:
    """Hold the worker's lock, so that hooks start none. A folder of the same name may have been held by an earlier test."""
    release_worker(home)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    _HELD[home] = os.open(home / "work.lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(_HELD[home], fcntl.LOCK_EX)


def release_worker(home: Path) -> None:
    if home in _HELD:
        os.close(_HELD.pop(home))
