"""Weigh search hits by freshness, trust, severity, scope and use (each a factor near 1), and by decay for scars; compute trust."""

import math
from collections.abc import Iterable, Mapping, Sequence

from holdfast.model.ids import days_between
from holdfast.model.kinds import KINDS
from holdfast.model.patterns import tables
from holdfast.model.query import Usage
from holdfast.model.record import Record

# How far a factor can change a score. Small on purpose: they only order hits that match about equally well.
FRESHNESS, TRUST, SEVERITY, SCOPE, USE, USER = 0.10, 0.10, 0.10, 0.05, 0.10, 0.10
FRESHNESS_NOW = 0.35  # if the question asks for the current state
WORTH_SAYING = 0.005
# Decay of scars, by age and type, and by how often they were shown in vain.
LEAST = 0.1
WINDOW_DAYS = 90
ENOUGH = 3  # uses before dismissals count
WEIGHT = 0.8
REEVALUATE = 0.6  # share of dismissals from which a scar should be reviewed
BLIND_SHOWN, BLIND_SHARE = 3, 0.5
DISMISSALS = frozenset({"ignored", "refuted"})

DAYS, _SEVERITIES, _BASE, _CONFIDENCE, REASONS = (
    {name: float(worth) for name, worth in rows} for rows in tables(__file__).values()
)
LONGEST_LIFE = 1.5  # the most that use can slow the decay


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
    """Return a factor for each signal that differs from neutral for this record; scars also decay."""
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
    return factors | ({"decay": remaining} if remaining != 1.0 else {})


def freshness(record: Record, now: str) -> float:
    """Return 1 for what was just written or verified, falling with the half-life of its kind."""
    age = days_between(max(record.updated_at, record.verified_at), now)
    half_life = KINDS[record.kind].half_life if record.kind in KINDS else None
    return float(0.5 ** (age / half_life)) if half_life else 1.0


def use(usage: Usage) -> float:
    """Return -1 for a record that was only contradicted, 1 for one that always helped, 0 without feedback."""
    good, bad = usage.applied + usage.corrected, 2 * usage.contradicted + 0.25 * usage.ignored
    return (good - bad) / (good + bad + 2)


def by_dismissal(outcomes: Sequence[str]) -> float:
    """Return the factor that dismissals leave of it; `outcomes` are those of the last 90 days."""
    return max(LEAST, 1 - WEIGHT * dismissed_share(outcomes)) if len(outcomes) >= ENOUGH else 1.0


def dismissed_share(outcomes: Sequence[str]) -> float:
    """Return the share of uses that were ignored or refuted."""
    return sum(outcome in DISMISSALS for outcome in outcomes) / len(outcomes) if outcomes else 0.0


def decay(scar: Record, outcomes: Sequence[str], now: str) -> float:
    """Return the factor for a scar's score: one that is old or always ignored should make room."""
    age = days_between(max(scar.updated_at, scar.verified_at), now)
    span = DAYS.get(str(scar.fields.get("scar_type", "")))
    return (max(LEAST, 1 - 0.9 * age / span) if span else 1.0) * by_dismissal(outcomes)


def base_trust(record: Record) -> float:
    """Return the trust in a record without any ratings."""
    return _BASE[record.source] * _CONFIDENCE[record.confidence]


def trust(record: Record, deltas: Iterable[float] = ()) -> float:
    """Return the trust after ratings; each step stays between 0 and 1."""
    value = base_trust(record)
    for delta in deltas:
        value = min(1.0, max(0.0, value + delta))
    return value


def decayed(value: float, kind: str, *, idle_days: float, uses: int) -> float:
    """Return the trust left after time without use; use slows the decay, but never raises trust."""
    half_life = KINDS[kind].half_life if kind in KINDS else None
    slowed = min(LONGEST_LIFE, 1 + 0.1 * math.log(uses + 1))
    return value * min(1.0, float(0.5 ** (idle_days / half_life)) * slowed) if half_life else value
