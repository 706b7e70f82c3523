"""What the scripts of all systems share: a repository of one's own, a server in it, commands in it."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

import pytest

from bench.peers import SYSTEMS
from tests.conftest import ran
from tests.hosts.conftest import environment_of
from tests.hosts.running import injected, preloaded
from tests.hosts.test_mcp import INITIALIZE, Peer, text_of
from tests.rows import of_type

CLAUDE_MEM = next(system for name, system in SYSTEMS.items() if name.startswith("claude-mem "))
ORIGINALS = Path(__file__).parent.parent.parent / ".tools" / "originals"
_VENV = (sys.executable, "-m", "venv", "--clear", "{folder}")
_PIP = ("{folder}/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
# What installs each original. git-notes-memory and Memory MCP store without their encoders, downloads of gigabytes; claude-mem
# without its parsers of code. Not every Python's sqlite3 loads the extension of Memory MCP.
INSTALLS: dict[str, Sequence[Sequence[str]]] = {
    "bettermemory": (_VENV, (*_PIP, "bettermemory==1.4.1", "mcp<2")),
    "git-notes-memory": (_VENV, (*_PIP, "--no-deps", "git-notes-memory==0.12.0"), (*_PIP, "pyyaml", "python-dotenv")),
    "memory-mcp": (
        _VENV,
        (*_PIP, "--no-deps", "hot-memory-mcp==0.8.0"),
        (*_PIP, *"fastmcp>=3.2,<4 sqlite-vec<1 pydantic-settings<3 loguru<1 numpy<3 pysqlite3-binary<1".split()),
    ),
    "claude-mem": (*CLAUDE_MEM.install[:2], (*CLAUDE_MEM.install[2], "zod@4.4.3")),
}
SLICE = 10  # of so many scripts one runs with all other tests; `python3 dev.py compatible` runs them all
# These always run: what each document begins with.
ALWAYS = frozenset(
    "test_two_surfaces test_every_tool_and_alias test_the_first_session test_threads test_remember_and_recall test_mining "
    "test_day_one_and_week_two test_writes_pass_the_gates test_use_and_health test_three_layers "
    "test_filters_come_first".split()
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep a slice of the scripts, unless all are asked for."""
    if os.environ.get("COMPATIBLE") == "all":
        return
    here = [item for item in items if item.nodeid.startswith("tests/compatible/")]  # comparing paths takes a second
    here = [item for item in here if item.name.partition("[")[0] not in ALWAYS]
    dropped = {item for place, item in enumerate(here) if place % SLICE}
    items[:] = [item for item in items if item not in dropped]


@dataclass
class Tools:
    """A client of one server; it can be killed and started again."""

    surface: str
    folder: Path
    environment: dict[str, str]
    command: str = ""
    peer: Peer = field(init=False)
    greeting: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        words = self.command or f"mcp --surface {self.surface}"
        self.peer = Peer(self.environment, self.folder, ("-m", "holdfast", *words.split()))
        self.greeting = self.peer.ask("initialize", INITIALIZE)["result"]

    def text(self, name: str, **arguments: Any) -> str:
        result = self.peer.call(name, **arguments)
        assert not result["isError"], f"{name}: {text_of(result)}"
        return text_of(result)

    def __call__(self, name: str, **arguments: Any) -> Any:
        return json.loads(self.text(name, **arguments))

    def refused(self, name: str, **arguments: Any) -> str:
        result = self.peer.call(name, **arguments)
        assert result["isError"], text_of(result)
        return text_of(result)

    def read(self, uri: str) -> str:
        return str(self.peer.ask("resources/read", {"uri": uri})["result"]["contents"][0]["text"])

    @property
    def names(self) -> set[str]:
        return {tool["name"] for tool in self.peer.ask("tools/list")["result"]["tools"]}

    def kill(self) -> None:
        self.peer.process.kill()
        self.peer.close()

    def restart(self) -> None:
        self.peer.close()
        self.start()

    def close(self) -> None:
        self.peer.close()


@dataclass
class Original(Tools):
    """The server of an original, on a store of its own; `surface` is its name."""

    program: Sequence[str] = ()

    def start(self) -> None:
        self.peer = Peer(self.environment, self.folder, self.program[1:], self.program[0])
        self.greeting = self.peer.ask("initialize", INITIALIZE)["result"]
        self.peer.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __call__(self, name: str, **arguments: Any) -> Any:
        result = self.peer.call(name, **arguments)
        assert not result["isError"], result
        return result["structuredContent"].get("result", result["structuredContent"])


