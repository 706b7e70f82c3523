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
from holdfast.model.errors import Invalid, StoreFull, StoreUnwritable, Unreachable
from holdfast.model.presets import PRESETS
from holdfast.surfaces.tool import Acting, Call, Client, Surface

if TYPE_CHECKING:
    from holdfast.verbs.memory import Memory

log = logging.getLogger(__name__)
AGAIN_SECONDS = 15.0  # between checks for a database that was unreachable
# Each module has its table as `surface`, and is imported when one of its tools is called.
SURFACES = {
    "core": "holdfast.surfaces.core",
    "gitmem": "holdfast.surfaces.gitmem",
    "claude-mem": "holdfast.surfaces.claude_mem",
    "memory-mcp": "holdfast.surfaces.memory_mcp",
    "bettermemory": "holdfast.surfaces.bettermemory",
}
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
            call=Call(open=in_session(steady(open_for_good, acting), client, acting), client=client, acting=acting),
        )


def steady(
    open_it: "Callable[[], Memory]", acting: Acting, clock: Callable[[], float] = time.monotonic
) -> "Callable[[], Memory]":
    """Return a function that returns the same memory, and reopens it when a team's database goes away or comes back.

    The current session continues in the reopened memory. Only a team's database is checked: at most once a second, or
    every `AGAIN_SECONDS` while its local copy is in use.
    """
    lock, opened, looked = threading.Lock(), list["Memory"](), [0.0]

    def is_time(memory: "Memory") -> bool:
        if not memory.config.database or clock() - looked[0] < (AGAIN_SECONDS if memory.apart else 1):
            return False
        looked[0] = clock()
        if memory.apart:
            return True
        try:
            memory.store.last_seq()
        except Unreachable:
            return True
        return False

    def give() -> "Memory":
        with lock:
            if not opened:
                opened.append(open_it())
                looked[0] = clock()
            elif is_time(opened[0]):
                fresh = open_it()
                if fresh.apart and opened[0].apart:
                    fresh.close()
                else:
                    opened[0] = fresh
                    _continue(fresh, acting)
            return opened[0]

    return give


def _continue(fresh: "Memory", acting: Acting) -> None:
    """Record in a reopened store that the current session continues."""
    from holdfast.verbs.sessions.session import begin  # noqa: PLC0415  listing tools opens nothing

    if acting.context is not None:
        begin(replace(fresh, context=acting.context), implicit=True, name=acting.context.actor.session)


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


def in_session(open_it: "Callable[[], Memory]", client: Client, acting: Acting) -> "Callable[[], Memory]":
    """Return a function that opens a memory and joins a session, trying again on each call until one has started."""
    lock = threading.Lock()

    def give() -> "Memory":
        memory = open_it()
        with lock:
            if acting.context is None or not acting.context.actor.session:
                acting.context = join(memory, client.name).context
        return memory

    return give


def join(memory: "Memory", client: str) -> "Memory":
    """Return the memory with the client's name as actor, in a session of its own that it may announce later."""
    from holdfast.verbs.sessions.session import begin, orphan, resume  # noqa: PLC0415  listing tools opens nothing
    from holdfast.verbs.sessions.starters import plant  # noqa: PLC0415

    if not memory.config.agent:
        memory = memory.acting(actor=replace(memory.actor, kind="agent", name=client or memory.actor.name))
    if memory.actor.session or memory.role == "read":
        return memory
    try:
        plant(memory)
        left = None if memory.host.session else orphan(memory, any_name=True)
        # An orphan's server was restarted.
        return resume(memory, left) if left else begin(memory, implicit=True, name=memory.host.session)
    except (StoreFull, StoreUnwritable) as problem:
        log.warning("cannot start a session yet: %s", problem)  # reading works; the next call tries again
        return memory


def surface_named(name: str) -> Surface:
    """Import a surface and return it."""
    surface = import_module(SURFACES[name]).surface
    assert isinstance(surface, Surface)
    return surface
