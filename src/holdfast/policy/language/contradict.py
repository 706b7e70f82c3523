"""Whether a newer text contradicts an older one, and why. That two texts resemble each other is never a reason."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Literal

from holdfast.policy.language.change import Change, changes, mentions_now
from holdfast.policy.language.lexicon import MANY_VALUED, ONE_VALUED, OPEN_ENDED, SLOTS, TECHNOLOGIES
from holdfast.policy.language.quantities import differ
from holdfast.policy.language.statements import Statement, Word, statements

Reason = Literal["polarity", "value", "change"]

# How sure each kind of evidence is.
_LEFT_BEHIND, _MOVED_ON = 0.95, 0.75
_OPPOSITE, _OPPOSITE_WITH_DETAIL = 0.9, 0.75
_OTHER_NUMBER, _OTHER_NAME = 0.9, 0.8

_BE = frozenset({"is", "are", "was", "were", "be"})
_PREPOSITIONS = frozenset("in on by with to at as from behind under through via into after onto against".split())
_ADVICE = frozenset("use run format build install lint test write name store keep put indent deploy".split())
# A number after one of these names a thing: step 3 and step 4 are two things, not two values.
_LABELS = frozenset(
    "step phase shard issue pr ticket invoice chapter stage part rule section adr sprint case tier line day figure table example node replica test".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two texts that cannot both hold: what both are about, what each says of it, how sure that is."""

    reason: Reason
    slot: str
    older: str
    newer: str
    strength: float

    @property
    def explain(self) -> str:
        """One sentence for people."""
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
    """Give the strongest contradiction between two texts; similarity (0 to 1) only weighs it."""
    was, now = statements(older), statements(newer)
    found = [*_by_change(older, newer, was, now), *_by_statement(was, now)]
    if not found:
        return None
    best = max(found, key=lambda one: one.strength)
    weight = 1.0 if similarity is None else 0.7 + 0.3 * min(max(similarity, 0.0), 1.0)
    return replace(best, strength=round(best.strength * weight, 3))


def _by_statement(was: Sequence[Statement], now: Sequence[Statement]) -> Iterator[Contradiction]:
    """Compare every claim with every other, leaving out what the other text says too."""
    told, still = _said(now), _said(was)
    open_was = [one for one in was if one.predicate and not _covered(one, now)]
    open_now = [one for one in now if one.predicate and not _covered(one, was)]
    for new in open_now:
        for old in open_was:
            if _same_topic(old, new):
                found = _polarity(old, new) or _number(old, new) or _name(old, new, still, told)
                if found:
                    yield found


def _said(claims: Sequence[Statement]) -> frozenset[str]:
    return frozenset(key for claim in claims for key in claim.keys | claim.turned_down)


def _covered(claim: Statement, others: Sequence[Statement]) -> bool:
    return any(claim.keys <= other.keys and claim.affirms == other.affirms for other in others)


def _same_topic(old: Statement, new: Statement) -> bool:
    """Tell whether two claims share enough words, and speak of the same environment: staging says nothing of production."""
    shared = len(old.keys & new.keys)
    return 3 * shared >= max(3, min(len(old.keys), len(new.keys))) and old.scope == new.scope


def _polarity(old: Statement, new: Statement) -> Contradiction | None:
    """Find the same thing affirmed by one and denied by the other."""
    if old.affirms == new.affirms:
        return None
    left, right = _only(old, new), _only(new, old)
    shared = old.keys & new.keys
    if (left and right) or len(shared) < 2:
        return None
    extra, longer = (left, old) if left else (right, new)
    if len(extra) > max(3, len(shared)):
        return None
    if extra and not (old.universal or new.universal) and (_narrows(extra, longer, shared) or _exception(old, new)):
        return None
    return Contradiction(
        reason="polarity",
        slot=_shown(old, shared),
        older=old.raw,
        newer=new.raw,
        strength=_OPPOSITE_WITH_DETAIL if extra else _OPPOSITE,
    )


def _only(one: Statement, other: Statement) -> list[Word]:
    """Give the words of one claim that the other lacks, repeats counted."""
    left = Counter(word.key for word in other.words)
    found = []
    for word in one.words:
        if left[word.key]:
            left[word.key] -= 1
        else:
            found.append(word)
    return found


def _narrows(extra: Sequence[Word], longer: Statement, shared: frozenset[str]) -> bool:
    """Tell whether a word stands right before a shared noun of the subject: client errors are not all errors."""
    subject = longer.words[: longer.subject]
    return any(
        first in extra and second.key in shared and second.place == first.place + 1
        for first, second in pairwise(subject)
    )


