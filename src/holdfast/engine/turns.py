"""One at a time in a store's folder: an erasure waits for whoever writes files of what the store holds, and the other way round."""

import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILE = "erase.lock"
_LOOK_SECONDS = 0.02
log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Turn:
    lock: Any = field(default_factory=threading.RLock)  # typeshed and Python name its type differently
    depth: int = 0


_TURNS: dict[str, _Turn] = {}
_MAKING = threading.Lock()


@contextmanager
def turn(folder: Path | None, seconds: float = 600.0) -> Iterator[bool]:
    """Hold the folder's turn; False if others did not let go of it in time. Within a thread it may be taken again.

    It goes with the process, however that ends.
    """
    if folder is None or not folder.is_dir():
        yield True
        return
    with _MAKING:
        mine = _TURNS.setdefault(os.path.realpath(folder), _Turn())
    until = time.monotonic() + seconds
    if not mine.lock.acquire(timeout=seconds):
        yield False
        return
    try:
        if mine.depth:
            yield True
            return
        handle = os.open(folder / FILE, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            mine.depth = 1
            yield _locked(handle, until)
        finally:
            mine.depth = 0
            os.close(handle)
    finally:
        mine.lock.release()


def _locked(handle: int, until: float) -> bool:
    while not try_lock(handle):
        if time.monotonic() > until:
            return False
        time.sleep(_LOOK_SECONDS)
    return True


def try_lock(handle: int) -> bool:
    """Lock an open file; False if another process holds it. The lock goes with the process, however that ends.

    On a file system without locks it succeeds for everyone: what is done under it can be done twice.
    """
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
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as problem:
        log.warning("locks do not work here: %s", problem)
    return True
