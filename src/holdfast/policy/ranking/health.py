"""Compute the health score of a memory, and what it consists of."""

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.model.patterns import tables

_PROBLEMS = {name: row.split(maxsplit=2) for name, row in tables(__file__)["problems"]}


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
        Measure(name=name, share=int(times) * counts[name] / total, points=int(points), meaning=meaning)
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
