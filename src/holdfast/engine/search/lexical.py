"""Search by words: candidates have the rarest words of a question and are scored exactly with BM25; and near-duplicates."""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, product
from operator import itemgetter

from holdfast.engine.database import Database
from holdfast.engine.journal import Journal
from holdfast.engine.store import Store
from holdfast.engine.tokens import STOP_STEMS, tokens
from holdfast.engine.views import records
from holdfast.engine.views import words as index
from holdfast.engine.views.words import Span
from holdfast.model.record import Record

# Reading one posting costs about 0.3 µs; this limit bounds a search in a project of any size.
POSTINGS = 1_200
FILTERED = 10  # times as many postings with a filter, because it drops most of them
# If not every word's postings are read, records that contain the rarest words together are looked up too. The database
# intersects postings four times as fast as they are read.
TOGETHER, INTERSECTED = 5, 50_000
LONG = 1_000  # reading a shorter list costs less than checking whether it can be skipped
# Inverse document frequencies count so many more records without a word: otherwise, in a project of a few records, every
# word they lack would count as rare and every shared one as common.
UNSEEN = 20
COMMON_WORD = 4_000  # a word that more records contain yields no candidates if vectors are searched too
SAMPLE = 200  # records that the mean length is computed from
MANY = 100_000  # above this, counts of common words are estimated from a sample: an exact count takes seconds
DRAWN, OFTEN = 2_000, 20
REMEMBERED = 30_000  # word counts a process caches at most: about 15 MB
# A write must cost the same in a store of any size. Only the longest words are looked up: they are usually rare, and
# near-duplicates share most of them. For a long word that is common, only the newest records are read.
LONGEST_WORDS, NEWEST, MOST = 12, 100, 8
K1, B = 1.2, 0.75
PASSAGE = 0.3  # share of the best passage in a record's score


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of a question with their weight (inverse document frequency), and the weight found in each record."""

    idf: Mapping[str, float]
    found: Mapping[int, float]


@dataclass(slots=True)
class Frequencies:
    """Document frequencies of words in each project: counted on demand and cached for the life of the process."""

    store: Journal
    known: dict[tuple[int, int, str], tuple[int, int]] = field(default_factory=dict)
    lengths: dict[tuple[Span, ...], tuple[float, float]] = field(default_factory=dict)
    draws: dict[tuple[Span, ...], tuple[dict[str, int], int]] = field(default_factory=dict)

    def of(self, words: Sequence[str], spans: Sequence[Span], documents: int) -> dict[str, int]:
        """Count the records of the spans that contain each word; above MANY records, common words are estimated."""
        key = tuple(spans)
        common, then = self.draws.get(key, ({}, 0)) if documents > MANY else ({}, documents)
        if _grown(documents, then):  # words that are common in a sample, with the estimated count over all records
            drawn = index.drawn(self.store.db, spans, DRAWN)
            held = Counter(word for body in drawn for word in set(body.split()))
            common = {word: documents * times // len(drawn) for word, times in held.items() if times >= OFTEN}
            self.draws[key] = common, documents
        rare = [word for word in words if word not in common]
        if len(self.known) > REMEMBERED:
            self.known.clear()
        stale: dict[Span, list[str]] = defaultdict(list)
        for span, word in product(spans, rare):
            count, then = self.known.get((*span, word), (0, 0))
            if not count or _grown(documents, then):
                stale[span].append(word)
        for span, counted in index.counts(self.store.db, stale).items():
            for word, count in counted.items():
                if count:
                    self.known[*span, word] = (count, documents)
                else:  # not cached: a record with this word may be written at any time
                    self.known.pop((*span, word), None)
        counts = {word: sum(self.known.get((*span, word), (0, 0))[0] for span in spans) for word in rare}
        return {word: common.get(word) or counts[word] for word in words}

    def mean_lengths(self, spans: Sequence[Span]) -> tuple[float, float]:
        """Return the mean length of a record and of a passage, in characters of index words, from a sample."""
        key = tuple(spans)
        if key not in self.lengths:
            sampled = list(index.newest(self.store.db, spans, SAMPLE).values())
            if not sampled:
                return 1.0, 1.0  # no record yet; not cached, because that changes with the first one
            parts = [part for body in sampled for part in body.split("\n")[1:-1]]
            wholes = sum(map(len, sampled)) / len(sampled)
            self.lengths[key] = wholes, sum(map(len, parts)) / len(parts) if parts else 1.0
        return self.lengths[key]


def look_up(
    frequencies: Frequencies,
    words: Iterable[str],
    spans: Sequence[Span],
    documents: int,
    *,
    allowed: Collection[int] | None = None,
    most: int,
    meant: bool = False,
) -> Words:
    """Return the records that contain the rarest words of a question, those with the most weight first."""
    # With `meant` (vectors are searched too), very common words yield no candidates.
    counts = frequencies.of(list(words), spans, documents)
    idf = {word: math.log(1 + (documents + UNSEEN - count) / (count + 1)) for word, count in counts.items()}
    score: dict[int, float] = defaultdict(float)
    present = sorted((word for word in counts if counts[word]), key=counts.__getitem__)
    left, read, unread = sum(idf[word] for word in present), 0, set(present)
    readable = POSTINGS if allowed is None else FILTERED * POSTINGS
    selective = [word for word in present if not (meant and counts[word] > COMMON_WORD)]
    # The leading words (rarest first) are always read, so that one statement fetches their postings.
    totals = accumulate(counts[word] for word in selective)
    sure = [word for word, total in zip(selective, totals, strict=True) if total <= readable and counts[word] <= LONG]
    held = index.holders(frequencies.store.db, sure or selective[:1], spans)
    for word in selective:
        read += counts[word]
        # More common words would exceed the limit of postings, or cannot add a record that ranks among the best.
        # They still count in the exact score.
        if score and read > readable:
            break
        if counts[word] > LONG and len(score) >= most and heapq.nlargest(most, score.values())[-1] > left:
            break
        weight = idf[word]
        left -= weight
        for number in held[word] if word in held else index.holders(frequencies.store.db, [word], spans)[word]:
            score[number] += weight
        unread.discard(word)
    if unread:
        for number, weight in _together(frequencies.store.db, present, counts, idf, spans, most).items():
            score[number] = max(score[number], weight)
    if allowed is not None:
        score = {number: weight for number, weight in score.items() if number in allowed}
    return Words(idf=idf, found=dict(heapq.nlargest(most, score.items(), key=itemgetter(1))))


def _together(
    db: Database, words: list[str], counts: dict[str, int], idf: dict[str, float], spans: Sequence[Span], most: int
) -> dict[int, float]:
    """Return records that contain the rarest words together, or all of them but one, with the weight of these words."""
    # So five words find the one record that has them, however common each of them is.
    totals = accumulate(counts[word] for word in words[:TOGETHER])
    rarest = [word for word, total in zip(words, totals, strict=False) if total <= INTERSECTED]
    if len(rarest) < 3:
        return {}
    sets, read = list[list[str]](), 0
    for some in (rarest, *([word for word in rarest if word != left_out] for left_out in reversed(rarest))):
        read += sum(counts[word] for word in some)
        sets += [some] if read <= INTERSECTED else []
    found: dict[int, float] = {}
    for span in spans:
        for some, numbers in zip(sets, index.newest_holders(db, sets, span, most), strict=True):
            weight = sum(idf[word] for word in some)
            found |= {number: max(found.get(number, 0.0), weight) for number in numbers}
    return found


def _grown(documents: int, then: int) -> bool:
    """True if the number of records grew by more than a tenth (and 10): word frequencies change slowly."""
    return documents > 1.1 * then + 10


def fits(bodies: Iterable[str], idf: Mapping[str, float], means: tuple[float, float]) -> list[tuple[float, float]]:
    """Return the exact score of each record, and the share of the question's words that it has, by their weight."""
    # The score is BM25 of the record and its best passage (share PASSAGE), divided by the weight of the question: about 1
    # if a record of mean length contains every word once. Lengths are in characters; the unit cancels out.
    total, patterns = sum(idf.values()), [(word, f" {word} ", weight) for word, weight in idf.items()]
    found = list[tuple[float, float]]()
    for body in bodies:
        # The search for the bare word is cheap and settles most cases: most words are not in the body.
        held = [(pattern, weight) for word, pattern, weight in patterns if word in body and pattern in body]
        if not held:
            found.append((0.0, 0.0))
            continue
        whole = best = _bm25(body, held, means[0])
        lines = body.split("\n")  # title, passages, labels; with one passage the whole record is scored
        if len(lines) > 3:
            best = max([_bm25(line, held, means[1]) for line in lines])
        score = ((1 - PASSAGE) * whole + PASSAGE * best) / total
        found.append((score, sum(map(itemgetter(1), held)) / total))
    return found


