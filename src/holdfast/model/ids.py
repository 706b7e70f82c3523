"""Ids that sort by time even when a clock steps back, and the instants people read."""

import re
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import blake2b
from secrets import randbits

from ulid_transform import bytes_to_ulid, ulid_to_timestamp

from holdfast.model.errors import Invalid

ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_PREFIX = re.compile(r"[0-9A-HJKMNP-TV-Z]{4,26}")
LAST = 253_402_214_400.0  # the last day that has a date of four digits
# A replica whose clock runs further ahead than this does not drag ours along.
MAX_DRIFT_MS = 24 * 3600 * 1000
# Ids dated after the year 3000 come from nowhere good and could leave no room to count on.
MAX_ID_MS = 32_503_680_000_000
# Where ids of things without a time of their own lie: 2020, which is before anything this program wrote itself.
UNDATED_MS, YEAR_MS = 1_577_836_800_000, 31_536_000_000


class Clock:
    """Gives instants and ids; an id is later than every id this clock gave or was shown."""

    def __init__(self, now: Callable[[], float] = time.time, chance: Callable[[int], int] = randbits) -> None:
        self._now = now
        self._chance = chance
        self._last = ""
        self._lock = threading.Lock()

    def now(self) -> str:
        """Return the present instant."""
        return instant(self._now())

    def tick(self, after: str = "") -> str:
        """Return the next id, later than `after` as well.

        It is of a later millisecond, so that its first characters tell it apart; the rest is chance, so that another
        clock that counts on from the same id gives another one.
        """
        with self._lock:
            floor = max(self._last, after)
            earliest = ulid_to_timestamp(floor) + 1 if floor else 0
            millisecond = max(int(self._now() * 1000), earliest)
            self._last = bytes_to_ulid(millisecond.to_bytes(6) + self._chance(80).to_bytes(10))
            return self._last

    def is_ahead(self, event_id: str) -> bool:
        """Return whether an id was made by a clock that is absurdly ahead."""
        return ulid_to_timestamp(event_id) > self._now() * 1000 + MAX_DRIFT_MS

    def observe(self, event_id: str) -> None:
        """Count on from an id made elsewhere, unless its clock was absurdly ahead."""
        if not self.is_ahead(event_id):
            with self._lock:
                self._last = max(self._last, event_id)


def fixed_id(at: float, name: str) -> str:
    """Return the same id for the same name always, so that what everybody has is the same record everywhere."""
    return bytes_to_ulid(int(at * 1000).to_bytes(6) + blake2b(name.encode(), digest_size=10).digest())


def named_id(name: str, at: str = "", after: str = "") -> str:
    """Return the same id for the same name and instant always, later than `after`.

    Instants of whole seconds, and none at all, are spread by the name: ids are told apart by their first characters.
    """
    digest = blake2b(name.encode(errors="surrogatepass"), digest_size=10).digest()
    chance, stamp = int.from_bytes(digest[:6]), _stamp(at)
    if not 0 < stamp <= MAX_ID_MS:
        stamp = UNDATED_MS + chance % YEAR_MS
    elif stamp % 1000 == 0:
        stamp += chance % 1000
    if after:
        stamp = max(stamp, ulid_to_timestamp(after) + 1)
    return bytes_to_ulid(stamp.to_bytes(6) + digest)


def _stamp(at: str) -> int:
    return round(datetime.fromisoformat(at).timestamp() * 1000) if at else 0


def check_id(text: str) -> str:
    """Return back a well-formed id."""
    if not ULID.fullmatch(text) or ulid_to_timestamp(text) > MAX_ID_MS:
        raise Invalid(f"{text[:40]!r} is not an id.", hint="Ids are 26 characters, as printed by `holdfast list`.")
    return text


def is_prefix(text: str) -> bool:
    """Return whether a text could be an id of ours or the beginning of one."""
    return bool(_PREFIX.fullmatch(text.strip().upper()))


def check_prefix(text: str) -> str:
    """Return a full id or an id prefix in its canonical spelling."""
    if not is_prefix(text):
        raise Invalid(f"{text[:40]!r} is not an id.", hint="Use the id, or at least its first 8 characters.")
    return text.strip().upper()


def instant(epoch: float) -> str:
    """Write an instant as UTC with milliseconds, the only form that is stored."""
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def parse_instant(text: str) -> str:
    """Read an ISO date or time (UTC unless it says otherwise) into the stored form."""
    try:
        moment = datetime.fromisoformat(text.strip())
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        return instant(moment.timestamp())
    except (ValueError, OverflowError, OSError) as problem:
        raise Invalid(
            f"{text[:40]!r} is not a date.", hint="Write it like 2026-11-15 or 2026-11-15T08:30Z."
        ) from problem


def days_before(now: str, days: float) -> str:
    """Return the instant some days before a stored one, or after it for less than none; at most as far as a date goes."""
    return instant(min(max(0.0, datetime.fromisoformat(now).timestamp() - days * 86_400), LAST))


def days_between(earlier: str, later: str) -> float:
    """Return the days from one stored instant to another, never negative."""
    span = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    return max(0.0, span.total_seconds() / 86_400)
