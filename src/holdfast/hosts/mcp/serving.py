"""What both MCP hosts share: surfaces by name, and a memory that is opened when first needed."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from holdfast.hosts.mcp.offer import Offer, check_names, joined, with_aliases, written_offer
from holdfast.hosts.mcp.protocol import Server
from holdfast.model.config import PRESETS
from holdfast.model.errors import Invalid, StoreFull, StoreUnwritable, Unreachable
from holdfast.surfaces.tool import Acting, Call, Client, Surface

if TYPE_CHECKING:
    from holdfast.verbs.memory import Memory

log = logging.getLogger(__name__)
AGAIN_SECONDS = 15.0  # between checks for a database that was unreachable
# Each module has its table as `surface`, and is imported when one of its tools is called.
_NAMES = ("core", "gitmem", "claude-mem", "memory-mcp", "bettermemory")
SURFACES = {name: f"holdfast.surfaces.{name.replace('-', '_')}" for name in _NAMES}
# Systems without tools of their own: their preset comes with these tools.
WITHOUT_TOOLS = {"git-notes": "core"}


@contextmanager
def serving(names: Sequence[str], flags: Mapping[str, Any]) -> Iterator[Server]:
    """Yield a server of the named surfaces; the memory is closed at the end."""
    chosen, preset = _checked(names), preset_named(names)
    with ExitStack() as stack:
        client, acting = Client(), Acting()

        def open_for_good() -> "Memory":
            from holdfast.compose import open_memory  # noqa: PLC0415  listing tools opens nothing
            from holdfast.compose.settings import load_settings  # noqa: PLC0415

            memory = stack.enter_context(open_memory(load_settings(flags=flags, preset=preset)))
            if memory.embedder is not None:
                from holdfast.verbs.search.embed import keeping_up  # noqa: PLC0415  numpy: only where meaning is searched

                stack.enter_context(keeping_up(memory))
            return memory

        def list_aliases() -> bool:
            from holdfast.compose.settings import load_settings  # noqa: PLC0415

            return load_settings(flags=flags, preset=preset).config.list_aliases

        yield Server(
            offer=offered(chosen, list_aliases),
            load=cache(lambda: [surface_named(name) for name in chosen]),
            call=Call(open=Opened(open_for_good, client, acting), client=client, acting=acting),
        )


class Opened:
    """Returns a memory, opened when first needed and in a session of its client; a session that cannot start is tried again.

    It is reopened when a team's database goes away or comes back, and the session continues. Only a team's database is
    checked: at most once a second, or every `AGAIN_SECONDS` while its local copy is in use. With `keeps` false `open_it`
    itself returns the current memory.
    """

    def __init__(
        self,
        open_it: "Callable[[], Memory]",
        client: Client,
        acting: Acting,
        *,
        keeps: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open, self._client, self._acting, self._keeps, self._clock = open_it, client, acting, keeps, clock
        self._lock = threading.Lock()
        self._memory: Memory | None = None
        self._looked = 0.0

    def __call__(self) -> "Memory":
        """Return the memory; `acting` has the context of its session."""
        with self._lock:
            if self._memory is None or not self._keeps:
                self._memory, self._looked = self._open(), self._clock()
            elif self._is_lost(self._memory):
                fresh = self._open()
                if fresh.apart and self._memory.apart:
                    fresh.close()
                else:
                    self._memory = fresh
                    self._continue(fresh)
            if self._acting.context is None or not self._acting.context.actor.session:
                self._acting.context = join(self._memory, self._client.name).context
            return self._memory

    def _is_lost(self, memory: "Memory") -> bool:
        """True if it is time to look, and the database is gone or its copy is in use."""
        now = self._clock()
        if not memory.config.database or now - self._looked < (AGAIN_SECONDS if memory.apart else 1):
            return False
        self._looked = now
        try:
            return bool(memory.apart) or memory.store.last_seq() < 0
        except Unreachable:
            return True

    def _continue(self, fresh: "Memory") -> None:
        """Record in a reopened store that the current session continues."""
        from holdfast.verbs.sessions import session  # noqa: PLC0415  listing tools opens nothing

        if self._acting.context is not None:
            context = self._acting.context
            session.begin(replace(fresh, context=context), implicit=True, name=context.actor.session)


def _checked(names: Sequence[str]) -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(WITHOUT_TOOLS.get(name, name) for name in names))
    for name in chosen:
        if name not in SURFACES:
            known = ", ".join((*SURFACES, *WITHOUT_TOOLS))
            raise Invalid(f"There is no surface {name!r}.", hint=f"Surfaces are {known}.")
    return chosen


def preset_named(names: Sequence[str]) -> str:
    """Return the preset that comes with the named surfaces, the first that has one."""
    return next((name for name in names if name in PRESETS), "")


def offered(names: Sequence[str], list_aliases: Callable[[], bool]) -> Offer:
    """Return the joint offer of the named surfaces; `list_aliases` is called only if some tools have aliases."""
    offers = [(name, written_offer(name)) for name in _checked(names)]
    check_names(offers)
    offer = joined(each for _, each in offers)
    return with_aliases(offer) if offer.aliases and list_aliases() else offer


def join(memory: "Memory", client: str) -> "Memory":
    """Return the memory with the client's name as actor, in a session of its own that it may announce later."""
    from holdfast.verbs.sessions import session  # noqa: PLC0415  listing tools opens nothing

    if not memory.config.agent:
        memory = memory.acting(actor=replace(memory.actor, kind="agent", name=client or memory.actor.name))
    if memory.actor.session or memory.role == "read":
        return memory
    try:
        session.plant(memory)
        left = None if memory.host.session else session.orphan(memory, any_name=True)
        # An orphan's server was restarted.
        return session.resume(memory, left) if left else session.begin(memory, implicit=True, name=memory.host.session)
    except (StoreFull, StoreUnwritable) as problem:
        log.warning("cannot start a session yet: %s", problem)  # reading works; the next call tries again
        return memory


def surface_named(name: str) -> Surface:
    """Import a surface and return it."""
    surface = import_module(SURFACES[name]).surface
    assert isinstance(surface, Surface)
    return surface
