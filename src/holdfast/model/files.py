"""Read and write files that others may replace at any moment: what is checked is what was opened, never a name."""

import errno
import itertools
import os
import stat
from pathlib import Path

_COUNT = itertools.count()
_SAFELY = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = getattr(os, "O_DIRECTORY", 0) | _NO_LINK


def read_regular(path: Path, most: int, *, links: bool = True) -> bytes:
    """Return the content of a regular file of at most so many bytes; raise OSError for anything else, without waiting for a pipe."""
    return _read(os.open(path, _SAFELY | (0 if links else _NO_LINK)), most)


def read_inside(top: Path, path: str | Path, most: int) -> bytes:
    """Return the content of a regular file in a folder; raise PermissionError if the path, or a link in it, leads out of it.

    The folders of the path are opened one after another without following links, so none can be exchanged for one.
    """
    root = Path(os.path.realpath(top))
    real = Path(os.path.realpath(root / path))
    if not real.is_relative_to(root):
        raise PermissionError(errno.EACCES, "it leads out of the folder", str(path))
    if os.open not in os.supports_dir_fd:
        return _read(os.open(real, _SAFELY), most)
    *folders, name = real.relative_to(root).parts or (".",)
    inner = os.open(root, _SAFELY | _FOLDER)
    try:
        for folder in folders:
            outer, inner = inner, os.open(folder, _SAFELY | _FOLDER, dir_fd=inner)
            os.close(outer)
        return _read(os.open(name, _SAFELY | _NO_LINK, dir_fd=inner), most)
    finally:
        os.close(inner)


def _read(handle: int, most: int) -> bytes:
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        if found.st_size > most:
            raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(handle)


def write_whole(path: Path, content: str | bytes, mode: int = 0o600, *, sync: bool = False) -> None:
    """Replace a file at once, so that no reader sees half of it; never through a link that lies in the way."""
    fresh = path.with_name(f".{path.name}.{next(_COUNT)}.{os.getpid()}.tmp")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
        if sync:
            file.flush()
            os.fsync(file.fileno())
    fresh.replace(path)
