"""Read files that others named or wrote: only regular ones, never more than a bound. Hooks use it, so it imports almost nothing."""

from __future__ import annotations

import errno
import os
from stat import S_ISREG

MYPY = False
if MYPY:
    from collections.abc import Iterator  # noqa: TC003
    from gzip import GzipFile  # noqa: TC003
    from typing import BinaryIO

LARGEST, LONGEST_LINE = 500_000_000, 50_000_000  # bytes
# A pipe without a writer answers at once, and a terminal does not become ours.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file for reading; a pipe, device, socket or folder, or a link to one, is an OSError."""
    handle = os.open(path, _FLAGS)
    if S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    raise OSError(errno.EINVAL, "it is not a regular file", str(path))


def read_file(path: str | os.PathLike[str], most: int = LARGEST) -> bytes:
    """Return the content of a regular file; one of more than `most` bytes is an OSError."""
    with open_file(path) as file:
        fits = os.fstat(file.fileno()).st_size <= most
        if fits and len(content := file.read(most + 1)) <= most:
            return content
    raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes", str(path))


def lines_in(file: BinaryIO | GzipFile, longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """Yield the lines of an open file; one of more than `longest` bytes is an OSError."""
    while line := file.readline(longest + 1):
        if len(line) > longest:
            raise OSError(errno.EFBIG, f"it has a line of more than {longest:,} bytes")
        yield line
