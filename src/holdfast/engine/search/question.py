"""Find the people and dates that a question names, so that they are matched as such and not as words."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from holdfast.engine.tokens import FOREIGN, STOP, STOP_STEMS, query_terms, tokens
from holdfast.model.patterns import cues_of, lazy
from holdfast.model.query import Past

_CUES = cues_of(__file__)

EVER = "9999"  # the end of a period that has none
LONGEST_NAME = 3  # words
MOST_DAYS = 31
LONGEST_EXACT = 12  # words of a question whose names are looked for exactly
SHORT_NUMBER = 2  # digits
CAPITALS, _CAPITALIZED = lazy(r"\b[A-Z]{2,}\b"), lazy(r"\b[A-Z]\w{2,}")
_QUOTED, _CODE_NAME, _THING, _NUMBER, _JOINED, _SENTENCE = map(lazy, _CUES["exact"].values())
_PART, _JOINING = lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+"), lazy(r"[_/\\#.:-]")
_WHERE = lazy(r"(?<=\w\w) (?:after|at|before|by|for|from|in|into|of|on|to|using|via|with)\b")
_PLAIN, _OTHERWISE = lazy(r"\w+"), lazy(r"(?i)\b(?:how|why|when|where|whose|which)\b")


def _groups(section: str) -> str:
    """Return the rows of a section as one pattern, with a group for each that is called by section and row."""
    return "|".join(f"(?P<{section}_{name.replace(' ', '_')}>{row})" for name, row in _CUES[section].items())


_START, _ARTICLE = _CUES["words"]["start"], _CUES["words"]["article"]
_TIME = lazy(_START + f"(?:{re.sub('%([a-z]+)%', lambda section: _groups(section[1]), _CUES['time']['any'])})")
_BOUND, _FOLLOW = lazy(rf"{_START}(?:{_groups('bounds')}){_ARTICLE} ?$"), lazy(rf" ?(?:{_groups('follow')})")
_JOINT = lazy(rf",? ?(?:{_groups('joints')}){_ARTICLE} ?")
_ASKING, _FILLING = STOP | FOREIGN | frozenset(_CUES["asking"]["words"].split()), lazy(_CUES["asking"]["signs"])
_KINDS, _EVERYDAY = ({name: lazy(row) for name, row in _CUES[section].items()} for section in ("kinds", "everyday"))
DECIDED, _COUNTS = _KINDS["decision"], {word: int(number) for word, number in _CUES["counts"].items()}
_HOW, _NEWEST, NOW, _PAST_STATE, _AT_FIRST, _WAS = (
    lazy("|".join(_CUES[name].values())) for name in "how newest now past_state at_first was".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dates:
    """The days, months and years that a question names, and the periods that it means, such as last week or before May."""

    days: tuple[tuple[int, int, int], ...] = ()  # year, month and day; 0 for what it does not name
    periods: tuple[tuple[str, str], ...] = ()  # first instant, and the first after it
    named: tuple[str, ...] = ()  # the words of the question that name them

    def match(self, at: str) -> float:
        """Return 1 if an instant is on a named day or in a period, 0.5 if only its month or a period without end matches, else 0."""
        here = int(at[:4]), int(at[5:7]), int(at[8:10])
        found = [1.0 if since and until < EVER else 0.5 for since, until in self.periods if since <= at < until]
        months = [day for year, month, day in self.days if month == here[1] and year in (0, here[0])]
        return max([*found, *(1.0 if day == here[2] else 0.5 for day in months)], default=0.0)

    def spans(self, now: str) -> list[tuple[str, str]]:
        """Return the periods, and the named days, months and years; without a year, those of the last twelve months."""
        return [*self.periods, *(_span(now, *day) for day in self.days)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a question asks to list: records of these kinds, or of any kind, and what to call one of them."""

    kinds: tuple[str, ...] = ()
    name: str = "memory"
    about: str = ""  # what else it names: these are searched for it
    names: tuple[str, ...] = ()  # the same, if it may be names of people and nothing else: the index words of these


