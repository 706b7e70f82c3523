"""The real clients, as one table: how each is run without a person, and what it cannot do."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.dialects import Call
from tests.e2e.model import SUBAGENT
from tests.e2e.seat import python

HERE = Path(__file__).parent
ROWS = tomllib.loads((HERE / "clients.toml").read_text(encoding="utf-8"))
EVERYWHERE = {"key": "no-key-at-all", "root": str(HERE.parents[1]), "subagent": SUBAGENT, "python": python()}
DEFAULTS: dict[str, Any] = {"cannot": {}, "compacts": "", "before": [], "plugging": []}


def filled(value: Any, given: Mapping[str, str]) -> Any:
    """Return a value of the table with what its texts name."""
    if isinstance(value, dict):
        return {name: filled(item, given) for name, item in value.items()}
    if isinstance(value, list):
        return [filled(item, given) for item in value]
    for name, text in given.items() if isinstance(value, str) else ():
        value = value.replace(f"{{{name}}}", text)
    return value


@dataclass(frozen=True, slots=True, eq=False)
class Client:
    """Everything the promises have to know about one client."""

    name: str  # as `holdfast init --client` takes it
    row: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any:
        """Return a row's entry: `title`, `files` its user's home holds before we come, promises it `cannot` keep and why,
        the prompt that `compacts` (else it does when its model is full), or the commands of `plugging` our plugin in.
        """
        if name not in ("title", "files", "cannot", "compacts", "plugging"):
            raise AttributeError(name)
        return self._filled(name)

    def program(self) -> list[str]:
        """Return the command, of a client that was fetched; Node is at hand only where clients are tested."""
        if isinstance(self.row["program"], list):
            return list(self._filled("program"))
        from tests.clients.fetch import program

        return program(self.row["program"])

    @property
    def before(self) -> list[Call]:
        """What its model has to do before it can call our tools."""
        return [Call(*call) for call in self._filled("before")]

    def words(self, prompt: str, url: str, *, again: bool = False) -> list[str]:
        """Return what follows the program, with a prompt and the model's address; `again` in the session before."""
        return list(self._filled("again" if again else "words", prompt=prompt, url=url))

    def variables(self, url: str) -> dict[str, str]:
        return dict(self._filled("variables", url=url))

    def shell(self, command: str) -> Call:
        return Call(*self._filled("shell", command=command))

    def write(self, path: str, text: str) -> Call:
        return Call(*self._filled("write", path=path, text=text, line=text.rstrip()))

    def delegate(self, prompt: str) -> list[Call]:
        """Return the calls that have a sub-agent do what a prompt says."""
        return [Call(*call) for call in self._filled("delegate", prompt=prompt)]

    def _filled(self, name: str, **given: str) -> Any:
        return filled(self.row.get(name, DEFAULTS.get(name)), {**EVERYWHERE, **given})


CLIENTS = tuple(Client(name, row) for name, row in ROWS.items() if name != "scripted")
SCRIPTED = Client("claude-code", {**ROWS["claude-code"], **ROWS["scripted"]})
