"""Several makers' memory servers measured in one way, as a client uses them: JSON-RPC on stdin and stdout.

CPU is that of the server and the processes it starts, per call; a write includes what the server does after its answer, such as
vectors, and questions begin when the server is idle. Texts and questions are the same for each; `found` is how many of the questions
that quote five words of a stored text had that text among their results. A server is installed with uv, npm or git into a folder of its
own, from which its size is taken; that needs a network. One that cannot be installed gets a row with the reason.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.corpus import Corpus
from bench.measure import spread_of, table

ROOT = Path(__file__).parent.parent
WARM_UP, SEARCHES, STARTS, QUOTED = 10, 60, 5, 20
PART = 30  # characters of a text that no other text has
QUIET, LONGEST = 0.5, 900  # seconds without work until a server counts as idle, and at most
Json = dict[str, Any]
UV = os.environ.get("UV", "uv")  # uv tells what it runs where it is
_PIP = (UV, "pip", "install", "--quiet", "--python", "{folder}/venv")
_NPM = ("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", "{folder}")
# GitMem is not in the registry of npm; a local copy of the repository can be named instead.
_GITMEM = os.environ.get("GITMEM_SOURCE", "https://github.com/gitmem-dev/gitmem")


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A server: how it is installed and started ({folder} is its folder), and how it saves and searches."""

    install: tuple[tuple[str, ...], ...]
    start: tuple[str, ...]
    write: tuple[str, Callable[[str], Json]]
    search: tuple[str, Callable[[str], Json]]
    variables: Mapping[str, str] = field(default_factory=dict)
    python: str = sys.executable  # of its environment, if it is installed with uv
    remark: str = ""  # how it searches, for the table


SYSTEMS = {
    "Holdfast": System(
        install=((*_PIP, str(ROOT)),),
        start=("{folder}/venv/bin/holdfast", "mcp"),
        write=("remember", lambda text: {"text": text}),
        search=("recall", lambda text: {"query": text}),
        variables={"HOLDFAST_HOME": "{folder}/store", "HOLDFAST_PROJECT": "example.org/acme/shop"},
        remark="words and meaning",
    ),
    "bettermemory 8.0.0": System(
        install=((*_PIP, "bettermemory==8.0.0"),),
        start=("{folder}/venv/bin/bettermemory",),
        write=("memory_write", lambda text: {"content": text, "scopes": ["bench"], "force": True}),
        search=("memory_search", lambda text: {"query": text}),
        variables={"BETTERMEMORY_DIR": "{folder}/store"},
        remark="words",
    ),
    "GitMem 1.8.0": System(
        install=(
            ("git", "clone", "--quiet", _GITMEM, "{folder}/app"),
            ("git", "-C", "{folder}/app", "checkout", "--quiet", "d47a625"),
            (*_NPM[:-1], "{folder}/app", "--legacy-peer-deps", "--omit=optional"),
            ("npm", "run", "--silent", "--prefix", "{folder}/app", "build"),
            ("npm", "prune", "--silent", "--prefix", "{folder}/app", "--omit=dev", "--legacy-peer-deps"),
        ),
        start=("node", "{folder}/app/bin/gitmem.js"),
        write=(
            "create_learning",
            lambda text: {"learning_type": "win", "title": text[:60], "description": text, "severity": "medium"},
        ),
        search=("search", lambda text: {"query": text}),
        remark="words; meaning in its Pro tier",
    ),
    "basic-memory 0.23.2": System(
        install=((*_PIP, "basic-memory==0.23.2"),),
        start=("{folder}/venv/bin/basic-memory", "mcp"),
        write=(
            "write_note",
            lambda text: {"title": text[:60], "content": text, "directory": "notes", "project": "main"},
        ),
        search=("search_notes", lambda text: {"query": text, "project": "main"}),
        variables={"BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false"},
        python="3.12",
        remark="words; its meaning needs a downloaded model",
    ),
    "server-memory 2026.8.31": System(
        install=((*_NPM, "@modelcontextprotocol/server-memory@2026.8.31"),),
        start=("{folder}/node_modules/.bin/mcp-server-memory",),
        write=(
            "create_entities",
            lambda text: {"entities": [{"name": text[:60], "entityType": "note", "observations": [text]}]},
        ),
        search=("search_nodes", lambda text: {"query": text}),
        variables={"MEMORY_FILE_PATH": "{folder}/store.jsonl"},
        remark="the whole question as a substring",
    ),
}


