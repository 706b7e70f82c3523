"""Read and write files that others may name or replace at any moment: what is checked is what was opened, never a name.

Hooks use it at every event, so it imports almost nothing.
"""

from __future__ import annotations

import errno
import itertools
import os
from stat import S_ISREG

MYPY = False
if MYPY:
    from collections.abc import Iterator  # noqa: TC003
    from gzip import GzipFile  # noqa: TC003
    from typing import BinaryIO

LARGEST, LONGEST_LINE = 500_000_000, 50_000_000  # bytes
# A pipe without a writer answers at once, and a terminal does not become ours.
_SAFELY = os.O_RDONLY
for _flag in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"):
    _SAFELY |= getattr(os, _flag, 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = getattr(os, "O_DIRECTORY", 0) | _NO_LINK
_COUNT = itertools.count()  # two threads that write one file need two names


def open_regular(path: str | os.PathLike[str], *, links: bool = True) -> BinaryIO:
    """Open a regular file for reading; raise OSError for a pipe, device, socket or folder, or a link to one, without waiting."""
    return _opened(os.open(path, _SAFELY | (0 if links else _NO_LINK)))


def read_regular(path: str | os.PathLike[str], most: int = LARGEST, *, links: bool = True) -> bytes:
    """Return the content of a regular file of at most so many bytes; raise OSError for anything else."""
    return _content(open_regular(path, links=links), most)


def read_inside(top: str | os.PathLike[str], path: str | os.PathLike[str], most: int) -> bytes:
    """Return the content of a regular file in a folder; raise PermissionError if the path, or a link in it, leads out of it.

    The folders of the path are opened one after another without following links, so none can be exchanged for one.
    """
    root = os.path.realpath(top)
    real = os.path.realpath(os.path.join(root, path))
    if real != root and not real.startswith(os.path.join(root, "")):
        raise PermissionError(errno.EACCES, "it leads out of the folder", str(path))
    if os.open not in os.supports_dir_fd:
        return read_regular(real, most)
    *folders, name = os.path.relpath(real, root).split(os.sep)
    inner = os.open(root, _SAFELY | _FOLDER)
    try:
        for folder in folders:
            outer, inner = inner, os.open(folder, _SAFELY | _FOLDER, dir_fd=inner)
            os.close(outer)
        return _content(_opened(os.open(name, _SAFELY | _NO_LINK, dir_fd=inner)), most)
    finally:
        os.close(inner)


def lines_in(file: BinaryIO | GzipFile, longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """Yield the lines of an open file; one of more than `longest` bytes is an OSError."""
    while line := file.readline(longest + 1):
        if len(line) > longest:
            raise OSError(errno.EFBIG, f"it has a line of more than {longest:,} bytes")
        yield line


def write_whole(path: str | os.PathLike[str], content: str | bytes, mode: int = 0o600, *, sync: bool = False) -> None:
    """Replace a file at once, so that no reader sees half of it; never through a link that lies in the way."""
    folder, name = os.path.split(path)
    fresh = os.path.join(folder, f".{name}.{next(_COUNT)}.{os.getpid()}.tmp")
    if os.path.lexists(fresh):
        os.unlink(fresh)
    with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
        if sync:
            file.flush()
            os.fsync(file.fileno())
    os.replace(fresh, path)


def _opened(handle: int) -> BinaryIO:
    if S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    raise OSError(errno.EINVAL, "it is no regular file")


def _content(file: BinaryIO, most: int) -> bytes:
    with file:
        fits = os.fstat(file.fileno()).st_size <= most
        if fits and len(content := file.read(most + 1)) <= most:
            return content
    raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes")
