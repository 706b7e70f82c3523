"""Rate limits: a token bucket for each key, refilled over time."""

from collections import OrderedDict
from dataclasses import dataclass, field

MOST_KEPT = 10_000


@dataclass(slots=True)
class Buckets:
    """A bucket for each key; a full one allows `burst` requests at once, and `rate` a second from then on."""

    rate: float
    burst: float
    _kept: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def wait(self, key: str, now: float) -> float:
        """Take a token and return 0; or return the seconds until there is one."""
        left, at = self._kept.pop(key, (self.burst, now))
        left = min(self.burst, left + (now - at) * self.rate)
        short = 1 - left
        self._kept[key] = (left if short > 0 else left - 1, now)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return short / self.rate if short > 0 else 0.0
