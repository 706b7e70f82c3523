"""Search by words and by vectors, score the candidates exactly, and add signals from sessions, authors and dates.

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

CANDIDATES = 60  # at most, from words and from vectors each
EXACT = 48  # of the candidates, scored exactly
FEW = 300
MEANING = 0.6  # share of the vector score; the rest is the word score
NEAR = {1: 0.2, 2: 0.1}  # share of its score that a record adds to those one and two places away in its session
SESSION = 0.5  # share of the score of a session's best record that is added to all of the session
LENDERS = 30  # only this many of the best candidates add to others
AUTHOR, DATE = 0.4, 0.3  # added if the question names the author, or the date
FIT_MEANING = 0.6  # share of calibrated similarity in the fit; the rest is the share of words found


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A parsed question: its words, its vector if vectors are searched, and the authors and dates it names."""

    words: tuple[str, ...]
    vector: Any = None
    floor: float = 0.0
    ceiling: float = 1.0
    authors: frozenset[str] = frozenset()
    dates: Dates = field(default_factory=Dates)


@dataclass(slots=True, kw_only=True)
class Candidate:
    """A record that may answer, with its score by signal. `fit` is absolute, from 0 to 1."""

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
        """The score of the record itself, from words and vectors."""
        return (1 - MEANING) * self.words + MEANING * self.meaning if self.with_meaning else self.words

    @property
    def score(self) -> float:
        """The score that candidates are sorted by: the base and all other signals."""
        return self.base + self.lent + self.author + self.date

    @property
    def fit(self) -> float:
        """How well it answers, on a scale that is comparable between questions."""
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
    """Return the question without the authors it names, and these authors; unchanged if fewer than two wrote here."""
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
    """Return the parsed question for a search by words; the caller adds a vector to search by meaning too."""
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
    """Return candidates, best first, and the weight of each word of the question."""
    meant: dict[int, float] = {}
    if codes is not None and question.vector is not None:
        meant = codes.nearest(question.vector, spans, most=most, allowed=allowed)
    found = look_up(frequencies, question.words, spans, documents, allowed=allowed, most=most, meant=bool(meant))
    few = allowed is not None and len(allowed) <= FEW  # a filter that leaves so few records: score each of them
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
    """The state of one search: what words and vectors found, and the candidates so far."""

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
        """Score the records that the spans and the filter allow, and add the best to the candidates."""
        shown = [number for number in numbers if _may_show(number, self.spans, self.allowed)]
        meaning = self._meaning(shown)
        # The look-up gives a rough word score; only the most promising records are scored exactly.
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
                with_meaning=number in meaning,  # a new record may have no vector yet: score it by words alone
            )

    def _meaning(self, numbers: Sequence[int]) -> dict[int, float]:
        """Return the calibrated similarity of records that have vectors, reading those not found by the search."""
        cosines = dict(self.meant)
        if self.codes is not None and self.question.vector is not None:
            unknown = [number for number in numbers if number not in cosines]
            cosines |= self.codes.cosines(self.question.vector, unknown)
        return {number: _calibrated(cosines[number], self.question) for number in numbers if number in cosines}

    def lend(self) -> None:
        """Add a share of the best candidates' scores to their neighbours in the session, and to the whole session."""
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
            # A record without neighbours counts as a session of its own, so that it does not rank lower for that.
            candidate.lent += SESSION * sessions.get(session_of[number], candidate.base)

    def heed(self) -> None:
        """Raise candidates that were written by the authors, or on the dates, that the question names."""
        authors, dates = self.question.authors, self.question.dates
        if not authors and not dates.months:
            return
        self._place(self.candidates)
        for number, candidate in self.candidates.items():
            candidate.author = AUTHOR * (self.places[number].author in authors)
            candidate.date = DATE * dates.match(self.places[number].created_at)

    def _place(self, numbers: Iterable[int]) -> None:
        """Load the place of the records whose place is not loaded yet."""
        if unknown := [number for number in numbers if number not in self.places]:
            self.places |= records.places(self.store.db, unknown, max(NEAR))


def _may_show(number: int, spans: Sequence[Span], allowed: Collection[int] | None) -> bool:
    return any(low <= number <= high for low, high in spans) and (allowed is None or number in allowed)


def _calibrated(cosine: float, question: Question) -> float:
    """Return a cosine on a scale common to all embedders: 0 is unrelated, 1 clearly the same, 1.2 the most."""
    return min(1.2, max(0.0, (cosine - question.floor) / (question.ceiling - question.floor)))
