"""What both MCP hosts stand on: surfaces by name, and a memory that is opened at the first need."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from holdfast.hosts.mcp.offer import Offer, check_names, joined, with_aliases, written_offer
from holdfast.hosts.mcp.protocol import Server
from holdfast.model.errors import Invalid
from holdfast.surfaces.tool import Call, Client, Surface, once

if TYPE_CHECKING:
    from holdfast.verbs.memory import Memory

# Each module holds its table as `surface`, and is imported when one of its tools is called.
SURFACES = {
    "core": "holdfast.surfaces.core",
    "gitmem": "holdfast.surfaces.gitmem",
    "claude-mem": "holdfast.surfaces.claude_mem",
    "memory-mcp": "holdfast.surfaces.memory_mcp",
    "bettermemory": "holdfast.surfaces.bettermemory",
}


@contextmanager
def serving(names: Sequence[str], flags: Mapping[str, Any]) -> Iterator[Server]:
    """Give a server of the named surfaces; whatever its memory opened is closed at the end."""
    chosen = _checked(names)
    with ExitStack() as stack:
        client = Client()

        def open_for_good() -> "Memory":
            from holdfast.compose import load_settings, open_memory  # noqa: PLC0415  listing tools opens nothing

            memory = stack.enter_context(open_memory(load_settings(flags=flags)))
            join(memory, client.name)
            if memory.embedder is not None:
                from holdfast.verbs.embed import keeping_up  # noqa: PLC0415  numpy: only where meaning is searched

                stack.enter_context(keeping_up(memory))
            return memory

        yield Server(
            offer=_offered(chosen, flags),
            load=cache(lambda: [surface_named(name) for name in chosen]),
            call=Call(open=once(open_for_good), client=client),
        )


def _checked(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if name not in SURFACES:
            raise Invalid(f"There is no surface {name!r}.", hint=f"Surfaces are {', '.join(SURFACES)}.")
    return tuple(dict.fromkeys(names))


def offered(names: Sequence[str], *, aliases: bool) -> Offer:
    """Give what the named surfaces offer together."""
    offers = [(name, written_offer(name)) for name in _checked(names)]
    check_names(offers)
    offer = joined(one for _, one in offers)
    return with_aliases(offer) if aliases else offer


def _offered(names: Sequence[str], flags: Mapping[str, Any]) -> Offer:
    """Give what the named surfaces offer together; other names of tools are listed only if the settings say so."""
    offers = [(name, written_offer(name)) for name in names]
    check_names(offers)
    offer = joined(one for _, one in offers)
    if not offer.aliases:
        return offer
    from holdfast.compose import load_settings  # noqa: PLC0415  not where there is nothing to decide

    return with_aliases(offer) if load_settings(flags=flags).config.list_aliases else offer


def join(memory: "Memory", client: str) -> None:
    """Let a client work under its own name, in a session of its own that it may announce later."""
    from holdfast.verbs.session import begin  # noqa: PLC0415  listing tools opens nothing
    from holdfast.verbs.starters import plant  # noqa: PLC0415

    if not memory.config.agent:
        memory.actor = replace(memory.actor, kind="agent", name=client or memory.actor.name)
    if not memory.actor.session:
        plant(memory)
        begin(memory, implicit=True, name=memory.host.session)


def surface_named(name: str) -> Surface:
    """Import and give a surface."""
    surface = import_module(SURFACES[name]).surface
    assert isinstance(surface, Surface)
    return surface
