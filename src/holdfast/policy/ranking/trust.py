"""How far a record is believed: where it comes from, what was said of it since, and how long nobody looked."""

import math
from collections.abc import Iterable, Mapping

from holdfast.model.kinds import KINDS
from holdfast.model.record import Record

_BASE: Mapping[str, float] = {
    "explicit": 1.0,
    "correction": 1.0,
    "imported": 0.8,
    "mined": 0.7,
    "inferred": 0.7,
    "observed": 0.7,
    "starter": 0.5,
}
_CONFIDENCE: Mapping[str, float] = {"high": 1.0, "medium": 0.9, "low": 0.6}
# What each reason does to trust.
REASONS: Mapping[str, float] = {
    "used_correctly": 0.05,
    "explicitly_confirmed": 0.15,
    "cross_validated": 0.20,
    "outdated": -0.10,
    "partially_incorrect": -0.15,
    "factually_wrong": -0.30,
    "superseded": -0.05,
    "low_utility": -0.05,
    "contradiction_resolved": -0.20,
}
LONGEST_LIFE = 1.5  # use stretches trust at most this far


def base_trust(record: Record) -> float:
    """Give how far a record is believed before anybody said anything of it."""
    return _BASE[record.source] * _CONFIDENCE[record.confidence]


def trust(record: Record, deltas: Iterable[float] = ()) -> float:
    """Give how far it is believed after what was said of it; each step stays between 0 and 1."""
    value = base_trust(record)
    for delta in deltas:
        value = min(1.0, max(0.0, value + delta))
    return value


def decayed(value: float, kind: str, *, idle_days: float, uses: int) -> float:
    """Give what time without use leaves of trust; use slows the fall, and nothing rises above what was earned."""
    half_life = KINDS[kind].half_life if kind in KINDS else None
    if half_life is None:
        return value
    slowed = min(LONGEST_LIFE, 1 + 0.1 * math.log(uses + 1))
    return value * min(1.0, float(0.5 ** (idle_days / half_life)) * slowed)
