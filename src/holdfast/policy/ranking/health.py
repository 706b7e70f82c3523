"""Compute the health score of a memory, and what it consists of."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One kind of problem: how common it is, and how many points it costs at most."""

    name: str
    share: float
    points: float
    meaning: str

    @property
    def cost(self) -> float:
        """The points it costs."""
        return round(self.points * min(1.0, max(0.0, self.share)), 1)


def measures(counts: Mapping[str, int]) -> list[Measure]:
    """Return the deductions, largest first; `counts` covers the records meant for reuse."""
    total = max(1, counts["total"])
    deductions = [
        _measure(
            "contradicted",
            10 * counts["contradicted"] / total,
            30,
            "called wrong and not fixed (full cost at a tenth of all)",
        ),
        _measure("conflicts", 10 * counts["conflicts"] / total, 15, "contradict each other"),
        _measure("unverified", counts["unverified"] / total, 15, "older than a month and never checked"),
        _measure("stale", counts["stale"] / total, 5, "checked, but not for a month"),
        _measure("drifted", 5 * counts["drifted"] / total, 10, "the code they cite has changed"),
        _measure("dead", counts["dead"] / total, 10, "shown, and never helped"),
        _measure("cold", counts["cold"] / total, 10, "never shown in a month"),
        _measure("typos", counts["typos"] / 5, 5, "scopes that look misspelled"),
    ]
    return sorted(deductions, key=lambda measure: -measure.cost)


def score(deductions: list[Measure]) -> int:
    """Return 100 for a memory without problems, less for each problem."""
    return max(0, round(100 - sum(measure.cost for measure in deductions)))


def word_for(points: int) -> str:
    """Return a word for a score."""
    return "healthy" if points >= 85 else "fair" if points >= 65 else "needs care"


def _measure(name: str, share: float, points: float, meaning: str) -> Measure:
    return Measure(name=name, share=share, points=points, meaning=meaning)
