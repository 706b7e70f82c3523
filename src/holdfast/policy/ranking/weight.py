"""Weigh search hits by freshness, trust, severity, scope and use (each a factor near 1), and by decay for scars."""

from collections.abc import Mapping, Sequence

from holdfast.model.ids import days_between
from holdfast.model.kinds import KINDS
from holdfast.model.query import Usage
from holdfast.model.record import Record
from holdfast.policy.ranking.trust import trust

# How far a factor can change a score. Small on purpose: they only order hits that match about equally well.
FRESHNESS, TRUST, SEVERITY, SCOPE, USE, USER = 0.10, 0.10, 0.10, 0.05, 0.10, 0.10
FRESHNESS_NOW = 0.35  # if the question asks for the current state
WORTH_SAYING = 0.005
# Decay of scars, by age and type, and by how often they were shown in vain.
LEAST = 0.1
DAYS = {"incident": 180.0, "context": 30.0}  # process scars, and scars without a type, do not age
WINDOW_DAYS = 90
ENOUGH = 3  # uses before dismissals count
WEIGHT = 0.8
REEVALUATE = 0.6  # share of dismissals from which a scar should be reviewed
BLIND_SHOWN, BLIND_SHARE = 3, 0.5
DISMISSALS = frozenset({"ignored", "refuted"})

_SEVERITIES = {"critical": 1.0, "high": 0.6, "medium": 0.2, "low": 0.0}


def weigh(
    record: Record,
    usage: Usage,
    *,
    project: str,
    now: str,
    outcomes: Sequence[str] = (),
    deltas: Sequence[float] = (),
    is_about_now: bool = False,
) -> Mapping[str, float]:
    """Return a factor for each signal that differs from neutral for this record.

    Scars also decay, by type and by the outcomes of recent uses: a scar that is always ignored should make room.
    """
    signals = {
        "freshness": (FRESHNESS_NOW if is_about_now else FRESHNESS) * (freshness(record, now) - 1),
        "trust": TRUST * (trust(record, deltas) - 1),
        "severity": SEVERITY * _SEVERITIES.get(str(record.fields.get("severity")), 0.0),
        "scope": SCOPE if project and record.project == project else 0.0,
        "use": USE * use(usage),
        "user": USER * (record.by.kind == "user" and record.source in ("explicit", "correction")),
    }
    factors = {name: 1 + change for name, change in signals.items() if abs(change) >= WORTH_SAYING}
    remaining = decay(record, outcomes, now) if record.kind == "scar" else 1.0
    return factors if remaining == 1.0 else {**factors, "decay": remaining}


def freshness(record: Record, now: str) -> float:
    """Return 1 for what was just written or verified, falling with the half-life of its kind."""
    age = days_between(max(record.updated_at, record.verified_at), now)
    half_life = KINDS[record.kind].half_life if record.kind in KINDS else None
    return float(0.5 ** (age / half_life)) if half_life else 1.0


def use(usage: Usage) -> float:
    """Return -1 for a record that was only contradicted, 1 for one that always helped, 0 without feedback."""
    good, bad = usage.applied + usage.corrected, 2 * usage.contradicted + 0.25 * usage.ignored
    return (good - bad) / (good + bad + 2)


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
