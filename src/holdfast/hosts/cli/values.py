"""What arguments can be: memories, kinds, scopes, dates and clients; each completes what somebody began to type."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from holdfast.verbs.memory import Memory

OFFERED = 50  # memories offered at most: nobody reads on


Offers = Callable[[click.Context, str], Iterable[tuple[str, str | None]]]


class Offering(click.types.StringParamType):
    """A text of which a shell is offered what fits; the verb that needs it says what is wrong with another."""

    def __init__(self, name: str, offers: Offers | None = None) -> None:
        self.name, self.offers = name, offers

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        """Offer what begins like this, with what it means."""
        from click.shell_completion import CompletionItem  # only a shell that completes needs it

        del param
        found = self.offers(ctx, incomplete) if self.offers else ()
        return [CompletionItem(word, help=meaning) for word, meaning in found]


def _memories(ctx: click.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """Offer the latest memories of this project by id, with their titles."""
    from holdfast.hosts.cli.render import SHORT
    from holdfast.model.query import Query
    from holdfast.verbs.records.browse import browse

    if memory := _quietly_opened(ctx):
        with memory:
            page = browse(memory, Query(text="", limit=1000), states=("active", "pending", "retired"))
        found = [entry.record for entry in page.entries if entry.record.id.startswith(incomplete.upper())]
        yield from ((record.id[:SHORT], record.title) for record in found[:OFFERED])


def _scopes(ctx: click.Context, incomplete: str) -> Iterator[tuple[str, None]]:
    """Offer the scopes in use."""
    from holdfast.verbs.records.read import list_scopes

    if memory := _quietly_opened(ctx):
        with memory:
            yield from _beginning(list_scopes(memory), incomplete)


def _kinds(_: click.Context, incomplete: str) -> Iterator[tuple[str, None]]:
    from holdfast.model.kinds import KINDS

    return _beginning(KINDS, incomplete)


def _relations(_: click.Context, incomplete: str) -> Iterator[tuple[str, None]]:
    from holdfast.model.record import RELATIONS

    return _beginning(RELATIONS, incomplete)


def _clients(_: click.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    from holdfast.hosts.setup.clients import CLIENTS

    return ((one.name, one.title) for one in CLIENTS if one.name.startswith(incomplete))


MEMORY, KIND, SCOPE = Offering("id", _memories), Offering("kind", _kinds), Offering("scope", _scopes)
CLIENT, RELATION, DATE = Offering("name", _clients), Offering("relation", _relations), Offering("date")


def _beginning(words: Iterable[str], incomplete: str) -> Iterator[tuple[str, None]]:
    return ((word, None) for word in words if word.startswith(incomplete))


def _quietly_opened(ctx: click.Context) -> "Memory | None":
    """Open the memory if there is one: who presses TAB makes no store and reads no error."""
    from pathlib import Path

    from holdfast.compose import open_memory
    from holdfast.compose.settings import FILE, load_settings, store_folder
    from holdfast.model.errors import HoldfastError

    try:
        given = load_settings(flags={"home": ctx.find_root().params.get("home")})
        there = bool(given.config.database) or (store_folder(given.config, Path.cwd()) / FILE).exists()
        return open_memory(given) if there else None
    except HoldfastError:
        return None
