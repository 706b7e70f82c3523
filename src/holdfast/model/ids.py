"""Ids that sort by time even when a clock steps back, and timestamps."""

import os
import re
import threading
import time
from collections.abc import Callable, Collection
from datetime import UTC, date, datetime, timedelta, tzinfo
from hashlib import blake2b

from ulid_transform import bytes_to_ulid, ulid_to_bytes, ulid_to_timestamp

from holdfast.model.errors import Invalid

ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_PART = re.compile(r"[0-9A-HJKMNP-TV-Z]{4,26}")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
TAIL = 6  # characters at the end of an id that are looked up; a short form has at least SHORT of them
SHORT, TIME = 8, 13  # characters of an id that are shown
LAST = 253_402_214_400.0  # the last day with a four-digit year
# A replica whose clock runs further ahead than this does not drag ours along.
MAX_DRIFT_MS = 24 * 3600 * 1000
# Ids dated after the year 3000 are invalid: no later id could follow them.
MAX_ID_MS = 32_503_680_000_000
# Ids of things without a time are dated 2020, before anything this program wrote itself.
UNDATED_MS, YEAR_MS = 1_577_836_800_000, 31_536_000_000


class Clock:
    """Makes timestamps and ids; an id is later than every id this clock made or observed."""

    def __init__(self, now: Callable[[], float] = time.time, chance: Callable[[int], int] | None = None) -> None:
        self._now = now
        self._chance = chance or (lambda bits: int.from_bytes(os.urandom(bits // 8)))  # `secrets` takes 3 ms to load
        self._last = ""
        self._lock = threading.Lock()

    def now(self) -> str:
        """Return the current timestamp."""
        return instant(self._now())

    def tick(self, after: str = "") -> str:
        """Return the next id, later than `after` as well."""
        # Its millisecond is later too; the rest is random, so that another clock that continues from there makes another.
        with self._lock:
            floor = max(self._last, after)
            earliest = ulid_to_timestamp(floor) + 1 if floor else 0
            millisecond, chance = max(int(self._now() * 1000), earliest), self._chance(80)
            made = bytes_to_ulid(millisecond.to_bytes(6) + chance.to_bytes(10))
            # The short form has a digit (see `short`); without this one id in twenty would be longer in lists.
            self._last = f"{made[:-1]}{chance % 10}" if made[-SHORT:].isalpha() else made
            return self._last

    def is_ahead(self, event_id: str) -> bool:
        """True if the clock that made an id is more than a day ahead."""
        return ulid_to_timestamp(event_id) > self._now() * 1000 + MAX_DRIFT_MS

    def observe(self, event_id: str) -> None:
        """Continue from an id made elsewhere, unless its clock was more than a day ahead."""
        if not self.is_ahead(event_id):
            with self._lock:
                self._last = max(self._last, event_id)


def fixed_id(at: float | str, name: str) -> str:
    """Return the same id for the same name and instant always, so that a record everyone has is the same record everywhere."""
    at = at if isinstance(at, float) else datetime.fromisoformat(parse_instant(at)).timestamp()
    return bytes_to_ulid(int(at * 1000).to_bytes(6) + blake2b(name.encode(), digest_size=10).digest())


def named_id(name: str, at: str = "", after: str = "") -> str:
    """Return the same id for the same name and timestamp always, later than `after`."""
    digest = blake2b(name.encode(errors="surrogatepass"), digest_size=10).digest()
    chance, stamp = int.from_bytes(digest[:6]), epoch_ms(at)
    # Whole seconds, and missing timestamps, are spread by the name, so that the first characters of ids differ.
    if not 0 < stamp <= MAX_ID_MS:
        stamp = UNDATED_MS + chance % YEAR_MS
    elif stamp % 1000 == 0:
        stamp += chance % 1000
    if after:
        stamp = max(stamp, ulid_to_timestamp(after) + 1)
    return bytes_to_ulid(stamp.to_bytes(6) + digest)


def moved_id(event_id: str, milliseconds: int) -> str:
    """Return an id as if it had been made so much later: the same but for its time."""
    stamp = ulid_to_timestamp(event_id) + milliseconds
    return bytes_to_ulid(stamp.to_bytes(6) + ulid_to_bytes(event_id)[6:])


def epoch_ms(at: str) -> int:
    """Return an instant in milliseconds since 1970; 0 for ""."""
    return round(datetime.fromisoformat(at).timestamp() * 1000) if at else 0


def check_id(text: str) -> str:
    """Return a well-formed id unchanged; raise Invalid for anything else."""
    if not ULID.fullmatch(text) or ulid_to_timestamp(text) > MAX_ID_MS:
        raise Invalid(f"{text[:40]!r} is not an id.", hint="Ids are 26 characters, as printed by `holdfast list`.")
    return text


def short(id_: str, others: Collection[str] = ()) -> str:
    """Return the form of an id to show: its random end, because ids of one moment begin alike.

    It has a digit, so that it is not taken for a word, and is long enough to fit none of the `others`. Eight
    characters are 40 bits: of 100,000 ids, two end alike in one store of two hundred.
    """
    if UUID.fullmatch(id_):  # a client shows its beginning: the whole time if it begins with one (version 7)
        return id_[: TIME if id_[14] == "7" else SHORT]
    for end in (id_[-length:] for length in range(SHORT, len(id_))) if ULID.fullmatch(id_) else ():
        if not end.isalpha() and not any(other.endswith(end) for other in others if other != id_):
            return end
    return id_


def is_called(id_: str, reference: str) -> bool:
    """True if a reference is an id, its end or its beginning."""
    wanted = reference.strip().upper()
    return bool(wanted) and (id_.upper().endswith(wanted) or id_.upper().startswith(wanted))


def is_part(text: str) -> bool:
    """True if a text could be an id, its end or its beginning."""
    return bool(_PART.fullmatch(text.strip().upper()))


def check_part(text: str, lists: str = "list") -> str:
    """Return an id, or a part of one, in its canonical spelling; `lists` is the command that shows ids."""
    if not is_part(text):
        raise Invalid(f"{text[:40]!r} is not an id.", hint=f"`holdfast {lists}` shows ids, such as QD7Q2M4X.")
    return text.strip().upper()


def instant(epoch: float) -> str:
    """Return a timestamp as UTC with milliseconds, the only form that is stored."""
    return datetime.fromtimestamp(epoch, UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def parse_instant(text: str, zone: tzinfo | None = UTC) -> str:
    """Parse an ISO date or time into the stored form. Without an offset it is in a zone: that of what is stored, or local (None)."""
    try:
        moment = datetime.fromisoformat(text.strip())
        return instant((moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp())
    except (ValueError, OverflowError, OSError) as problem:
        hint = "Write it like 2026-11-15 or 2026-11-15T08:30Z."
        raise Invalid(f"{text[:40]!r} is not a date.", hint=hint) from problem


def days_before(now: str, days: float) -> str:
    """Return the timestamp some days before another (after it, if negative), within the range of dates."""
    return instant(min(max(0.0, datetime.fromisoformat(now).timestamp() - min(max(-1e7, days), 1e7) * 86_400), LAST))


def days_between(earlier: str, later: str) -> float:
    """Return the days from a timestamp to another, never negative."""
    return max(0.0, (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds() / 86_400)


MINUTE, DAYS_AGO = 60, 7
_DAYS = {"today": 0, "yesterday": 1, "last week": 7}
_WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_SPAN = re.compile(r"(\d{1,4}) ?([hdw])(?:ours?|ays?|eeks?)?(?: ago)?")


def moment_of(given: str | date | timedelta, now: str) -> str:
    """Return the instant meant by 2026-11-15, 2026-11, today, yesterday, monday, last week, or how long ago (12h, 7d, 2w)."""
    # Days begin at midnight of the local time zone; a weekday is the last one before today.
    present = datetime.fromisoformat(now)
    if isinstance(given, timedelta):
        return days_before(now, given / timedelta(days=1))
    text = given.isoformat() if isinstance(given, date) else given
    if not isinstance(text, str):
        raise Invalid(f"{given!r:.40} is not a date.", hint="Pass a text, a date, a datetime or a timedelta.")
    words = text.strip().lower()
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
        return parse_instant(words.upper(), None) if words else ""
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
    if days > 1:
        return f"{days} days ago"
    return "yesterday" if days else f"{seconds // (60 * MINUTE):.0f} h ago"
