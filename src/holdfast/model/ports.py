"""The seams to other people's things; each has at least two implementations in `adapters`."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from holdfast.model.anchor import Mark, Sight, Touch
from holdfast.model.history import Fate
from holdfast.model.record import Origin
from holdfast.model.replica import Arrived, Put, Reached, Settled, Telling

Vectors = Any  # a float32 array, one unit-length row per text


class Embedder(Protocol):
    """Turns texts into vectors. Loads nothing before the first `embed`."""

    name: str
    size: int
    # Cosine of unrelated texts, and of clearly related ones, as measured: the scale of similarity.
    floor: float
    ceiling: float

    @property
    def center(self) -> Vectors:
        """Where the vectors of ordinary texts lie on average (0 if unknown); their codes are taken from there."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, or raise EmbedderError."""


class Checkout(Protocol):
    """Answers questions about the code a session works on."""

    def project(self) -> str:
        """Return the identity of the codebase."""

    def address(self) -> str:
        """Return where the code comes from: the address of its remote, else its path."""

    def origin(self) -> Origin:
        """Return branch, worktree and commit."""

    def top(self) -> Path:
        """Return the folder that holds the code at hand."""

    def commits_since(self, at: str, paths: Sequence[str] = ()) -> list[str] | None:
        """Return when each commit since an instant was made, of these paths or of all; None if nobody can tell."""

    def sight(self, cited: Mapping[str, Mark | None], *, at: str = "") -> Sight:
        """Look at places, in the files as they are or at a commit; what there is no time for is unknown."""

    def touches(self, cited: Mapping[str, Collection[str]], since: str, *, quick: bool = False) -> list[Touch] | None:
        """Return the commits since an instant that touched files, newest first, back to where each held what was cited; None: nobody can tell."""

    def versions(self, anchor: str, blobs: Sequence[str]) -> dict[str, Mark]:
        """Return what stood at a place in several versions of its file."""

    def renamed(self, paths: Sequence[str], since: Sequence[str]) -> dict[str, str]:
        """Tell where files that are gone went."""

    def defining(self, name: str, extension: str) -> list[str]:
        """Return the files in which a name may be defined."""

    def content(self, what: str) -> bytes | None:
        """Return what a blob, or commit:path, holds."""

    def facts_of(self, commit: str) -> tuple[str, str, str] | None:
        """Return author, date and subject of a commit."""

    def tips(self) -> dict[str, str]:
        """Return the commit each branch stands at."""

    def merge_base(self, other: str) -> str:
        """Return the commit where what is at hand and another commit or branch went apart; nothing if there is none."""

    @property
    def default_branch(self) -> str:
        """The branch others are merged into."""

    def fates(self, born: Mapping[str, str]) -> dict[str, Fate]:
        """Tell what became of branches, each given with the last commit known of it."""


class Unseen:
    """A checkout that is only told about: nobody can look at its code."""

    default_branch = ""

    def address(self) -> str:
        """Return nothing: it is not known here."""
        return ""

    def top(self) -> Path:
        """Return the folder at hand."""
        return Path.cwd()

    def commits_since(self, at: str, paths: Sequence[str] = ()) -> list[str] | None:  # noqa: ARG002
        """Return nothing: nobody can tell."""
        return None

    def sight(self, cited: Mapping[str, Mark | None], *, at: str = "") -> Sight:
        """Return places of which nobody can tell whether they are there."""
        return Sight(commit=at, marks=dict.fromkeys(cited, Mark(there=None)))

    def touches(self, cited: Mapping[str, Collection[str]], since: str, *, quick: bool = False) -> list[Touch] | None:  # noqa: ARG002
        """Return nothing: nobody can tell."""
        return None

    def versions(self, anchor: str, blobs: Sequence[str]) -> dict[str, Mark]:  # noqa: ARG002
        """Return nothing."""
        return {}

    def renamed(self, paths: Sequence[str], since: Sequence[str]) -> dict[str, str]:  # noqa: ARG002
        """Return nothing."""
        return {}

    def defining(self, name: str, extension: str) -> list[str]:  # noqa: ARG002
        """Return nothing."""
        return []

    def content(self, what: str) -> bytes | None:  # noqa: ARG002
        """Return nothing."""
        return None

    def facts_of(self, commit: str) -> tuple[str, str, str] | None:  # noqa: ARG002
        """Return nothing."""
        return None

    def merge_base(self, other: str) -> str:  # noqa: ARG002
        """Return nothing."""
        return ""

    def tips(self) -> dict[str, str]:
        """Return nothing."""
        return {}

    def fates(self, born: Mapping[str, str]) -> dict[str, Fate]:
        """Tell that nobody can tell."""
        return dict.fromkeys(born, "unknown")


class Elsewhere(Unseen):
    """The checkout of somebody at another machine: a server must answer nothing from its own files."""

    def __init__(self, project: str) -> None:
        self._project = project

    def project(self) -> str:
        """Return the project that was named."""
        return self._project

    def origin(self) -> Origin:
        """Return nothing: nobody said."""
        return Origin()

    def top(self) -> Path:
        """Return a folder that is on no machine."""
        return Path("/nowhere/to/be/found")


class Replica(Protocol):
    """A copy of records outside the store that syncs both ways. Losing what it remembers costs time, nothing else."""

    name: str
    tells_history: bool  # whether it carries events, or only what they made

    @property
    def cursor(self) -> int:
        """Up to which number of the journal it was told everything; 0 if it must be told from the beginning."""

    def read(self, *, afresh: bool = False) -> Arrived:
        """Return what changed there since the last `write`, or all of it."""

    def carriers(self, ids: Collection[str]) -> dict[str, str]:
        """Return who brought events that were just read into the replica, by their ids, where anybody can tell."""

    def write(self, tellings: Sequence[Telling], settled: Settled, *, cursor: int) -> Put:
        """Bring it up to date, and remember how far it was told and what it was read to say."""

    def close(self) -> None:
        """Let go of what it remembers by."""


class Travelling(Replica, Protocol):
    """A replica that goes to a remote and comes back."""

    def fetch(self, remote: str) -> Reached:
        """Bring what the remote holds here and unite it with what is here."""

    def push(self, remote: str) -> Reached:
        """Send what the remote does not hold."""

    def rewrite(self, remote: str) -> Reached:
        """Begin its history anew, here and at the remote, so that nothing erased is left in it."""

    def remotes(self) -> list[str]:
        """Return the remotes it could go to."""

    def addresses(self, remote: str) -> list[str]:
        """Return every address a remote is fetched from or pushed to."""

    def follows_rewrites(self) -> bool:
        """Return whether it stays attached when commits are amended or rebased."""

    def follow_rewrites(self) -> None:
        """Change the settings of the repository so that it does."""
