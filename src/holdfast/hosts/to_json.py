"""Any value of ours as JSON, for programs."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from holdfast.model.query import Recalled
from holdfast.model.record import Record, record_to_json
from holdfast.surfaces.maps import Terms, mapped


def plain(value: Any) -> Any:
    """Write any value of ours as JSON."""
    match value:
        case Record():
            return record_to_json(value)
        case dict() | Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case tuple() if hasattr(value, "_asdict"):
            return plain(value._asdict())
        case list() | tuple() | set() | frozenset():
            return [plain(item) for item in value]
        case _ if is_dataclass(value):
            return {spec.name: plain(getattr(value, spec.name)) for spec in fields(value)}
    return value


_HIT = "score=score|4, confidence, why=why|rounded, snippet, freshness=freshness|plain, branch?, contradicted_by?, came?, alike?=alike|none, "
_HIT += "record=record|record"
_RECALLED = f"hits=hits[{_HIT}], search, gated, cut, lagging, confidence, related=related|plain, "
_RECALLED += f"closest?=closest{{id, title}}, held?=held[{_HIT}], notes=notes|list"


def recalled_to_json(recalled: Recalled, record: Callable[[Record], Any] = record_to_json) -> dict[str, Any]:
    """Return the result of a recall as JSON, its records as `record` writes them."""
    filters: dict[str, Callable[..., Any]] = {"plain": plain, "record": record}
    filters["rounded"] = lambda why: {name: round(value, 4) for name, value in why.items()}
    return mapped(_RECALLED, recalled, None, Terms(filters=filters))
