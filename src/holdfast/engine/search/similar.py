"""Find records of the same project that say nearly the same as a draft."""

import heapq
from collections import Counter
from collections.abc import Sequence

from holdfast.engine.database import Database
from holdfast.engine.store import Store
from holdfast.engine.tokens import STOP_STEMS, tokens
from holdfast.engine.views import records, words
from holdfast.engine.views.records import span
from holdfast.engine.views.words import Span
from holdfast.model.record import Record

# A write must cost the same in a store of any size. Only the longest words are looked up: they are usually rare, and
# near-duplicates share most of them. For a long word that is common, only the newest records are read.
LONGEST_WORDS, NEWEST, MOST = 12, 100, 8


def similar(store: Store, record: Record, *, retired: bool = False) -> list[tuple[Record, float]]:
    """Return similar records of the same project, active or retired, with the share of words in common (Jaccard)."""
    low, high = span(store.project_number(record.project))
    same = [entry.number for entry in records.with_fingerprint(store, records.fingerprint(record))]
    shares = {number: 1.0 for number in same if low <= number <= high}
    place = (-high, -low) if retired else (low, high)
    shares = _shares(store.db, words.indexed(record), place) | shares
    state = "retired" if retired else "active"
    found = records.by_numbers(store, shares)
    return [(other, shares[number]) for number, other in found.items() if other.state == state]


def holding(store: Store, project: str, names: Sequence[str], most: int = MOST) -> list[Record]:
    """Return the newest active records of a project that contain one of the names, with all its words."""
    wanted = [found for name in names if (found := tokens(name))]
    place = span(store.project_number(project))
    if not wanted or words.is_empty(store.db, place):
        return []
    numbers = {number for holders in words.newest_holders(store.db, wanted, place, most) for number in holders}
    newest = heapq.nlargest(most, numbers)
    return [record for record in records.by_numbers(store, newest).values() if record.state == "active"]


def _shares(db: Database, body: str, place: Span) -> dict[int, float]:
    """Return the records of a span that contain most of a text's longest words, with the share of words in common."""
    if words.is_empty(db, place):
        return {}
    wanted = meaningful(body)
    longest = sorted(wanted, key=lambda word: (-len(word), word))[:LONGEST_WORDS]
    shared: Counter[int] = Counter()
    for holders in words.newest_holders(db, [[word] for word in longest], place, NEWEST):
        shared.update(holders)
    near = heapq.nlargest(MOST, shared, key=shared.__getitem__)
    return {abs(number): jaccard(wanted, meaningful(text)) for number, text in words.bodies(db, near).items()}


def meaningful(body: str) -> frozenset[str]:
    """Return the words of an index body without stop words and without the last line, which has the labels."""
    return frozenset(body.rpartition("\n")[0].split()) - STOP_STEMS


def jaccard(some: frozenset[str], others: frozenset[str]) -> float:
    """Return the share of all words that two texts have in common, from 0 to 1."""
    both = some | others
    return len(some & others) / len(both) if both else 1.0
