"""File locks: erasing and writing a store's files exclude each other. Also checks that a file system supports locks."""

import logging
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from holdfast.model.errors import StoreUnwritable

FILE = "erase.lock"
log = logging.getLogger(__name__)


_TURNS: dict[str, Any] = {}  # by folder; typeshed and Python name their type differently
_HELD = set[str]()  # folders whose file this process has locked
# Network and user-space file systems: locks may exclude only processes of this machine, or none at all.
_REMOTE = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "glusterfs", "lustre", "fuse", "vboxsf", "vmhgfs", "prl_fs")
_TAKE = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'rb+'), fcntl.LOCK_EX | fcntl.LOCK_NB)"


@contextmanager
def turn(folder: Path | None, seconds: float = 600.0, *, shared: bool = False) -> Iterator[bool]:
    """Hold the folder's lock during the context; yield False if it was not free within `seconds`."""
    # Processes that only write files hold it `shared`, and exclude one that erases. Reentrant within a thread. The lock
    # ends with the process, even if that is killed.
    if folder is None or not folder.is_dir():
        yield True
        return
    place, until = os.path.realpath(folder), time.monotonic() + seconds
    turns = _TURNS.setdefault(place, threading.RLock())
    if not turns.acquire(timeout=seconds):
        yield False
        return
    with ExitStack() as leaving:
        leaving.callback(turns.release)
        if place in _HELD:
            yield True
            return
        handle = lock_file(folder / FILE)
        leaving.callback(os.close, handle)
        _HELD.add(place)
        leaving.callback(_HELD.remove, place)
        while not (is_locked := try_lock(handle, shared=shared)) and time.monotonic() <= until:
            time.sleep(0.02)
        yield is_locked


def lock_file(path: Path) -> int:
    """Open a file to lock, and make it if it is missing; raise StoreUnwritable if that is not allowed."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as problem:
        raise StoreUnwritable(f"{path} cannot be opened ({problem.strerror}).") from problem


def try_lock(handle: int, *, shared: bool = False) -> bool:
    """Lock an open file; False if another process holds the lock. It ends with the process, even if that is killed."""
    # Always succeeds on a file system without locks, so what is done under the lock must be safe to do twice.
    try:
        import fcntl  # noqa: PLC0415  not on Windows
    except ImportError:
        import msvcrt  # noqa: PLC0415

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as problem:
        log.warning("locks do not work here: %s", problem)
    return True


def problem_with_locks(folder: Path) -> str:
    """Return what is wrong with locks in a folder, empty if a lock kept a second process out as it should."""
    try:
        import fcntl  # noqa: PLC0415  Windows has locks of its own, which cannot be switched off
    except ImportError:
        return ""
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".locks-") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            return f"the file system refuses locks ({problem.strerror})"
        other = [sys.executable, "-I", "-S", "-c", _TAKE, file.name]
        done = subprocess.run(other, capture_output=True, timeout=10, check=False)  # noqa: S603  our own words
    return "" if done.returncode else "the file system gives the same lock to two processes at once"


def file_system_of(folder: Path) -> str:
    """Return the type of file system a folder is on, empty if the system does not report it."""
    try:
        mounts = [line.split(" ") for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()]
    except OSError:
        return ""
    where = os.path.realpath(folder)
    around = [mount for mount in mounts if f"{where}/".startswith(mount[1].rstrip("/") + "/")]
    return max(((len(mount[1]), mount[2]) for mount in around), default=(0, ""))[1]


def is_remote(kind: str) -> bool:
    """True if stores are not supported on this type of file system."""
    return kind.startswith(_REMOTE)
