"""Compute the health score of a memory, and what it consists of."""

from collections.abc import Mapping
from dataclasses import dataclass

# How many times the share of such records counts, the points it costs at most, and what it means.
_PROBLEMS = {
    "contradicted": (10, 30, "called wrong and not fixed (full cost at a tenth of all)"),
    "conflicts": (10, 15, "contradict each other"),
    "unverified": (1, 15, "older than a month and never checked"),
    "stale": (1, 5, "checked, but not for a month"),
    "drifted": (5, 10, "the code they cite has changed"),
    "dead": (1, 10, "shown, and never helped"),
    "cold": (1, 10, "never shown in a month"),
}


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
        Measure(name=name, share=times * counts[name] / total, points=points, meaning=meaning)
        for name, (times, points, meaning) in _PROBLEMS.items()
    ]
    typos = Measure(name="typos", share=counts["typos"] / 5, points=5, meaning="scopes that look misspelled")
    return sorted([*deductions, typos], key=lambda measure: -measure.cost)


def score(deductions: list[Measure]) -> int:
    """Return 100 for a memory without problems, less for each problem."""
    return max(0, round(100 - sum(measure.cost for measure in deductions)))


def word_for(points: int) -> str:
    """Return a word for a score."""
    return "healthy" if points >= 85 else "fair" if points >= 65 else "needs care"
