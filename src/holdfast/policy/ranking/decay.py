"""Reduce the weight of scars by age and type, and by how often they were shown in vain."""

from collections.abc import Sequence

from holdfast.model.ids import days_between
from holdfast.model.record import Record

LEAST = 0.1
DAYS = {"incident": 180.0, "context": 30.0}  # process scars, and scars without a type, do not age
WINDOW_DAYS = 90
ENOUGH = 3  # uses before dismissals count
WEIGHT = 0.8
REEVALUATE = 0.6  # share of dismissals from which a scar should be reviewed
BLIND_SHOWN, BLIND_SHARE = 3, 0.5
DISMISSALS = frozenset({"ignored", "refuted"})


def by_type(scar_type: str, days: float) -> float:
    """Return the factor that age leaves of a scar's weight."""
    span = DAYS.get(scar_type)
    return max(LEAST, 1 - 0.9 * days / span) if span else 1.0


def by_dismissal(outcomes: Sequence[str]) -> float:
    """Return the factor that dismissals leave of it; `outcomes` are those of the last 90 days."""
    if len(outcomes) < ENOUGH:
        return 1.0
    return max(LEAST, 1 - WEIGHT * dismissed_share(outcomes))


def dismissed_share(outcomes: Sequence[str]) -> float:
    """Return the share of uses that were ignored or refuted."""
    return sum(outcome in DISMISSALS for outcome in outcomes) / len(outcomes) if outcomes else 0.0


def decay(scar: Record, outcomes: Sequence[str], now: str) -> float:
    """Return both factors multiplied: the factor for a scar's score."""
    age = days_between(max(scar.updated_at, scar.verified_at), now)
    return by_type(str(scar.fields.get("scar_type", "")), age) * by_dismissal(outcomes)
