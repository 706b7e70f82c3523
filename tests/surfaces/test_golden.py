"""The most used tools reply word for word as they did."""

from pathlib import Path

import pytest

from tests.surfaces import golden


@pytest.mark.parametrize("name", [file.stem for file in golden.HERE.glob("*.json")])
def test_replies_are_as_written_down(name: str, tmp_path: Path) -> None:
    changed = "replies changed; if that is meant: python -m tests.surfaces.golden"
    assert golden.replayed(name, tmp_path) == golden.written(name), changed