def dates_in(text: str, now: str) -> Dates:
    """Return the dates and periods that a question names, with what it says before, after or between them."""
    low, place = text.lower(), 0
    days, periods, named = list[tuple[int, int, int]](), list[tuple[str, str]](), list[str]()
    times = [(match, *_meant(match, now)) for match in _TIME.finditer(low)]
    while times:
        match, day, (since, until) = times.pop(0)
        start, end = match.span()
        ahead, behind = _BOUND.search(low, place, start), _FOLLOW.match(low, end)
        bound = _row(behind or ahead)
        joint = _row(_JOINT.fullmatch(low, end, times[0][0].start())) if times else ""
        if joint and (bound in ("since", "from") or (not bound and joint == "to")):
            last, _, (_, until) = times.pop(0)
            bound, end = "from", last.end()
            since = since if since < until else f"{int(until[:4]) - (since[4:] > until[4:])}{since[4:]}"
        elif bound == "from":
            bound = ""
        elif behind:
            end = behind.end()
        if day and not bound:
            days.append(day)
        else:
            ends = {"before": ("", since), "after": (until, EVER), "since": (since, EVER)}
            periods.append(ends.get(bound, (since, until)))
        named.append(low[ahead.start() if ahead and bound else start : end])
        place = end
    return Dates(days=tuple(days), periods=tuple(periods), named=tuple(named))


def _row(found: re.Match[str] | None) -> str:
    return ((found and found.lastgroup) or "").partition("_")[2]


def _meant(match: re.Match[str], now: str) -> tuple[tuple[int, int, int] | None, tuple[str, str]]:
    """Return the year, month and day that a time in a question names, or None if it is relative to now, and its period."""
    name = match.lastgroup or ""
    section, first, last = (*name.split("_"), "0", "0")[:3]
    month, back = int(first or 0), (int(first or 0), int(last))
    numbers = [int(one) for one in re.findall(r"\d+", match[0].replace(match[name], " ") if name else match[0])]
    year, day = (next((one for one in numbers if (one > MOST_DAYS) is is_year), 0) for is_year in (True, False))
    many = next((_COUNTS.get(word) or int(word) for word in match[0].split() if word in _COUNTS or word.isdigit()), 1)
    today = datetime.fromisoformat(now).astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    match section:
        case "":
            year, month, day = (*numbers, 0, 0)[:3]
            return (year, month, day), _span(now, year, month, day)
        case "month":
            return (year, month, day), _span(now, year, month, day)
        case "three":
            return None, _span(now, year, month, months=3)
        case "weekday":
            back = ((today.weekday() - back[0]) % 7 or 7,) * 2
        case "ago":  # about so long
            days, about = back[0], int(back[0] > 1)
            back = (many + about) * days - about, (many - about) * days + about
        case "past":
            back = many * back[0], 0
    unit = section if section in ("months", "years") else "days"
    return None, (_start(today, back[0], unit), _start(today, back[1] - 1, unit))


def _span(now: str, year: int, month: int, day: int = 0, *, months: int = 1) -> tuple[str, str]:
    """Return the first instant of a year, of months or of a day, and the first after; without a year, the latest that began."""
    year = year or int(now[:4]) - (month > int(now[5:7]))
    first, (then, last) = f"{year:04}-{month:02}-", divmod(year * 12 + month + months - 2, 12)
    if day or not month:
        return (f"{first}{day:02}T", f"{first}{day:02}U") if day else (f"{year:04}-", f"{year:04}.")
    return first, f"{then:04}-{last + 1:02}."


def listing_in(text: str, dates: Dates) -> Listing | None:
    """Return what a question lists that names only a time or a kind, such as “what did we decide last week?”, else None.

    One that names both may name what about, too.
    """
    low = text.lower().replace("what's", "what")
    if _HOW.search(low):
        return None
    is_dated = bool(dates.named) or bool(_NEWEST.search(low))
    for phrase in sorted(dates.named, key=len, reverse=True):
        low = low.replace(phrase, " ")
    kinds = {name: row for name, row in _KINDS.items() if row.search(low)}
    if not kinds and len(text.split()) > 1:
        kinds = {name: row for name, row in _EVERYDAY.items() if row.search(low)}
    for row in kinds.values():
        low = row.sub(" ", low)
    about = [word for word in _FILLING.sub(" ", low).split() if not _ASKING.issuperset(_PLAIN.findall(word))]
    called = [word for word in _CAPITALIZED.findall(text) if word.lower() in " ".join(about)]
    names = tuple(tokens(" ".join(called))) if len(called) == len(about) else ()
    if (about and bool(kinds) + bool(dates.named) + bool(names) < 2) or not (kinds or is_dated):
        return None
    name = " or ".join(name.split()[0] for name in kinds) or "memory"
    own = tuple(dict.fromkeys(kind for name in kinds for kind in name.split()[1:] or [name]))
    return Listing(kinds=own, name=name, about=" ".join(about), names=names)


