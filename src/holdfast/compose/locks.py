"""Locks that keep the processes of one store apart, for hosts."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.engine.locks import lock_file, try_lock, turn

__all__ = ["LOCK", "turn", "worker_lock"]
LOCK = "work.lock"


@contextmanager
def worker_lock(home: Path) -> Iterator[bool]:
    """Hold the store's one lock for a worker. It goes with the process, however that ends."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = lock_file(home / LOCK)
    try:
        yield try_lock(handle)
    finally:
        os.close(handle)
