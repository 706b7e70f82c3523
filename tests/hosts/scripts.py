"""Scripts of commands and hooks (`tests/scripts.py`): `holdfast` in an empty folder or a checkout, with a home of its own."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from holdfast.hosts.to_json import plain
from holdfast.hosts.worker import work
from tests import engines, scripts
from tests.hosts.running import Run, hold_worker, hooked, injected, release_worker


@dataclass(kw_only=True)
class Script(scripts.Script):
    """A script of commands."""

    holdfast: Run

    def command(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        return self.holdfast(*words, stdin=self.stdin, cwd=self.folder, **self.environment)


@dataclass(kw_only=True)
class Session(Script):
    """A script of a client with hooks, in a checkout; the worker that hooks would start runs in the script's own steps."""

    home: Path

    def hook(
        self, event: str, client: str = "claude-code", session: str = "abc-1", **given: Any
    ) -> dict[str, Any] | None:
        """Run a hook as clients do; return its answer with the text that the agent gets."""
        own = {name: value for name, value in self.environment.items() if not name.startswith("HOLDFAST_")}
        reply = hooked(
            self.home, self.folder, event, client, environment={**os.environ, **own}, session_id=session, **given
        )
        return reply and {**reply, "text": injected(reply)}

    def work(self, **settings: Any) -> Any:
        release_worker(self.home)
        database = engines.setting(str(self.home)).get("HOLDFAST_DATABASE", "")
        done = work(
            {"home": str(self.home), "embedder": "none", "database": database, **settings}, self.home, self.folder
        )
        hold_worker(self.home)
        return plain(done)

    def age(self, seconds: float) -> None:
        """Let the events of the spool be older."""
        at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() - seconds))
        for path in (self.home / "spool").glob("*.json"):
            path.write_text(json.dumps({**json.loads(path.read_text()), "at": at}))

    steps: ClassVar = {
        **scripts.STEPS,
        "hook": lambda script, given: script.hook(**given),
        "work": lambda script, given: script.work(**given),
        "age": lambda script, given: script.age(**given),
        "spool": lambda script, _: spooled(script.home),
    }


def spooled(home: Path) -> list[dict[str, Any]]:
    """Return the events that hooks left for the worker."""
    return [json.loads(path.read_text()) for path in sorted((home / "spool").glob("*.json"))]


def scripts_in(module: str, *, hooks: bool = False) -> dict[str, Callable[..., None]]:
    """Return a test for each script in the text beside a test module."""

    def start(request: pytest.FixtureRequest, known: dict[str, Any]) -> Script:
        run, tmp = request.getfixturevalue("run"), request.getfixturevalue("tmp_path")
        if not hooks:
            return Script(tmp / "work", known | {"tmp": str(tmp)}, holdfast=run)
        home, project = request.getfixturevalue("home"), request.getfixturevalue("project")
        hold_worker(home)
        known |= {"home": str(home), "project": str(project), "tests": str(Path(__file__).parent)}
        environment = {"HOLDFAST_HOME": str(home), "HOLDFAST_STARTERS": "false"}
        return Session(project, known, environment, holdfast=run, home=home)

    return scripts.scripts_in(module, start)