def past_asked_for(text: str, periods: Iterable[tuple[str, str]], now: str) -> Past | None:
    """Return which earlier state a question asks for; None if it does not ask for one."""
    low = text.lower()
    if (ends := [until for _, until in periods if until <= now]) and _WAS.search(low):
        return Past(until=max(ends))
    if _AT_FIRST.search(low):
        return Past(first=True)
    return Past() if _PAST_STATE.search(low) else None


def _start(today: datetime, back: int, unit: str) -> str:
    """Return the first instant of a local day, month or year, counted back from that of today."""
    back = 12 * back + today.month - 1 if unit == "years" else back
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


def lacks(question: str, text: str) -> bool:
    """True if a text has nothing that a question names exactly, but others of that sort instead, such as another code."""
    # What it has in words counts: “the replay batch” for REPLAY_BATCH. A quotation has to be there word by word.
    if len(question.split()) > LONGEST_EXACT:
        return False
    body, others = f" {' '.join(tokens(text))} ", set(_THING.findall(text))
    named = list[tuple[bool, bool]]()  # for each: whether the text has it, and whether it has another of that sort
    for thing in set(_THING.findall(question)):
        words = tokens(" ".join(_PART.findall(thing)))  # those that a hyphen joins may be apart
        is_apart = thing.islower() and "-" in thing and set(body.split()).issuperset(words)
        is_there = is_apart or f" {' '.join(words)} " in body or re.search(rf"(?<!\w){re.escape(thing)}(?!\w)", text)
        named.append((bool(is_there), any(_are_alike(thing, other) for other in others - {thing})))
    named += [(f" {' '.join(tokens(quote))} " in body, True) for quote in _SENTENCE.findall(question)]
    numbers, is_bare, low = list[tuple[bool, bool]](), len(query_terms(question)) == 1, text.lower()
    for form, gap in ((_NUMBER, r"\w{,2}(?:[ #:]+\w{1,4})?[ #:]+"), (_JOINED, "-?")):
        for before, number in form.findall(question):
            is_long, is_joined = number.isdigit() and len(number) > SHORT_NUMBER, form is _JOINED
            is_code = is_long and before.isupper()  # “HTTP 504”
            label = rf"(?<![^\W_]){re.escape(before.lower())}{gap}(?<![\d.,])" * (not is_bare)
            size = "3," if is_code else str(len(number))
            other = r"\d" if is_joined else rf"\d{{{size}}}" if is_long else r"(?:\d{1,2}|\d+(?:\.\d+)+)"
            there = rf"{label * is_joined}(?<![\d.,]){re.escape(number)}(?!\d)"
            another = rf"{label * (is_joined or not is_code)}(?<![\d.,]){other}{'' if is_joined else '(?![.,]?[0-9])'}"
            if is_bare or before.lower() not in {"", *_ASKING}:
                numbers.append((bool(re.search(there, low)), bool(re.search(another, low))))
    return any(any(other for _, other in one) and not any(has for has, _ in one) for one in (named, numbers))


def _are_alike(thing: str, other: str) -> bool:
    """True if two names are of one sort; plain words that a hyphen joins have the first or the last in common."""
    ours, theirs = ((set(_JOINING.findall(name)), name.isalpha(), name[0].isdigit()) for name in (thing, other))
    ends, others, is_plain = thing.split("-"), other.split("-"), thing.islower() and thing.replace("-", "").isalpha()
    return ours == theirs and (not (is_plain and "-" in thing) or ends[0] == others[0] or ends[-1] == others[-1])


def is_name(text: str) -> bool:
    """True if a question is nothing but a name or a single word, such as “who is Yusuf”."""
    words = _PLAIN.findall(text)
    said = [word for word in words if word.lower() not in _ASKING]
    is_only = len(words) == 1 or (all(word[0].isupper() for word in said) and not _OTHERWISE.search(text))
    return 0 < len(said) <= LONGEST_NAME and is_only


def object_of(plan: str) -> str:
    """Return what a plan is about without where or for what it is done: “add authentication” of “… to the API”."""
    head = _WHERE.split(plan, maxsplit=1)[0]
    return head if " " in head.strip() else plan


def without(text: str, names: Iterable[str]) -> str:
    """Return a question without these names; unchanged if nothing else would be left."""
    parts = "|".join(map(re.escape, names))
    bare = re.sub(rf"\b(?:{parts})(?:['’]s)?(?!\w)", "", text, flags=re.IGNORECASE) if parts else ""
    return " ".join(bare.split()) or text
