"""Read and replace files of other programs without ever leaving half of one."""

import hashlib
import os
import sys
from pathlib import Path

from holdfast.model.errors import InvalidFile, StoreUnwritable
from holdfast.model.files import read_regular, write_whole


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
    if real != path.absolute() and _owner(real if real.exists() else folder) != _owner(None):
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


def _owner(path: Path | None) -> int:
    """Return the owner of a file, or the user; systems without owners have the same for both."""
    if sys.platform == "win32":
        return 0
    return path.stat().st_uid if path else os.geteuid()
