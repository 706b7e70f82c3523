"""Find changes that a text reports: moved, replaced, renamed, dropped or deprecated things."""

import re
from dataclasses import dataclass
from functools import lru_cache

from holdfast.model.patterns import lazy
from holdfast.policy.language.statements import (
    LONGEST_SENTENCE,
    MOST_CHARACTERS,
    Word,
    content_words,
    keys_of,
    rejected_in,
    sentences,
)

_VERB = r"(?:moved|migrated|switched|changed|converted|ported|upgraded|transitioned|renamed|went|downgraded)"
_END = r"(?=\s+(?:in|for|as|after|on|last|when|because|since|this|with|by|during|to)\b|[,;]|[.:](?:\s|$)|$)"
_THING = r"(?:the |an? |our )?(?P<{}>(?:[^,;:]|:(?=\S)){{1,50}}?)"
_GONE, _GAINED = _THING.format("gone"), _THING.format("gained")
_OVER = (
    r"(?:deprecated|obsolete|retired|gone|removed|deleted(?=\s*[,;.]|$)|discontinued|decommissioned|dead|dropped|abandoned|unused"
    r"|phased out|shut down|torn down|switched off|turned off|no longer (?:in use|used|needed|required|necessary))"
)
_LEFT = (
    r"(?:dropped|left|ditched|abandoned|removed|deleted|got rid of|retired|deprecated|decommissioned|stopped using"
    r"|moved (?:away from|off))"
)
_PATTERNS = tuple(
    lazy(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_VERB}\b.*?\bfrom {_GONE} (?:over )?to {_GAINED}{_END}",
        rf"\breplac(?:ed|es|ing) {_GONE} (?:with|by) {_GAINED}{_END}",
        rf"^{_GONE} (?:was|is|were|are|has been|have been) (?:now )?(?:replaced|superseded) (?:with|by) {_GAINED}{_END}",
        rf"^{_GAINED} (?:has |have )?(?:replaced|replaces|supersedes|superseded) {_GONE}{_END}",
        rf"(?:^|[,;:]\s+(?:and )?){_GONE} (?:was|is|were|are|has been|have been) renamed to {_GAINED}{_END}",
        rf"(?:^|[,;:]\s+(?:and )?){_GONE} (?:is|are|was|were|has been|have been)(?: now)? {_OVER}\b",
        rf"\b{_LEFT} {_GONE}(?:{_END}| in favou?r of {_GAINED}{_END})",
        rf"\b(?:dropped|left|ditched|abandoned|removed) {_GONE} in favou?r of {_GAINED}{_END}",
        rf"^{_GAINED} took over (?:from )?{_GONE}{_END}",
    )
)
_ARRIVED = lazy(
    rf"^(?P<before>[^,;:]*?)\b(?:{_VERB}|rewritten|relocated|raised|lowered|bumped)\b(?P<between>[^,;:]*?)"
    rf"\b(?:to|into|in) {_GAINED}{_END}",
    re.IGNORECASE,
)
# Words that present a state as new.
_NOW = lazy(
    r"\b(?:now|nowadays|these days|as of|from now on|by now|from this \w+ on|since (?:the|we|v?\d|last|this|january|february"
    r"|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|fall|winter))\b",
    re.IGNORECASE,
)
_I = lazy(r"\bI\b")
_CUE_WORDS = """
    moved migrated switched changed converted ported upgraded transitioned renamed went downgraded replaced replaces
    replacing superseded supersedes deprecated obsolete retired gone removed rewritten relocated raised lowered bumped
    discontinued dead dropped left ditched abandoned favour favor took rid stopped phased shut instead rather not more over
    deleted decommissioned unused torn longer
""".split()
_CUE = lazy(rf"\b(?:{'|'.join(_CUE_WORDS)})\b", re.IGNORECASE)
_CUES = keys_of(f"{' '.join(_CUE_WORDS)} needed required necessary")
# What goes when a thing goes: “the CircleCI config is deleted” says that CircleCI is gone.
_REMAINS = keys_of(
    "code config configuration setup support account job jobs files scripts integration plugin dependency instance"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What replaced what (either may be empty), and what else the sentence is about."""

    gone: frozenset[str]
    gained: frozenset[str]
    about: frozenset[str]
    words: tuple[Word, ...]
    raw: str


@lru_cache(maxsize=2_048)
def changes(text: str) -> tuple[Change, ...]:
    """Return every change that a text reports."""
    short = (sentence for sentence in sentences(text[:MOST_CHARACTERS]) if len(sentence) <= LONGEST_SENTENCE)
    return tuple(change for sentence in short if _CUE.search(sentence) for change in _changes_in(sentence))


def mentions_now(sentence: str) -> bool:
    """True if a sentence presents its content as new; "I can now …" is about the writer and does not count."""
    return bool(_NOW.search(sentence)) and not _I.search(sentence)


def _changes_in(sentence: str) -> list[Change]:
    plain = sentence.rstrip(" .!")
    pairs = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(plain):
            parts = match.groupdict()
            clause = plain[match.start() :] if plain[match.start()] in ",;:" else plain
            pairs.append((keys_of(parts["gone"]), keys_of(parts.get("gained") or ""), keys_of(clause)))
    keys = keys_of(plain)
    if rejected := rejected_in(plain):
        pairs.append((rejected, frozenset(), keys))
    if not pairs and (arrival := _ARRIVED.search(plain)):
        pairs.append((frozenset(), keys_of(arrival["gained"]), keys))
    words = tuple(content_words(plain))
    return [
        Change(gone=gone - _REMAINS or gone, gained=gained, about=about - gone - gained - _CUES, words=words, raw=plain)
        for gone, gained, about in pairs
        if gone or gained
    ]
