"""Compute trust in a record from its source, later ratings, and the time without use."""

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
# Reason -> change of trust.
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
LONGEST_LIFE = 1.5  # the most that use can slow the decay


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
    if half_life is None:
        return value
    slowed = min(LONGEST_LIFE, 1 + 0.1 * math.log(uses + 1))
    return value * min(1.0, float(0.5 ** (idle_days / half_life)) * slowed)
