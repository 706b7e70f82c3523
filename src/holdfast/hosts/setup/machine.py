"""The machine: where clients keep their settings, and how they start this installation."""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which
from typing import Literal

from holdfast import hosts
from holdfast.model.config import PRESETS
from holdfast.model.errors import Invalid

Level = Literal["user", "project"]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What decides where files are."""

    system: str  # as `platform.system()` says it: Linux, Darwin, Windows
    home: Path
    project: Path
    environment: Mapping[str, str]

    def path(self, template: str) -> Path:
        """Return the path of a template on this machine."""
        return Path(template.format_map({name: str(folder) for name, folder in self.folders().items()}))

    def folders(self) -> dict[str, Path]:
        """Return every folder that a template may begin with."""
        home, given = self.home, self.environment
        claude = given.get("CLAUDE_CONFIG_DIR")
        return {
            "home": home,
            "project": self.project,
            "config": self._config(),
            "support": self._support(),
            "devin": self._support() / "devin" if self.system == "Windows" else self._config() / "devin",
            "zed": self._support() / "Zed" if self.system == "Windows" else self._config() / "zed",
            "claude": Path(claude) if claude else home / ".claude",
            "claude_json": (Path(claude) if claude else home) / ".claude.json",
            "codex": Path(given.get("CODEX_HOME") or home / ".codex"),
            "copilot": Path(given.get("COPILOT_HOME") or home / ".copilot"),
            "gemini": Path(given.get("GEMINI_CLI_HOME") or home) / ".gemini",
            "opencode": Path(given.get("OPENCODE_CONFIG_DIR") or self._config() / "opencode"),
        }

    def has_program(self, name: str) -> bool:
        """True if a program is on the search path."""
        return which(name, path=self.environment.get("PATH", "")) is not None

    def _config(self) -> Path:
        return Path(self.environment.get("XDG_CONFIG_HOME") or self.home / ".config")

    def _support(self) -> Path:
        """Return the folder where desktop programs keep their settings."""
        if self.system == "Darwin":
            return self.home / "Library" / "Application Support"
        if self.system == "Windows":
            return Path(self.environment.get("APPDATA") or self.home / "AppData" / "Roaming")
        return self._config()


def project_root(here: Path) -> Path:
    """Return the folder of the repository that contains a path, else the path itself."""
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)