def run(names: Sequence[str], records: int) -> None:
    """Measure the named systems and print a table."""
    rows = []
    for name in names or SYSTEMS:
        with tempfile.TemporaryDirectory(prefix="holdfast-peers-") as folder:
            try:
                rows.append([name, *_measured(SYSTEMS[name], Path(folder), records)])
            except (subprocess.CalledProcessError, FileNotFoundError, RuntimeError) as problem:
                rows.append([name, *["–"] * 6, f"not measured: {problem}"])
    columns = [
        "system",
        "MiB",
        "start CPU s",
        "tools (tokens)",
        "write CPU ms",
        "search CPU ms p50 / p95",
        "found",
        "by",
    ]
    table(f"One harness, {records:,} records of 60 words", columns, rows)


def _measured(system: System, folder: Path, records: int) -> list[str]:
    def here(words: Sequence[str]) -> list[str]:
        return [word.format(folder=folder) for word in words]

    if _PIP[:3] == system.install[0][:3]:
        subprocess.run([UV, "venv", "--quiet", "--python", system.python, str(folder / "venv")], check=True)  # noqa: S603
    for step in system.install:
        subprocess.run(here(step), check=True)  # noqa: S603
    size = sum(file.lstat().st_size for file in folder.rglob("*") if not file.is_symlink()) / 2**20
    variables = dict(zip(system.variables, here(list(system.variables.values())), strict=True))
    starts = []
    for _ in range(STARTS):
        with _server(here(system.start), folder, variables) as server:
            tools = server.begin()
            starts.append(server.cpu())
    corpus = Corpus()
    with _server(here(system.start), folder, variables) as server:
        server.begin()
        before = server.cpu()
        texts = [corpus.text() for _ in range(records)]
        for text in texts:
            server.call(*system.write, text)
        server.wait_until_idle()
        writes = 1000 * (server.cpu() - before) / records
        questions = [corpus.question() for _ in range(WARM_UP + SEARCHES)]
        searches = spread_of([server.call(*system.search, question) for question in questions][WARM_UP:])
        sought = texts[:: records // QUOTED][:QUOTED]
        found = sum(server.finds(*system.search, text) for text in sought)
    tokens = len(json.dumps(tools, separators=(",", ":"))) // 4
    listed = f"{len(tools)} ({tokens:,})"
    figures = [f"{size:.0f}", f"{min(starts):.2f}", listed, f"{writes:.1f}", str(searches), f"{found} of {len(sought)}"]
    return [*figures, system.remark]


class _Server:
    """The client's end of a server on pipes."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process, self._number = process, 0

    def begin(self) -> list[Json]:
        """Start a session as clients do, and return the tools."""
        info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self._ask("initialize", info)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        tools: list[Json] = self._ask("tools/list", {})["tools"]
        return tools

    def call(self, tool: str, arguments: Callable[[str], Json], text: str) -> float:
        """Call a tool and return the CPU milliseconds it took."""
        before = self.cpu()
        result = self._ask("tools/call", {"name": tool, "arguments": arguments(text)})
        assert not result.get("isError"), result
        return 1000 * (self.cpu() - before)

    def finds(self, tool: str, arguments: Callable[[str], Json], text: str) -> bool:
        """True if a question that quotes the five longest words of a text returns it."""
        words = sorted(dict.fromkeys(text.split()), key=len)[-5:]
        result = self._ask("tools/call", {"name": tool, "arguments": arguments(" ".join(words))})
        shown = re.sub(r"(?:\\n|\s)+", " ", json.dumps(result, ensure_ascii=False))
        return any(text[start : start + PART] in shown for start in range(len(text) - PART))  # some show only a part

    def wait_until_idle(self) -> None:
        """Wait until the server has finished what it does after its answers, such as vectors."""
        until, before = time.monotonic() + LONGEST, -1.0
        while time.monotonic() < until and self.cpu() - before > QUIET / 50:
            before = self.cpu()
            time.sleep(QUIET)

    def cpu(self) -> float:
        """Return the CPU seconds of the server and of every process below it."""
        return sum(map(_cpu_of, _tree(self._process.pid)))

    def _ask(self, method: str, params: Json) -> Json:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            reply = json.loads(line)
            if reply.get("id") == self._number:
                result: Json = reply["result"]
                return result
        raise RuntimeError("the server ended")

    def _send(self, message: Json) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


@contextmanager
def _server(command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> Iterator[_Server]:
    """Start a server, and end it by closing its input."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDFAST_", "PYTHON"))}
    process = subprocess.Popen(  # noqa: S603
        list(command),
        cwd=folder,
        env={**inherited, "HOME": str(folder), **variables},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield _Server(process)
    finally:
        process.communicate()


def _tree(pid: int) -> Iterator[int]:
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            yield from _tree(int(child))


def _cpu_of(pid: int) -> float:
    """Return the CPU seconds of all threads of a process, from its Linux CPU clock."""
    return time.clock_gettime((~pid << 3) | 2)
