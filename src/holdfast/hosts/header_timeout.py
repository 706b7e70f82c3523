"""A timeout for request headers: uvicorn itself limits only the pause between two requests."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 30.0  # as long as a body may take
MOST_WAITING = 200  # connections of one address whose request headers are incomplete


def heads_within(seconds: float = HEAD_SECONDS, most: int = MOST_WAITING) -> type[H11Protocol]:
    """Return a uvicorn protocol that drops connections whose headers are late, or too many of them at once."""
    return type("Bounded", (_Bounded,), {"seconds": seconds, "most": most, "waiting": {}})


class _Bounded(H11Protocol):
    """A connection that must send its headers in time; `waiting` are those that have not yet, by address, the oldest first."""

    seconds: float
    most: int
    waiting: dict[str, dict["_Bounded", None]]
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._deadline is None and not self.transport.is_closing():
            self._wait()  # the next request on the same connection began to arrive

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    @property
    def _peer(self) -> str:
        return self.client[0] if self.client else ""

    def _wait(self) -> None:
        waiting = self.waiting.setdefault(self._peer, {})
        if len(waiting) >= self.most:  # the oldest has had its time; the newest may be a complete request
            oldest = next(iter(waiting))
            oldest._stop_waiting()  # noqa: SLF001  the same class
            oldest.transport.abort()
            waiting = self.waiting.setdefault(self._peer, {})
        waiting[self] = None
        self._deadline = self.loop.call_later(self.seconds, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is None:
            return
        self._deadline.cancel()
        self._deadline = None
        del self.waiting[self._peer][self]
        if not self.waiting[self._peer]:
            del self.waiting[self._peer]
