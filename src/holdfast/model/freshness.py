"""Freshness: whether a record is still true, measured against the code."""

from dataclasses import dataclass
from typing import Literal, get_args

from holdfast.model.anchor import CodeMark, Touch

# `exists`: a place that is only named is still there, which says nothing about its content. `unverified`: no content was
# recorded. `unknown`: it could not be read. None of these is ever reported as fresh.
State = Literal["fresh", "exists", "unverified", "unknown", "changed", "missing"]
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The state of a cited place. `commits` is None if it is unknown how many changed it."""

    anchor: str
    state: State
    note: str = ""
    moved_to: str = ""
    now: CodeMark | None = None
    commits: int | None = None
    last: Touch | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """Whether a record is still true according to its anchors, and how many days ago it was checked."""

    state: State
    findings: tuple[Finding, ...] = ()
    days: float | None = None

    @property
    def problems(self) -> tuple[Finding, ...]:
        """The findings that contradict the record."""
        return tuple(finding for finding in self.findings if finding.state in ("changed", "missing"))

    @property
    def moved(self) -> tuple[Finding, ...]:
        """The findings that are still true at another place."""
        return tuple(finding for finding in self.findings if finding.moved_to)
