"""What tests of integrations share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[holdfast.Memory]:
    with holdfast.open(tmp_path, home=tmp_path / "store", agent="claude", settings={"embedder": "none"}) as opened:
        yield opened
