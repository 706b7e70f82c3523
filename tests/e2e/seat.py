"""Somebody's place of work for one test: a home and a repository to throw away, and what is run there."""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, CompletedProcess
from typing import Any

from holdfast.hosts.setup.machine import check_lasting
from holdfast.model.errors import Invalid
from tests.conftest import ran
from tests.hosts.running import preloaded
from tests.replicas.seats import git

# Everything a program at this seat is told: nothing comes from who runs the tests.
BARE = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1"}
PATIENCE = 240.0  # seconds for one run of a client on a busy machine
# Words are enough here; starters would only make briefs longer.
SETTINGS = 'embedder = "none"\nstarters = false\n'
SCAR = ("--kind", "scar", "--field", "severity=high", "--field", 'counter_arguments=["it was quick", "nobody watched"]')


@dataclass(frozen=True, slots=True)
class Seat:
    """One user's home and the repository they work in."""

    root: Path
    home: Path
    repository: Path
    store: Path

    @property
    def variables(self) -> dict[str, str]:
        return BARE | {"HOME": str(self.home), "TMPDIR": str(self.root / "tmp")}

    def run(self, command: Sequence[str], more: Mapping[str, str] | None = None) -> CompletedProcess[str]:
        """Run a program in the repository, with this home and nothing else of the machine's environment."""
        env = self.variables | dict(more or {})
        return ran(command, self.repository, env=env, stdin=DEVNULL, errors="replace", timeout=PATIENCE)

    def holdfast(self, *words: str) -> str:
        """Run the command line of this very checkout; it must succeed."""
        if python() == sys.executable:
            done = preloaded(words, self.repository, self.variables)
        else:
            done = self.run([python(), "-P", "-m", "holdfast", *words])
        assert done.returncode == 0, f"holdfast {' '.join(words)}: {done.stderr}{done.stdout}"
        return done.stdout

    def told(self, *words: str) -> Any:
        return json.loads(self.holdfast(*words, "--json"))

    def records(self, kind: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.told("list", "--kind", kind, "--limit", "100")["records"]
        return found

    def sessions(self) -> list[str]:
        """Give the titles of the sessions, the last first."""
        return [one["title"].strip('"') for one in self.told("session", "list")]

    def work(self) -> None:
        """Have everything taken in that hooks dropped, whoever does it: a worker may be at it already."""
        until = time.monotonic() + PATIENCE
        while self.told("work").get("status") == "busy" or any((self.store / "spool").glob("*.json")):
            assert time.monotonic() < until, "the spool is never empty"

    def files(self) -> dict[str, bytes]:
        """Give every file of the home but the store, by its path."""
        found = (path for path in self.home.rglob("*") if path.is_file() and not path.is_relative_to(self.store))
        return {str(path.relative_to(self.home)): path.read_bytes() for path in sorted(found)}

    def folders(self) -> set[str]:
        """Give every folder of the home but those of the store."""
        kept = {self.store, *self.store.parents}
        found = (path for path in self.home.rglob("*") if path.is_dir() and path not in kept)
        return {str(path.relative_to(self.home)) for path in found if not path.is_relative_to(self.store)}


def python() -> str:
    """Give the interpreter of the checkout: with Node beside it, uv runs the tests in one that is gone tomorrow."""
    try:
        check_lasting(sys.prefix)
    except Invalid:
        return str(Path(__file__).parents[2] / ".venv" / "bin" / "python")
    return sys.executable


def take_seat(root: Path, files: Mapping[str, str]) -> Seat:
    home = root / "home"
    seat = Seat(root, home, root / "shop", home / ".local" / "share" / "holdfast")
    for folder in (seat.home, seat.repository / "build", root / "tmp"):
        folder.mkdir(parents=True)
    for name, text in {".config/holdfast/config.toml": SETTINGS, **files}.items():
        (seat.home / name).parent.mkdir(parents=True, exist_ok=True)
        (seat.home / name).write_text(text, encoding="utf-8")
    (seat.repository / "shop.py").write_text('"""A shop."""\n', encoding="utf-8")
    (seat.repository / ".gitignore").write_text("build/\n", encoding="utf-8")
    for words in ("init -q -b main", "add .", "commit -q -m shop"):
        git(seat.repository, *words.split())
    return seat


def plant(seat: Seat) -> None:
    """Keep what a first session has to be told: a mistake, a decision, unfinished work."""
    seat.holdfast("remember", *SCAR, WARNING)
    seat.holdfast("remember", "--kind", "decision", DECISION)
    seat.holdfast("thread", "open", THREAD)
    seat.work()


WARNING = "Never run `git clean` while the kiln is lit: it took the whole catalogue with it."
DECISION = "We price in whole cents, because halves of a cent were lost in marzipan orders."
THREAD = "Teach the checkout to speak Frisian"
