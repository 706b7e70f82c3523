"""Find records that say nearly the same, looking only where the project keeps its words."""

from holdfast.engine.lexical import Frequencies, look_up
from holdfast.engine.store import Store
from holdfast.engine.tokens import STOP_STEMS, tokens
from holdfast.engine.views import records
from holdfast.engine.views.records import span
from holdfast.model.record import Record

MOST = 8
POSTINGS = 1_500  # writing must stay cheap: only rare words are worth reading here


def similar(
    store: Store, frequencies: Frequencies, record: Record, *, retired: bool = False
) -> list[tuple[Record, float]]:
    """Give records of the same project, active or retired, with the share of words in common (Jaccard)."""
    low, high = span(store.project_number(record.project))
    wanted = _meaningful(record)
    same = [entry.number for entry in records.with_fingerprint(store.db, records.fingerprint(record))]
    numbers = dict.fromkeys(number for number in same if low <= number <= high)
    if store.db.dialect == "sqlite":  # PostgreSQL finds words by other means
        place = (-high, -low) if retired else (low, high)
        documents = store.size([store.project_number(record.project)])
        near = look_up(frequencies, wanted, [place], documents, most=MOST, postings=POSTINGS)
        numbers |= dict.fromkeys(abs(number) for number in near.found)
    state = "retired" if retired else "active"
    others = records.by_numbers(store.db, numbers).values()
    return [(other, _jaccard(wanted, _meaningful(other))) for other in others if other.state == state]


def _meaningful(record: Record) -> frozenset[str]:
    return frozenset(tokens(record.text)) - STOP_STEMS


def _jaccard(some: frozenset[str], others: frozenset[str]) -> float:
    both = some | others
    return len(some & others) / len(both) if both else 1.0
