"""Ports to the outside: embedders, checkouts and replicas. Each has at least two implementations in `adapters`."""

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
        """The mean vector of ordinary texts (0 if unknown); binary codes are taken relative to it."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, or raise EmbedderError."""


class Checkout(Protocol):
    """Reads the code that a session works on."""

    def project(self) -> str:
        """Return the identity of the codebase."""

    def address(self) -> str:
        """Return the address of the remote, else the path."""

    def origin(self) -> Origin:
        """Return branch, worktree and commit."""

    def top(self) -> Path:
        """Return the root folder of the checkout."""

    def commits_since(self, at: str, paths: Sequence[str] = ()) -> list[str] | None:
        """Return the time of each commit since an instant, of these paths or of all; None if unknown."""

    def sight(self, cited: Mapping[str, Mark | None], *, at: str = "") -> Sight:
        """Look at places, in the working files or at a commit; places there is no time for are unknown."""

    def touches(self, cited: Mapping[str, Collection[str]], since: str, *, quick: bool = False) -> list[Touch] | None:
        """Return the commits since an instant that changed files, newest first, back to where each had the cited content; None if unknown."""

    def versions(self, anchor: str, blobs: Sequence[str]) -> dict[str, Mark]:
        """Return the mark of a place in several versions of its file."""

    def renamed(self, paths: Sequence[str], since: Sequence[str]) -> dict[str, str]:
        """Return the new paths of files that were renamed."""

    def defining(self, name: str, extension: str) -> list[str]:
        """Return the files in which a name may be defined."""

    def content(self, what: str) -> bytes | None:
        """Return the bytes of a blob or of commit:path."""

    def facts_of(self, commit: str) -> tuple[str, str, str] | None:
        """Return author, date and subject of a commit."""

    def tips(self) -> dict[str, str]:
        """Return the current commit of each branch."""

    def merge_base(self, other: str) -> str:
        """Return the common ancestor of the checkout and another commit or branch; "" if there is none."""

    @property
    def default_branch(self) -> str:
        """The branch others are merged into."""

    def fates(self, born: Mapping[str, str]) -> dict[str, Fate]:
        """Return the status of branches, each passed with its last known commit."""


class Unseen:
    """A checkout whose code cannot be read: only its name is known."""

    default_branch = ""

    def address(self) -> str:
        """Return "": it is not known."""
        return ""

    def top(self) -> Path:
        """Return the current folder."""
        return Path.cwd()

    def commits_since(self, at: str, paths: Sequence[str] = ()) -> list[str] | None:  # noqa: ARG002
        """Return None: unknown."""
        return None

    def sight(self, cited: Mapping[str, Mark | None], *, at: str = "") -> Sight:
        """Return marks that are neither present nor absent."""
        return Sight(commit=at, marks=dict.fromkeys(cited, Mark(there=None)))

    def touches(self, cited: Mapping[str, Collection[str]], since: str, *, quick: bool = False) -> list[Touch] | None:  # noqa: ARG002
        """Return None: unknown."""
        return None

    def versions(self, anchor: str, blobs: Sequence[str]) -> dict[str, Mark]:  # noqa: ARG002
        """Return no marks."""
        return {}

    def renamed(self, paths: Sequence[str], since: Sequence[str]) -> dict[str, str]:  # noqa: ARG002
        """Return no renames."""
        return {}

    def defining(self, name: str, extension: str) -> list[str]:  # noqa: ARG002
        """Return no files."""
        return []

    def content(self, what: str) -> bytes | None:  # noqa: ARG002
        """Return None: unknown."""
        return None

    def facts_of(self, commit: str) -> tuple[str, str, str] | None:  # noqa: ARG002
        """Return None: unknown."""
        return None

    def merge_base(self, other: str) -> str:  # noqa: ARG002
        """Return "": unknown."""
        return ""

    def tips(self) -> dict[str, str]:
        """Return no branches."""
        return {}

    def fates(self, born: Mapping[str, str]) -> dict[str, Fate]:
        """Return "unknown" for each branch."""
        return dict.fromkeys(born, "unknown")


class Elsewhere(Unseen):
    """A checkout on another machine: a server must answer nothing from its own files."""

    def __init__(self, project: str) -> None:
        self._project = project

    def project(self) -> str:
        """Return the name of the project."""
        return self._project

    def origin(self) -> Origin:
        """Return an empty origin: it is not known."""
        return Origin()

    def top(self) -> Path:
        """Return a folder that exists on no machine."""
        return Path("/nowhere/to/be/found")


class Replica(Protocol):
    """A copy of records outside the store that syncs both ways. Losing its state costs time, nothing else."""

    name: str
    tells_history: bool  # whether it stores events, or only the resulting records

    @property
    def cursor(self) -> int:
        """The journal number up to which it is complete; 0 if it must be written from the beginning."""

    def read(self, *, afresh: bool = False) -> Arrived:
        """Return what changed there since the last `write`, or everything."""

    def carriers(self, ids: Collection[str]) -> dict[str, str]:
        """Return who added the events that were just read, by event id, where that is known."""

    def write(self, tellings: Sequence[Telling], settled: Settled, *, cursor: int) -> Put:
        """Bring it up to date, and store the new cursor and what was read."""

    def close(self) -> None:
        """Release its state."""


class Travelling(Replica, Protocol):
    """A replica that is fetched from and pushed to a remote."""

    def fetch(self, remote: str) -> Reached:
        """Fetch from the remote and merge it with the local copy."""

    def push(self, remote: str) -> Reached:
        """Push what the remote does not have."""

    def rewrite(self, remote: str) -> Reached:
        """Start a new history, locally and at the remote, so that nothing erased is left in it."""

    def remotes(self) -> list[str]:
        """Return the remotes it can use."""

    def addresses(self, remote: str) -> list[str]:
        """Return every address a remote is fetched from or pushed to."""

    def follows_rewrites(self) -> bool:
        """True if notes stay attached when commits are amended or rebased."""

    def follow_rewrites(self) -> None:
        """Change the repository's git settings so that they do."""
