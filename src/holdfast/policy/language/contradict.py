"""Decide whether a newer text contradicts an older one, and why. Similarity alone is never a reason."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Literal

from holdfast.model.patterns import lazy
from holdfast.policy.language.change import Change, changes, mentions_now
from holdfast.policy.language.lexicon import LABELS, MANY_VALUED, ONE_VALUED, OPEN_ENDED, SLOTS, TECHNOLOGIES
from holdfast.policy.language.quantities import differ
from holdfast.policy.language.slots import LONGEST, clash, differ_in_sense, sense_of
from holdfast.policy.language.statements import Statement, Word, sentences, statements

Reason = Literal["polarity", "value", "change"]

# Strength of each kind of evidence.
_LEFT_BEHIND, _MOVED_ON = 0.95, 0.75
_OPPOSITE, _OPPOSITE_WITH_DETAIL = 0.9, 0.85
_OTHER_NUMBER, _OTHER_NAME = 0.9, 0.85

_SAME_SLOT = 0.85
MOST_SENTENCES = 4  # of each text that are compared as wholes

_HOLDS = {"owned": "owns", "maintained": "maintains", "led": "leads"}
_HELD_BY = lazy(
    rf"(?P<the>(?:the |our )?)(?P<what>[^.;,\n]+?) (?:is|are) (?:now )?(?P<held>{'|'.join(_HOLDS)}) by "
    r"(?P<holder>(?:(?!\b(?:if|when|once|until|while|unless)\b)[^.;,\n])+?)"
    r"(?P<since> (?:now|as of|since)\b[^.;,\n]*)?(?=[.;,\n]|$)",
    re.IGNORECASE,
)
_BE = frozenset({"is", "are", "was", "were", "be"})
_PREPOSITIONS = frozenset("in on by with to at as from behind under through via into after onto against".split())
_ADVICE = frozenset("use run format build install lint test write name store keep put indent deploy".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two texts that cannot both be true: what they are about, what each says, and how certain that is."""

    reason: Reason
    slot: str
    older: str
    newer: str
    strength: float

    @property
    def explain(self) -> str:
        """The contradiction in one sentence."""
        match self.reason:
            case "polarity":
                return f"About {self.slot}: one says “{self.older}”, the other “{self.newer}”."
            case "value":
                return f"About {self.slot}: the older text says {self.older}, the newer {self.newer}."
            case "change":
                return (
                    f"About {self.slot}: the older text says {self.older}, the newer says that changed: {self.newer}."
                )


def contradicts(older: str, newer: str, *, similarity: float | None = None) -> Contradiction | None:
    """Return the strongest contradiction between two texts; None if there is none. `similarity` (0 to 1) only scales it."""
    older, newer = _active(older), _active(newer)
    was, now = statements(older), statements(newer)
    contradictions = [*_by_change(older, newer, was, now), *_by_statement(was, now)]
    contradictions += [] if contradictions else _by_slot(older, newer)
    if not contradictions:
        return None
    best = max(contradictions, key=lambda contradiction: contradiction.strength)
    weight = 1.0 if similarity is None else 0.9 + 0.1 * min(max(similarity, 0.0), 1.0)
    return replace(best, strength=round(best.strength * weight, 3))


def _active(text: str) -> str:
    """Return a short text with “The importer is maintained by Jonas” as “Jonas maintains the importer”."""
    if len(text) > LONGEST:
        return text
    return _HELD_BY.sub(
        lambda match: (
            f"{match['holder']} {_HOLDS[match['held'].lower()]} {match['the'].lower()}{match['what']}{match['since'] or ''}"
        ),
        text,
    )


def _by_slot(older: str, newer: str) -> Iterator[Contradiction]:
    """Compare the sentences of two short texts as wholes, in any language and wording."""
    was, now = sentences(older)[:MOST_SENTENCES], sentences(newer)[:MOST_SENTENCES]
    for new in now:
        for old in was:
            if found := clash(old, new):
                reason: Reason = "polarity" if found.polarity else "value"
                yield Contradiction(
                    reason=reason, slot=found.slot[:120], older=found.older, newer=found.newer, strength=_SAME_SLOT
                )


def _by_statement(was: Sequence[Statement], now: Sequence[Statement]) -> Iterator[Contradiction]:
    """Compare every claim with every other, skipping claims that both texts make."""
    keys_now, keys_was = _all_keys(now), _all_keys(was)
    open_was = [claim for claim in was if claim.predicate and not _covered(claim, now)]
    open_now = [claim for claim in now if claim.predicate and not _covered(claim, was)]
    for new in open_now:
        for old in open_was:
            if _same_topic(old, new):
                contradiction = _polarity(old, new) or _number(old, new) or _name(old, new, keys_was, keys_now)
                if contradiction:
                    yield contradiction


