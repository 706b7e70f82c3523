"""The machine: where clients keep their settings, how they start this installation, and how their files are read and replaced."""

import hashlib
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from holdfast import hosts
from holdfast.model.config import PRESETS
from holdfast.model.errors import Invalid, InvalidFile, StoreUnwritable
from holdfast.model.files import read_regular, write_whole
from holdfast.model.patterns import tables

Level = Literal["user", "project"]
_FOLDERS = {system: dict(rows) for system, rows in tables(__file__).items()}
_PASSING = {"archive-v0", "builds-v0", "environments-v2"}  # folders of uv's cache: what `uvx` runs in


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """The programs and folders that entries point at: by default those of the installation that runs now."""

    python: str = Path(sys.executable).as_posix()  # hooks wake the worker with it
    hook: str = (Path(hosts.__file__).resolve().parent / "hooks" / "client.py").as_posix()
    windows: bool = os.name == "nt"
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
        more = (("--client", client), ("--home", self.home), ("--preset", preset))
        return tuple(word for pair in more if pair[1] for word in pair)

    def hook_line(self, event: str, client: str) -> str:
        """Return the command line of a hook, for a shell."""
        words = [self.python, "-I", "-S", self.hook, event, *self.hook_words(client)]
        return subprocess.list2cmdline(words) if self.windows else shlex.join(words)


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
        """Return the path of a template, which begins with one of these folders, on this machine."""
        folders = {"home": str(self.home), "project": str(self.project)}
        for name, row in {**_FOLDERS["everywhere"], **_FOLDERS.get(self.system, {})}.items():
            variable, usual, below = (part.strip() for part in row.split("|"))
            folders[name] = (self.environment.get(variable) or usual.format_map(folders)) + below
        return Path(template.format_map(folders))


def text_of(path: Path) -> str | None:
    """Return a file's text with its line endings as they are, or None if there is no file."""
    try:
        return read_regular(path).decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as problem:
        raise InvalidFile("It is not UTF-8 text.") from problem
    except OSError as problem:
        raise InvalidFile(f"It cannot be read ({problem.strerror}).") from problem


def mark_of(text: str) -> str:
    """Return the hash that identifies a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def check_writable(path: Path, within: Path | None = None) -> None:
    """Raise InvalidFile unless a file can be replaced or created. Links are followed, but not out of `within` or to other users' files."""
    real = _real(path)
    folder = next(folder for folder in real.parents if folder.exists())
    if within and not real.is_relative_to(_real(within)):
        raise InvalidFile(f"It leads out of the project, to {real}.")
    if sys.platform != "win32" and real != path.absolute():  # Windows has no such owners
        if (real if real.exists() else folder).stat().st_uid != os.geteuid():
            raise InvalidFile(f"It is a link to {real}, which belongs to another user.")
    if not folder.is_dir() or not os.access(folder, os.W_OK) or real.is_dir():
        raise InvalidFile("It cannot be written.")


def missing_folders(path: Path) -> list[Path]:
    """Return the folders that must be created for a file, innermost first."""
    return [folder for folder in _real(path).parents if not folder.exists()]


def replace_file(path: Path, text: str, *, private: bool) -> None:
    """Write a file atomically: links are followed, permissions stay; a new private file is for its owner only."""
    real = _real(path)
    try:
        known = real.stat().st_mode & 0o7777 if real.exists() else None
        real.parent.mkdir(parents=True, exist_ok=True)
        write_whole(real, text, known or (0o600 if private else 0o666), sync=True)
        if known:
            real.chmod(known)  # the umask may have taken something away
    except OSError as problem:
        hint = "Check its permissions."
        raise StoreUnwritable(f"{path} cannot be written ({problem.strerror}).", hint=hint) from problem


def remove_file(path: Path, folders: list[Path]) -> None:
    """Remove a file, and the folders created for it if they are empty; a link to it stays."""
    _real(path).unlink(missing_ok=True)
    for folder in folders:
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
