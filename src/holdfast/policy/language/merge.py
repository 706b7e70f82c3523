"""Merge several texts that say nearly the same: no repetition, nothing new lost, nothing outdated kept."""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.policy.admission.admit import RELATED
from holdfast.policy.language.contradict import Contradiction, contradicts
from holdfast.policy.language.statements import Statement, content_words, keys_of, sentences, statements

# A sentence adds nothing if this share of it is in one kept sentence, or this share in the whole text.
_IN_ONE, _IN_ALL = 0.75, 0.9
_HALF = 0.5  # share in common that makes two sentences comparable


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One of several texts about the same: its id, time, and similarity to the others (0 to 1)."""

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
    """A proposal: the text, the version it is based on, sentences added from others, and outdated sentences left out."""

    text: str
    base: str
    sources: tuple[str, ...]
    added: tuple[Part, ...] = ()
    outdated: tuple[Outdated, ...] = ()


def says_the_same(older: str, newer: str) -> bool:
    """True if two similar texts are about one thing, so that one text could replace both.

    Sentences without a counterpart only add to the other text. If the newer text corrects part of the older one, they are
    still about one thing; if it corrects all of it, nothing is left to merge.
    """
    if contradicts(older, newer):
        return not all(contradicts(sentence, newer) for sentence in sentences(older))
    others = sentences(newer)
    pairs = [(sentence, counterpart) for sentence in sentences(older) if (counterpart := _nearest(sentence, others))]
    return bool(pairs) and not any(_differ(sentence, counterpart) for sentence, counterpart in pairs)


def merge(versions: Sequence[Version]) -> Merged | None:
    """Propose one text for near-duplicates; None if fewer than two are similar enough."""
    near = sorted(
        (version for version in versions if version.similarity >= RELATED),
        key=lambda version: (version.at, version.id),
        reverse=True,
    )
    if len(near) < 2:
        return None
    base = _base(near)
    kept, outdated = _still_true(base, [version for version in near if version.at > base.at])
    added: list[Part] = []
    for other in near:
        for sentence in sentences(other.text) if other is not base else ():
            part = Part(id=other.id, sentence=sentence)
            newer = "\n".join(version.text for version in near if version.at > other.at)
            if contradiction := contradicts(sentence, newer):
                outdated.append(Outdated(part=part, by=contradiction))
            elif not _covered(sentence, [*kept, *(addition.sentence for addition in added)]):
                added.append(part)
    return Merged(
        text=_joined(base, kept, added),
        base=base.id,
        sources=tuple(version.id for version in reversed(near)),
        added=tuple(added),
        outdated=tuple(outdated),
    )


def _nearest(sentence: str, others: Sequence[str]) -> str:
    """Return the sentence that shares most, and at least half, of the shorter one's words."""
    keys = keys_of(sentence)

    def share(other: str) -> float:
        other_keys = keys_of(other)
        return len(keys & other_keys) / min(len(keys), len(other_keys)) if keys and other_keys else 0.0

    best = max(others, key=share, default="")
    return best if share(best) >= _HALF else ""


def _differ(older: str, newer: str) -> bool:
    """True if each names something the other lacks, or they differ in environment or polarity."""
    first, second = statements(older), statements(newer)
    named = _names(older) - keys_of(newer) and _names(newer) - keys_of(older)
    return bool(named) or _environments(first) != _environments(second) or _denies(first) != _denies(second)


def _names(text: str) -> frozenset[str]:
    """Return names and numbers: what distinguishes two otherwise similar sentences."""
    return frozenset(word.key for word in content_words(text) if word.named)


def _environments(claims: Sequence[Statement]) -> frozenset[str]:
    return frozenset(place for claim in claims for place in claim.scope)


def _denies(claims: Sequence[Statement]) -> bool:
    return sum(not claim.affirms for claim in claims) % 2 == 1


def _base(near: Sequence[Version]) -> Version:
    """Return the most informative version, the newest of those; a corrected one only if nothing else is left."""
    sound = [
        version
        for version in near
        if not any(contradicts(version.text, other.text) for other in near if other.at > version.at)
    ]
    return max(sound or near, key=lambda version: (len(keys_of(version.text)), version.at, version.id))


def _still_true(base: Version, newer: Sequence[Version]) -> tuple[list[str], list[Outdated]]:
    kept: list[str] = []
    outdated: list[Outdated] = []
    text = "\n".join(version.text for version in newer)
    for sentence in sentences(base.text):
        if contradiction := contradicts(sentence, text):
            outdated.append(Outdated(part=Part(id=base.id, sentence=sentence), by=contradiction))
        else:
            kept.append(sentence)
    return kept, outdated


def _covered(sentence: str, kept: Sequence[str]) -> bool:
    """True if what a sentence says, including every number, is in the kept sentences already."""
    keys = keys_of(sentence)
    kept_keys = frozenset().union(*(keys_of(other) for other in kept))
    numbers = {key for key in keys if key.startswith("#")}
    if not keys or not numbers <= kept_keys:
        return not keys
    if len(keys & kept_keys) >= _IN_ALL * len(keys) and _affirms(sentence) == _affirms("\n".join(kept)):
        return True
    return any(
        len(keys & keys_of(other)) >= _IN_ONE * len(keys) and _affirms(sentence) == _affirms(other) for other in kept
    )


def _affirms(text: str) -> bool:
    return all(claim.affirms for claim in statements(text))


def _joined(base: Version, kept: Sequence[str], added: Sequence[Part]) -> str:
    """Return the base as written if all of it is kept, followed by the additions in the same style."""
    is_complete = len(kept) == len(sentences(base.text))
    separator = "\n" if "\n" in base.text.strip() else " "
    start = base.text.strip() if is_complete else separator.join(kept)
    if start and start[-1] not in ".!?:;\"')`" and added and separator == " ":
        start += "."
    bullet = "- " if base.text.lstrip().startswith("- ") else ""
    return separator.join([start, *(f"{bullet}{part.sentence}" for part in added)]).strip()