def _all_keys(claims: Sequence[Statement]) -> frozenset[str]:
    return frozenset(key for claim in claims for key in claim.keys | claim.rejected)


def _covered(claim: Statement, others: Sequence[Statement]) -> bool:
    return any(claim.keys <= other.keys and claim.affirms == other.affirms for other in others)


def _same_topic(old: Statement, new: Statement) -> bool:
    """True if two claims share enough words and have the same environment: staging is not production."""
    shared = len(old.keys & new.keys)
    return 3 * shared >= max(3, min(len(old.keys), len(new.keys))) and old.scope == new.scope


def _polarity(old: Statement, new: Statement) -> Contradiction | None:
    """Return a contradiction if one claim affirms what the other denies."""
    if old.affirms == new.affirms:
        return None
    left, right = _only(old, new), _only(new, old)
    shared = old.keys & new.keys
    if (left and right) or len(shared) < 2:
        return None
    extra, longer = (left, old) if left else (right, new)
    if len(extra) > max(3, len(shared)):
        return None
    if (
        extra
        and not (old.universal or new.universal)
        and (_narrows(extra, longer, shared) or _differ_in_condition(old, new))
    ):
        return None
    return Contradiction(
        reason="polarity",
        slot=_topic(old, shared),
        older=old.raw,
        newer=new.raw,
        strength=_OPPOSITE_WITH_DETAIL if extra else _OPPOSITE,
    )


def _only(claim: Statement, other: Statement) -> list[Word]:
    """Return the words of a claim that the other lacks, repeats counted."""
    left = Counter(word.key for word in other.words)
    missing = []
    for word in claim.words:
        if left[word.key]:
            left[word.key] -= 1
        else:
            missing.append(word)
    return missing


def _narrows(extra: Sequence[Word], longer: Statement, shared: frozenset[str]) -> bool:
    """True if an extra word directly precedes a shared noun of the subject: client errors are not all errors."""
    subject = longer.words[: longer.subject]
    return any(
        first in extra and second.key in shared and second.place == first.place + 1
        for first, second in pairwise(subject)
    )


def _differ_in_condition(old: Statement, new: Statement) -> bool:
    return old.conditional != new.conditional


def _number(old: Statement, new: Statement) -> Contradiction | None:
    """Return a contradiction if the claims differ only in a number."""
    if old.affirms != new.affirms or old.hedged or new.hedged:
        return None
    left, right = _only(old, new), _only(new, old)
    numbers = [word for word in left if word.quantity], [word for word in right if word.quantity]
    rest = (
        [word for word in left if not word.quantity and not word.verb],
        [word for word in right if not word.quantity and not word.verb],
    )
    if len(numbers[0]) != 1 or len(numbers[1]) != 1 or (rest[0] and rest[1]) or len(rest[0] + rest[1]) > 4:
        return None
    first, second = numbers[0][0], numbers[1][0]
    shared = old.keys & new.keys
    if not (first.quantity and second.quantity and differ(first.quantity, second.quantity)):
        return None
    if differ_in_sense(sense_of(old.lead), sense_of(new.lead)):
        return None
    if _labels(first, old) or _narrows(rest[0], old, shared) or _narrows(rest[1], new, shared):
        return None
    if not any(word.key in shared and not word.verb for word in old.words) or _differ_in_condition(old, new):
        return None
    return _value_conflict(old, shared, first.raw, second.raw, _OTHER_NUMBER)


def _labels(number: Word, claim: Statement) -> bool:
    before = claim.lead[number.place - 1] if 0 < number.place <= len(claim.lead) else ""
    return before in LABELS and number in claim.words[: claim.subject]


def _name(old: Statement, new: Statement, keys_was: frozenset[str], keys_now: frozenset[str]) -> Contradiction | None:
    """Return a contradiction if the same slot has another name."""
    if old.affirms != new.affirms or old.hedged or new.hedged or _differ_in_condition(old, new):
        return None
    return _after_slot(old, new, keys_was, keys_now) or _before_slot(old, new) or _for_purpose(old, new)