@dataclass
class Place:
    """A repository with a home and a store of its own."""

    folder: Path
    home: Path
    environment: dict[str, str]
    opened: list[Any] = field(default_factory=list)  # what is closed at the end

    @property
    def alone(self) -> dict[str, str]:
        """The environment for programs that are not ours."""
        return {name: value for name, value in self.environment.items() if name != "PYTHONPATH"}

    def original(self, name: str, command: Sequence[object], **variables: object) -> Original:
        """Start the server of an original in the repository."""
        environment = self.alone | {variable: str(value) for variable, value in variables.items()}
        started = Original(name, self.folder, environment, program=[str(word) for word in command])
        self.opened.append(started)
        return started

    def replay(self, lines: str, name: str, command: Sequence[object], ids: str, **variables: object) -> list[str]:
        """Make the calls of lines, `[NAME =] TOOL ARGUMENTS`, to an original; return the answers. $NAME is the first id in one."""
        ask, names, answers = self.original(name, command, **variables), dict[str, str](), list[str]()
        for line in lines.splitlines():
            found = re.fullmatch(r"(?:(\w+) = )?(\w+) (.*)", line)
            assert found, line
            result = ask.peer.call(found[2], **json.loads(Template(found[3]).substitute(names)))
            assert not result.get("isError"), (line, result)
            answers.append("".join(part["text"] for part in result["content"]))
            names |= {found[1]: "".join(re.findall(ids, answers[-1])[:1])}
        ask.close()
        return answers

    def tools(self, surface: str, folder: Path | None = None, command: str = "") -> Tools:
        self.opened.append(Tools(surface, folder or self.folder, dict(self.environment), command))
        return of_type(Tools, self.opened[-1])

    def run(self, line: str, *, folder: Path | None = None, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        done = preloaded(shlex.split(line), folder or self.folder, self.environment)
        assert code is None or done.returncode == code, f"{line}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def hook(self, event: str, **payload: Any) -> str:
        """Run the hook that `init` wrote for Claude Code, as Claude Code does; return what it injects."""
        file = next(path for path in (self.home, self.folder) if (path / ".claude" / "settings.json").exists())
        listed = json.loads((file / ".claude" / "settings.json").read_text()).get("hooks", {}).get(event, [])
        given = json.dumps({"session_id": "s-1", "cwd": str(self.folder), "hook_event_name": event, **payload})
        commands = [shlex.split(one["command"]) for group in listed for one in group["hooks"]]
        said = [ran(words, self.folder, check=True, env=self.environment, input=given).stdout for words in commands]
        return "\n".join(injected(json.loads(text)) for text in said if text)

    def work(self, options: str = "") -> None:
        """Process what hooks stored, as the worker does; one that a hook started may be at it first."""
        for _ in range(200):
            if "holds the lock" not in self.run(f"{options} work", code=None).stdout:
                return

    def arrived(self) -> Counter[str]:
        """Count memories by kind and state; a recall of an active one's title finds it."""
        states = " ".join(f"--state {state}" for state in ("active", "retired", "pending"))
        listed = self.json(f"list --json --logs --everywhere --limit 99 {states}")["records"]
        for record in listed:
            hits = self.json(f"recall {shlex.quote(record['title'])} --json --everywhere")["hits"]
            assert record["id"] in {hit["record"]["id"] for hit in hits} or record["state"] != "active", record
        return Counter(f"{record['kind']} {record['state']}" for record in listed)

    def repository(self, name: str) -> str:
        """Make a repository of the user, and return its folder."""
        folder = self.home / name
        folder.mkdir()
        self.git("init", "-q", folder=folder)
        self.git("remote", "add", "origin", f"git@github.com:me/{name}.git", folder=folder)
        return str(folder)

    @property
    def store(self) -> Path:
        return Path(self.environment["HOLDFAST_HOME"])

    def stored(self) -> str:
        """Return every byte of the store's folder, a character each."""
        return "".join(path.read_bytes().decode("latin-1") for path in self.store.rglob("*") if path.is_file())

    def json(self, line: str) -> Any:
        return json.loads(self.run(line).stdout)

    def git(self, *words: str, folder: Path | None = None) -> str:
        return git(folder or self.folder, *words, environment=self.environment)


def original(name: str) -> Path:
    """Return the folder of an original, installed when all scripts are asked for; skip the script without it."""
    folder = ORIGINALS / name
    if not (folder / "complete").exists():
        if os.environ.get("COMPATIBLE") != "all":
            pytest.skip(f"{name} is not installed; `python3 dev.py compatible` installs it")
        folder.mkdir(parents=True, exist_ok=True)
        for step in INSTALLS[name]:
            try:
                ran([word.format(folder=folder) for word in step], check=True)
            except (OSError, subprocess.CalledProcessError) as problem:
                said = (getattr(problem, "stderr", "") or str(problem)).strip().splitlines()[-1]
                pytest.skip(f"{name} could not be installed: {said}")
        (folder / "complete").touch()
    return folder


def git(folder: Path, *words: str, environment: dict[str, str] | None = None) -> str:
    """Run git in a folder under a name of its own."""
    named = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main")
    return ran(["git", *named, *words], folder, env=environment, check=True).stdout


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Give a repository `foo` with a remote."""
    environment = environment_of(tmp_path) | {"PYTHONPATH": os.pathsep.join(sys.path)}
    for name in ("HOLDFAST_PROJECT", "HOLDFAST_STARTERS"):
        del environment[name]
    made = Place(tmp_path / "foo", tmp_path, environment)
    made.repository("foo")
    yield made
    for tools in made.opened:
        tools.close()
