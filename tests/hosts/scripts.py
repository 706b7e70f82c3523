"""Scripts of commands (`tests/scripts.py`): `holdfast` in an empty folder, with a home of its own."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests import scripts
from tests.hosts.running import Run


@dataclass(kw_only=True)
class Script(scripts.Script):
    """A script of commands."""

    holdfast: Run

    def command(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        return self.holdfast(*words, stdin=self.stdin, cwd=self.folder, **self.environment)


def scripts_in(module: str) -> dict[str, Callable[..., None]]:
    """Return a test for each script in the text beside a test module."""

    def start(request: pytest.FixtureRequest, known: dict[str, Any]) -> Script:
        run, tmp = request.getfixturevalue("run"), request.getfixturevalue("tmp_path")
        return Script(tmp / "work", known | {"tmp": str(tmp)}, holdfast=run)

    return scripts.scripts_in(module, start)