def _after_slot(
    old: Statement, new: Statement, keys_was: frozenset[str], keys_now: frozenset[str]
) -> Contradiction | None:
    same = _common(old.words, new.words)
    begins_alike = old.lead[:1] == new.lead[:1] and old.lead[0] in _ADVICE
    begins_alike |= old.lead[:3] == new.lead[:3] and old.lead[2:3] != () and old.lead[2] in _PREPOSITIONS
    if same < max(old.subject, new.subject, 1) or not (old.subject or begins_alike):
        return None
    first, second = _value(old, same, new.keys), _value(new, same, old.keys)
    if not first or not second or _overlap(first, second) or (first[0].quantity and second[0].quantity):
        return None
    if differ_in_sense(sense_of(old.lead), sense_of(new.lead)):
        return None
    if any(word.key in keys_was for word in second) or any(word.key in keys_now for word in first):
        return None
    if _link(old, same)[-1:] != _link(new, same)[-1:]:
        return None
    ends = [{word.key for word in claim.words[same + len(value) :]} for claim, value in ((old, first), (new, second))]
    if all(ends) and not ends[0] & ends[1]:  # they go on differently: two statements, not two values
        return None
    purpose = _purpose(old, same + len(first)) & _purpose(new, same + len(second))
    is_news = mentions_now(new.sentence)  # a new value, where otherwise there may be several
    if not all(_has_one_value(claim, same, first, second, bool(purpose), is_news) for claim in (old, new)):
        return None
    shared = frozenset(word.key for word in old.words[:same])
    return _value_conflict(old, shared, _raw(first), _raw(second), _OTHER_NAME)


def _common(first: Sequence[Word], second: Sequence[Word]) -> int:
    count = 0
    for left, right in zip(first, second, strict=False):
        if left.key != right.key:
            break
        count += 1
    return count


def _value(claim: Statement, start: int, shared: frozenset[str]) -> tuple[Word, ...]:
    """Return the words that fill the slot: up to three, ending where both claims agree again."""
    words: list[Word] = []
    for word in claim.words[start:]:
        if word.key in shared or (words and word.place > words[-1].place + 1) or len(words) == 3:
            break
        words.append(word)
    return tuple(words)


def _overlap(first: Sequence[Word], second: Sequence[Word]) -> bool:
    return any(left.key == right.key or _is_typo(left.key, right.key) for left in first for right in second)


def _is_typo(left: str, right: str) -> bool:
    if min(len(left), len(right)) < 5 or not (left + right).isalpha():
        return False
    return SequenceMatcher(None, left, right).ratio() >= 0.8


def _has_one_value(
    claim: Statement, start: int, first: Sequence[Word], second: Sequence[Word], purpose: bool, is_news: bool
) -> bool:
    """True if the predicate allows only one value."""
    before = claim.lead[: claim.words[start].place]
    if any(word in OPEN_ENDED for word in before):
        return False
    if _same_class(first, second):
        return True
    has_name = any(word.named for word in (*first, *second))
    if any(word in MANY_VALUED for word in before) and not (is_news and has_name):
        return purpose
    link = _link(claim, start)
    if link and link[-1] in _PREPOSITIONS:
        return has_name or any(word in _BE or word in ONE_VALUED for word in before)
    equates = bool(link) and link[-1] in _BE
    return equates and (has_name or any(word.key in SLOTS for word in claim.words[:start]))


def _link(claim: Statement, start: int) -> list[str]:
    return [word for word in claim.lead[: claim.words[start].place] if word not in ("the", "our", "its")]


def _purpose(claim: Statement, end: int) -> set[str]:
    """Return what a value is for: "uses Postgres for persistence"."""
    rest = claim.words[end:]
    return {word.key for word in rest} if rest and claim.lead[rest[0].place - 1] == "for" else set()


def _same_class(first: Sequence[Word], second: Sequence[Word]) -> bool:
    return bool(_classes(first) & _classes(second))


def _classes(words: Sequence[Word]) -> set[str]:
    return {TECHNOLOGIES[name] for word in words for name in (word.key, word.raw.lower()) if name in TECHNOLOGIES}


def _before_slot(old: Statement, new: Statement) -> Contradiction | None:
    """Return a contradiction if both name the holder of what only one can hold: an owner, the default."""
    same = _common(old.words[::-1], new.words[::-1])
    first, second = old.words[: len(old.words) - same], new.words[: len(new.words) - same]
    if not same or not first or not second or len(first) > 3 or len(second) > 3 or _overlap(first, second):
        return None
    if (
        len(first) > old.subject
        or len(second) > new.subject
        or not (_names_sole_holder(old) and _names_sole_holder(new))
    ):
        return None
    shared = frozenset(word.key for word in old.words[-same:])
    return _value_conflict(old, shared, _raw(first), _raw(second), _OTHER_NAME)


