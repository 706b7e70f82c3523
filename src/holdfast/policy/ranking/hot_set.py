"""Decide which records are in the hot set: how much each matters now, admission, eviction when it is full, and staleness."""

from holdfast.model.patterns import patterns_of
from holdfast.model.query import Usage
from holdfast.model.record import Record
from holdfast.policy.admission.admit import MOMENTARY

PROMOTE, PROMOTE_WARNING = 0.5, 0.30  # salience; warnings are admitted sooner
ENOUGH_USES = 3
TRIED, HELPFUL = 3, 0.20  # shown this often, it must have helped in this share of cases
STALE_DAYS = 14.0
WARNINGS = frozenset({"scar", "anti_pattern"})
_LASTING = frozenset({"scar", "anti_pattern", "pattern", "preference"})
HALF_LIFE_DAYS = 14.0
MANY_USES = 10  # from which on further uses add nothing
_LENGTHS = ((20, 0.2), (100, 0.5), (500, 1.0), (2_000, 0.8))  # characters of a text up to which it is worth so much
# Code and names in a text: each sort makes it worth more.
_CODE, _NAMES = (patterns_of(__file__, section).values() for section in ("code", "names"))


def uses_of(usage: Usage) -> int:
    """Return how often a record really helped."""
    return usage.applied + usage.corrected


def helpfulness(usage: Usage) -> float:
    """Return the smoothed share of impressions that helped: few impressions count little."""
    return (uses_of(usage) + 1) / (usage.surfaced + 4)


def why_not_hot(record: Record, usage: Usage, salience: float) -> str:
    """Return why a record is not admitted automatically; "" if it is."""
    if record.kind in MOMENTARY:
        return "kind"
    least = PROMOTE_WARNING if record.kind in WARNINGS else PROMOTE
    if salience < least and uses_of(usage) < ENOUGH_USES:
        return "threshold"
    if usage.surfaced >= TRIED and helpfulness(usage) < HELPFUL:
        return "helpfulness"
    return ""


def hot_score(uses: int, idle_days: float | None) -> float:
    """Return the score for eviction: the lowest leaves a full set."""
    return uses + (0.5 * 0.5 ** (idle_days / 7) if idle_days is not None else 0.0)


def stale_after(kind: str) -> int:
    """Return the days without use after which a record leaves the set."""
    factor = 2.0 if kind in _LASTING else 0.5 if kind in MOMENTARY else 1.0
    return int(STALE_DAYS * factor)


def importance(text: str) -> float:
    """Return how much a text seems worth, by its length and the code and names in it."""
    length = next((worth for most, worth in _LENGTHS if len(text) < most), 0.6)
    code = min(1.0, 0.25 * sum(bool(cue.search(text)) for cue in _CODE))
    entity = min(1.0, 0.2 * sum(bool(cue.search(text)) for cue in _NAMES))
    return round(0.3 * length + 0.4 * code + 0.3 * entity, 3)


def salience(*, importance: float, trust: float, uses: int, idle_days: float | None) -> float:
    """Return how much a record matters now; `idle_days` is None if it was never used."""
    recency = 0.5 ** (idle_days / HALF_LIFE_DAYS) if idle_days is not None else 0.0
    return round(0.15 * importance + 0.15 * trust + 0.40 * min(1.0, uses / MANY_USES) + 0.30 * recency, 3)
