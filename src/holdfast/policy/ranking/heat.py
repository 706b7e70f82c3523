"""What belongs into the hot set: who is let in, who has to leave when it is full, and who has gone cold."""

from holdfast.model.query import Usage
from holdfast.model.record import Record

PROMOTE, PROMOTE_WARNING = 0.5, 0.30  # salience; what warns of a mistake gets in sooner
ENOUGH_USES = 3
TRIED, HELPFUL = 3, 0.20  # shown so often, it must have helped in this share of cases
STALE_DAYS = 14.0
WARNINGS = frozenset({"scar", "anti_pattern"})
# What is about a moment does not get in by itself.
PASSING = frozenset({"observation", "summary", "progress", "thread", "review", "retrospective", "blocker"})
_LASTING = frozenset({"scar", "anti_pattern", "pattern", "preference"})


def uses_of(usage: Usage) -> int:
    """Tell how often a record really helped."""
    return usage.applied + usage.corrected


def helpfulness(usage: Usage) -> float:
    """Give the share of showings that helped, cautiously: few showings say little."""
    return (uses_of(usage) + 1) / (usage.surfaced + 4)


def turned_away(record: Record, usage: Usage, salience: float) -> str:
    """Say why a record is not let in by itself; nothing when it is."""
    if record.kind in PASSING:
        return "kind"
    least = PROMOTE_WARNING if record.kind in WARNINGS else PROMOTE
    if salience < least and uses_of(usage) < ENOUGH_USES:
        return "threshold"
    if usage.surfaced >= TRIED and helpfulness(usage) < HELPFUL:
        return "helpfulness"
    return ""


def hot_score(uses: int, idle_days: float | None) -> float:
    """Give what decides who leaves a full set: the lowest goes."""
    return uses + (0.5 * 0.5 ** (idle_days / 7) if idle_days is not None else 0.0)


def stale_after(kind: str) -> int:
    """Give the days without use after which a record leaves the set."""
    factor = 2.0 if kind in _LASTING else 0.5 if kind in PASSING else 1.0
    return int(STALE_DAYS * factor)
