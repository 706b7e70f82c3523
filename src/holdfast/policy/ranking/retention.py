"""Retention of kinds about a moment, such as observations. Knowledge does not expire: it is superseded or refuted."""

from collections.abc import Mapping

from holdfast.model.ids import days_between
from holdfast.model.query import Usage
from holdfast.model.record import Record

DAYS: Mapping[str, int] = {"observation": 180, "progress": 365, "review": 365, "summary": 730}
CAPS: Mapping[str, int] = {"observation": 20_000, "progress": 5_000, "review": 5_000, "summary": 10_000}


def outlived(record: Record, usage: Usage | None, now: str) -> bool:
    """True if a record was idle for longer than its kind is kept."""
    days = DAYS.get(record.kind)
    last = max(record.updated_at, record.verified_at, usage.last_used_at if usage else "")
    return days is not None and days_between(last, now) > days
