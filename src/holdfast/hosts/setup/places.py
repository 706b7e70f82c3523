"""Where clients keep their settings, by operating system and environment variables."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Literal

Level = Literal["user", "project"]


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