def _exception(old: Statement, new: Statement) -> bool:
    return old.conditional != new.conditional


def _number(old: Statement, new: Statement) -> Contradiction | None:
    """Find the same thing said with another number."""
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
    if _labels(first, old) or _narrows(rest[0], old, shared) or _narrows(rest[1], new, shared):
        return None
    if not any(word.key in shared and not word.verb for word in old.words) or _exception(old, new):
        return None
    return _values(old, shared, first.raw, second.raw, _OTHER_NUMBER)


def _labels(number: Word, claim: Statement) -> bool:
    before = claim.lead[number.place - 1] if 0 < number.place <= len(claim.lead) else ""
    return before in _LABELS and number in claim.words[: claim.subject]


def _name(old: Statement, new: Statement, still: frozenset[str], told: frozenset[str]) -> Contradiction | None:
    """Find the same slot filled with another name."""
    if old.affirms != new.affirms or old.hedged or new.hedged or _exception(old, new):
        return None
    return _after_slot(old, new, still, told) or _before_slot(old, new) or _for_purpose(old, new)


def _after_slot(old: Statement, new: Statement, still: frozenset[str], told: frozenset[str]) -> Contradiction | None:
    same = _common(old.words, new.words)
    if same < max(old.subject, new.subject, 1) or not (old.subject or _same_advice(old, new)):
        return None
    first, second = _value(old, same, new.keys), _value(new, same, old.keys)
    if not first or not second or _overlap(first, second) or (first[0].quantity and second[0].quantity):
        return None
    if any(word.key in still for word in second) or any(word.key in told for word in first):
        return None
    if _link(old, same)[-1:] != _link(new, same)[-1:]:
        return None
    purpose = _purpose(old, same + len(first)) & _purpose(new, same + len(second))
    if not all(_one_valued(claim, same, first, second, bool(purpose)) for claim in (old, new)):
        return None
    shared = frozenset(word.key for word in old.words[:same])
    return _values(old, shared, _raw(first), _raw(second), _OTHER_NAME)


def _same_advice(old: Statement, new: Statement) -> bool:
    return old.lead[0] == new.lead[0] and old.lead[0] in _ADVICE


def _common(first: Sequence[Word], second: Sequence[Word]) -> int:
    count = 0
    for one, other in zip(first, second, strict=False):
        if one.key != other.key:
            break
        count += 1
    return count


def _value(claim: Statement, start: int, shared: frozenset[str]) -> tuple[Word, ...]:
    """Give the words that fill the slot: up to three, ending where both claims agree again."""
    found: list[Word] = []
    for word in claim.words[start:]:
        if word.key in shared or (found and word.place > found[-1].place + 1) or len(found) == 3:
            break
        found.append(word)
    return tuple(found)


def _overlap(first: Sequence[Word], second: Sequence[Word]) -> bool:
    return any(one.key == other.key or _typo(one.key, other.key) for one in first for other in second)


def _typo(one: str, other: str) -> bool:
    if min(len(one), len(other)) < 5 or not (one + other).isalpha():
        return False
    return SequenceMatcher(None, one, other).ratio() >= 0.8


def _one_valued(claim: Statement, start: int, first: Sequence[Word], second: Sequence[Word], purpose: bool) -> bool:
    """Tell whether the predicate leaves room for one value only."""
    before = claim.lead[: claim.words[start].place]
    if any(word in OPEN_ENDED for word in before):
        return False
    if _same_class(first, second):
        return True
    if any(word in MANY_VALUED for word in before):
        return purpose
    link = _link(claim, start)
    named = any(word.named for word in (*first, *second))
    if link and link[-1] in _PREPOSITIONS:
        return named or any(word in _BE or word in ONE_VALUED for word in before)
    equates = bool(link) and link[-1] in _BE
    return equates and (named or any(word.key in SLOTS for word in claim.words[:start]))


def _link(claim: Statement, start: int) -> list[str]:
    return [word for word in claim.lead[: claim.words[start].place] if word not in ("the", "our", "its")]


def _purpose(claim: Statement, end: int) -> set[str]:
    """Give what a value is for: "uses Postgres for persistence"."""
    rest = claim.words[end:]
    return {word.key for word in rest} if rest and claim.lead[rest[0].place - 1] == "for" else set()


def _same_class(first: Sequence[Word], second: Sequence[Word]) -> bool:
    return bool(_classes(first) & _classes(second))


