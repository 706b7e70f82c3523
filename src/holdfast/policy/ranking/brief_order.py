"""Rank what a brief says first: the user's word over an agent's, what was confirmed and used over what was inferred and ignored."""
# Standings are whole numbers in coarse steps, and age counts from the newest record, not from today: the same store
# gives the same order, and one more use or one more day does not reorder a brief.

from collections.abc import Iterable, Sequence

from holdfast.model.ids import days_between
from holdfast.model.patterns import tables
from holdfast.model.record import Record

SHOWN_FROM = 0  # a record below is left out of a brief that has others
_KIND, _SEVERITY, _SOURCE, _CONFIDENCE, _OUTCOME, _MARKS = (
    {name: int(points) for name, points in rows} for rows in tables(__file__).values()
)
USER, BLOCKING, VERIFIED, USED, OFTEN = 15, 100, 5, 10, 20
IGNORED, EVERY, MOST_IGNORED = -8, 3, -40  # points for every third session that ignored it, if none used it
USES = ("applied", "succeeded", "corrected")
_LASTING = ("preference", "scar", "anti_pattern", "thread")
_AGES = ((3 * 365, -30), (365, -15), (120, -5))  # older than the newest record by so many days: points


def standing(record: Record, newest: str, outcomes: Sequence[str], marks: Iterable[str]) -> int:
    """Return how much a record matters at the start of a session, however it was worded.

    `outcomes` are declared and observed, one per session; `marks` are what is known about it besides its text.
    """
    points = _KIND.get(record.kind, 0) + _SOURCE.get(record.source, 0) + _CONFIDENCE.get(record.confidence, 0)
    points += USER * is_from_user(record) + BLOCKING * (record.fields.get("blocking") is True)
    points += _SEVERITY.get(str(record.fields.get("severity")), 0) * (record.kind in ("scar", "anti_pattern"))
    points += VERIFIED * bool(record.verified_at) + sum(_MARKS[mark] for mark in marks)
    if uses := sum(outcome in USES for outcome in outcomes):
        points += OFTEN if uses >= EVERY else USED
        points += sum(_OUTCOME.get(outcome, 0) for outcome in outcomes[:3])
    else:
        points += max(MOST_IGNORED, outcomes.count("ignored") // EVERY * IGNORED)
        points += max(MOST_IGNORED, sum(_OUTCOME.get(outcome, 0) for outcome in outcomes))
    if record.kind not in _LASTING and record.created_at and newest:
        days = days_between(max(record.created_at, record.verified_at), newest)
        points += next((worth for most, worth in _AGES if days > most), 0)
    return points


def is_from_user(record: Record) -> bool:
    """True if a record holds a person's own words: written by one, or read from their prompts."""
    said = record.extra.get("signal") in ("statement", "correction")
    return said or record.by.kind == "user" or record.source == "correction"
