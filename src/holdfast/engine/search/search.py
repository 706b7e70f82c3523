"""Search by words and by vectors, score the candidates exactly, and add signals from sessions, authors and dates."""
# The constants were measured on the development benchmark (`python3 dev.py bench retrieval`); each sits on a plateau.

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING

from holdfast.engine.search import question as questions
from holdfast.engine.search.lexical import Frequencies, Words, fits, look_up
from holdfast.engine.store import Store
from holdfast.engine.tokens import FOREIGN, STOP_STEMS, is_foreign, query_terms, tokens
from holdfast.engine.views import records
from holdfast.engine.views.words import Span, holders
from holdfast.model.ports import Encoded
from holdfast.model.query import Past

if TYPE_CHECKING:
    from holdfast.engine.search.vectors import Codes, Neighbours

CANDIDATES = 60  # at most, from words and from vectors each
EXACT = 48  # of the candidates, scored exactly
FEW = 300
# Shares of the signals in the score of a record itself: words, the vector of a passage, the vectors of its words.
WORDS, MEANING, TOKENS = 0.21, 0.185, 0.605
UNRELATED, RELATED = 0.35, 0.78  # similarity word by word: the scale of its score, as `floor` and `ceiling`
NEAR = {1: 0.2, 2: 0.1}  # share of its score that a record adds to those one and two places away in its session
SESSION = 0.5  # share of the score of a session's best record that is added to all of the session
LENDERS = 30  # only this many of the best candidates add to others
# Added if the question names who wrote the record, or whom it mentions (for the best record; less for others, so that a
# name never outweighs a better answer), if it names the date, and if the record has what the question names exactly.
SPEAKER, SUBJECT, DATE, EXACTLY = 0.6, 0.2, 0.45, 0.15
FEWEST_WORDS = 3  # of a question, if having all of them counts as exact
ROUGH_MEANING = 0.6  # share of the vector in the rough score that decides which records are scored exactly
FIT_DATE = 0.12  # added to the fit of a record written when the question says
FIT_WORDS, FIT_MEANING, FIT_TOKENS = 0.21, 0.45, 0.34  # shares of the signals in the fit


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A parsed question: its words, its vector if vectors are searched, and the authors and dates it names."""

    words: tuple[str, ...]
    encoded: Encoded | None = None  # its vectors, if vectors are searched
    floor: float = 0.0
    ceiling: float = 1.0
    people: frozenset[str] = frozenset()
    exact: tuple[str, ...] = ()  # what it names exactly, as in the index
    dates: questions.Dates = field(default_factory=questions.Dates)
    periods: Sequence[tuple[str, str]] = ()  # the dates as instants: records of these times are candidates
    is_about_now: bool = False
    past: Past | None = None  # the earlier state that it asks for, if it does
    asks_for_decision: bool = False
    listing: questions.Listing | None = None  # if it names only a time or a kind: records of that are listed
    is_foreign: bool = False  # not in English
    is_empty: bool = False  # it has nothing to search for


@dataclass(slots=True, kw_only=True)
class Candidate:
    """A record that may answer, with its score by signal."""

    number: int
    words: float = 0.0
    meaning: float | None = None  # None: it has no vector yet
    tokens: float | None = None
    coverage: float = 0.0
    lent: float = 0.0
    person: float = 0.0
    date: float = 0.0
    exact: float = 0.0
    lacks: bool = False  # it has not what the question names exactly, but others of that sort
    read: float = 0.0  # what reading the question and the record together adds
    odds: float | None = None  # the log odds that it answers, by reading both; None: not read
    chance: float = 0.0  # probability that it answers the question
    base: float = field(init=False)  # the score of the record itself, from words and vectors
    score: float = field(init=False)  # what candidates are sorted by: the base and all other signals
    fit: float = field(init=False)  # from 0 to 1: the same for the same question and text, whatever else is stored

    def __post_init__(self) -> None:
        # A signal that a record has not yet leaves its share to the others.
        has_meaning, meaning = self.meaning is not None, self.meaning or 0.0
        has_tokens, tokens = self.tokens is not None, self.tokens or 0.0
        known = WORDS + MEANING * has_meaning + TOKENS * has_tokens
        self.base = self.score = (WORDS * self.words + MEANING * meaning + TOKENS * tokens) / known
        known = FIT_WORDS + FIT_MEANING * has_meaning + FIT_TOKENS * has_tokens
        own = FIT_WORDS * self.coverage + FIT_MEANING * min(meaning, 1.0) + FIT_TOKENS * min(tokens, 1.0)
        self.fit = own / known

    @property
    def why(self) -> dict[str, float]:
        """The score by signal."""
        known = (("words", WORDS, self.words), ("meaning", MEANING, self.meaning), ("tokens", TOKENS, self.tokens))
        total = sum([share for _, share, value in known if value is not None])
        parts = {name: share / total * value for name, share, value in known if value}
        others = {"session": self.lent} | {name: getattr(self, name) for name in ("person", "date", "exact", "read")}
        return parts | {name: value for name, value in others.items() if value}


def subject(store: Store, text: str, spans: Sequence[Span]) -> tuple[str, frozenset[str]]:
    """Return the question without the authors it names, and these authors; unchanged if fewer than two wrote here."""
    everybody = records.authors(store.db)
    mentioned = questions.named(text, everybody)
    asked = everybody if mentioned and len(everybody) > 1 else ()
    here = [name for name in asked if any(records.wrote(store.db, name, *span) for span in spans)]
    people = frozenset(mentioned) & frozenset(here if len(here) > 1 else ())
    return questions.without(text, [mentioned[name] for name in people]), people


def ready(store: Store, text: str, bare: str, people: frozenset[str], spans: Sequence[Span], now: str) -> Question:
    """Return the parsed question for a search by words; the caller adds a vector to search by meaning too."""
    dates, foreign, low = questions.dates_in(text, now), is_foreign(text), text.lower()
    structure = {token for name in (*people, *dates.named) for token in tokens(name)}
    structure |= _foreign_stems() if foreign else frozenset()
    words, periods = query_terms(bare), dates.spans(now)
    past = questions.past_asked_for(text, periods, now)
    listing = questions.listing_in(text, dates)
    named = [*people, *dates.named, *questions.CAPITALS.findall(text)]
    # The names of a list are of people if one of them wrote here, agents too.
    names = listing.names if listing else ()
    newest = records.by_numbers(store, sorted(naming(store, names, spans))[-FEW:] if names else ()).values()
    if is_known := listing is not None and any(not set(names).isdisjoint(tokens(one.by.name)) for one in newest):
        listing = replace(listing, about="")
    return Question(
        words=tuple(word for word in words if word not in structure) or tuple(words),
        people=people.union(names) if is_known or periods else people,
        exact=questions.exact_in(text),
        dates=dates,
        periods=periods,
        is_about_now=past is None and bool(questions.NOW.search(low)),
        past=past,
        asks_for_decision=bool(questions.DECIDED.search(low)),
        listing=listing,
        is_foreign=foreign,
        is_empty=not listing and not named and all(word in structure | STOP_STEMS for word in words),
    )


def naming(store: Store, people: Iterable[str], spans: Sequence[Span]) -> set[int]:
    """Return the numbers of the records that have the first name of any of these people, in the text or as their author."""
    names = [word for name in people for word in tokens(name)[:1]]
    return {number for numbers in holders(store.db, names, spans).values() for number in numbers}


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
) -> tuple[list[Candidate], Words]:
    """Return candidates, best first, and the words of the question with their weights."""
    encoded = question.encoded if codes is not None else None
    found = look_up(
        frequencies, question.words, spans, documents, allowed=allowed, most=most, meant=encoded is not None
    )
    meant = codes.nearest(encoded.vector, spans, allowed=allowed, also=found.found) if codes and encoded else {}
    few = allowed if allowed is not None and len(allowed) <= FEW else None  # so few records: score each of them
    means, exact = frequencies.mean_lengths(spans), exact if few is None else FEW
    under_way = _Search(store, question, spans, allowed, codes, found, meant, means, exact)
    dated = records.written_in(store.db, question.periods, spans, most) if question.periods else ()
    under_way.consider(dict.fromkeys((*found.found, *islice(meant, most), *dated)) if few is None else few)
    under_way.lend()
    under_way.heed()
    for one in under_way.candidates.values():
        one.score += one.lent + one.person + one.date + one.exact
    return sorted(under_way.candidates.values(), key=attrgetter("score"), reverse=True), found


@dataclass(slots=True)
class _Search:
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

    def consider(self, numbers: Collection[int]) -> None:
        """Score the records that the spans and the filter allow, and add the best to the candidates."""
        here = [number for low, high in self.spans for number in numbers if low <= number <= high]
        shown = [number for number in here if self.allowed is None or number in self.allowed]
        meaning = self._meaning(shown)
        # The look-up gives a rough word score; only the most promising records are scored exactly.
        weight = sum(self.found.idf.values()) or 1.0
        said = {number: (1 - ROUGH_MEANING) * self.found.found.get(number, 0.0) / weight for number in shown}
        rough = {number: said[number] + ROUGH_MEANING * meaning.get(number, 0.0) for number in shown}
        best = heapq.nlargest(self.exact, shown, key=rough.__getitem__)
        similarities, patterns = self._tokens(best), self.question.exact
        people = [f" {word} " for name in self.question.people for word in tokens(name)[:1]]
        places = records.places(self.store.db, best, max(NEAR))
        self.places |= places
        scores = fits([place.body for place in places.values()], self.found.idf, self.means)
        for (number, place), (words, coverage) in zip(places.items(), scores, strict=True):
            body = place.body
            text, _, labels = body.rpartition("\n")  # the author is among the labels
            has_all = coverage > 0.999 and len(self.found.idf) >= FEWEST_WORDS
            named = sum([one in body for one in patterns]) / len(patterns) if patterns else 0.0
            self.candidates[number] = Candidate(
                number=number,
                words=words,
                meaning=meaning.get(number),
                tokens=similarities.get(number),
                coverage=coverage,
                person=max([SPEAKER * (one in labels) or SUBJECT * (one in text) for one in people]) if people else 0.0,
                exact=EXACTLY * (min(1.0, words) if has_all else named),
            )

    def _tokens(self, numbers: Collection[int]) -> dict[int, float]:
        encoded = self.question.encoded
        if encoded is None or encoded.tokens is None:
            return {}
        from holdfast.engine.search.vectors import similarities  # noqa: PLC0415  numpy: only for meaning

        found = similarities(self.store.db, encoded.tokens, encoded.weights, numbers)
        return _scaled(found, UNRELATED, RELATED)

    def _meaning(self, numbers: Sequence[int]) -> dict[int, float]:
        """Return the calibrated similarity of records that have vectors, reading those not found by the search."""
        cosines = dict(self.meant)
        if self.codes is not None and self.question.encoded is not None:
            unknown = [number for number in numbers if number not in cosines]
            cosines |= self.codes.cosines(self.question.encoded.vector, unknown)
        known = {number: cosines[number] for number in numbers if number in cosines}
        return _scaled(known, self.question.floor, self.question.ceiling)

    def lend(self) -> None:
        """Add a share of the best turns' scores to their neighbours in a conversation, and to the whole conversation."""
        # What an agent saves in one session need not be about one thing.
        candidates = self.candidates
        best = [
            (one, self.places[one.number])
            for one in heapq.nlargest(LENDERS, candidates.values(), key=attrgetter("base"))
        ]
        talks = records.conversations(self.store, (place.session for _, place in best if place.author))
        lenders = [(one, place) for one, place in best if place.session in talks]
        if not lenders:
            return
        session_of = {number: place.session for number, place in self.places.items()}
        session_of |= {number: place.session for _, place in lenders for number, _ in place.near}
        near = [place.near for _, place in sorted(lenders, key=lambda one: one[0].number)]
        self.consider([number for some in near for number, _ in some if number not in candidates])
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
        """Weigh candidates about the people, or written on the dates, that the question names."""
        dates, candidates = self.question.dates, self.candidates.values()
        if self.question.people:
            best = max((one.base for one in candidates), default=0.0) or 1.0
            for candidate in candidates:
                candidate.person *= candidate.base / best
        if dates.days or dates.periods:
            for candidate in candidates:
                share = dates.match(self.places[candidate.number].created_at)
                candidate.date, candidate.fit = DATE * share, min(1.0, candidate.fit + FIT_DATE * share)


@cache
def _foreign_stems() -> frozenset[str]:
    return frozenset(token for word in FOREIGN for token in tokens(word))


def _scaled(similarities: Mapping[int, float], floor: float, ceiling: float) -> dict[int, float]:
    """Return similarities on a scale common to all encoders: 0 is unrelated, 1 clearly the same, 1.3 the most."""
    width = ceiling - floor
    return {number: min(1.3, max(0.0, (value - floor) / width)) for number, value in similarities.items()}
