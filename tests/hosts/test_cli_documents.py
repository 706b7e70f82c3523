"""Documents from the command line, and commands of other systems by the names their users know."""

from pathlib import Path

import pytest

from tests.hosts.scripts import scripts_in

globals().update(scripts_in(__file__))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"
