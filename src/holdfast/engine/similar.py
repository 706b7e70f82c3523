"""Find records that say nearly the same, looking only where the project keeps its words."""

from holdfast.engine.lexical import Frequencies, bodies, look_up
from holdfast.engine.store import Store
from holdfast.engine.tokens import STOP_STEMS
from holdfast.engine.views import records, words
from holdfast.engine.views.records import span
from holdfast.model.record import Record

MOST = 8
# Writing must stay cheap: long words are rare words, and near-copies share most of them.
LONGEST_WORDS, POSTINGS = 16, 1_500


def similar(
    store: Store, frequencies: Frequencies, record: Record, *, retired: bool = False
) -> list[tuple[Record, float]]:
    """Give records of the same project, active or retired, with the share of words in common (Jaccard)."""
    home = store.project_number(record.project)
    low, high = span(home)
    same = [entry.number for entry in records.with_fingerprint(store.db, records.fingerprint(record))]
    shares = {number: 1.0 for number in same if low <= number <= high}
    if store.db.dialect == "sqlite":  # PostgreSQL finds words by other means
        place = (-high, -low) if retired else (low, high)
        shares = _shares(frequencies, words.indexed(record), place, store.size([home])) | shares
    state = "retired" if retired else "active"
    found = records.by_numbers(store.db, shares)
    return [(other, shares[number]) for number, other in found.items() if other.state == state]


def _shares(frequencies: Frequencies, body: str, place: tuple[int, int], documents: int) -> dict[int, float]:
    """Give the records of a span that share rare words with a text, each with the share of all words in common."""
    if not frequencies.any_in(place):
        return {}
    wanted = _meaningful(body)
    longest = sorted(wanted, key=lambda word: (-len(word), word))[:LONGEST_WORDS]
    near = look_up(frequencies, longest, [place], documents, most=MOST, postings=POSTINGS).found
    held = bodies(frequencies.db, near)
    return {abs(number): _jaccard(wanted, _meaningful(text)) for number, text in held.items()}


def _meaningful(body: str) -> frozenset[str]:
    """Give the words of the text itself: the last line is labels."""
    return frozenset(body.rpartition("\n")[0].split()) - STOP_STEMS


def _jaccard(some: frozenset[str], others: frozenset[str]) -> float:
    both = some | others
    return len(some & others) / len(both) if both else 1.0
