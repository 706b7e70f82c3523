"""Commits of a codebase, and the port that reads them."""

from dataclasses import dataclass
from typing import Literal, Protocol

# Status of a branch: merged into the checkout, not merged, deleted without a merge, or not known.
BranchStatus = Literal["merged", "open", "gone", "unknown"]

# Why an identity may be an earlier one of a checkout: it had it at this path, or before it was moved or copied, or the
# two share their first commit, as a fork does, and a stranger's clone.
Evidence = Literal["here", "moved", "history"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """An identity that a checkout may have had before; `certain` if no other checkout can have it."""

    project: str
    why: Evidence
    certain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit with its message and the files it changed; merges are left out."""

    hash: str
    at: str
    author: str
    subject: str
    body: str = ""
    files: tuple[str, ...] = ()


class History(Protocol):
    """Reads the history of the checkout."""

    def head(self) -> str:
        """Return the current commit; "" if there is none yet."""

    def commits(self, *, after: str = "", since: str = "", limit: int = 500) -> list[Commit]:
        """Return commits, newest first: those not contained in `after`, made since a date."""

    def changelog(self) -> tuple[str, str]:
        """Return the path and text of the file that lists the releases; two empty strings if there is none."""
