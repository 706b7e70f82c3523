"""Notice a database that hangs: it took our question, and neither answers it nor lets anybody in.

A server that stops, or a network that swallows, closes no connection, and the system's own timeouts take hours. So who waits
for long looks whether the server still lets somebody in; and where a person waits, no answer may take for ever.
"""

from collections.abc import Generator
from time import monotonic
from typing import Any, TypeVar

import psycopg

CONNECT_SECONDS = 5  # that letting us in may take
DOUBT_SECONDS = 10.0  # without an answer, until we look whether the server is there
ANSWER_SECONDS = 45.0  # that an answer may take at all where a person waits: longer than anybody waits for a lock
HUNG = "the database server does not answer"

T = TypeVar("T")


class Patient(psycopg.Connection[Any]):
    """A connection that gives up on a server that hangs; with `most`, on any answer that takes longer."""

    url = ""
    most = 0.0

    def wait(self, gen: Generator[Any, Any, T], *given: Any, **named: Any) -> T:
        """Run a question of the driver's to its end, or raise and let go of the connection."""
        return super().wait(self._bounded(gen), *given, **named)

    def _bounded(self, gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        began = looked = monotonic()
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted  # nothing is ready when we are asked every so often whether to go on
                now = monotonic()
                if not ready and ((self.most and now - began > self.most) or self._hangs(now - looked)):
                    self.pgconn.finish()
                    raise psycopg.OperationalError(HUNG)
                looked = monotonic() if now - looked > DOUBT_SECONDS else looked
                wanted = gen.send(ready)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]

    def _hangs(self, seconds: float) -> bool:
        """Tell whether the server no longer lets anybody in, where it is time to doubt that."""
        if not self.url or seconds <= DOUBT_SECONDS:
            return False
        try:
            psycopg.connect(self.url, connect_timeout=CONNECT_SECONDS).close()
        except psycopg.errors.ConnectionTimeout:
            return True
        except psycopg.OperationalError:
            return False  # it is there, and says why not: full, or starting; our own connection tells the rest
        return False