def _for_purpose(old: Statement, new: Statement) -> Contradiction | None:
    """Return a contradiction if another tool is advised for the same purpose."""
    if old.subject or new.subject or old.lead[:1] not in (("use",), ("prefer",)) or old.lead[0] != new.lead[0]:
        return None
    first, second = _value(old, 0, new.keys), _value(new, 0, old.keys)
    if not first or not second or _overlap(first, second):
        return None
    purpose = _purpose(old, len(first))
    if not purpose or purpose != _purpose(new, len(second)):
        return None
    if not _same_class(first, second) and not (first[0].named and second[0].named):
        return None
    return _value_conflict(old, frozenset(purpose), _raw(first), _raw(second), _OTHER_NAME)


def _names_sole_holder(claim: Statement) -> bool:
    text = " ".join(claim.lead)
    return any(f" {verb} " in text for verb in ("owns", "maintains", "leads", "is the", "is our", "is responsible for"))


def _by_change(older: str, newer: str, was: Sequence[Statement], now: Sequence[Statement]) -> Iterator[Contradiction]:
    """Yield contradictions where the newer text reports a change to something the older text still affirms."""
    before = {key for change in changes(older) for key in change.gone}
    before |= {key for claim in was for key in claim.rejected}
    keys_was = _all_keys(was)
    for change in changes(newer):
        if not change.gone & before and not (change.gained and change.gained <= keys_was):
            yield from (
                contradiction for old in was if (contradiction := _left_behind(change, old) or _arrived(change, old))
            )
    for new in now:
        if mentions_now(new.sentence) and new.affirms and not _covered(new, was):
            yield from (contradiction for old in was if (contradiction := _moved_on(old, new, keys_was)))


def _left_behind(change: Change, old: Statement) -> Contradiction | None:
    """Return a contradiction if a claim about the same subject affirms what is gone."""
    rest = old.keys - change.gone
    if not old.affirms or not change.gone or not change.gone <= old.keys or _differ_in_qualifier(old, change.words):
        return None
    if change.about and rest and not change.about & rest:
        return None
    return _change_conflict(old, change.about & rest or rest, change.raw, _LEFT_BEHIND)


def _arrived(change: Change, old: Statement) -> Contradiction | None:
    """Return a contradiction if a claim says something else about a subject that got a new value."""
    rest = old.keys - change.about
    if not old.affirms or change.gone or not change.about or not rest or _differ_in_qualifier(old, change.words):
        return None
    if not change.about <= old.keys or not {word.key for word in old.words[: old.subject]} & change.about:
        return None
    return _change_conflict(old, change.about, change.raw, _MOVED_ON)


def _moved_on(old: Statement, new: Statement, keys_was: frozenset[str]) -> Contradiction | None:
    """Return a contradiction if the newer text says something else about the subject and presents it as new."""
    about = frozenset(word.key for word in new.words[: new.subject])
    content = [word for word in new.words[new.subject :] if not word.verb]
    fresh = [word for word in content if word.key not in keys_was]
    if not about or not fresh or not old.affirms or old.scope != new.scope or _differ_in_qualifier(old, new.words):
        return None
    if not about <= old.keys or not any(word.key not in new.keys for word in old.words if not word.verb):
        return None
    # If both share content, only a new name is a change: the same list in another order is not.
    shares_content = any(word.key in old.keys for word in content)
    return (
        None
        if shares_content and not all(word.named for word in fresh)
        else _change_conflict(old, about, new.raw, _MOVED_ON)
    )


def _change_conflict(old: Statement, about: frozenset[str], newer: str, strength: float) -> Contradiction:
    return Contradiction(reason="change", slot=_topic(old, about), older=old.raw, newer=newer, strength=strength)


def _differ_in_qualifier(old: Statement, words: Sequence[Word]) -> bool:
    """True if a noun of the subject is qualified differently: the billing service is not the search service."""
    subject = old.words[: old.subject] or old.words
    keys = {word.key for word in subject} & {word.key for word in words}
    before, after = _qualifiers(subject, keys), _qualifiers(words, keys)
    return any(noun in after and after[noun] != word for noun, word in before.items())


def _qualifiers(words: Sequence[Word], shared: set[str]) -> dict[str, str]:
    return {
        noun.key: word.key
        for word, noun in pairwise(words)
        if noun.key in shared and word.key not in shared and noun.place == word.place + 1 and not word.verb
    }


def _value_conflict(claim: Statement, shared: frozenset[str], older: str, newer: str, strength: float) -> Contradiction:
    return Contradiction(reason="value", slot=_topic(claim, shared), older=older, newer=newer, strength=strength)


def _topic(claim: Statement, keys: frozenset[str]) -> str:
    return " ".join(word.raw for word in claim.words if word.key in keys)[:120] or claim.raw[:120]


def _raw(words: Sequence[Word]) -> str:
    return " ".join(word.raw for word in words)
