"""Detects new activity: reads two counters and the spool twice a second while a page is open."""

import asyncio
import logging
from collections.abc import AsyncIterator
from functools import partial

from anyio import to_thread

from holdfast.model.errors import HoldfastError, StoreFull, StoreUnwritable
from holdfast.verbs.capture.trail import drain
from holdfast.verbs.memory import Memory
from holdfast.verbs.upkeep.stream import Place, Stream, Wanted, head, newer

SECONDS = 0.5
SILENT_SECONDS = 15.0  # after which an empty comment keeps the connection alive
log = logging.getLogger(__name__)


class Watcher:
    """Notifies open pages of new activity. Runs only while at least one page is open."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.waiting = 0  # pages
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    def close(self) -> None:
        """End every open stream."""
        self._closed = True
        self._news.set()
        if self._task:
            self._task.cancel()

    async def follow(self, memory: Memory, wanted: Wanted, after: Place | None = None) -> AsyncIterator[Stream | None]:
        """Yield new activity of a memory as it happens; None now and then, so that a broken connection is noticed."""
        place = await to_thread.run_sync(head, memory) if after is None else after
        self.waiting += 1
        try:
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._watch())
            while not self._closed:
                news = self._news  # taken before reading: events that arrive while reading must not be missed
                page = await to_thread.run_sync(partial(newer, memory, wanted, after=place))
                moved, place = page.place != place, page.place or place
                if page.items:
                    yield page
                if moved:
                    continue  # there may be more than one page
                try:
                    await asyncio.wait_for(news.wait(), SILENT_SECONDS)
                except TimeoutError:
                    yield None
        finally:
            self.waiting -= 1

    async def _watch(self) -> None:
        known = await to_thread.run_sync(head, self._memory)
        while self.waiting and not self._closed:
            try:
                now = await to_thread.run_sync(look, self._memory)
            except HoldfastError as problem:
                log.warning("the stream is paused: %s", problem)
            else:
                if now != known:
                    known, news, self._news = now, self._news, asyncio.Event()
                    news.set()
            await asyncio.sleep(SECONDS)


def look(memory: Memory) -> Place:
    """Ingest the spool of the hooks, if no other reader did, and return the end of the stream."""
    if (folder := memory.store.folder) and any((folder / "spool").glob("*.json")):
        try:
            drain(memory, folder / "spool")
        except (StoreFull, StoreUnwritable) as problem:
            log.warning("the spool cannot be ingested yet: %s", problem)  # reading still works
    return head(memory)
