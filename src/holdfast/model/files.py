"""Read and write files that others may name or replace at any moment: what is checked is what was opened, never a name.

Also finds the user's stores. Hooks use it at every event, so it imports almost nothing.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import sys
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
    """Return the content of a regular file in a folder; raise PermissionError if the path, or a link in it, leads out of it."""
    root = os.path.realpath(top)
    real = os.path.realpath(os.path.join(root, path))
    if real != root and not real.startswith(os.path.join(root, "")):
        raise PermissionError(errno.EACCES, "it leads out of the folder", str(path))
    if os.open not in os.supports_dir_fd:
        return read_regular(real, most)
    # The folders are opened one after another without following links, so none can be exchanged for one.
    *folders, name = os.path.relpath(real, root).split(os.sep)
    inner = os.open(root, _SAFELY | _FOLDER)
    try:
        for folder in folders:
            outer, inner = inner, os.open(folder, _SAFELY | _FOLDER, dir_fd=inner)
            os.close(outer)
        return _content(_opened(os.open(name, _SAFELY | _NO_LINK, dir_fd=inner)), most)
    finally:
        os.close(inner)


def state_of(path: str | os.PathLike[str]) -> str:
    """Return the time and size of a file, "" if there is none: as long as they stay, so does its content."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return ""
    return f"{found.st_mtime_ns} {found.st_size}"


def lines_in(file: BinaryIO | GzipFile, longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """Yield the lines of an open file; one of more than `longest` bytes is an OSError."""
    while line := file.readline(longest + 1):
        if len(line) > longest:
            raise OSError(errno.EFBIG, f"it has a line of more than {longest:,} bytes")
        yield line


def write_whole(path: str | os.PathLike[str], content: str | bytes, mode: int = 0o600, *, sync: bool = False) -> None:
    """Replace a file at once, so that no reader sees half of it; never through a link that lies in the way."""
    os.replace(_written(path, content, mode, sync=sync), path)


def write_new(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Create a file at once, for its owner only; one that another process made meanwhile stays."""
    fresh = _written(path, content, 0o600, sync=True)
    try:
        os.link(fresh, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without hard links
        os.rename(fresh, path)
        return
    os.unlink(fresh)


def _written(path: str | os.PathLike[str], content: str | bytes, mode: int, *, sync: bool) -> str:
    """Write a file under another name, which is returned."""
    folder, name = os.path.split(path)
    fresh = os.path.join(folder, f".{name}.{next(_COUNT)}.{os.getpid()}.tmp")
    if os.path.lexists(fresh):
        os.unlink(fresh)
    with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb") as file:
        try:
            file.write(content if isinstance(content, bytes) else content.encode())
            file.flush()
            if sync:
                os.fsync(file.fileno())
        except BaseException:
            os.unlink(fresh)
            raise
    return fresh


def _opened(handle: int) -> BinaryIO:
    if S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    raise OSError(errno.EINVAL, "it is no regular file")


def _content(file: BinaryIO, most: int) -> bytes:
    with file:
        if (size := os.fstat(file.fileno()).st_size) <= most:
            content = file.read(size + 1)  # no more: memory is reserved for all that is asked for
            if len(content) > size:  # it grew meanwhile
                content += file.read(most + 1 - len(content))
            if len(content) <= most:
                return content
    raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes")


FOLDER = ".holdfast"  # of what a repository shares: settings and team memories
FILE = "holdfast.db"
_REGISTRY = "stores.json"
_OTHERS_MAY_WRITE = 0o022


def data_folder() -> str:
    """Return the platform's folder for the user's data: that of the usual store."""
    user = os.path.expanduser("~")
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA", user), "holdfast")
    usual = ("Library", "Application Support") if sys.platform == "darwin" else (".local", "share")
    return os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.join(user, *usual), "holdfast")


def home_of(folder: str) -> str:
    """Return the folder of the store for a folder: the one the user made for it or for a folder around it, else the usual one."""
    # Only the user's own list counts: what lies in a checkout, a package or a shared folder may be someone else's.
    stores, around = listed_stores(), os.path.realpath(folder) if folder else ""
    while stores and around:
        if store := stores.get(around):
            check_own(store)
            return store
        around = "" if around == (parent := os.path.dirname(around)) else parent
    return data_folder()


def listed_stores() -> dict[str, str]:
    """Return the stores that the user made for folders, by folder."""
    try:
        with open(os.path.join(data_folder(), _REGISTRY), encoding="utf-8") as file:
            stores = json.load(file)
    except FileNotFoundError:
        return {}
    if not isinstance(stores, dict):
        raise ValueError(f"{file.name} is not a list of stores")  # noqa: TRY004  a damaged file, like any other
    return {str(folder): str(store) for folder, store in stores.items()}


def list_store(folder: str, store: str) -> None:
    """Use a store for a folder and everything in it from now on; with "" the usual one again."""
    stores = {**listed_stores(), os.path.realpath(folder): os.path.realpath(store) if store else ""}
    os.makedirs(data_folder(), 0o700, exist_ok=True)
    listed = {name: value for name, value in stores.items() if value}
    write_whole(os.path.join(data_folder(), _REGISTRY), json.dumps(listed, indent=1))


def changes_file(home: str, project: str) -> str:
    """Return the list of what changed in a project, in the order of commits; the store appends to it once it exists."""
    return os.path.join(home, "changes", f"{digest(project)}.log")


def digest(text: str) -> str:
    """Return a text as a file name; two texts never share one."""
    try:
        from _blake2 import blake2b  # noqa: PLC0415  hashlib would load OpenSSL, which takes longer than the rest of a hook
    except ImportError:
        from hashlib import blake2b  # noqa: PLC0415
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def check_own(store: str) -> None:
    """Raise PermissionError unless a store's folder and database belong to this user, and no one else may write them."""
    if sys.platform == "win32":
        return
    for path in (store, os.path.join(store, FILE)):
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            continue
        if found.st_uid != os.geteuid():
            raise PermissionError(f"{path} belongs to another user")
        if found.st_mode & _OTHERS_MAY_WRITE or found.st_mode & 0o170000 == 0o120000:  # a link
            raise PermissionError(f"other users may write {path}")
