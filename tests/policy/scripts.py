"""Scripts of policies (`tests/scripts.py`): a step calls a function of `holdfast.policy` by its name, as `module.function` where several have it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import scripts
from tests.calls import called, functions_in, refusal_of


@dataclass(kw_only=True)
class Script(scripts.Script):
    """A script of policies: pure functions, each by its arguments."""

    def call(self, tool: str, arguments: dict[str, Any], *, refused: bool) -> Any:
        function = functions_in("holdfast.policy")[tool]
        return (refusal_of if refused else called)(function, (), arguments)


def scripts_in(
    module: str, values: dict[str, Any] | None = None, **steps: scripts.Step
) -> dict[str, Callable[..., None]]:
    """Return a test for each script in the text beside a test module, which may have values and steps of its own."""
    kind: type[Script] = type("Script", (Script,), {"steps": {**Script.steps, **steps}})
    return scripts.scripts_in(module, lambda _, known: kind(Path(), known | (values or {})))
