"""How much a record counts beside how well it fits: freshness, trust, severity, scope and use, each near 1."""

from collections.abc import Mapping

from holdfast.model.ids import days_between
from holdfast.model.kinds import KINDS
from holdfast.model.query import Usage
from holdfast.model.record import Record

# How far a factor can push a score. Small on purpose: they order what fits about equally well, nothing more.
FRESHNESS, TRUST, SEVERITY, SCOPE, USE = 0.10, 0.10, 0.10, 0.05, 0.10
WORTH_SAYING = 0.005

_SCAR_DAYS = {"incident": 180.0, "context": 30.0}
_BASE_TRUST = {
    "explicit": 1.0,
    "correction": 1.0,
    "imported": 0.8,
    "mined": 0.7,
    "inferred": 0.7,
    "observed": 0.7,
    "starter": 0.5,
}
_CONFIDENCE = {"high": 1.0, "medium": 0.9, "low": 0.6}
_SEVERITIES = {"critical": 1.0, "high": 0.6, "medium": 0.2, "low": 0.0}


def weigh(record: Record, usage: Usage, *, project: str, now: str) -> Mapping[str, float]:
    """Give a factor for each signal that says something about this record."""
    signals = {
        "freshness": FRESHNESS * (freshness(record, now) - 1),
        "trust": TRUST * (trust(record) - 1),
        "severity": SEVERITY * _SEVERITIES.get(str(record.fields.get("severity")), 0.0),
        "scope": SCOPE if project and record.project == project else 0.0,
        "use": USE * use(usage),
    }
    return {name: 1 + push for name, push in signals.items() if abs(push) >= WORTH_SAYING}


def freshness(record: Record, now: str) -> float:
    """Give 1 for what was just said or checked, falling with the half-life of its kind."""
    age = days_between(max(record.updated_at, record.verified_at), now)
    if record.kind == "scar":
        days = _SCAR_DAYS.get(str(record.fields.get("scar_type")))
        return max(0.1, 1 - 0.9 * age / days) if days else 1.0
    half_life = KINDS[record.kind].half_life if record.kind in KINDS else None
    return float(0.5 ** (age / half_life)) if half_life else 1.0


def trust(record: Record) -> float:
    """Give how far a record is believed before anybody used it."""
    return _BASE_TRUST[record.source] * _CONFIDENCE[record.confidence]


def use(usage: Usage) -> float:
    """Give -1 for a record that was only ever contradicted, 1 for one that always helped, 0 when nobody said."""
    good, bad = usage.applied + usage.corrected, 2 * usage.contradicted + 0.25 * usage.ignored
    return (good - bad) / (good + bad + 2)
