"""What tests of the surfaces share."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.model.event import Actor
from holdfast.surfaces.tool import Call, Surface
from holdfast.verbs.memory import Memory
from tests import engines
from tests.conftest import Time, make_memory
from tests.surfaces.examples import world


def answer(surface: Surface, memory: Memory, tool: str, **arguments: Any) -> str:
    """Call a tool of a surface as a host does."""
    text, failed = surface.call(Call(open=lambda: memory), tool, arguments)
    assert not failed, text
    return text


Worlds = Callable[[Path], tuple[Memory, dict[str, str]]]


@pytest.fixture(scope="session")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Worlds:
    """Return a function that makes a memory with one of everything in an empty folder, and gives the ids: a copy of the first."""
    made: list[tuple[Path, dict[str, str]]] = []

    def opened(folder: Path) -> Memory:
        return make_memory(folder, Time(), actor=Actor(kind="agent", name="claude"), config={"starters": False})

    def another(folder: Path) -> tuple[Memory, dict[str, str]]:
        if engines.is_postgres():
            memory = opened(folder)
            return memory, world(memory)
        if not made:
            first = tmp_path_factory.mktemp("world") / "first"
            with opened(first) as memory:
                made.append((first, world(memory)))
        shutil.copytree(made[0][0], folder)
        return opened(folder), made[0][1]

    return another
