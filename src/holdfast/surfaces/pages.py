"""Pages of text: templates that look like their output, a macro for each page.

A line that begins with `◦` begins an item of a list; the line with `⋯` after the items says how to see more of them. Where a page
is longer than its reader allows, the last items are left out and counted there. `⏎` is an empty line where others are left out.
Only the macros that a page needs are compiled. A styled page has tags such as <dim>…</dim>; what values contain is escaped in it.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from holdfast.model.ids import short
from holdfast.model.text import counted, filled, listed, plotted, shorten, tokens_of
from holdfast.policy.sessions.left_off import plain
from holdfast.policy.sessions.plan_brief import clipped
from holdfast.surfaces.phrases import MODEL, Reader, line, unanswered

LEFT_OFF, LEAST = 300, 16  # tokens of the answer, and at least of the first item
ITEM, MORE, BLANK, HANG = "\x1e", "\x1d", "\x1c", "\x1f"
_SIGNS = {"◦": ITEM, "⋯": MORE, "⏎": BLANK, "⇥": HANG}
_MACRO = re.compile(r"{% macro (\w+).*?{%-? endmacro %}", re.DOTALL)
_FILTERS: Mapping[str, Callable[..., Any]] = {
    "counted": counted,
    "counts": lambda counts: ", ".join(f"{name} {count}" for name, count in counts.items()),
    "cut": shorten,
    "fixed": lambda number: f"{number:.2f}",
    "left_off": lambda work: plain(work, LEFT_OFF),
    "listed": listed,
    "megabytes": lambda size: f"{size / 1e6:.1f} MB",
    "number": lambda number: f"{number:,}",
    "percent": lambda number: f"{number:.0%}",
    "plotted": plotted,
    "short": short,
    "words": lambda name: name.replace("_", " "),
}


def pages_of(
    folder: Path, filters: Mapping[str, Callable[..., Any]], *, blank: bool = False, styled: bool = False
) -> Callable[..., str]:
    """Return the function that renders a page of a folder's pages.txt by the name of its macro; `blank` keeps empty lines."""

    @cache
    def macro(name: str, reader: Reader) -> Callable[..., str]:
        from jinja2 import Environment, StrictUndefined  # noqa: PLC0415  # loaded when the first page is rendered

        # Only styled text has tags, which values must not imitate.
        environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=styled)  # noqa: S701
        own = {"day": reader.day, "minute": reader.minute, "session": reader.session}
        own |= {"line": partial(line, reader=reader), "unanswered": partial(unanswered, reader=reader)}
        environment.filters |= {**_FILTERS, **own, **filters}
        environment.globals |= {"reader": reader}
        sources, needed, new = macros_in(folder), set[str](), {name}
        while new:  # the macros that those call
            needed |= new
            new = {word for one in new for word in re.findall(r"(\w+)\(", sources[one]) if word in sources} - needed
        text = "\n".join(source for one, source in sources.items() if one in needed)
        text = re.sub(r"^([◦⋯⏎⇥]) ?", lambda sign: _SIGNS[sign[1]], text, flags=re.MULTILINE)
        return getattr(environment.from_string(text).module, name)  # type: ignore[no-any-return]

    def page(name: str, /, *value: Any, reader: Reader = MODEL, **values: Any) -> str:
        text = str(macro(name, reader)(*value, **values)).strip("\n")
        text = text if blank else re.sub(r"\n[ \n]*(?=\n)", "", text)
        body, more, rest = text.partition(MORE)
        if more:
            hint, _, tail = rest.partition("\n")
            head, *items = (part.rstrip("\n") for part in body.split(ITEM))
            text = within(reader.budget, filled(head), items, hint, filled(tail))
        return text.replace(BLANK, "")

    return page


@cache
def macros_in(folder: Path) -> dict[str, str]:
    """Return the sources of the macros in a folder's pages.txt, by their names."""
    return {found[1]: found[0] for found in _MACRO.finditer((folder / "pages.txt").read_text(encoding="utf-8"))}


def within(budget: int, head: Sequence[str], items: Iterable[str], more: str, tail: Sequence[str] = ()) -> str:
    """Put items under a head within a token budget (0: no limit), the first cut if need be; note how many were left out."""
    if not budget:
        return "\n".join([*head, *items, *tail])
    lines, left = list(head), 0
    for place, item in enumerate(items):
        note = f"({left + 1} more: {more})"
        room = budget - tokens_of("\n".join([*lines, "", note, *tail]))
        if place and (left or tokens_of(item) > room):
            left += 1
        else:
            lines.append(clipped(item, max(LEAST, room)))
    lines += [f"({left} more: {more})"] if left else []
    return clipped("\n".join([*lines, *tail]), budget)
