"""How much a scar still counts: by what sort of scar it is, and by how often it was shown for nothing."""

from collections.abc import Sequence

from holdfast.model.ids import days_between
from holdfast.model.record import Record

LEAST = 0.1
DAYS = {"incident": 180.0, "context": 30.0}  # process scars, and those of no type, do not age
WINDOW_DAYS = 90
ENOUGH = 3  # uses it takes before dismissals say something
WEIGHT = 0.8
REEVALUATE = 0.6  # share of dismissals from which a scar should be looked at again
BLIND_SHOWN, BLIND_SHARE = 3, 0.5
DISMISSALS = frozenset({"ignored", "refuted"})


def by_type(scar_type: str, days: float) -> float:
    """Give what age leaves of a scar's weight."""
    span = DAYS.get(scar_type)
    return max(LEAST, 1 - 0.9 * days / span) if span else 1.0


def by_dismissal(outcomes: Sequence[str]) -> float:
    """Give what being ignored or refuted leaves of it; `outcomes` are those of the last 90 days."""
    if len(outcomes) < ENOUGH:
        return 1.0
    return max(LEAST, 1 - WEIGHT * dismissed_share(outcomes))


def dismissed_share(outcomes: Sequence[str]) -> float:
    """Give the share of uses that came to nothing."""
    return sum(outcome in DISMISSALS for outcome in outcomes) / len(outcomes) if outcomes else 0.0


def decay(scar: Record, outcomes: Sequence[str], now: str) -> float:
    """Give both together, as the factor a scar's score is taken by."""
    age = days_between(max(scar.updated_at, scar.verified_at), now)
    return by_type(str(scar.fields.get("scar_type", "")), age) * by_dismissal(outcomes)