def _classes(words: Sequence[Word]) -> set[str]:
    return {TECHNOLOGIES[name] for word in words for name in (word.key, word.raw.lower()) if name in TECHNOLOGIES}


def _before_slot(old: Statement, new: Statement) -> Contradiction | None:
    """Find another holder of what only one can hold: an owner, the default, the minimum version."""
    same = _common(old.words[::-1], new.words[::-1])
    first, second = old.words[: len(old.words) - same], new.words[: len(new.words) - same]
    if not same or not first or not second or len(first) > 3 or len(second) > 3 or _overlap(first, second):
        return None
    if len(first) > old.subject or len(second) > new.subject or not (_sole(old) and _sole(new)):
        return None
    shared = frozenset(word.key for word in old.words[-same:])
    return _values(old, shared, _raw(first), _raw(second), _OTHER_NAME)


def _for_purpose(old: Statement, new: Statement) -> Contradiction | None:
    """Find another tool told to be used for the same purpose: use this one for that."""
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
    return _values(old, frozenset(purpose), _raw(first), _raw(second), _OTHER_NAME)


def _sole(claim: Statement) -> bool:
    text = " ".join(claim.lead)
    return any(f" {verb} " in text for verb in ("owns", "maintains", "leads", "is the", "is our", "is responsible for"))


def _by_change(older: str, newer: str, was: Sequence[Statement], now: Sequence[Statement]) -> Iterator[Contradiction]:
    """Find what the newer text says was left behind, or is so by now, in what the older text still affirms."""
    before = {key for change in changes(older) for key in change.gone}
    before |= {key for claim in was for key in claim.turned_down}
    said = _said(was)
    for change in changes(newer):
        if not change.gone & before and not (change.gained and change.gained <= said):
            yield from (found for old in was if (found := _left_behind(change, old) or _arrived(change, old)))
    for new in now:
        if mentions_now(new.sentence) and new.affirms and not _covered(new, was):
            yield from (found for old in was if (found := _moved_on(old, new, said)))


def _left_behind(change: Change, old: Statement) -> Contradiction | None:
    """Find the thing that is gone in a claim about the same."""
    rest = old.keys - change.gone
    if not old.affirms or not change.gone or not change.gone <= old.keys or _clash(old, change.words):
        return None
    if change.about and rest and not change.about & rest:
        return None
    return _changed(old, change.about & rest or rest, change.raw, _LEFT_BEHIND)


def _arrived(change: Change, old: Statement) -> Contradiction | None:
    """Find a claim about the subject that something new was found for, with something else said of it."""
    rest = old.keys - change.about
    if not old.affirms or change.gone or not change.about or not rest or _clash(old, change.words):
        return None
    if not change.about <= old.keys or not {word.key for word in old.words[: old.subject]} & change.about:
        return None
    return _changed(old, change.about, change.raw, _MOVED_ON)


def _moved_on(old: Statement, new: Statement, said: frozenset[str]) -> Contradiction | None:
    """Find the same subject with something else said of it, when the newer text says that this is new."""
    about = frozenset(word.key for word in new.words[: new.subject])
    told = [word for word in new.words[new.subject :] if not word.verb]
    fresh = [word for word in told if word.key not in said]
    if not about or not fresh or not old.affirms or old.scope != new.scope or _clash(old, new.words):
        return None
    if not about <= old.keys or not any(word.key not in new.keys for word in old.words if not word.verb):
        return None
    # Where both go on alike, only another name is news: the same list in another order is not.
    alike = any(word.key in old.keys for word in told)
    return None if alike and not all(word.named for word in fresh) else _changed(old, about, new.raw, _MOVED_ON)


def _changed(old: Statement, about: frozenset[str], newer: str, strength: float) -> Contradiction:
    return Contradiction(reason="change", slot=_shown(old, about), older=old.raw, newer=newer, strength=strength)


def _clash(old: Statement, words: Sequence[Word]) -> bool:
    """Tell whether a noun of the subject is qualified differently: the billing service is not the search service."""
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


def _values(claim: Statement, shared: frozenset[str], older: str, newer: str, strength: float) -> Contradiction:
    return Contradiction(reason="value", slot=_shown(claim, shared), older=older, newer=newer, strength=strength)


def _shown(claim: Statement, keys: frozenset[str]) -> str:
    return " ".join(word.raw for word in claim.words if word.key in keys)[:120] or claim.raw[:120]


def _raw(words: Sequence[Word]) -> str:
    return " ".join(word.raw for word in words)
