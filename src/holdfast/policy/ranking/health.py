"""One number a person understands for how healthy a memory is, and what it is made of."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One thing that makes a memory worse: how much of it there is, and how many points it costs at most."""

    name: str
    share: float
    points: float
    meaning: str

    @property
    def cost(self) -> float:
        """The points it costs."""
        return round(self.points * min(1.0, max(0.0, self.share)), 1)


def measures(counts: Mapping[str, int]) -> list[Measure]:
    """Give what is taken off, heaviest first; `counts` are of the records that are meant to be used again."""
    total = max(1, counts["total"])
    found = [
        _measure(
            "contradicted",
            10 * counts["contradicted"] / total,
            30,
            "called wrong and not mended (a tenth of all is the worst)",
        ),
        _measure("conflicts", 10 * counts["conflicts"] / total, 15, "contradict each other"),
        _measure("unverified", counts["unverified"] / total, 15, "older than a month and never checked"),
        _measure("stale", counts["stale"] / total, 5, "checked, but not for a month"),
        _measure("drifted", 5 * counts["drifted"] / total, 10, "the code they cite is not what it was"),
        _measure("dead", counts["dead"] / total, 10, "shown, and never helped"),
        _measure("cold", counts["cold"] / total, 10, "never shown in a month"),
        _measure("typos", counts["typos"] / 5, 5, "scopes that look misspelled"),
    ]
    return sorted(found, key=lambda one: -one.cost)


def score(found: list[Measure]) -> int:
    """Give 100 for a memory nothing is wrong with, and less for everything that is."""
    return max(0, round(100 - sum(one.cost for one in found)))


def word_for(points: int) -> str:
    """Say a score in a word."""
    return "healthy" if points >= 85 else "fair" if points >= 65 else "needs care"


def _measure(name: str, share: float, points: float, meaning: str) -> Measure:
    return Measure(name=name, share=share, points=points, meaning=meaning)
