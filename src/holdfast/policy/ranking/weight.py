"""Weigh search hits by freshness, trust, severity, scope and use (each a factor near 1), and by decay for scars."""

from collections.abc import Mapping, Sequence

from holdfast.model.ids import days_between
from holdfast.model.kinds import KINDS
from holdfast.model.query import Usage
from holdfast.model.record import Record
from holdfast.policy.ranking.decay import decay
from holdfast.policy.ranking.trust import trust

# How far a factor can change a score. Small on purpose: they only order hits that match about equally well.
FRESHNESS, TRUST, SEVERITY, SCOPE, USE, USER = 0.10, 0.10, 0.10, 0.05, 0.10, 0.10
FRESHNESS_NOW = 0.35  # if the question asks for the current state
WORTH_SAYING = 0.005

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
