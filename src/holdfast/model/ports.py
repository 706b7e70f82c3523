"""Ports to the outside: embedders, the classifier, checkouts, their history, replicas and the observer; `adapters` implements them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from holdfast.model.anchor import CodeMark, CodeSnapshot, Touch
from holdfast.model.record import Origin

if TYPE_CHECKING:  # many value types, which a recall does not need
    from holdfast.model.replica import ReadOutcome, RemoteResult, ReplicaChanges, ReplicaUpdate, WriteCounts

# Status of a branch: merged into the checkout, not merged, deleted without a merge, or not known.
BranchStatus = Literal["merged", "open", "gone", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """An identity that a checkout may have had before; `certain` if no other checkout can have it."""

    project: str
    # It had it at this path, or before it was moved or copied, or the two share their first commit, as a fork does, and a
    # stranger's clone.
    why: Literal["here", "moved", "history"]
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
        """Return the commits of HEAD, newest first: those not contained in `after`, made since a date."""

    def changelog(self) -> tuple[str, str]:
        """Return the path and text of the file that lists the releases, as committed; two empty strings if there is none."""


Vectors = Any  # a numpy array


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """What an embedder makes of a text. Only the built-in encoder gives vectors of words."""

    vector: Vectors  # float32, of unit length
    tokens: Vectors = None  # int8, a row for each word or part of one: a unit vector times 127
    weights: Vectors = None  # float32, how much each of them counts if the text is a question


class Embedder(Protocol):
    """Turns texts into vectors. Loads nothing before the first `embed`."""

    name: str
    size: int
    # Cosine of unrelated texts, and of clearly related ones, as measured: the scale of similarity.
    floor: float
    ceiling: float
    earlier: Sequence[
        str
    ] = ()  # names of versions whose vectors can be compared with its own, until they are made again

    @property
    def center(self) -> Vectors:
        """The mean vector of ordinary texts (0 if unknown); binary codes are taken relative to it."""
        return 0.0

    def embed(self, texts: Sequence[str]) -> Sequence[Encoded]:
        """Return the vectors of each text, or raise EmbedderError."""

    def knows(self, word: str) -> bool:
        """True if a word in lower case is in its vocabulary, so that it is not misspelled; False if that is not known."""
        return False


Task = Literal["user", "agent", "pair", "answers"]
# What a classifier tells apart in each task, in the order of the model's outputs. `user` and `agent` read a sentence and
# what stands before it, `pair` an older and a newer memory, `answers` a question and a memory.
CLASSES: Mapping[Task, tuple[str, ...]] = {
    "user": ("rule", "fact", "decision", "correction", "task", "question", "report", "guess", "chat"),
    "agent": ("finding", "lesson", "decision", "guess", "refuted", "done", "open", "blocker", "noise"),
    "pair": ("conflict", "same", "refines", "other"),
    "answers": ("yes",),
}


class Classifier(Protocol):
    """Judges what a sentence is, how two memories relate, and whether a memory answers a question. Loads at the first use."""

    name: str

    def load(self) -> None:
        """Load it now, or raise EmbedderError."""

    def chances(self, task: Task, first: str, second: str = "") -> Mapping[str, float]:
        """Return the probability of each class of a task, or raise EmbedderError."""


class Checkout(Protocol):
    """Reads the code that a session works on. What a checkout does not answer itself is unknown, as answered here."""

    def project(self) -> str:
        """Return the user's name for it, else host/owner/name of the remote, else the path of the main worktree or folder."""

    def origin(self) -> Origin:
        """Return the branch, the worktree (only if it is a linked one) and the commit."""
        return Origin()

    def address(self) -> str:
        """Return the address of the remote, else the path; "" if it is not known."""
        return ""

    def note_project(self, project: str) -> None:
        """Note that memories of this checkout are saved as `project`."""
        return  # without it the method would be abstract

    def earlier(self, *, by_history: bool = False) -> list[Earlier]:
        """Return the identities it had here or before it was moved, or those with the same first commit, which takes longer."""
        return []

    def in_git(self) -> bool:
        """True if there is a repository."""
        return True

    def top(self) -> Path:
        """Return the top folder of the worktree; outside git the folder itself."""
        return Path.cwd()

    def commits_since(self, at: str, paths: Sequence[str] = ()) -> list[str] | None:
        """Return the author times of the commits since an instant, of these paths or of all; None if unknown."""
        return None

    def snapshot(self, cited: Mapping[str, CodeMark | None], *, at: str = "") -> CodeSnapshot:
        """Look at places, in the working files or at a commit; places there is no time for are unknown."""
        return CodeSnapshot(commit=at, marks=dict.fromkeys(cited, CodeMark(there=None)))

    def touches(self, cited: Mapping[str, Collection[str]], since: str, *, quick: bool = False) -> list[Touch] | None:
        """Return the commits since an instant that changed files, newest first, back to where each had the cited content; None if unknown."""
        return None

    def versions(self, anchor: str, blobs: Sequence[str]) -> dict[str, CodeMark]:
        """Return the mark of a place in several versions of its file."""
        return {}

    def renamed(self, paths: Sequence[str], since: Sequence[str]) -> dict[str, str]:
        """Return the new paths of files that were renamed since the common ancestor of commits, by old path."""
        return {}

    def defining(self, names: Sequence[str], extension: str = "") -> list[str]:
        """Return the tracked files, of a kind or all, in which one of the names may be defined."""
        return []

    def definitions(self, names: Sequence[str], paths: Sequence[str] = ()) -> dict[str, list[str]]:
        """Return the anchors of all definitions that each name may mean, in these files or in all; {} if it takes too long."""
        return {}

    def files_named(self, names: Sequence[str]) -> dict[str, str]:
        """Return the path of each file that is there by this name, or is the only one whose path ends with it."""
        return {}

    def files(self) -> list[str] | None:
        """Return the tracked files; None if unknown."""
        return None

    def content(self, what: str) -> bytes | None:
        """Return the bytes of a blob or of commit:path."""
        return None

    def facts_of(self, commit: str) -> tuple[str, str, str] | None:
        """Return author, date and subject of a commit."""
        return None

    def files_of(self, commit: str) -> list[str]:
        """Return the files that a commit changed."""
        return []

    def tips(self) -> dict[str, str]:
        """Return the commit of each branch, local or as last fetched; a local branch takes precedence."""
        return {}

    def merge_base(self, other: str) -> str:
        """Return the common ancestor of the checkout and another commit or branch; "" if there is none."""
        return ""

    def commit_of(self, name: str) -> str:
        """Return the commit that a name stands for, here or at the remote; "" if there is none."""
        return ""

    @property
    def default_branch(self) -> str:
        """The branch that others are merged into: the remote's default, else main or master."""
        return ""

    def changed(self) -> list[str]:
        """Return the files that commits of this branch changed since it left the default branch."""
        return []

    def branch_status(self, born: Mapping[str, str]) -> dict[str, BranchStatus]:
        """Return the status of branches, each passed with its last known commit."""
        return dict.fromkeys(born, "unknown")


