"""Detect a database server that hangs: it accepted a query, but neither answers it nor accepts connections.

A frozen server or a network that drops packets closes no connection, and the timeouts of the system take hours. So a
long wait checks whether the server still accepts connections. Where a person waits, the time for an answer is limited.
"""

from collections.abc import Generator
from time import monotonic
from typing import Any, TypeVar

import psycopg

CONNECT_SECONDS = 5  # the longest time to connect, unless the address gives a connect_timeout
DOUBT_SECONDS = 10.0  # without an answer before we check whether the server accepts connections
ANSWER_SECONDS = 45.0  # the longest time for an answer where a person waits; longer than the timeout for locks
HUNG = "the database server does not answer"

T = TypeVar("T")


class TimedConnection(psycopg.Connection[Any]):
    """A connection that gives up on a server that hangs, or after `most` seconds without an answer (0: no limit)."""

    url = ""
    most = 0.0

    def wait(self, gen: Generator[Any, Any, T], *given: Any, **named: Any) -> T:
        """Run a generator of the driver to its end; on a timeout close the connection and raise OperationalError."""
        return super().wait(self._bounded(gen), *given, **named)

    def _bounded(self, gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        began = looked = monotonic()
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted  # the driver also resumes us at intervals, with nothing ready
                now = monotonic()
                if not ready and ((self.most and now - began > self.most) or self._hangs(now - looked)):
                    self.pgconn.finish()
                    raise psycopg.OperationalError(HUNG)
                looked = monotonic() if now - looked > DOUBT_SECONDS else looked
                wanted = gen.send(ready)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]

    def _hangs(self, seconds: float) -> bool:
        """True if `seconds` exceed DOUBT_SECONDS and a test connection to the server times out."""
        if not self.url or seconds <= DOUBT_SECONDS:
            return False
        try:
            psycopg.connect(self.url).close()
        except psycopg.errors.ConnectionTimeout:
            return True
        except psycopg.OperationalError:
            return False  # it responds, if only to refuse (full or starting); our own connection reports the rest
        return False
