"""A commit, as the history of a codebase tells it, and who can be asked for commits."""

from dataclasses import dataclass
from typing import Literal, Protocol

# What became of a branch: it is in what is at hand, still its own, gone without ever having been merged, or nobody can tell.
Fate = Literal["merged", "open", "gone", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit with what it says and which files it changed; merges are none."""

    hash: str
    at: str
    author: str
    subject: str
    body: str = ""
    files: tuple[str, ...] = ()


class History(Protocol):
    """Reads the history of the code at hand."""

    def head(self) -> str:
        """Return the commit the code stands at; nothing where there is none yet."""

    def commits(self, *, after: str = "", since: str = "", limit: int = 500) -> list[Commit]:
        """Return commits, newest first: those that `after` does not hold, made since a date."""
