"""Find the people and dates that a question names, so that they are matched as such and not as words."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from holdfast.engine.tokens import FOREIGN, STOP, STOP_STEMS, tokens
from holdfast.model.patterns import lazy, tables
from holdfast.model.query import Past

_MONTHS = "january february march april may june july august september october november december".split()
LONGEST_EXACT = 12  # words of a question whose names are looked for exactly
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_UNITS = {"day": 1, "week": 7, "month": 30, "year": 365}
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
LESSONS = ("learning", "scar", "win", "pattern", "anti_pattern")
_TABLES = tables(__file__)
_MONTH, _MAY, _YEAR, _DAY, _ISO, _WEEKDAY, _AGO, _PAST = (lazy(pattern) for _, pattern in _TABLES["dates"])
_CAPITALIZED, _QUOTED, _CODE_NAME, _WHERE, _PLAIN = (lazy(pattern) for _, pattern in _TABLES["names"])
_PERIODS = [
    (unit, tuple(map(int, back.split())), lazy(rf"(?<![^\W_])(?:{words})(?![a-zа-я])"))
    for unit in ("days", "months")
    for back, words in _TABLES[unit]
]
_ASKING = STOP | FOREIGN | frozenset(_TABLES["asking"][0][1].split())
DECIDED, _LEARNED, _HOW, _NEWEST, NOW, _PAST_STATE, _AT_FIRST, _BEFORE, _WAS = (
    lazy("|".join(pattern for _, pattern in _TABLES[name]))
    for name in "decided learned how newest now past_state at_first before was".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dates:
    """The years, months and days that a question names, and the periods that it means, such as last week."""

    years: frozenset[int] = frozenset()
    months: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    periods: tuple[tuple[str, str], ...] = ()  # first instant, and the first after it
    named: tuple[str, ...] = ()  # the words of the question that name them

    def match(self, at: str) -> float:
        """Return 1 if an instant is on a named day or in a period, 0.5 if only its month matches, else 0."""
        if any(since <= at < until for since, until in self.periods):
            return 1.0
        year, month, day = int(at[:4]), int(at[5:7]), int(at[8:10])
        if month not in self.months or (self.years and year not in self.years):
            return 0.0
        return 1.0 if day in self.days else 0.5

    def spans(self, now: str) -> list[tuple[str, str]]:
        """Return the periods, and the named days and months; without a year, those of the last twelve months."""
        this_year, this_month = int(now[:4]), int(now[5:7])
        found = list(self.periods)
        for month in sorted(self.months):
            for year in sorted(self.years) or [this_year if month <= this_month else this_year - 1]:
                days = [day for day in sorted(self.days) if day not in self.years]
                if len(self.months) == 1 and days:
                    found += [(f"{year:04}-{month:02}-{day:02}T", f"{year:04}-{month:02}-{day:02}U") for day in days]
                else:
                    found.append((f"{year:04}-{month:02}-", f"{year:04}-{month:02}."))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a question asks to list: records of these kinds, or of any kind, and what to call one of them."""

    kinds: tuple[str, ...] = ()
    name: str = "memory"


def dates_in(text: str, now: str = "") -> Dates:
    """Return the dates and periods that a question names; a year or day counts only with a month."""
    low = text.lower()
    periods, phrases = _periods(low, now) if now else ((), ())
    words = [word for word in _MONTH.findall(low) if word != "may" or _MAY.search(low)]
    iso = _ISO.findall(low)
    if not words and not iso:
        return Dates(periods=periods, named=phrases)
    years, days = _YEAR.findall(low), [day for day in _DAY.findall(low) if 1 <= int(day) <= 31]
    return Dates(
        years=frozenset(map(int, years)),
        months=frozenset([_MONTHS.index(word) + 1 for word in words] + [int(month) for _, month, _ in iso]),
        days=frozenset(map(int, days)),
        periods=periods,
        named=(*phrases, *words, *years, *days, *(part for date in iso for part in (*date, "-".join(date)))),
    )


