"""What both MCP hosts share: surfaces by name, and a memory that is opened when first needed."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from holdfast.hosts.mcp.protocol import Offer, Server, check_names, joined, with_aliases, written_offer
from holdfast.model.config import PRESETS
from holdfast.model.errors import Invalid, StoreFull, StoreUnwritable, Unreachable
from holdfast.surfaces.tool import Call, Client, Surface

if TYPE_CHECKING:
    from holdfast.compose.settings import Settings
    from holdfast.verbs.memory import Memory

log = logging.getLogger(__name__)
AGAIN_SECONDS = 15.0  # between checks for a database that was unreachable
# Each module has its table as `surface`, and is imported when one of its tools is called.
_NAMES = ("core", "gitmem", "claude-mem", "memory-mcp", "bettermemory")
SURFACES = {name: f"holdfast.surfaces.{name.replace('-', '_')}.tools" for name in _NAMES}
# Systems without tools of their own: their preset comes with these tools.
WITHOUT_TOOLS = {"git-notes": "core"}


@contextmanager
def serving(names: Sequence[str], flags: Mapping[str, Any]) -> Iterator[Server]:
    """Yield a server of the named surfaces; the memory is closed at the end."""
    preset, client = preset_named(names), Client()
    with ExitStack() as stack:

        def settings() -> "Settings":
            from holdfast.compose.settings import load_settings  # noqa: PLC0415  listing tools opens nothing

            return load_settings(flags=flags, preset=preset)

        def open_for_good() -> "Memory":
            from holdfast.compose import open_memory  # noqa: PLC0415

            memory = stack.enter_context(open_memory(settings()))
            if memory.embedder is not None:
                from holdfast.verbs.search.embed import keeping_up  # noqa: PLC0415  numpy: only where meaning is searched
                from holdfast.verbs.truth.contradictions import PATIENCE, compare  # noqa: PLC0415

                # Not every client has hooks, whose worker compares what is new.
                stack.enter_context(keeping_up(memory, then=partial(compare, memory, seconds=PATIENCE)))
            return memory

        call = Call(Opened(open_for_good, client), client)
        yield served(names, lambda: settings().config.list_aliases, call)


def served(names: Sequence[str], list_aliases: Callable[[], bool], call: Call) -> Server:
    """Return a server of the named surfaces, imported when needed; `list_aliases` is called only if some tools have aliases."""
    offers = offers_of(names)
    offer = joined(offers.values())
    offer = with_aliases(offer) if offer.aliases and list_aliases() else offer
    return Server(offer=offer, load=cache(lambda: [surface_named(name) for name in offers]), call=call)


def offers_of(names: Iterable[str]) -> dict[str, Offer]:
    """Return the offers of the named surfaces; raise Invalid if one server cannot offer them."""
    chosen = dict.fromkeys(WITHOUT_TOOLS.get(name, name) for name in names)
    for name in chosen:
        if name not in SURFACES:
            known = ", ".join((*SURFACES, *WITHOUT_TOOLS))
            raise Invalid(f"There is no surface {name!r}.", hint=f"Surfaces are {known}.")
    offers = {name: written_offer(name) for name in chosen}
    check_names(list(offers.items()))
    return offers


@dataclass(slots=True)
class Opened:
    """Returns a memory, opened when first needed and in a session of its client; a session that cannot start is tried again.

    It is reopened when a team's database goes away or comes back, and the session continues. Only a team's database is
    checked: at most once a second, or every `AGAIN_SECONDS` while its local copy is in use. With `keeps` false `open_it`
    itself returns the current memory.
    """

    open_it: "Callable[[], Memory]"
    client: Client
    keeps: bool = True
    clock: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _memory: "Memory | None" = None
    _looked: float = 0.0

    def __call__(self) -> "Memory":
        """Return the memory; the client has the context of its session."""
        with self._lock:
            context = self.client.context
            if self._memory is None or not self.keeps:
                self._memory, self._looked = self.open_it(), self.clock()
            elif self._is_lost(self._memory):
                fresh = self.open_it()
                if fresh.apart and self._memory.apart:
                    fresh.close()
                else:
                    self._memory = fresh
                    if context is not None:  # the session continues in the reopened store
                        from holdfast.verbs.sessions.session import begin  # noqa: PLC0415  listing tools opens nothing

                        begin(replace(fresh, context=context), implicit=True, name=context.actor.session)
            if context is None or not context.actor.session:
                self.client.context = join(self._memory, self.client.name).context
            return self._memory

    def _is_lost(self, memory: "Memory") -> bool:
        """True if it is time to look, and the database is gone or its copy is in use."""
        now = self.clock()
        if not memory.config.database or now - self._looked < (AGAIN_SECONDS if memory.apart else 1):
            return False
        self._looked = now
        try:
            return bool(memory.apart) or memory.store.last_seq() < 0
        except Unreachable:
            return True


def preset_named(names: Sequence[str]) -> str:
    """Return the preset that comes with the named surfaces, the first that has one."""
    return next((name for name in names if name in PRESETS), "")


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
    surface: Surface = import_module(SURFACES[name]).surface
    return surface
