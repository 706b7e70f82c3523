"""Any value of ours as JSON, for programs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from holdfast.model.query import Hit, Recalled
from holdfast.model.record import Record, record_to_json


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


def recalled_to_json(recalled: Recalled, record: Callable[[Record], Any] = record_to_json) -> dict[str, Any]:
    """Return the result of a recall as JSON, its records as `record` writes them."""

    def hits(found: Iterable[Hit]) -> list[dict[str, Any]]:
        return [
            {
                "score": round(hit.score, 4),
                "confidence": hit.confidence,
                "why": {name: round(value, 4) for name, value in hit.why.items()},
                "snippet": hit.snippet,
                "freshness": plain(hit.freshness),
                **{name: more for name in ("branch", "came", "alike") if (more := getattr(hit, name))},
                "record": record(hit.record),
            }
            for hit in found
        ]

    near = recalled.closest
    return {
        "hits": hits(recalled.hits),
        **{name: getattr(recalled, name) for name in ("search", "gated", "cut", "lagging", "confidence")},
        "related": plain(recalled.related),
        **({"closest": {"id": near.id, "title": near.title}} if near else {}),
        **({"held": hits(recalled.held)} if recalled.held else {}),
        "notes": list(recalled.notes),
    }
