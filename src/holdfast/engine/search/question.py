"""Find the people and dates that a question names, so that they are matched as such and not as words."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.engine.tokens import STOP_STEMS, tokens

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS)})\b")
# "may" is a verb far more often than a month.
_MAY = re.compile(r"\b(?:in|of|on|last|this|since|until|\d)\s*may\b|\bmay,? \d")
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_DAY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\b")
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dates:
    """The years, months and days that a question names."""

    years: frozenset[int] = frozenset()
    months: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    named: tuple[str, ...] = ()  # the words of the question that name them

    def match(self, at: str) -> float:
        """Return 1 if an instant is on a named day, 0.5 if only its month matches, else 0."""
        year, month, day = int(at[:4]), int(at[5:7]), int(at[8:10])
        if month not in self.months or (self.years and year not in self.years):
            return 0.0
        return 1.0 if day in self.days else 0.5


def dates_in(text: str) -> Dates:
    """Return the dates that a question names; none without a month."""
    low = text.lower()
    words = [word for word in _MONTH.findall(low) if word != "may" or _MAY.search(low)]
    iso = _ISO.findall(low)
    if not words and not iso:
        return Dates()
    years, days = _YEAR.findall(low), [day for day in _DAY.findall(low) if 1 <= int(day) <= 31]
    return Dates(
        years=frozenset(map(int, years)),
        months=frozenset([_MONTHS.index(word) + 1 for word in words] + [int(month) for _, month, _ in iso]),
        days=frozenset(map(int, days)),
        named=(*words, *years, *days, *(part for date in iso for part in (*date, "-".join(date)))),
    )


def named(text: str, authors: Iterable[str]) -> list[str]:
    """Return the authors with every word of their name in a question."""
    words = set(tokens(text)) - STOP_STEMS
    return [author for author in authors if (parts := set(tokens(author))) and parts <= words]


def without(text: str, names: Iterable[str]) -> str:
    """Return a question without these names; unchanged if nothing else would be left."""
    names = list(names)
    if not names:
        return text
    bare = re.sub(rf"\b(?:{'|'.join(map(re.escape, names))})(?:['’]s)?(?!\w)", "", text, flags=re.IGNORECASE)
    return " ".join(bare.split()) or text
