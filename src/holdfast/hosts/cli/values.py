"""Argument types that complete themselves in a shell: memories, kinds, scopes, dates and clients."""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from holdfast.verbs.memory import Memory

OFFERED = 50  # most memories to offer


Offers = Callable[[click.Context, str], Iterable[tuple[str, str | None]]]


class Offering(click.types.StringParamType):
    """A text argument with completions; invalid values are left to the verb that uses them."""

    def __init__(self, name: str, offers: Offers | None = None) -> None:
        self.name, self.offers = name, offers

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        """Return the completions of a beginning, with their meaning."""
        from click.shell_completion import CompletionItem  # only needed for completion

        del param
        offers = self.offers(ctx, incomplete) if self.offers else ()
        return [CompletionItem(word, help=meaning) for word, meaning in offers]


class Date(Offering):
    """A date or time: 2026-11-15, 2026-11, today, yesterday, monday, last week, or how long ago (12h, 7d, 2w)."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the instant meant; days begin at midnight here, dates at midnight UTC."""
        from datetime import UTC, datetime

        from holdfast.model.errors import Invalid
        from holdfast.model.ids import parse_instant

        text = str(super().convert(value, param, ctx)).strip().lower()
        now = datetime.now(UTC)
        ago = re.fullmatch(r"(\d{1,4}) ?([hdw])(?:ours?|ays?|eeks?)?(?: ago)?", text)
        if ago:
            return parse_instant((now - int(ago[1]) * _UNITS[ago[2]]).isoformat())
        midnight = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        if (days := _days_back(text, midnight.weekday())) is not None:
            return parse_instant((midnight - timedelta(days=days)).isoformat())
        if month := re.fullmatch(r"(\d{4})(-\d\d)?", text):
            text = f"{month[1]}{month[2] or '-01'}-01"
        try:
            return parse_instant(text.upper()) if text else ""
        except Invalid as problem:
            hint = "Write it like 2026-11-15, 2026-11, 2026-11-15T08:30Z, yesterday, monday or 7d (12h, 2w)."
            raise Invalid(f"{str(value)[:40]!r} is not a date.", hint=hint) from problem


def _days_back(text: str, weekday: int) -> int | None:
    """Return how many days ago a named day was; None for another text. A weekday is the last one before today."""
    if text in _DAYS:
        return _DAYS[text]
    name = text.removeprefix("last ")
    if name == "week" != text:
        return 7
    number = next((at for at, day in enumerate(_WEEK) if name in (day, day[:3])), None)
    return None if number is None else (weekday - number - 1) % 7 + 1


_DAYS = {"today": 0, "yesterday": 1}
_WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def _memories(ctx: click.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """Yield the latest memories of this project by id, with their titles."""
    from holdfast.model.ids import short
    from holdfast.model.query import Query
    from holdfast.verbs.records.browse import browse

    if memory := _quietly_opened(ctx):
        with memory:
            page = browse(memory, Query(text="", limit=1000), states=("active", "pending", "retired"))
        records = [entry.record for entry in page.entries if short(entry.record.id).startswith(incomplete.upper())]
        yield from ((short(record.id), record.title) for record in records[:OFFERED])


def _scopes(ctx: click.Context, incomplete: str) -> Iterator[tuple[str, None]]:
    """Yield the scopes in use."""
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

    return ((client.name, client.title) for client in CLIENTS if client.name.startswith(incomplete))


MEMORY, KIND, SCOPE = Offering("id", _memories), Offering("kind", _kinds), Offering("scope", _scopes)
CLIENT, RELATION, DATE = Offering("name", _clients), Offering("relation", _relations), Date("date")


def _beginning(words: Iterable[str], incomplete: str) -> Iterator[tuple[str, None]]:
    return ((word, None) for word in words if word.startswith(incomplete))


def _quietly_opened(ctx: click.Context) -> "Memory | None":
    """Open the memory if there is one: completion creates no store and prints no error."""
    from pathlib import Path

    from holdfast.compose import open_memory
    from holdfast.compose.settings import load_settings, store_folder
    from holdfast.model.errors import HoldfastError
    from holdfast.model.places import FILE

    try:
        current = load_settings(flags={"home": ctx.find_root().params.get("home")})
        exists = bool(current.config.database) or (store_folder(current.config, Path.cwd()) / FILE).exists()
        return open_memory(current) if exists else None
    except HoldfastError:
        return None
