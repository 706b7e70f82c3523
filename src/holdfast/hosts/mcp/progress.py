"""Progress of one request, sent only to clients that asked for it, and only for slow work."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from holdfast.surfaces.tool import Report, discard_progress

Json = dict[str, Any]
Notify = Callable[[str, Json], None]
# A client may have forgotten the token of a request that is answered at once, and then drops the connection.
QUIET_SECONDS = 1.0
APART_SECONDS = 0.3


@contextmanager
def reporting(params: Json, notify: Notify) -> Iterator[Report]:
    """Return the function a tool reports to; after the block nothing is sent."""
    meta = params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    if not isinstance(token, str | int):
        yield discard_progress
        return
    progress = Progress(token, notify)
    try:
        yield progress.report
    finally:
        progress.close()


class Progress:
    """The progress messages of one request: none in the first second, then a few per second, each further than the last."""

    def __init__(self, token: str | int, notify: Notify, now: Callable[[], float] = time.monotonic) -> None:
        self._token = token
        self._notify = notify
        self._now = now
        self._next = now() + QUIET_SECONDS
        self._last = -1.0
        self._lock = threading.Lock()

    def report(self, done: float, total: float | None, message: str) -> None:
        """Send the progress, unless it is too early or too soon after the last."""
        finished = total is not None and done >= total  # the answer itself follows at once
        with self._lock:
            if finished or done <= self._last or self._now() < self._next:
                return
            self._last, self._next = done, self._now() + APART_SECONDS
            given = {"total": total, "message": message or None}
            told = {name: value for name, value in given.items() if value is not None}
            self._notify("notifications/progress", {"progressToken": self._token, "progress": done, **told})

    def close(self) -> None:
        """Stop sending; waits for a message being sent."""
        with self._lock:
            self._next = float("inf")
