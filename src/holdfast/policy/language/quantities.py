"""Parse numbers as people write them (units, words, versions, times of day) into comparable quantities."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_WORDS = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()
    )
} | {"twenty": "20", "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "ninety": "90", "hundred": "100"}
_DAY = 86_400.0
# Unit -> (what it measures, its size in base units).
_UNITS: Mapping[str, tuple[str, float]] = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), ("time", 0.001)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), ("time", 1.0)),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), ("time", 60.0)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), ("time", 3600.0)),
    **dict.fromkeys(("d", "day", "days"), ("time", _DAY)),
    **dict.fromkeys(("week", "weeks"), ("time", 7 * _DAY)),
    **dict.fromkeys(("month", "months"), ("time", 365.25 / 12 * _DAY)),
    **dict.fromkeys(("year", "years"), ("time", 365.25 * _DAY)),
    # People write kB and mean either 1,000 or 1,024 bytes; that difference counts as equal.
    **dict.fromkeys(("kb", "kib", "ki", "kilobytes"), ("size", 1024.0)),
    **dict.fromkeys(("mb", "mib", "mi", "megabytes"), ("size", 1024.0**2)),
    **dict.fromkeys(("gb", "gib", "gi", "gigabytes"), ("size", 1024.0**3)),
    **dict.fromkeys(("tb", "tib", "ti", "terabytes"), ("size", 1024.0**4)),
    **dict.fromkeys(("bytes", "byte"), ("size", 1.0)),
    **dict.fromkeys(("%", "percent", "pct"), ("share", 1.0)),
    "px": ("pixels", 1.0),
    "k": ("", 1e3),
    "thousand": ("", 1e3),
    "million": ("", 1e6),
    "billion": ("", 1e9),
}
_PER: Mapping[str, float] = {
    "second": 1.0,
    "sec": 1.0,
    "s": 1.0,
    "minute": 60.0,
    "min": 60.0,
    "hour": 3600.0,
    "day": _DAY,
}
_NUMBER = re.compile(r"v?(\d+(?:,\d{3})+|\d+)((?:\.\d+)*)(?:\.x)?([a-z%]*)\+?")
LONGEST = 40  # characters; a longer word is not a number
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """An amount: `measure` is empty for a bare number, `parts` are the numbers of a version."""

    measure: str
    amount: float
    parts: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        """A name that equal quantities share."""
        if self.parts:
            return "#" + ".".join(map(str, self.parts))
        return f"#{self.measure}:{self.amount:.6g}"


def read_quantity(word: str, following: tuple[str, ...] = ()) -> tuple[Quantity, int] | None:
    """Return the quantity that starts with this lower-case word, and how many of the following words belong to it."""
    if clock := _CLOCK.fullmatch(word):
        return Quantity(measure="clock", amount=int(clock[1]) * 60 + int(clock[2])), 0
    after = following[0] if following else ""
    if word in ("a", "an"):
        unit = _UNITS.get(after)
        return (Quantity(measure=unit[0], amount=unit[1]), 1) if unit and unit[0] == "time" else None
    number = _NUMBER.fullmatch(_WORDS.get(word, word)) if len(word) <= LONGEST else None
    if number is None or (number[3] and number[3] not in _UNITS):
        return None
    return _with_unit(number, after, following)


def _with_unit(number: re.Match[str], after: str, following: tuple[str, ...]) -> tuple[Quantity, int]:
    whole = number[1].replace(",", "")
    amount = float(whole + (number[2] if number[2].count(".") <= 1 else ""))
    measure, scale = _UNITS.get(number[3], ("", 1.0))
    taken = 0
    if not number[3] and after in _UNITS:
        (measure, scale), taken = _UNITS[after], 1
    if rate := _rate(following, taken):
        return Quantity(measure="rate", amount=amount * scale / rate), taken
    if measure or scale != 1.0:
        return Quantity(measure=measure, amount=amount * scale), taken
    parts = (int(whole), *(int(part) for part in number[2].split(".") if part))
    while len(parts) > 1 and parts[-1] == 0:
        parts = parts[:-1]
    return Quantity(measure="", amount=amount, parts=parts if len(parts) > 1 else ()), taken


def _rate(following: tuple[str, ...], taken: int) -> float:
    """Return the seconds of "… per minute", if it follows directly or after one noun."""
    for index in (taken, taken + 1):
        if following[index : index + 1] in (("per",), ("a",)) and index + 1 < len(following):
            return _PER.get(following[index + 1], 0.0)
    return 0.0


def differ(first: Quantity, second: Quantity) -> bool:
    """True if two quantities measure the same and disagree; a more exact version number does not."""
    if first.measure != second.measure:
        return False
    if first.parts or second.parts:
        left, right = (_parts(first), _parts(second))
        return left[: len(right)] != right[: len(left)]
    # A month is about 30 days; a bare number is exact.
    slack = 0.02 if first.measure in ("time", "size") else 0.0
    return abs(first.amount - second.amount) > slack * max(abs(first.amount), abs(second.amount))


def _parts(quantity: Quantity) -> tuple[int, ...]:
    return quantity.parts or (int(quantity.amount),)
