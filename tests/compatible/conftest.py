"""What the scripts of all systems share: a repository of one's own, a server in it, commands in it."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ran
from tests.hosts.conftest import environment_of
from tests.hosts.running import injected, preloaded
from tests.hosts.test_mcp import INITIALIZE, Peer, text_of
from tests.rows import of_type

REMOTE = "git@github.com:me/foo.git"
ORIGINALS = Path(__file__).parent.parent.parent / ".tools" / "originals"
# What pip gets for each original. git-notes-memory reads notes without its encoder, which would be a download of gigabytes.
PACKAGES = {
    "bettermemory": (("bettermemory==1.4.1", "mcp<2"),),
    "git-notes-memory": (("--no-deps", "git-notes-memory==0.12.0"), ("pyyaml", "python-dotenv")),
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
        if self.peer.process.poll() is None:
            self.peer.close()


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

    def tools(self, surface: str, folder: Path | None = None, command: str = "") -> Tools:
        """Start a server in the repository, or in another folder."""
        self.opened.append(Tools(surface, folder or self.folder, dict(self.environment), command))
        return of_type(Tools, self.opened[-1])

    def run(self, line: str, *, folder: Path | None = None, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Run `holdfast` with the words of a line."""
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

    def repository(self, name: str) -> str:
        """Make another repository of the same user, and return its folder."""
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

    def settings(self) -> list[Path]:
        """Return the files of settings and instructions below the home."""
        return [path for path in self.home.rglob("*") if path.suffix in (".json", ".yaml", ".md")]

    def git(self, *words: str, folder: Path | None = None) -> str:
        return git(folder or self.folder, *words, environment=self.environment)


def original(name: str) -> Path:
    """Return the folder of an original's programs, installed when all scripts are asked for; skip the script without it."""
    programs = ORIGINALS / name / "bin"
    if not (programs / "complete").exists():
        if os.environ.get("COMPATIBLE") != "all":
            pytest.skip(f"{name} is not installed; `python3 dev.py compatible` installs it")
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(ORIGINALS / name)], check=True)
        for words in PACKAGES[name]:
            pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *words]
            done = subprocess.run(pip, capture_output=True, text=True, check=False)
            if done.returncode:
                pytest.skip(f"{name} could not be installed: {done.stderr.strip().splitlines()[-1]}")
        (programs / "complete").touch()
    return programs


def git(folder: Path, *words: str, environment: dict[str, str] | None = None) -> str:
    """Run git in a folder under a name of its own."""
    named = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main")
    return ran(["git", *named, *words], folder, env=environment, check=True).stdout


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Give a repository `foo` with a remote."""
    folder = tmp_path / "foo"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", REMOTE)
    environment = {
        k: v for k, v in environment_of(tmp_path).items() if k not in ("HOLDFAST_PROJECT", "HOLDFAST_STARTERS")
    }
    environment |= {"HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    made = Place(folder, tmp_path, environment)
    yield made
    for tools in made.opened:
        tools.close()
