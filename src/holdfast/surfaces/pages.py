"""Pages of text: templates that look like their output, a macro for each page."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from holdfast.model.ids import short
from holdfast.model.text import counted, listed, shorten
from holdfast.surfaces.phrases import kind_of

FILE = "pages.txt"
_FILTERS = {"counted": counted, "cut": shorten, "kind": kind_of, "listed": listed, "short": short}


def pages_of(folder: Path, filters: Mapping[str, Callable[..., Any]]) -> Callable[..., str]:
    """Return the function that renders a page of a surface's pages.txt by the name of its macro."""

    @cache
    def macros() -> Any:
        from jinja2 import Environment, StrictUndefined  # noqa: PLC0415  # loaded when the first page is rendered

        environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)  # noqa: S701  # text
        environment.filters |= {**_FILTERS, **filters}
        return environment.from_string((folder / FILE).read_text(encoding="utf-8")).module

    def page(name: str, /, **values: Any) -> str:
        return str(getattr(macros(), name)(**values)).strip("\n")

    return page
