"""What arguments can be: memories, kinds, scopes, dates and clients; each completes what somebody began to type."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from holdfast.verbs.memory import Memory

OFFERED = 50  # memories offered at most: nobody reads on


class _Memory(click.types.StringParamType):
    """The id of a memory, or how it begins."""

    name = "id"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        """Offer the latest memories of this project by id, with their titles."""
        from holdfast.hosts.cli.render import SHORT
        from holdfast.model.query import Query
        from holdfast.verbs.browse import browse

        del param
        memory = _quietly_opened(ctx)
        if memory is None:
            return []
        with memory:
            page = browse(memory, Query(text="", limit=1000), states=("active", "pending", "retired"))
        found = [entry.record for entry in page.entries if entry.record.id.startswith(incomplete.upper())]
        return _items((record.id[:SHORT], record.title) for record in found[:OFFERED])


class _Kind(click.types.StringParamType):
    """A kind of memory, or a name other systems have for one."""

    name = "kind"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        """Offer the kinds."""
        from holdfast.model.kinds import KINDS

        del ctx, param
        return _beginning(KINDS, incomplete)


class _Scope(click.types.StringParamType):
    """A scope."""

    name = "scope"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        """Offer the scopes in use."""
        from holdfast.verbs.read import list_scopes

        del param
        memory = _quietly_opened(ctx)
        if memory is None:
            return []
        with memory:
            return _beginning(list_scopes(memory), incomplete)


class _Client(click.types.StringParamType):
    """The name of a client that can be set up."""

    name = "name"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        """Offer the clients that are known."""
        from holdfast.hosts.setup.clients import CLIENTS

        del ctx, param
        return _items((one.name, one.title) for one in CLIENTS if one.name.startswith(incomplete))


class _Relation(click.types.StringParamType):
    """A relation between two memories; the verb that links says which there are."""

    name = "relation"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        """Offer the relations."""
        from holdfast.model.record import RELATIONS

        del ctx, param
        return _beginning(RELATIONS, incomplete)


class _Date(click.types.StringParamType):
    """A day or moment; the verb that needs it reads it."""

    name = "date"


MEMORY, KIND, SCOPE, CLIENT, RELATION, DATE = _Memory(), _Kind(), _Scope(), _Client(), _Relation(), _Date()


def _beginning(words: Iterable[str], incomplete: str) -> "list[CompletionItem]":
    return _items((word, None) for word in words if word.startswith(incomplete))


def _items(found: "Iterable[tuple[str, str | None]]") -> "list[CompletionItem]":
    from click.shell_completion import CompletionItem  # only a shell that completes needs it

    return [CompletionItem(word, help=meaning) for word, meaning in found]


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
