"""Times as people write and read them: dates, named days and spans, and how long ago something was."""

import re
from datetime import datetime, timedelta, tzinfo

from holdfast.model.errors import Invalid
from holdfast.model.ids import parse_instant

MINUTE, DAYS_AGO = 60, 7
_DAYS = {"today": 0, "yesterday": 1, "last week": 7}
_WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_SPAN = re.compile(r"(\d{1,4}) ?([hdw])(?:ours?|ays?|eeks?)?(?: ago)?")


def moment_of(text: str, now: str) -> str:
    """Return the instant meant by 2026-11-15, 2026-11, today, yesterday, monday, last week, or how long ago (12h, 7d, 2w).

    Days begin at midnight of the local time zone, dates at midnight UTC; a weekday is the last one before today.
    """
    words, present = text.strip().lower(), datetime.fromisoformat(now)
    if span := _SPAN.fullmatch(words):
        return parse_instant((present - int(span[1]) * _UNITS[span[2]]).isoformat())
    midnight = present.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    day = words.removeprefix("last ")
    weekday = next((at for at, name in enumerate(_WEEK) if day in (name, name[:3])), None)
    days = _DAYS.get(words) if weekday is None else (midnight.weekday() - weekday - 1) % 7 + 1
    if days is not None:
        return parse_instant((midnight - timedelta(days=days)).isoformat())
    if month := re.fullmatch(r"(\d{4})(-\d\d)?", words):
        words = f"{month[1]}{month[2] or '-01'}-01"
    try:
        return parse_instant(words.upper()) if words else ""
    except Invalid as problem:
        hint = "Write it like 2026-11-15, 2026-11, 2026-11-15T08:30Z, yesterday, monday or 7d (12h, 2w)."
        raise Invalid(f"{text[:40]!r} is not a date.", hint=hint) from problem


def ago(at: str, now: str, zone: tzinfo | None = None) -> str:
    """Return how long ago an instant was; its date in a time zone (the local one) if that is more than a week, "never" for none."""
    if not at:
        return "never"
    then, present = (datetime.fromisoformat(time).astimezone(zone) for time in (at, now))
    seconds, days = (present - then).total_seconds(), (present.date() - then.date()).days
    if days > DAYS_AGO or seconds < -MINUTE:
        return f"{then:%Y-%m-%d}"
    if seconds < MINUTE:
        return "just now"
    if seconds < 60 * MINUTE:
        return f"{seconds // MINUTE:.0f} min ago"
    if days == 0:
        return f"{seconds // (60 * MINUTE):.0f} h ago"
    return "yesterday" if days == 1 else f"{days} days ago"
