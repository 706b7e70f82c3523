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


class Tools:
    """Calls the tools of a surface the way a host does."""

    def __init__(self, memory: Memory, surface: Surface) -> None:
        self.surface, self.call_ = surface, Call(open=lambda: memory)

    def answer(self, name: str, arguments: dict[str, Any], *, failed: bool = False) -> str:
        text, has_failed = self.surface.call(self.call_, name, arguments)
        assert has_failed == failed, text
        return text

    def __call__(self, name: str, **arguments: Any) -> Any:
        return self.answer(name, arguments)

    def error(self, name: str, **arguments: Any) -> str:
        return self.answer(name, arguments, failed=True)


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
