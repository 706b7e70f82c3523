"""Parse JSON that someone else wrote: size and depth are bounded, and every failure is a ValueError.

Hooks use this at every tool call, so it imports almost nothing.
"""

import json
from collections.abc import Callable, Iterator, Mapping

from holdfast.model.patterns import Any

DEEPEST = 100  # lists and objects inside each other
LONGEST = 500_000_000  # bytes or characters


class NotJson(ValueError):
    """The text is not JSON, or longer than is parsed."""


class TooDeep(NotJson):
    """The JSON has more lists and objects inside each other than are parsed."""

    def __init__(self) -> None:
        super().__init__(f"it is nested more than {DEEPEST} levels deep")


def parse_json(text: str | bytes, longest: int = LONGEST) -> Any:
    """Return the value of a text of at most `longest` bytes or characters, or raise NotJson."""
    if len(text) > longest:
        raise NotJson(f"it is longer than {longest:,} bytes")
    try:
        value = json.loads(text)
    except RecursionError:
        raise TooDeep from None
    except ValueError as problem:
        raise NotJson(str(problem)) from problem
    check_depth(value)
    return value


def check_depth(value: Any) -> None:
    """Raise TooDeep for a value that recursive code could not walk. Not recursive itself, so no depth stops it."""
    level = [value]
    for _ in range(DEEPEST + 1):
        outer = [item for item in level if isinstance(item, (dict, list))]
        if not outer:
            return
        level = [inner for item in outer for inner in (item.values() if isinstance(item, dict) else item)]
    raise TooDeep


def json_or_none(text: str) -> Any:
    """Return what a JSON text says; None if it is invalid, such as a line cut off by a crash."""
    try:
        return parse_json(text)
    except ValueError:
        return None


def texts_in(value: Any, *, keys: bool = True) -> Iterator[str]:
    """Yield every text in a value in order, with the keys of objects or without."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case Mapping() as items:
                pairs = [*items.items()][::-1]
                waiting += [part for key, item in pairs for part in ((item, key) if keys else (item,))]
            case list() | tuple() as items:
                waiting += reversed(items)


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return a value with every text in it changed, the keys of objects included; what is no text stays."""
    match value:
        case str():
            return change(value)
        case Mapping():
            return {with_texts(key, change): with_texts(item, change) for key, item in value.items()}
        case list() | tuple():
            return [with_texts(item, change) for item in value]
    return value
