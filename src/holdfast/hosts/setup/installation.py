"""How clients start this installation: the server, and the hook file."""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from holdfast import hosts
from holdfast.model.errors import Invalid
from holdfast.model.presets import PRESETS

_PASSING = {"archive-v0", "builds-v0", "environments-v2"}  # folders of uv's cache: what `uvx` runs in


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """The programs and folders that entries point at."""

    python: str  # the interpreter of the environment Holdfast is installed in: hooks wake the worker with it
    hook: str
    windows: bool = False
    home: str = ""  # folder of the store, where hooks could not know it
    variables: Mapping[str, str] = field(default_factory=dict)  # environment of the server
    surfaces: tuple[str, ...] = ()

    def server(self) -> tuple[str, ...]:
        """Return the command line of the server. `-P`: a project's own modules must not stand in for ours."""
        chosen = [word for name in self.surfaces for word in ("--surface", name)]
        return (self.python, "-P", "-m", "holdfast", "mcp", *chosen)

    def hook_words(self, client: str) -> tuple[str, ...]:
        """Return the arguments after the event in the command line of a hook."""
        preset = next((name for name in self.surfaces if name in PRESETS), "")
        more = (("--home", self.home), ("--preset", preset))
        return ("--client", client, *(word for pair in more if pair[1] for word in pair))

    def hook_line(self, event: str, client: str) -> str:
        """Return the command line of a hook, for a shell."""
        words = [self.python, "-I", "-S", self.hook, event, *self.hook_words(client)]
        return subprocess.list2cmdline(words) if self.windows else shlex.join(words)


def this_installation(*, home: str, variables: Mapping[str, str]) -> Installation:
    """Describe the installation that runs now."""
    return Installation(
        python=Path(sys.executable).as_posix(),
        hook=(Path(hosts.__file__).resolve().parent / "hooks" / "client.py").as_posix(),
        windows=os.name == "nt",
        home=home,
        variables=variables,
    )


def check_lasting(prefix: str) -> None:
    """Reject an installation in a temporary environment: entries would point at deleted files."""
    if _PASSING & set(Path(prefix).parts):
        hint = "Install it first, with `uv tool install` or `pipx install`."
        raise Invalid("Holdfast runs in a temporary environment that will be cleaned away.", hint=hint)