class RemoteCheckout(Checkout):
    """A checkout on another machine: a server must answer nothing from its own files."""

    def __init__(self, project: str) -> None:
        self._project = project

    def project(self) -> str:
        """Return the name of the project."""
        return self._project

    def top(self) -> Path:
        """Return a folder that exists on no machine."""
        return Path("/nowhere/to/be/found")


class Replica(Protocol):
    """A copy of records outside the store that syncs both ways. Losing its state costs time, nothing else."""

    name: str
    stores_events: bool  # whether it stores events, or only the resulting records

    @property
    def cursor(self) -> int:
        """The journal number up to which it is complete; 0 if it must be written from the beginning."""

    def read(self, *, afresh: bool = False) -> "ReplicaChanges":
        """Return what changed there since the last `write`, or everything."""

    def carriers(self, ids: Collection[str]) -> dict[str, str]:
        """Return who added the events that were just read, by event id, where that is known."""
        return {}

    def write(self, updates: "Sequence[ReplicaUpdate]", settled: "ReadOutcome", *, cursor: int) -> "WriteCounts":
        """Bring it up to date, and store the new cursor and what was read."""

    def close(self) -> None:
        """Release its state."""
        return  # without it the method would be abstract


class RemoteReplica(Replica, Protocol):
    """A replica that is fetched from and pushed to a remote."""

    def fetch(self, remote: str) -> "RemoteResult":
        """Fetch from the remote and merge it with the local copy."""

    def push(self, remote: str) -> "RemoteResult":
        """Push what the remote does not have."""

    def rewrite(self, remote: str) -> "RemoteResult":
        """Start a new history, locally and at the remote, so that nothing erased is left in it."""

    def remotes(self) -> list[str]:
        """Return the remotes it can use."""

    def addresses(self, remote: str) -> list[str]:
        """Return every address a remote is fetched from or pushed to."""

    def follows_rewrites(self, *, set_it: bool = False) -> bool:
        """True if notes stay attached when commits are amended or rebased, as git's settings have it or as they are set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Input of a model: instructions, the text to read, and the most tokens it may answer with."""

    instructions: str
    text: str
    most_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """It answered; tokens are None if usage was not reported."""

    text: str
    tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """It did not answer: what it said, after how many seconds or for how many, and what that cost if it was reported."""

    said: str = ""
    seconds: float = 0.0
    tokens: int | None = None


class RateLimited(Failed):
    """It must be asked later. `seconds` is 0 if it did not report when."""


class TimedOut(Failed):
    """It did not answer in time; what it spent is unknown."""


class Declined(Failed):
    """It read the text and refused to answer."""


class Rejected(Failed):
    """The request cannot work: a wrong key, model or address."""


class Unreachable(Failed):
    """No answer, or a server error."""


Reply = Answered | RateLimited | TimedOut | Declined | Rejected | Unreachable


class Observer(Protocol):
    """Asks a model. Makes a single attempt and never raises for what the other side does."""

    name: str
    model: str
    overhead: int  # tokens a call costs besides its texts, at most

    def ask(self, question: Question) -> Reply:
        """Ask the model and return its reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """What to look for in a kind of work, as data: types and concepts with what each means, and the wording of instructions."""

    name: str
    types: Mapping[str, str]
    concepts: Mapping[str, str] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observing:
    """An observer that is turned on, and the mode it works in."""

    observer: Observer
    mode: Mode
