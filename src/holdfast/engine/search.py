"""Find candidates by words and by meaning, score each exactly, and let sessions, people and dates speak.

The constants were measured on the development benchmark (`holdfast bench retrieval`); each sits on a plateau.
"""

import heapq
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.engine.lexical import Frequencies, Span, bodies, fit, look_up
from holdfast.engine.question import Dates, dates_in, named, without
from holdfast.engine.store import Store
from holdfast.engine.tokens import query_terms, tokens
from holdfast.engine.views import records

if TYPE_CHECKING:
    from holdfast.engine.dense import Codes

CANDIDATES = 60  # from either side
EXACT = 48  # of these, scored exactly
FEW = 300
MEANING = 0.6  # share of meaning against words
NEAR = {1: 0.2, 2: 0.1}  # what records one and two places away in a session lend of their score
SESSION = 0.5  # what the best record of a session lends to the others
LENDERS = 30  # only the best lend
AUTHOR, DATE = 0.4, 0.3  # the question names who wrote it, or when
FIT_MEANING = 0.6  # honest fit: this much calibrated similarity, the rest the share of words found


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question made ready: its words, its vector if meaning is asked for, and what else it names."""

    words: tuple[str, ...]
    vector: Any = None
    floor: float = 0.0
    ceiling: float = 1.0
    authors: frozenset[str] = frozenset()
    dates: Dates = field(default_factory=Dates)


@dataclass(slots=True, kw_only=True)
class Candidate:
    """A record that may answer, with what speaks for it. `fit` is absolute, from 0 to 1."""

    number: int
    words: float = 0.0
    meaning: float = 0.0
    coverage: float = 0.0
    lent: float = 0.0
    author: float = 0.0
    date: float = 0.0
    with_meaning: bool = True

    @property
    def base(self) -> float:
        """How well it answers by itself."""
        return (1 - MEANING) * self.words + MEANING * self.meaning if self.with_meaning else self.words

    @property
    def score(self) -> float:
        """How well it answers, all things considered."""
        return self.base + self.lent + self.author + self.date

    @property
    def fit(self) -> float:
        """How well it answers, on a scale that means the same for every question."""
        if not self.with_meaning:
            return self.coverage
        return FIT_MEANING * min(self.meaning, 1.0) + (1 - FIT_MEANING) * self.coverage

    @property
    def why(self) -> dict[str, float]:
        """The score by signal."""
        share = MEANING if self.with_meaning else 0.0
        parts = {"words": (1 - share) * self.words, "meaning": share * self.meaning, "session": self.lent}
        return {name: value for name, value in (parts | {"author": self.author, "date": self.date}).items() if value}


def subject(store: Store, text: str, spans: Sequence[Span]) -> tuple[str, frozenset[str]]:
    """Give the question without the people it names, and those people, where several wrote here."""
    everybody = records.authors(store.db)
    mentioned = named(text, everybody)
    if not mentioned or len(everybody) < 2:
        return text, frozenset()
    here = [name for name in everybody if any(records.wrote(store.db, name, *span) for span in spans)]
    if len(here) < 2:
        return text, frozenset()
    people = frozenset(mentioned) & frozenset(here)
    return without(text, people), people


def ready(text: str, bare: str, people: frozenset[str]) -> Question:
    """Make a question ready for a search by words; a vector adds meaning."""
    dates = dates_in(text)
    structure = {token for name in (*people, *dates.named) for token in tokens(name)}
    words = query_terms(bare)
    kept = tuple(word for word in words if word not in structure) or tuple(words)
    return Question(words=kept, authors=people, dates=dates)


def search(
    store: Store,
    frequencies: Frequencies,
    question: Question,
    spans: Sequence[Span],
    documents: int,
    *,
    exact: int = EXACT,
    codes: "Codes | None" = None,
    allowed: Collection[int] | None = None,
) -> tuple[list[Candidate], Mapping[str, float]]:
    """Give candidates, best first, and the weight of each word of the question."""
    found = look_up(frequencies, question.words, spans, documents, allowed=allowed, most=CANDIDATES)
    meant: dict[int, float] = {}
    if codes is not None and question.vector is not None:
        meant = codes.nearest(question.vector, spans, most=CANDIDATES, allowed=allowed)
    means, weight = frequencies.mean_lengths(spans), sum(found.idf.values()) or 1.0
    candidates: dict[int, Candidate] = {}

    def consider(numbers: Iterable[int]) -> None:
        """Score those of the records that may be shown, and add the best to the candidates."""
        shown = [number for number in numbers if _may_show(number, spans, allowed)]
        unknown = [number for number in shown if number not in meant]
        cosines = meant | (codes.cosines(question.vector, unknown) if codes and question.vector is not None else {})
        meaning = {number: _calibrated(cosines.get(number), question) for number in shown}
        # What words are worth is known roughly from the look-up; only the promising are worth an exact answer.
        share = {number: (1 - MEANING) * found.found.get(number, 0.0) / weight for number in shown}
        rough = {number: share[number] + MEANING * meaning[number] for number in shown}
        for number, body in bodies(store.db, heapq.nlargest(exact, shown, key=rough.__getitem__)).items():
            words, coverage = fit(body, found.idf, means)
            candidates[number] = Candidate(
                number=number,
                words=words,
                meaning=meaning[number],
                coverage=coverage,
                with_meaning=question.vector is not None,
            )

    if allowed is not None and len(allowed) <= FEW:  # a filter that leaves so few: each is looked at
        exact = FEW
        consider(allowed)
    else:
        consider(dict.fromkeys((*found.found, *meant)))
    _lend(store, candidates, consider)
    if question.authors or question.dates.months:
        _heed(store, candidates, question)
    return sorted(candidates.values(), key=lambda one: -one.score), found.idf


def _may_show(number: int, spans: Sequence[Span], allowed: Collection[int] | None) -> bool:
    return any(low <= number <= high for low, high in spans) and (allowed is None or number in allowed)


def _calibrated(cosine: float | None, question: Question) -> float:
    """Put a cosine on the scale every embedder shares: 0 unrelated, 1 clearly the same."""
    if cosine is None:
        return 0.0
    return min(1.2, max(0.0, (cosine - question.floor) / (question.ceiling - question.floor)))


def _lend(store: Store, candidates: dict[int, Candidate], consider: Callable[[Iterable[int]], None]) -> None:
    """Let the best candidates lend to their neighbours in the session, and to the session as a whole."""
    best = heapq.nlargest(LENDERS, candidates.values(), key=lambda one: one.base)
    places = records.places(store.db, [one.number for one in best])
    lenders = [(one, places[one.number]) for one in best if places[one.number].session]
    if not lenders:
        return
    around = {one.number: records.neighbours(store.db, place, max(NEAR)) for one, place in lenders}
    consider(number for near in around.values() for number, _ in near if number not in candidates)
    sessions: dict[str, float] = {}
    for one, place in lenders:
        for number, distance in around[one.number]:
            if number in candidates:
                candidates[number].lent += NEAR[distance] * one.base
        if around[one.number]:
            sessions.setdefault(place.session, one.base)
    for number, place in records.places(store.db, candidates).items():
        candidates[number].lent += SESSION * sessions.get(place.session, 0.0)


def _heed(store: Store, candidates: dict[int, Candidate], question: Question) -> None:
    """Let the people and dates a question names speak for what they wrote and for their time."""
    for number, place in records.places(store.db, candidates).items():
        candidates[number].author = AUTHOR * (place.author in question.authors)
        candidates[number].date = DATE * question.dates.match(place.created_at)
