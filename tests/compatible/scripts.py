"""Scripts of a compatible surface: its tools on a server of their own, commands and hooks in a repository (`tests/scripts.py`)."""

import sqlite3
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests import scripts
from tests.compatible.conftest import Place, Tools
from tests.hosts.running import preloaded


@dataclass(kw_only=True)
class Script(scripts.Script):
    """A script in a place; its server starts with the first call, so that variables come before."""

    place: Place
    surface: str
    opened: Tools | None = None

    @property
    def ask(self) -> Tools:
        self.opened = self.opened or self.place.tools(self.surface)
        return self.opened

    def command(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        return preloaded(words, self.folder, self.environment, self.stdin.encode())

    def call(self, tool: str, arguments: dict[str, Any], *, refused: bool) -> str:
        return (self.ask.refused if refused else self.ask.text)(tool, **arguments)

    steps: ClassVar = {
        **scripts.STEPS,
        "hook": lambda script, given: script.place.hook(given.pop("event"), **given),
        "read": lambda script, given: script.ask.read(given["uri"]),
        "names": lambda script, _: sorted(script.ask.names),
        "work": lambda script, _: script.place.work(),
        "restart": lambda script, _: script.ask.restart(),
        "kill": lambda script, _: script.ask.kill(),
        "start": lambda script, _: script.ask.start(),
        "use": lambda script, given: setattr(script, "opened", script.place.tools(given["surface"])),
        "git": lambda script, given: script.place.git(*given["words"].split()),
        "import": lambda script, given: _import(script, given["system"], given["sql"]),
    }


def _import(script: Script, system: str, sql: str) -> None:
    """Import a database that another system wrote."""
    with sqlite3.connect(script.place.home / "theirs.db") as db:
        db.executescript(Path(__file__).with_name(sql).read_text())
    script.run(f"$ store import --from {system} {script.place.home / 'theirs.db'}")


def scripts_in(module: str) -> dict[str, Callable[..., None]]:
    """Return a test for each script in the text beside a test module, about the surface that it is named for."""
    surface = Path(module).stem.removeprefix("test_").removesuffix("_page").replace("_", "-")

    def start(request: pytest.FixtureRequest, known: dict[str, Any]) -> Script:
        place: Place = request.getfixturevalue("place")
        known |= {"home": str(place.home), "folder": str(place.folder)}
        return Script(place.folder, known, place.environment, place=place, surface=surface)

    return scripts.scripts_in(module, start)
