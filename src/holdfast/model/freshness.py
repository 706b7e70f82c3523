"""How far a record still holds, measured against the code."""

from dataclasses import dataclass
from typing import Literal, get_args

from holdfast.model.anchor import Mark, Touch

# `unverified`: nobody noted what stood there. `unknown`: it could not be looked at. Neither is ever said to be fresh.
State = Literal["fresh", "unverified", "unknown", "changed", "missing"]
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What became of one cited place. `commits` None means that nobody could tell how many touched it."""

    anchor: str
    state: State
    note: str = ""
    moved_to: str = ""
    now: Mark | None = None
    commits: int | None = None
    last: Touch | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """How far a record still holds, as its places say, and how many days ago somebody checked it."""

    state: State
    findings: tuple[Finding, ...] = ()
    days: float | None = None

    @property
    def troubles(self) -> tuple[Finding, ...]:
        """What speaks against it."""
        return tuple(finding for finding in self.findings if finding.state in ("changed", "missing"))

    @property
    def moved(self) -> tuple[Finding, ...]:
        """What holds, elsewhere."""
        return tuple(finding for finding in self.findings if finding.moved_to)
