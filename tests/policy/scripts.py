"""Scripts of pure functions (`tests/scripts.py`): a step calls a function of a package by its name, as `module.function` where several have it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tests import scripts
from tests.calls import called, functions_in, refusal_of


@dataclass(kw_only=True)
class Script(scripts.Script):
    """A script of functions, each by its arguments."""

    package: ClassVar[str]  # or several

    def call(self, tool: str, arguments: dict[str, Any], *, refused: bool) -> Any:
        known = [functions_in(package) for package in self.package.split()]
        function = next(functions[tool] for functions in known if tool in functions)
        answer = (refusal_of if refused else called)(function, (), arguments)
        return list(answer) if isinstance(answer, Iterator) else answer


def scripts_in(
    module: dict[str, Any],
    values: dict[str, Any] | None = None,
    package: str = "holdfast.policy",
    **steps: scripts.Step,
) -> None:
    """Add a test for each script in the text beside a test module, which may have values and steps of its own."""
    kind: type[Script] = type("Script", (Script,), {"package": package, "steps": {**Script.steps, **steps}})
    scripts.scripts_in(module, lambda _, known: kind(Path(), known | (values or {})))
