"""Convert values of other systems: times, texts, lists, and everything that is left over."""

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, date, datetime
from hashlib import blake2b
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.foreign_json import parse_json
from holdfast.model.ids import instant, parse_instant

EMPTY: tuple[Any, ...] = (None, "", [], {})
# Beyond this it is an attack: JSON of brackets only, YAML that refers to itself.
MOST_PARTS, DEEPEST = 100_000, 60


def when(value: Any) -> str:
    """Return a stored timestamp from text, seconds or milliseconds; "" if it is not a time."""
    try:
        match value:
            case bool():
                return ""
            case int() | float():
                return instant(value / 1000 if abs(value) > 1e11 else value)
            case str() if value.strip():
                return parse_instant(value)
            case datetime():
                return instant((value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp())
            case date():
                return parse_instant(value.isoformat())
    except (Invalid, ValueError, OverflowError, OSError):
        return ""  # `rest` keeps it
    return ""


def text(value: Any) -> str:
    """Return a text; other values as JSON."""
    match value:
        case None:
            return ""
        case str():
            return value
        case bytes():
            return value.decode(errors="surrogateescape")
    return json.dumps(plain(value), ensure_ascii=False)


def texts(value: Any) -> tuple[str, ...]:
    """Return a list of texts, also from JSON or a single text."""
    if isinstance(value, str) and value.strip().startswith("["):
        value = parsed(value)
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    return tuple(text(item) for item in value if item not in EMPTY) if isinstance(value, list | tuple) else ()


def parsed(value: str) -> Any:
    """Return the value of JSON, or the text itself if it is not JSON."""
    try:
        result = parse_json(value)
        check_shape(result)
    except (ValueError, Invalid):
        return value
    return result


def first(row: Mapping[str, Any], *names: str) -> str:
    """Return the first non-empty field."""
    return next((value for name in names if (value := text(row.get(name)).strip())), "")


def rest(row: Mapping[str, Any], used: Collection[str], times: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields that were not used, so that nothing is lost; times only if they could not be parsed."""
    left = {name: value for name, value in row.items() if name not in used and value not in EMPTY}
    return {str(name): plain(value) for name, value in left.items() if name not in times or not when(value)}


def check_shape(value: Any) -> None:
    """Reject values nested or repeated beyond anything a person writes."""
    parts, level = 0, [value]
    for _ in range(DEEPEST):
        parts += len(level)
        if not level or parts > MOST_PARTS:
            break
        level = [part for item in level for part in _parts_of(item)]
    if level:
        raise Invalid("It is nested too deeply or has too many parts.")


def _parts_of(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple | set) else ()


def plain(value: Any) -> Any:
    """Return a value as JSON can represent it."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple() | set():
            return [plain(item) for item in value]
        case datetime() | date():
            return value.isoformat()
        case bytes():
            return value.hex()
    return str(value)


def digest(*parts: str) -> str:
    """Return a short key for something without an id."""
    return blake2b("\n".join(parts).encode(errors="surrogatepass"), digest_size=8).hexdigest()
