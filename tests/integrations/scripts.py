"""Scripts of an integration (`tests/scripts.py`): its calls on an open memory, after `!` one that raises; `@list`, `@history` … ask the memory."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

import holdfast
from tests import scripts

Calls = Callable[[holdfast.Memory], Callable[..., Any]]


def _asking(name: str) -> scripts.Step:
    """Return the step that calls a method of the memory; `of` are its positional arguments."""
    return lambda script, given: getattr(script.memory, name)(*given.pop("of", ()), **given)


@dataclass(kw_only=True)
class Script(scripts.Script):
    """A script of calls."""

    calls: Calls
    memory: holdfast.Memory

    def call(self, tool: str, arguments: dict[str, Any], *, refused: bool) -> Any:
        try:
            done = self.calls(self.memory)(tool, **arguments)
        except Exception as problem:
            if not refused:
                raise
            return f"{type(problem).__name__}: {problem}"
        assert not refused, done
        return done

    def reopen(self, **settings: Any) -> None:
        """Open the memory again with other settings."""
        self.memory.close()
        self.memory = holdfast.open(self.folder, home=self.folder / "store", settings=settings)

    steps: ClassVar = {
        **scripts.STEPS,
        "settings": lambda script, given: script.reopen(**given),
        **{name: _asking(name) for name in ("confirm", "history", "list", "recall", "restore", "revise")},
    }


def scripts_in(module: str, calls: Calls) -> dict[str, Callable[..., None]]:
    """Return a test for each script in the text beside a test module."""

    def start(request: pytest.FixtureRequest, known: dict[str, Any]) -> Script:
        folder = request.getfixturevalue("tmp_path")
        script = Script(folder, known, calls=calls, memory=request.getfixturevalue("memory"))
        request.addfinalizer(lambda: script.memory.close())  # noqa: PLW0108  it may be opened again
        return script

    return scripts.scripts_in(module, start)
