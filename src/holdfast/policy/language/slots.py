"""Compare two short texts in any language by what they fill in: negation, numbers and technologies about the same topic."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from holdfast.model.patterns import lazy
from holdfast.policy.language.lexicon import (
    AMBIGUOUS,
    CLASS_WORDS,
    DATA_STORES,
    DENIES,
    ENVIRONMENTS,
    FOREIGN_FUNCTION_WORDS,
    FOREIGN_NEGATORS,
    FUNCTION_WORDS,
    GENERIC,
    LABELS,
    LIGHT_VERBS,
    MONTHS,
    OPPOSITES,
    SOLE,
    TECHNOLOGIES,
    UNIVERSAL,
    VERBS,
)
from holdfast.policy.language.quantities import Quantity, differ, read_quantity
from holdfast.policy.language.statements import stem
from holdfast.policy.language.technologies import plain_names

LONGEST = 300  # characters of a sentence that is compared as a whole
# Share of topic words in common for a negation (English has finer rules in `contradict`), and for a value.
OPPOSED, OPPOSED_ENGLISH, SHARED = 0.6, 0.9, 0.5
_OPEN = frozenset(
    "support supports supported accept accepts can may might also too either or both optional optionally and".split()
)
_WORD = lazy(r"[^\W\d_][\w+#'’]*(?:[-.][\w+#]+)*|\d[\d.,:]*\w*%?")
_BOUNDED = r"(?:\b(?:may|can) )?(?:\b(?:be|have|take|last|contain|hold) )?\b"
# The same in other words: what is replaced, and by what.
_SAID_OTHERWISE = (
    (lazy(r"\btime[sd]? out\b", re.IGNORECASE), "timeout"),
    # A limit allows nothing beside it, unlike other things that may be.
    (lazy(_BOUNDED + r"(?:up to|at most|no more than|limited to|a maximum of)\b", re.IGNORECASE), "maximum"),
    (lazy(_BOUNDED + r"(?:at least|no less than|a minimum of)\b", re.IGNORECASE), "minimum"),
    # Neither does the oldest version that something works with.
    (
        lazy(r"\bsupports?\b(?=[^;\n]*\d(?:\+|,? (?:and|or) (?:later|newer|up|above|higher)\b))", re.IGNORECASE),
        "requires",
    ),
    (lazy(r"(?<=\d)(?:\+|,? (?:and|or) (?:later|newer|up|above|higher)\b)", re.IGNORECASE), ""),
    (
        lazy(
            r"\b(?P<before>after|for|within|lasts?) an? (?=(?:second|minute|hour|day|week|month|year)\b)", re.IGNORECASE
        ),
        r"\g<before> 1 ",
    ),
)
# An alternative that the sentence rejects is no value of it.
_REJECTED = lazy(r",?\s*\b(?:never|not|instead of|rather than|over)\s+(?:the |an? )?(?P<what>[\w.-]+)", re.IGNORECASE)
# And neither is one that it calls gone, in the languages written with spaces.
_GONE = lazy(
    r"(?P<what>[\w.-]+) (?:(?:is|was|has been) (?:now )?(?:removed|deleted|replaced|dropped|retired|gone|deprecated|no longer used)"
    r"|(?:ist|wurde) (?:abgelöst|ersetzt|entfernt|gelöscht|abgeschaltet)|wird nicht mehr (?:genutzt|verwendet|benutzt)"
    r"|(?:est|a été) (?:remplacée?|supprimée?|abandonnée?)|n'est plus utilisée?"
    r"|(?:fue|ha sido|está) (?:reemplazad[oa]|eliminad[oa]|retirad[oa])|ya no se usa"
    r"|(?:foi|está) (?:substituíd[oa]|removid[oa]|descontinuad[oa])|não é mais usad[oa])\b",
    re.IGNORECASE,
)
_WIDE = lazy(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
# Words that deny a whole sentence. Others that deny, such as “fails”, may be what the sentence is about.
_NOT = frozenset(
    "not never no nobody none nothing neither nor without cannot avoid dont doesnt isnt arent cant wont shouldnt mustnt stop".split()
)
# Negations, and words that only carry the mood of a sentence, in languages written without spaces or with endings.
_WIDE_NOT = lazy(
    r"不要|不能|不可以|不可|不得|不会|不用|不应该|不应|不|没有|没|未|别|禁止|切勿|勿|しないでください|しないこと|しない|しません|してはいけない|してはならない|"
    r"されない|できない|できません|ません|ない|禁止|하지 않|하지 마|않|안 |없|금지|마세요"
)
_WIDE_NEWS = lazy(r"现在|目前|已经|改为|改用|今は|現在|になった|이제|현재")
_WIDE_MOOD = lazy(
    r"现在|目前|已经|今は|現在|이제|현재|可以|能够|应该|必须|需要|都要|要|总是|一定|していい|してよい|してください|します|される|する|ます|です|こと|ください|必ず|합니다|하세요|해야|한다|수 있"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """What a sentence fills in: its topic, its numbers, its technologies by class, and whether it denies."""

    topic: frozenset[str]
    numbers: tuple[tuple[Quantity, str], ...]
    values: frozenset[tuple[str, str]]
    qualifier: str
    sense: frozenset[str]
    denies: bool
    universal: bool
    stores: bool
    foreign: bool
    open: bool
    news: bool
    raw: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """Two values, or an affirmation and a denial, in the same slot."""

    polarity: bool
    slot: str
    older: str
    newer: str


def clash(older: str, newer: str) -> Clash | None:
    """Return how two sentences exclude each other; None if they do not."""
    first, second = filled(older), filled(newer)
    if not first or not second:
        return None
    return (
        _by_polarity(first, second)
        or _by_number(first, second)
        or _by_weekday(first, second)
        or _by_class(first, second)
        or _by_news(older, newer, first, second)
    )


def agrees(older: str, newer: str) -> bool:
    """True if two texts have the same numbers, technologies and polarity, so that one may be a paraphrase of the other."""
    first, second = filled(older), filled(newer)
    if not first or not second:
        return False
    same_numbers = {quantity.key for quantity, _ in first.numbers} == {quantity.key for quantity, _ in second.numbers}
    shared, both = first.topic & second.topic, first.topic | second.topic
    # “Keep it under 40” and “not longer than 40”: a denial in other words is none of the same words.
    opposed = first.denies != second.denies and len(shared) >= SHARED * len(both)
    same_days = first.topic & _WEEKDAYS == second.topic & _WEEKDAYS
    return same_numbers and same_days and first.values == second.values and not opposed and not clash(older, newer)


@lru_cache(maxsize=2_048)
def filled(sentence: str) -> Filled | None:
    """Read a sentence; None if it is too long to be compared as a whole."""
    if len(sentence) > LONGEST or sentence.rstrip().endswith(("?", "？")):
        return None
    text = plain_names(sentence)
    for pattern, plainer in _SAID_OTHERWISE:
        text = pattern.sub(plainer, text)
    for pattern in (_REJECTED, _GONE):
        text = pattern.sub(lambda match: "" if match["what"].lower() in TECHNOLOGIES else match[0], text)
    wide_denials = len(_WIDE_NOT.findall(text))
    wide = _WIDE_MOOD.sub("", _WIDE_NOT.sub("", text)) if _WIDE.search(text) else ""
    raws = _WORD.findall(_WIDE.sub(" ", text))
    lowers = [raw.lower().strip("'’.") for raw in raws]
    found = list(_numbers(lowers))
    numbers = tuple((quantity, lowers[place]) for quantity, place, _ in found)
    units = {place + ahead for _, place, taken in found for ahead in range(1, taken + 1)}
    values = frozenset(
        (TECHNOLOGIES[word], word)
        for raw, word in zip(raws, lowers, strict=True)
        if word in TECHNOLOGIES and not (word in AMBIGUOUS and raw.islower())
    )
    topic = {_stem(word) for place, word in enumerate(lowers) if place not in units and _is_topic(word)}
    topic |= set(_bigrams(wide))
    foreign = bool(wide) or _is_foreign(lowers)
    denials = wide_denials + sum(map(_is_denial, raws))
    return Filled(
        topic=frozenset(topic),
        numbers=numbers,
        values=values,
        qualifier=_qualifier(lowers),
        sense=sense_of(lowers),
        denies=denials > 0 if foreign else denials % 2 == 1,  # elsewhere two negations often make one
        universal=any(word in UNIVERSAL or word == "everything" for word in lowers),
        stores=any(stem(word) in ("stor", "keep", "kept", "sav", "persist", "liv") for word in lowers),
        foreign=foreign,
        open=not _OPEN.isdisjoint(lowers),
        news=not _NEWS.isdisjoint(lowers) or bool(_WIDE_NEWS.search(sentence)),
        raw=sentence.strip(" ."),
    )


def _is_foreign(words: list[str]) -> bool:
    foreign = sum(word in FOREIGN_FUNCTION_WORDS or word in FOREIGN_NEGATORS for word in words)
    return 0 < foreign >= sum(word in FUNCTION_WORDS or word in LIGHT_VERBS for word in words)


def sense_of(words: Sequence[str]) -> frozenset[str]:
    """Return what a number in a sentence with these words says: the most or the least, how long or how often."""
    found = {_SENSES[word] for word in words if word in _SENSES}
    return frozenset(found | {"most"} if ("up", "to") in pairwise(words) else found)


def differ_in_sense(first: frozenset[str], second: frozenset[str]) -> bool:
    """True if two numbers say different things: the least and the most, how long it is kept and how long it takes."""
    bounds, periods = frozenset({"least", "most"}), frozenset({"lifetime", "duration", "interval"})
    return any(first & group and second & group and not first & second & group for group in (bounds, periods))


def _qualifier(words: list[str]) -> str:
    """Return the technology that narrows the subject of a sentence: Python services are not Go services."""
    return (
        words[0]
        if len(words) > 1 and words[0] in TECHNOLOGIES and _is_topic(words[1]) and words[1] not in VERBS
        else ""
    )


def _is_denial(raw: str) -> bool:
    word = raw.lower().strip("'’.")
    if word in _NOT or word in DENIES or word in FOREIGN_NEGATORS or word.endswith(("n't", "n’t")):
        return True
    return OPPOSITES.get(word, ("", 1))[1] < 0


def _is_topic(word: str) -> bool:
    if word in FUNCTION_WORDS or word in FOREIGN_FUNCTION_WORDS or word in LIGHT_VERBS or word in TECHNOLOGIES:
        return False
    if (
        word in _NOT
        or word in DENIES
        or word in FOREIGN_NEGATORS
        or word in UNIVERSAL
        or word in MONTHS
        or word[:1].isdigit()
        or word.endswith(("n't", "n’t"))
    ):
        return False
    return len(word) > 1 and word not in GENERIC and read_quantity(word) is None


def _stem(word: str) -> str:
    """Return a stem that verbs and their nouns share: deploys and deployments, retries and retried."""
    short = stem(word)
    if len(short) > 7 and short.endswith("ment"):
        return short[:-4]
    if len(short) > 7 and short.endswith("ation"):
        return short[:-3]
    return f"{short[:-1]}y" if short.endswith("i") else short


def _bigrams(text: str) -> Iterator[str]:
    for run in _WIDE.findall(text):
        yield from (run[place : place + 2] for place in range(max(1, len(run) - 1)))


def _numbers(words: list[str]) -> Iterator[tuple[Quantity, int, int]]:
    """Yield each quantity, its place, and how many of the words after it belong to it."""
    skip = 0
    for index, word in enumerate(words):
        if skip:
            skip -= 1
        elif index and words[index - 1] in LABELS:
            continue
        elif word not in ("a", "an") and (
            found := read_quantity(word.rstrip(".,:"), tuple(words[index + 1 : index + 5]))
        ):
            quantity, skip = found
            yield quantity, index, skip


def _by_polarity(first: Filled, second: Filled) -> Clash | None:
    """One affirms what the other denies."""
    shared, both = first.topic & second.topic, first.topic | second.topic
    least = OPPOSED if first.foreign and second.foreign else OPPOSED_ENGLISH
    if first.denies == second.denies or len(shared) < 2 or len(shared) < least * len(both):
        return None
    if _differ_in_environment(first, second) or first.values != second.values:
        return None
    return Clash(polarity=True, slot=" ".join(sorted(shared)), older=first.raw, newer=second.raw)


def _by_number(first: Filled, second: Filled) -> Clash | None:
    """Both have one number of the same kind, and the numbers differ."""
    if first.denies != second.denies or len(first.numbers) != 1 or len(second.numbers) != 1:
        return None
    (left, older), (right, newer) = first.numbers[0], second.numbers[0]
    about, other = (side.topic | {name for _, name in side.values} for side in (first, second))
    if first.open or second.open or not differ(left, right) or not _same_topic(first, second, about, other):
        return None
    if differ_in_sense(first.sense, second.sense):
        return None
    return Clash(polarity=False, slot=" ".join(sorted(about & other)), older=older, newer=newer)


def _by_weekday(first: Filled, second: Filled) -> Clash | None:
    """Both name days of the week for exactly the same topic, and no day is in both."""
    was, now = first.topic & _WEEKDAYS, second.topic & _WEEKDAYS
    about = first.topic - was
    if not was or not now or was & now or not about or about != second.topic - now or first.denies != second.denies:
        return None
    return Clash(polarity=False, slot=" ".join(sorted(about)), older=" ".join(sorted(was)), newer=" ".join(sorted(now)))


def _by_class(first: Filled, second: Filled) -> Clash | None:
    """Both name one technology of the same class, and they differ."""
    if first.denies != second.denies or (first.numbers and second.numbers) or first.open or second.open:
        return None
    if _differ_in_environment(first, second) or (
        first.qualifier != second.qualifier and first.qualifier and second.qualifier
    ):
        return None
    was, now = first.values - second.values, second.values - first.values
    for kind, older in was:
        same = {kind} | (DATA_STORES if first.stores and second.stores and kind in DATA_STORES else set())
        others = [name for other, name in now if other in same]
        if len(others) != 1 or sum(own in same for own, _ in was) != 1:
            continue
        about = {_stem(word) for word in CLASS_WORDS.get(kind, "").split()}
        left, right = first.topic - about, second.topic - about
        # Of some things a project has one: whoever names another one contradicts.
        has_one = len(left) + len(right) <= (kind in SOLE) or (kind in SOLE and left == right)
        if has_one or (left and right and _same_topic(first, second, left, right)):
            return Clash(polarity=False, slot=kind, older=older, newer=others[0])
    return None


def _by_news(older: str, newer: str, first: Filled, second: Filled) -> Clash | None:
    """The newer one presents another value of the same thing as new: both begin alike and share most words."""
    if not second.news or first.news or first.open or second.open or first.denies != second.denies:
        return None
    about, other = (side.topic | {name for _, name in side.values} for side in (first, second))
    shared = about & other
    is_alike = len(shared) >= 2 and len(shared) >= SHARED * min(len(about), len(other)) and older[:4] == newer[:4]
    if not is_alike or shared in (about, other) or _differ_in_environment(first, second):
        return None
    return Clash(polarity=False, slot=" ".join(sorted(shared)), older=first.raw, newer=second.raw)


def _same_topic(
    first: Filled, second: Filled, left: frozenset[str] | set[str], right: frozenset[str] | set[str]
) -> bool:
    """True if the topics share enough words, and at most one of them says more: client A is not client B."""
    shared = left & right
    if not shared or len(shared) < SHARED * min(len(left), len(right)) or _differ_in_environment(first, second):
        return False
    return not (left - shared) or not (right - shared)


def _differ_in_environment(first: Filled, second: Filled) -> bool:
    left, right = first.topic & _ENVIRONMENTS, second.topic & _ENVIRONMENTS
    return left != right and not (first.universal or second.universal) and bool(left) and bool(right)


# Words that present a state as new.
_NEWS = frozenset(
    """
    now nowadays meanwhile jetzt nun inzwischen mittlerweile seit neuerdings ahora actualmente desde désormais maintenant depuis
    agora atualmente adesso ora oramai теперь сейчас
    """.split()
)
_SENSES = {
    word: sense
    for sense, words in {
        "most": "maximum max most limit limited below under",
        "least": "minimum min least above",
        "lifetime": "kept keep keeps expire expires valid live lives ttl lifetime retention retained deleted purged lasts last",
        "duration": "take takes took",
        "interval": "every each interval",
    }.items()
    for word in words.split()
}
_WEEKDAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
_ENVIRONMENTS = frozenset(stem(name) for name in ENVIRONMENTS)
