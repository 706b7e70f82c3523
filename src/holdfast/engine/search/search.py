"""Find candidates by words and by meaning, score each exactly, and let sessions, people and dates speak.

The constants were measured on the development benchmark (`python3 dev.py bench retrieval`); each sits on a plateau.
"""

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.engine.search.lexical import Frequencies, Words, fit, look_up
from holdfast.engine.search.question import Dates, dates_in, named, without
from holdfast.engine.store import Store
from holdfast.engine.tokens import query_terms, tokens
from holdfast.engine.views import records
from holdfast.engine.views.words import Span, bodies

if TYPE_CHECKING:
    from holdfast.engine.search.postgres_vectors import Neighbours
    from holdfast.engine.search.sqlite_vectors import Codes

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
    most: int = CANDIDATES,
    codes: "Codes | Neighbours | None" = None,
    allowed: Collection[int] | None = None,
) -> tuple[list[Candidate], Mapping[str, float]]:
    """Give candidates, best first, and the weight of each word of the question."""
    meant: dict[int, float] = {}
    if codes is not None and question.vector is not None:
        meant = codes.nearest(question.vector, spans, most=most, allowed=allowed)
    found = look_up(frequencies, question.words, spans, documents, allowed=allowed, most=most, meant=bool(meant))
    few = allowed is not None and len(allowed) <= FEW  # a filter that leaves so few: each is looked at
    under_way = _Search(
        store=store,
        question=question,
        spans=spans,
        allowed=allowed,
        codes=codes,
        found=found,
        meant=meant,
        means=frequencies.mean_lengths(spans),
        exact=FEW if few else exact,
    )
    under_way.consider(allowed if allowed is not None and few else dict.fromkeys((*found.found, *meant)))
    under_way.lend()
    under_way.heed()
    return sorted(under_way.candidates.values(), key=lambda one: -one.score), found.idf


@dataclass(slots=True, kw_only=True)
class _Search:
    """A search under way: what the two sides found, and the candidates so far."""

    store: Store
    question: Question
    spans: Sequence[Span]
    allowed: Collection[int] | None
    codes: "Codes | Neighbours | None"
    found: Words
    meant: Mapping[int, float]
    means: tuple[float, float]
    exact: int
    candidates: dict[int, Candidate] = field(default_factory=dict)
    places: dict[int, records.Place] = field(default_factory=dict)

    def consider(self, numbers: Iterable[int]) -> None:
        """Score those of the records that may be shown, and add the best to the candidates."""
        shown = [number for number in numbers if _may_show(number, self.spans, self.allowed)]
        meaning = self._meaning(shown)
        # What words are worth is known roughly from the look-up; only the promising are worth an exact answer.
        weight = sum(self.found.idf.values()) or 1.0
        share = {number: (1 - MEANING) * self.found.found.get(number, 0.0) / weight for number in shown}
        rough = {number: share[number] + MEANING * meaning.get(number, 0.0) for number in shown}
        for number, body in bodies(self.store.db, heapq.nlargest(self.exact, shown, key=rough.__getitem__)).items():
            words, coverage = fit(body, self.found.idf, self.means)
            self.candidates[number] = Candidate(
                number=number,
                words=words,
                meaning=meaning.get(number, 0.0),
                coverage=coverage,
                with_meaning=number in meaning,  # what was just written may have no vector yet: its words must do
            )

    def _meaning(self, numbers: Sequence[int]) -> dict[int, float]:
        """Give the calibrated similarity of records that have vectors, looking up what the nearest did not bring."""
        cosines = dict(self.meant)
        if self.codes is not None and self.question.vector is not None:
            unknown = [number for number in numbers if number not in cosines]
            cosines |= self.codes.cosines(self.question.vector, unknown)
        return {number: _calibrated(cosines[number], self.question) for number in numbers if number in cosines}

    def lend(self) -> None:
        """Let the best candidates lend to their neighbours in the session, and to the session as a whole."""
        candidates = self.candidates
        self._place(candidates)
        best = heapq.nlargest(LENDERS, candidates.values(), key=lambda one: one.base)
        lenders = [(one, self.places[one.number]) for one in best if self.places[one.number].session]
        if not lenders:
            return
        session_of = {number: place.session for number, place in self.places.items()}
        session_of |= {number: place.session for _, place in lenders for number, _ in place.near}
        near = (place.near for _, place in sorted(lenders, key=lambda one: one[0].number))
        self.consider(number for some in near for number, _ in some if number not in candidates)
        sessions: dict[str, float] = {}
        for one, place in lenders:
            for number, distance in place.near:
                if number in candidates:
                    candidates[number].lent += NEAR[distance] * one.base
            if place.near:
                sessions.setdefault(place.session, one.base)
        for number, candidate in candidates.items():
            # One that stands alone is a session of its own: it must not fall behind for having no neighbours.
            candidate.lent += SESSION * sessions.get(session_of[number], candidate.base)

    def heed(self) -> None:
        """Let the people and dates a question names speak for what they wrote and for their time."""
        authors, dates = self.question.authors, self.question.dates
        if not authors and not dates.months:
            return
        self._place(self.candidates)
        for number, candidate in self.candidates.items():
            candidate.author = AUTHOR * (self.places[number].author in authors)
            candidate.date = DATE * dates.match(self.places[number].created_at)

    def _place(self, numbers: Iterable[int]) -> None:
        """Find out where records stand, of those that is not known of."""
        if unknown := [number for number in numbers if number not in self.places]:
            self.places |= records.places(self.store.db, unknown, max(NEAR))


def _may_show(number: int, spans: Sequence[Span], allowed: Collection[int] | None) -> bool:
    return any(low <= number <= high for low, high in spans) and (allowed is None or number in allowed)


def _calibrated(cosine: float, question: Question) -> float:
    """Put a cosine on the scale every embedder shares: 0 unrelated, 1 clearly the same."""
    return min(1.2, max(0.0, (cosine - question.floor) / (question.ceiling - question.floor)))
