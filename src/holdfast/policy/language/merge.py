"""One text out of several that say nearly the same: nothing said twice, nothing new lost, nothing outdated kept."""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.policy.admission.admit import RELATED
from holdfast.policy.language.contradict import Contradiction, contradicts
from holdfast.policy.language.statements import Statement, content_words, keys_of, sentences, statements

# A sentence adds nothing if so much of it is in one sentence already kept, or all but this much in the whole text.
_IN_ONE, _IN_ALL = 0.75, 0.9
_HALF = 0.5  # so much in common makes one sentence the like of another


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One of several texts about the same: whose, since when, and how near to the others (0 to 1)."""

    id: str
    text: str
    at: str
    similarity: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A sentence and the version it comes from."""

    id: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outdated:
    """A sentence left out because a newer version contradicts it."""

    part: Part
    by: Contradiction


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """A proposal: the text, the version it builds on, what it took from others, and what it left out as outdated."""

    text: str
    base: str
    sources: tuple[str, ...]
    added: tuple[Part, ...] = ()
    outdated: tuple[Outdated, ...] = ()


def says_the_same(older: str, newer: str) -> bool:
    """Tell whether two texts that are much alike speak of one thing, so that one text could say it.

    Sentences that have no like in the other text only add to it. Where the newer text corrects a part of the older one
    they speak of one thing still; where it corrects all of it, nothing is left to merge.
    """
    if contradicts(older, newer):
        return not all(contradicts(sentence, newer) for sentence in sentences(older))
    others = sentences(newer)
    matched = [(one, like) for one in sentences(older) if (like := _nearest(one, others))]
    return bool(matched) and not any(_apart(one, like) for one, like in matched)


def merge(versions: Sequence[Version]) -> Merged | None:
    """Propose one text for near duplicates; None if fewer than two of them are near enough."""
    near = sorted(
        (one for one in versions if one.similarity >= RELATED), key=lambda one: (one.at, one.id), reverse=True
    )
    if len(near) < 2:
        return None
    base = _base(near)
    kept, outdated = _still_true(base, [one for one in near if one.at > base.at])
    added: list[Part] = []
    for other in near:
        for sentence in sentences(other.text) if other is not base else ():
            part = Part(id=other.id, sentence=sentence)
            newer = "\n".join(one.text for one in near if one.at > other.at)
            if contradiction := contradicts(sentence, newer):
                outdated.append(Outdated(part=part, by=contradiction))
            elif not _covered(sentence, [*kept, *(one.sentence for one in added)]):
                added.append(part)
    return Merged(
        text=_joined(base, kept, added),
        base=base.id,
        sources=tuple(one.id for one in reversed(near)),
        added=tuple(added),
        outdated=tuple(outdated),
    )


def _nearest(sentence: str, others: Sequence[str]) -> str:
    """Give the sentence that shares most, and at least half, of what the shorter one says."""
    keys = keys_of(sentence)

    def share(other: str) -> float:
        there = keys_of(other)
        return len(keys & there) / min(len(keys), len(there)) if keys and there else 0.0

    best = max(others, key=share, default="")
    return best if share(best) >= _HALF else ""


def _apart(older: str, newer: str) -> bool:
    """Tell whether each names something the other lacks, or they differ in environment or sign."""
    first, second = statements(older), statements(newer)
    named = _names(older) - keys_of(newer) and _names(newer) - keys_of(older)
    return bool(named) or _environments(first) != _environments(second) or _denies(first) != _denies(second)


def _names(text: str) -> frozenset[str]:
    """Give names and numbers: what two sentences that are alike in all else are told apart by."""
    return frozenset(word.key for word in content_words(text) if word.named)


def _environments(claims: Sequence[Statement]) -> frozenset[str]:
    return frozenset(place for claim in claims for place in claim.scope)


def _denies(claims: Sequence[Statement]) -> bool:
    return sum(not claim.affirms for claim in claims) % 2 == 1


def _base(near: Sequence[Version]) -> Version:
    """Give the version that says most, the newest of those; one that a newer version corrects only if nothing else is left."""
    sound = [one for one in near if not any(contradicts(one.text, other.text) for other in near if other.at > one.at)]
    return max(sound or near, key=lambda one: (len(keys_of(one.text)), one.at, one.id))


def _still_true(base: Version, newer: Sequence[Version]) -> tuple[list[str], list[Outdated]]:
    kept: list[str] = []
    outdated: list[Outdated] = []
    text = "\n".join(one.text for one in newer)
    for sentence in sentences(base.text):
        if contradiction := contradicts(sentence, text):
            outdated.append(Outdated(part=Part(id=base.id, sentence=sentence), by=contradiction))
        else:
            kept.append(sentence)
    return kept, outdated


def _covered(sentence: str, kept: Sequence[str]) -> bool:
    """Tell whether what a sentence says is said already, every number of it included."""
    keys = keys_of(sentence)
    said = frozenset().union(*(keys_of(one) for one in kept))
    numbers = {key for key in keys if key.startswith("#")}
    if not keys or not numbers <= said:
        return not keys
    if len(keys & said) >= _IN_ALL * len(keys) and _affirms(sentence) == _affirms("\n".join(kept)):
        return True
    return any(len(keys & keys_of(one)) >= _IN_ONE * len(keys) and _affirms(sentence) == _affirms(one) for one in kept)


def _affirms(text: str) -> bool:
    return all(claim.affirms for claim in statements(text))


def _joined(base: Version, kept: Sequence[str], added: Sequence[Part]) -> str:
    """Give the base as it was written when all of it is kept, with what was added in the same manner."""
    whole = len(kept) == len(sentences(base.text))
    between = "\n" if "\n" in base.text.strip() else " "
    start = base.text.strip() if whole else between.join(kept)
    if start and start[-1] not in ".!?:;\"')`" and added and between == " ":
        start += "."
    bullet = "- " if base.text.lstrip().startswith("- ") else ""
    return between.join([start, *(f"{bullet}{part.sentence}" for part in added)]).strip()
