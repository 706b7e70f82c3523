"""A server of ours in a process of its own, spoken to byte by byte."""

import os
import re
import socket
import time
from pathlib import Path

from tests import engines
from tests.hosts.conftest import environment_of
from tests.hosts.preloaded import ENTRY
from tests.hosts.running import Forked, answer, runner

COMMANDS = {
    "viewer": ("web", "--no-open"),
    "mcp": ("mcp", "--http"),
    "team": ("server", "run", "--rate", "100000", "--burst", "100000"),
}
PROOF = {"viewer": b"/memories", "mcp": b"/nothing", "team": b"/readyz"}  # asked after everything that was tried
PATIENCE = 0.25  # seconds; a request that is not whole is not answered


class Wire:
    """A running server: what it is sent, and whether it is still well."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.home = folder / "store"
        self._log = folder / "errors.txt"
        environment = environment_of(folder)
        if kind == "team":
            environment["HOLDFAST_DATABASE"] = engines.schema(str(folder))
        self.database = environment.get("HOLDFAST_DATABASE", str(self.home))
        made = _key(folder, environment) if kind == "team" else b""
        self._log.touch()
        program = f"import os; os.dup2(os.open({str(self._log)!r}, os.O_WRONLY), 2)\n{ENTRY}"
        self.process = Forked(("-c", program, *COMMANDS[kind], "--port", "0"), folder, environment, text=False)
        self.port = self._found()
        self.token = made or (self.home / "http-token").read_bytes().strip()
        self.name = f"127.0.0.1:{self.port}".encode()

    def _found(self) -> int:
        until = time.monotonic() + 300
        while time.monotonic() < until:
            if found := re.search(r"127\.0\.0\.1:(\d+)", self.said):
                return int(found[1])
            assert self.process.poll() is None, self.said
            time.sleep(0.05)
        raise AssertionError("it did not start")

    @property
    def said(self) -> str:
        """What it wrote to its terminal: bugs are told there."""
        return self._log.read_text()

    @property
    def most_memory(self) -> int:
        """The most kilobytes it ever had."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmHWM:\s+(\d+)", status)[0])

    @property
    def seconds(self) -> float:
        """The processor time it has taken."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def head(self, *lines: bytes, key: bool = True) -> bytes:
        """Give the headers of somebody who knows our name, with or without the token."""
        shown = (b"Authorization: Bearer " + self.token,) if key else ()
        return b"".join(line + b"\r\n" for line in (b"Host: " + self.name, b"Connection: close", *shown, *lines))

    def get(self, path: bytes, *, patience: float) -> bytes:
        """Ask for a page with the token."""
        return self.send(b"GET " + path + b" HTTP/1.1\r\n" + self.head() + b"\r\n", patience=patience)

    def post(self, path: bytes, body: bytes, *lines: bytes, key: bool = True, chunked: bool = False) -> bytes:
        """Give a whole POST request, its body with its length or in one piece."""
        size = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % len(body)
        head = self.head(b"Accept: application/json, text/event-stream", *lines, size, key=key)
        whole = b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n" if chunked else body
        return b"POST " + path + b" HTTP/1.1\r\n" + head + b"\r\n" + whole

    def send(self, data: bytes, *, patience: float = PATIENCE, half: bool = False) -> bytes:
        """Send bytes and give what came back until the line was closed or nothing more came."""
        answer = bytearray()
        with socket.create_connection(("127.0.0.1", self.port), timeout=120) as line:
            try:
                line.sendall(data)
                if half:
                    line.shutdown(socket.SHUT_WR)
                line.settimeout(patience)
                while part := line.recv(65_536):
                    answer += part
            except OSError:  # it had enough, or has nothing to say
                return bytes(answer)
        return bytes(answer)

    def must_be_well(self) -> None:
        """It runs, answers the next good request, and told of no bug."""
        assert self.process.poll() is None, self.said
        answer = self.get(PROOF[self.kind], patience=30)
        assert answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 404")), answer[:300]
        assert "Traceback" not in self.said, self.said[-3000:]

    def close(self) -> None:
        """Stop it and wait."""
        self.process.close()


def _key(folder: Path, environment: dict[str, str]) -> bytes:
    """Give the key of somebody who may write to the team's project."""
    run = runner(folder, folder)
    own = {name: value for name, value in environment.items() if name.startswith("HOLDFAST_")}
    assert run("server", "user", "add", "anna", **own).returncode == 0
    wanted = ("--project", own["HOLDFAST_PROJECT"], "--role", "write", "--json")
    return str(answer(run("server", "key", "add", "anna", *wanted, **own))["key"]).encode()


def statuses(said: bytes) -> list[int]:
    """Give the status of each answer in what came back."""
    return [int(found) for found in re.findall(rb"(?:^|\n|[^\n])HTTP/1\.1 (\d{3}) ", b"\n" + said)]
