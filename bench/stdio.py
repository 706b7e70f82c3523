"""A memory server as its client sees it: JSON-RPC on stdin and stdout, and the CPU and memory of every process that belongs to it.

A process belongs to a server if it carries the mark of the server's store in its environment: daemons that a server starts and leaves
running are measured, killed and cleaned up with it.
"""

import json
import os
import re
import select
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.measure import resident_mib

Json = dict[str, Any]
Tool = tuple[str, Callable[[str], Json]]  # its name, and the arguments for a text
PATIENCE = 120.0  # seconds until a call counts as failed
QUIET = 0.5  # seconds without work until a server counts as idle
PART = 30  # characters of a text that no other text has
TICK = os.sysconf("SC_CLK_TCK")
MARK = "MEMORY_BENCH"


class Trouble(Exception):
    """The server did not answer, or answered with an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """How a server is installed ({folder}) and started on a store ({home}), and how it saves and searches.

    A tool whose name begins with http:// is posted to.
    """

    install: tuple[tuple[str, ...], ...] = ()
    start: tuple[str, ...] = ()
    write: Tool = ("", lambda _: {})
    search: Tool = ("", lambda _: {})
    saved: str = ""  # what the answer to a write says if it was saved
    variables: Mapping[str, str] = field(default_factory=dict)
    hooks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # shell commands by event
    python: str = ""  # of its environment, if it is installed with uv
    needs: str = ""  # a host that it downloads a model from
    missing: str = ""  # why it cannot be measured at all
    remark: str = ""  # how it searches, for the table


@dataclass(frozen=True, slots=True)
class Place:
    """A system installed in a folder, with a store of its own."""

    system: System
    folder: Path
    home: Path

    def words(self, words: Sequence[str]) -> list[str]:
        """Fill in the places of the installation and of the store."""
        return [word.format(folder=self.folder, home=self.home, path=os.environ["PATH"]) for word in words]

    def environment(self) -> dict[str, str]:
        """Return what the system's processes see: nothing of the user's own store, and the mark."""
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("HOLDFAST_", "PYTHON"))}
        given = dict(zip(self.system.variables, self.words(list(self.system.variables.values())), strict=True))
        return {**inherited, "HOME": str(self.home), MARK: str(self.home), **given}

    def processes(self) -> Iterator[int]:
        """Yield every living process that carries the mark of this store, or of one inside."""
        mark = f"\0{MARK}={self.home}".encode()
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark in b"\0" + (entry / "environ").read_bytes():
                    yield int(entry.name)

    def cpu(self) -> float:
        """Return the CPU seconds of these processes and of the children they have waited for."""
        total = 0.0
        for pid in self.processes():
            with suppress(OSError):
                ended = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[13:15]
                total += time.clock_gettime((~pid << 3) | 2) + sum(map(int, ended)) / TICK
        return total

    def memory(self) -> float:
        """Return the resident MiB of these processes."""
        total = 0.0
        for pid in self.processes():
            with suppress(OSError, StopIteration):
                total += resident_mib(pid)
        return total

    def kill(self) -> None:
        """Kill these processes at once."""
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def idle(self, seconds: float) -> bool:
        """Wait until the system has finished what it does after its answers, such as vectors; False if it never was."""
        until, before = time.monotonic() + seconds, -1.0
        while (now := self.cpu()) - before > QUIET / 50:
            if time.monotonic() > until:
                return False
            before = now
            time.sleep(QUIET)
        return True


class Server:
    """The client's end of a server on pipes."""

    def __init__(self, place: Place, process: "subprocess.Popen[bytes]") -> None:
        self.place, self._process, self._number, self._read = place, process, 0, b""

    def begin(self) -> list[Json]:
        """Start a session as clients do, and return the tools."""
        info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self._ask("initialize", info)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        tools: list[Json] = self._ask("tools/list", {})["tools"]
        return tools

    def write(self, text: str) -> Json:
        """Save a text; return the answer, which acknowledges it."""
        answer = self._call(*self.place.system.write, text)
        if self.place.system.saved not in json.dumps(answer):
            raise Trouble(str(answer)[:200])
        return answer

    def search(self, question: str) -> Json:
        """Ask a question; return the answer."""
        return self._call(*self.place.system.search, question)

    def finds(self, text: str) -> bool:
        """True if a question that quotes the five longest words of a text returns it."""
        answer = self.search(" ".join(sorted(dict.fromkeys(text.split()), key=len)[-5:]))
        shown = re.sub(r"(?:\\n|\s)+", " ", json.dumps(answer, ensure_ascii=False))
        return any(text[start : start + PART] in shown for start in range(len(text) - PART))  # some show only a part

    def _call(self, tool: str, arguments: Callable[[str], Json], text: str) -> Json:
        if tool.startswith("http://"):
            return self._post(tool, arguments(text))
        result = self._ask("tools/call", {"name": tool, "arguments": arguments(text)})
        if result.get("isError"):
            raise Trouble(str(result)[:200])
        return result

    def _post(self, address: str, body: Json) -> Json:
        """Post to a daemon of the system, which may still be starting."""
        request = urllib.request.Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})  # noqa: S310
        until = time.monotonic() + 30
        while True:
            try:
                with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310
                    return dict(json.load(answer))
            except urllib.error.HTTPError as problem:
                raise Trouble(str(problem)) from problem
            except (OSError, ValueError) as problem:
                if time.monotonic() > until or self._process.poll() is not None:
                    raise Trouble(str(problem)) from problem
                time.sleep(0.1)

    def _ask(self, method: str, params: Json) -> Json:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        until = time.monotonic() + PATIENCE
        while True:
            with suppress(ValueError):  # some print other lines
                reply = json.loads(self._line(until))
                if isinstance(reply, dict) and reply.get("id") == self._number and "method" not in reply:
                    if "error" in reply:
                        raise Trouble(str(reply["error"])[:200])
                    return dict(reply["result"])

    def _line(self, until: float) -> bytes:
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        while b"\n" not in self._read:
            if not select.select([pipe], [], [], max(0, until - time.monotonic()))[0]:
                raise Trouble(f"no answer in {PATIENCE:.0f} s")
            if not (more := os.read(pipe, 1 << 16)):
                raise Trouble("the server ended")
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        return line

    def _send(self, message: Json) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as problem:
            raise Trouble("the server ended") from problem


@contextmanager
def serving(place: Place) -> Iterator[Server]:
    """Start a server; at the end close its input."""
    process = subprocess.Popen(  # noqa: S603
        place.words(place.system.start),
        cwd=place.home,
        env=place.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield Server(place, process)
    finally:
        with suppress(OSError):
            process.stdin.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()  # a daemon may hold the other end: not read to its end