def listing_in(text: str, dates: Dates) -> Listing | None:
    """Return what a question lists that names only a time or a kind, such as “what did we decide last week?”, else None."""
    low = text.lower().replace("what's", "what")
    if _HOW.search(low):
        return None
    asks = DECIDED.search(low), _LEARNED.search(low)
    for phrase in sorted(dates.named, key=len, reverse=True):
        low = low.replace(phrase, " ")
    rest = [word for word in _PLAIN.findall(low) if word not in _ASKING]
    if any(not DECIDED.match(word) and not _LEARNED.match(word) for word in rest):
        return None
    if asks[0]:
        return Listing(kinds=("decision",), name="decision")
    if asks[1]:
        return Listing(kinds=LESSONS, name="lesson")
    return Listing() if dates.named or _NEWEST.search(low) else None


def past_asked_for(text: str, periods: Iterable[tuple[str, str]], now: str) -> Past | None:
    """Return which earlier state a question asks for; None if it does not ask for one."""
    low = text.lower()
    if (periods := [period for period in periods if period[1] <= now]) and _WAS.search(low):
        since, until = max(periods)
        return Past(until=since if _BEFORE.search(low) else until)
    if _AT_FIRST.search(low):
        return Past(first=True)
    return Past() if _PAST_STATE.search(low) else None


def _periods(low: str, now: str) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Return the periods that a question in lower case names relative to now, and its words for them."""
    today = datetime.fromisoformat(now).astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    found = [(match[0], unit, back) for unit, back, pattern in _PERIODS if (match := pattern.search(low))]
    for match in _AGO.finditer(low):
        many, days = _count(match[1]), _UNITS[match[2]]
        around = (many + (days > 1)) * days - (days > 1), (many - (days > 1)) * days + (days > 1)
        found.append((match[0], "days", around))
    found += [(match[0], "days", (_count(match[1]) * _UNITS[match[2]], 0)) for match in _PAST.finditer(low)]
    for match in _WEEKDAY.finditer(low):
        back = (today.weekday() - _WEEKDAYS.index(match[1])) % 7 or 7
        found.append((match[0], "days", (back, back)))
    periods = ((_start(today, first, unit), _start(today, last - 1, unit)) for _, unit, (first, last) in found)
    return tuple(periods), tuple(phrase for phrase, *_ in found)


def _count(word: str) -> int:
    return _NUMBERS.get(word) or int(word)


def _start(today: datetime, back: int, unit: str) -> str:
    """Return the first instant of a local day or month, counted back from that of today."""
    year, month = divmod(today.year * 12 + today.month - 1 - back, 12)
    try:
        day = today - timedelta(days=back) if unit == "days" else today.replace(year=year, month=month + 1, day=1)
        return day.replace(tzinfo=None).astimezone(UTC).strftime("%Y-%m-%dT%H:%M")
    except (OverflowError, ValueError):
        return ""


def named(text: str, authors: Iterable[str]) -> dict[str, str]:
    """Return the authors that a question names, in full or by a short form of their first name, and how it names each."""
    words = set(tokens(text)) - STOP_STEMS
    capitalized = [word for word in _CAPITALIZED.findall(text) if word.lower() not in STOP]
    found = dict[str, str]()
    for author in authors:
        short = next((word for word in capitalized if author.lower().startswith(word.lower())), "")
        if called := author if (parts := set(tokens(author))) and parts <= words else short:
            found[author] = called
    return found


def exact_in(text: str) -> tuple[str, ...]:
    """Return what a question names exactly, as it stands in the index: quoted phrases, identifiers, paths and codes."""
    if len(text.split()) > LONGEST_EXACT:  # in a pasted text each of them says little
        return ()
    quoted = [tokens(phrase) for phrase in _QUOTED.findall(text)]
    whole = [tokens(name)[-1:] for name in _CODE_NAME.findall(text)]
    return tuple(dict.fromkeys("".join(f" {word} " for word in words) for words in (*quoted, *whole) if words))


def object_of(plan: str) -> str:
    """Return what a plan is about without where or for what it is done: “add authentication” of “… to the API”."""
    head = _WHERE.split(plan, maxsplit=1)[0]
    return head if " " in head.strip() else plan


def without(text: str, names: Iterable[str]) -> str:
    """Return a question without these names; unchanged if nothing else would be left."""
    parts = "|".join(map(re.escape, names))
    bare = re.sub(rf"\b(?:{parts})(?:['’]s)?(?!\w)", "", text, flags=re.IGNORECASE) if parts else ""
    return " ".join(bare.split()) or text
