"""Any value of ours as JSON, for programs."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from holdfast.model.query import Hit
from holdfast.model.record import Record, record_to_json


def plain(value: Any) -> Any:
    """Write any value of ours as JSON."""
    match value:
        case Record():
            return record_to_json(value)
        case dict() | Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(item) for item in value]
        case _ if is_dataclass(value):
            return {spec.name: plain(getattr(value, spec.name)) for spec in fields(value)}
    return value


def hit_to_json(hit: Hit) -> dict[str, Any]:
    """Return a hit as JSON."""
    rare = {"branch": hit.branch, "came": hit.came, "alike": hit.alike}
    return {
        "score": round(hit.score, 4),
        "confidence": hit.confidence,
        "why": {name: round(value, 4) for name, value in hit.why.items()},
        "snippet": hit.snippet,
        "freshness": plain(hit.freshness),
        **{name: value for name, value in rare.items() if value},
        "record": record_to_json(hit.record),
    }
