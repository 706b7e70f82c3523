"""What tests of the hosts share."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests import engines
from tests.conftest import new_folder
from tests.hosts.running import Run, release_worker, runner


def environment_of(folder: Path) -> dict[str, str]:
    """Give the variables of a process with a home and a store of its own, searched by words."""
    given = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDFAST_", "XDG_"))}
    given |= {"HOME": str(folder), "HOLDFAST_HOME": str(folder / "store"), "HOLDFAST_EMBEDDER": "none"}
    given |= {"HOLDFAST_PROJECT": "example.org/acme/shop", "HOLDFAST_STARTERS": "false"}
    return given | engines.setting(str(folder / "store"))


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return environment_of(tmp_path)


@pytest.fixture
def run(tmp_path: Path, own_home: Path) -> Run:
    """Give a function that runs `holdfast` in an empty folder."""
    return runner(new_folder(tmp_path / "work"), own_home)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """Give the folder of a store; workers may run in it again when the test is over."""
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    yield folder
    release_worker(folder)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Give a checkout, as far as hooks can see."""
    return new_folder(tmp_path / "checkout" / ".git").parent


@pytest.fixture
def holdfast(run: Run, home: Path, project: Path) -> Run:
    """Give the command line on that store, in that checkout."""
    return partial(run, cwd=project, HOLDFAST_HOME=str(home), HOLDFAST_STARTERS="false")