def _bm25(body: str, held: Sequence[tuple[str, float]], mean: float) -> float:
    norm = K1 * (1 - B + B * len(body) / mean)
    score = 0.0
    for pattern, weight in held:
        count = body.count(pattern)
        score += weight * count / (count + norm)
    return (K1 + 1) * score


def similar(store: Store, record: Record, *, retired: bool = False) -> list[tuple[Record, float]]:
    """Return similar records of the same project, active or retired, with the share of words in common (Jaccard)."""
    low, high = records.span(store.project_number(record.project))
    body, place = index.indexed(record), (-high, -low) if retired else (low, high)
    wanted, near = meaningful(body), list[int]()
    if not index.is_empty(store.db, place):
        longest = sorted(wanted, key=lambda word: (-len(word), word))[:LONGEST_WORDS]
        found = index.newest_holders(store.db, [[word] for word in longest], place, NEWEST)
        shared = Counter([number for holders in found for number in holders])
        near = heapq.nlargest(MOST, shared, key=shared.__getitem__)
    texts = {abs(number): meaningful(text) for number, text in index.bodies(store.db, near).items()} if near else {}
    shares = {number: len(wanted & theirs) / (len(wanted | theirs) or 1) for number, theirs in texts.items()}
    same = [entry.number for entry in records.with_fingerprint(store, records.fingerprint(record))]
    shares |= {number: 1.0 for number in same if low <= number <= high}
    state = "retired" if retired else "active"
    known = records.by_numbers(store, shares)
    return [(other, shares[number]) for number, other in known.items() if other.state == state]


def holding(store: Store, project: str, names: Sequence[str], most: int = MOST) -> list[Record]:
    """Return the newest active records of a project that contain one of the names, with all its words."""
    wanted = [found for name in names if (found := tokens(name))]
    place = records.span(store.project_number(project))
    if not wanted or index.is_empty(store.db, place):
        return []
    numbers = {number for holders in index.newest_holders(store.db, wanted, place, most) for number in holders}
    newest = heapq.nlargest(most, numbers)
    return [record for record in records.by_numbers(store, newest).values() if record.state == "active"]


def meaningful(body: str) -> frozenset[str]:
    """Return the words of an index body without stop words and without the last line, which has the labels."""
    return frozenset(body.rpartition("\n")[0].split()) - STOP_STEMS
