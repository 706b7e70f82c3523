"""Run git with a timeout: it never prompts, only uses the folder's repository, and runs no program that its settings name."""

import os
import re
import subprocess
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

from holdfast.model.errors import HoldfastError, Invalid, ReplicaError
from holdfast.model.ids import instant
from holdfast.model.patterns import tables
from holdfast.model.ports import Commit

GIT_SECONDS = 5.0
QUICK_SECONDS = 1.0  # for questions on the way to every result
SLOW_SECONDS, NETWORK_SECONDS = 60.0, 120.0  # for reading everything, and for fetching
LATE = 124  # the exit code of a git that took too long
# Git hooks set these to their own repository; ours is the one of the folder.
_ITS_OWN = "GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_COMMON_DIR GIT_NAMESPACE GIT_PREFIX".split()
_SAFE = [word for name, value in tables(__file__)["settings"] for word in ("-c", f"{name}={value}")]
WHO = "an <%ae>"  # the author of a commit in a format of log; git removes angle brackets and line ends from names
_REMOTE_COMMANDS = frozenset({"fetch", "push"})
# Objects missing from a partial clone are not fetched: reading needs no network, and the remote may name a program.
_OFFLINE = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}
LONGEST_BODY, MOST_FILES = 5_000, 200
LONGEST_CHANGELOG = 1_000_000
_CHANGELOG = re.compile(r"(?i)(docs/)?(change(s|log)|history|news|releases?([-_]notes)?)\.(md|rst|txt|markdown)")
_HISTORY = ("--no-merges", "--no-renames", "--name-only", "--format=%x1e%H%x1f%at%x1f%an%x1f%s%x1f%b%x1f")
_OBJECT = re.compile(r"[0-9a-fA-F]{4,64}")
_NAME = re.compile(rb"[0-9a-f]{40}|[0-9a-f]{64}")


def is_object(name: str) -> bool:
    """True if a name can be that of a git object. Names come with imported records: a leading dash would make one an option."""
    return _OBJECT.fullmatch(name) is not None


def one_line(text: str) -> str:
    """Return a text as one line of printable characters."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def run_git(
    folder: Path, *arguments: str, stdin: bytes = b"", seconds: float = GIT_SECONDS
) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder and return the finished process; raises OSError if git is not installed."""
    try:
        call = _call(folder, arguments)
        return subprocess.run(**call, input=stdin, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, LATE, b"", b"git took too long")


def git(folder: Path, *arguments: str, seconds: float = GIT_SECONDS, stdin: bytes = b"") -> bytes | None:
    """Return git's output; None if it fails."""
    try:
        answer = run_git(folder, *arguments, stdin=stdin, seconds=seconds)
    except OSError:
        return None
    return answer.stdout if answer.returncode == 0 else None


def git_text(folder: Path, *arguments: str, seconds: float = GIT_SECONDS, stdin: str = "") -> str | None:
    """Return git's output as text; None if it fails."""
    output = git(folder, *arguments, seconds=seconds, stdin=stdin.encode())
    return None if output is None else output.decode(errors="replace")


def objects(batch: bytes) -> dict[str, bytes]:
    """Parse the output of `git cat-file --batch` into contents by object name; missing ones are left out."""
    contents, stream = dict[str, bytes](), BytesIO(batch)
    while head := stream.readline().split():
        if len(head) == 3:
            contents[head[0].decode()] = stream.read(int(head[2]))
            stream.readline()
    return contents


@contextmanager
def git_lines(folder: Path, *arguments: str, seconds: float) -> Iterator[Iterator[bytes]]:
    """Yield git's output line by line; leaving the context stops git, and so does the timeout."""
    with subprocess.Popen(**_call(folder, arguments), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        late = threading.Timer(seconds, process.kill)
        late.start()
        try:
            assert process.stdout is not None
            yield iter(process.stdout)
        finally:
            late.cancel()
            process.kill()


class Repository:
    """The repository around a folder: a checkout, a linked worktree, a submodule or a bare one. Failures raise `error`."""

    def __init__(
        self, folder: Path, error: type[HoldfastError] = ReplicaError, *, seconds: float = SLOW_SECONDS
    ) -> None:
        self.folder, self._error, self._seconds = folder, error, seconds

    @cached_property
    def common(self) -> Path:
        """The folder all worktrees share."""
        folder = self.attempt("rev-parse", "--git-common-dir")
        if folder is None:
            raise self._error("There is no git repository here.", hint="Run it inside the repository to share with.")
        return (self.folder / folder).resolve()

    def check_inside(self, folder: Path) -> None:
        """Raise an error if a folder of this checkout is a link to elsewhere, or another repository."""
        exists = next(place for place in (folder, *folder.parents) if place.exists())
        if Repository(exists).attempt("rev-parse", "--show-toplevel") != self.ask("rev-parse", "--show-toplevel"):
            hint = "Replace the link or submodule by a folder."
            raise self._error(f"{folder} belongs to another repository or leads out of this one.", hint=hint)

    def head(self) -> str:
        """Return the commit that is checked out; "" in a repository without commits."""
        return self.attempt("rev-parse", "--quiet", "--verify", "HEAD^{commit}") or ""

    def remotes(self) -> list[str]:
        """Return the names of its remotes."""
        return self.ask("remote").split()

    def refs(self, under: str) -> dict[str, str]:
        """Return the refs under a prefix: the rest of the name and the object."""
        lines = self.ask("for-each-ref", "--format=%(objectname) %(refname)", under).splitlines()
        return {name.removeprefix(under): sha for sha, _, name in (line.partition(" ") for line in lines)}

    def holds(self, earlier: str, later: str) -> bool:
        """True if a commit is another or its ancestor."""
        return earlier == later or self.run("merge-base", "--is-ancestor", earlier, later).returncode == 0

    def blobs(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of objects, read in a single call; missing ones are left out."""
        query = "\n".join(dict.fromkeys(names)).encode()
        return objects(self.ask_bytes("cat-file", "--batch", stdin=query)) if query else {}

    def notes(self, tip: str, largest: int) -> list[tuple[str, str]]:
        """Return blob and path of every note of a commit; raise an error for one that is too large."""
        # Only a path that is an object name is a note: no foreign name is ever passed to git, no oversized blob unpacked.
        notes = list[tuple[str, str]]()
        for entry in filter(None, self.ask_bytes("ls-tree", "-r", "-z", "--long", tip).split(b"\0")):
            head, _, path = entry.partition(b"\t")
            _, sort, blob, size = head.decode().split()
            if sort == "blob" and _NAME.fullmatch(path.replace(b"/", b"")):
                if int(size) > largest:
                    hint, much = "`git notes remove` removes it.", f"more than {largest:,} bytes ({int(size):,} bytes)"
                    raise self._error(f"The note {blob[:10]} has {much}.", hint=hint)
                notes.append((blob, path.decode()))
        return notes

    def files(self, commit: str, *places: str) -> dict[str, str] | None:
        """Return the blob of each regular file in folders at a commit, by path; None if git cannot list them."""
        done = self.run("ls-tree", "-z", "--full-tree", commit, "--", *(f"{place}/" for place in places))
        entries = (entry.partition("\t") for entry in done.stdout.decode(errors="surrogateescape").split("\0"))
        files = {path: facts.split()[2] for facts, _, path in entries if facts.startswith("100")}
        return None if done.returncode else files

    def ask(self, *arguments: str, stdin: bytes = b"") -> str:
        """Return git's output as text; raise an error if it fails."""
        return self.ask_bytes(*arguments, stdin=stdin).decode(errors="surrogateescape").strip()

    def ask_bytes(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Return git's output; raise an error if it fails."""
        done = self.run(*arguments, stdin=stdin)
        if done.returncode:
            raise self._error(f"git {arguments[0]} failed in {self.folder}: {complaint(done)}")
        return done.stdout

    def attempt(self, *arguments: str, errors: str = "surrogateescape") -> str | None:
        """Return git's output as text; None if it fails, an error if it takes too long."""
        done = self.run(*arguments)
        if done.returncode == LATE:
            raise self._error("git took too long.", hint="Try again.")
        return None if done.returncode else done.stdout.decode(errors=errors).strip("\n")

    def run(self, *arguments: str, stdin: bytes = b"", seconds: float = 0) -> subprocess.CompletedProcess[bytes]:
        """Run git in the folder with a timeout; it never prompts."""
        try:
            return run_git(self.folder, *arguments, stdin=stdin, seconds=seconds or self._seconds)
        except OSError as problem:
            hint = "Is git installed and on the PATH?"
            raise self._error(f"git cannot be run ({problem.strerror}).", hint=hint) from problem


def complaint(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return the line of git's output that names the error."""
    lines = [line for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("fatal:", "error:", " ! "))]
    return (errors or lines or [f"exit code {done.returncode}"])[0].removeprefix("fatal: ").strip()


def _call(folder: Path, arguments: tuple[str, ...]) -> dict[str, Any]:
    own = {name: value for name, value in os.environ.items() if name not in _ITS_OWN}
    limits = {} if arguments[0] in _REMOTE_COMMANDS else _OFFLINE
    return {
        "args": ["git", "-C", str(folder), *_SAFE, *arguments],
        "env": {**own, **limits, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
    }


class GitHistory(Repository):
    """The commits around a folder, bounded."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, Invalid)

    def head(self) -> str:
        if self.attempt("rev-parse", "--git-dir") is None:
            raise Invalid("There is no git repository here.", hint="Run it inside the repository to learn from.")
        return super().head()

    def commits(self, *, after: str = "", since: str = "", limit: int = 500) -> list[Commit]:
        if not (head := self.head()):
            return []
        # If `after` was rewritten or never fetched, history is read from the beginning.
        known = bool(after) and self.attempt("cat-file", "-e", f"{after}^{{commit}}") is not None
        wanted = [*([f"--since={since}"] if since else []), f"{after}..{head}" if known else head, "--"]
        log = self.attempt("log", *_HISTORY, f"--max-count={limit}", *wanted, errors="replace")
        if log is None:
            raise Invalid("git could not read the history.", hint="Run `git log` in this folder to see why.")
        commits = []
        for entry in log.split("\x1e")[1:]:
            hash_, at, author, subject, body, names = entry.split("\x1f", 5)
            files = [name for name in names.splitlines() if name.strip()]
            # A date with an impossible time zone has a readable epoch.
            facts = {"hash": hash_, "at": instant(int(at)), "author": author, "subject": subject.strip()}
            commits.append(Commit(**facts, body=body.strip()[:LONGEST_BODY], files=tuple(files[:MOST_FILES])))
        return commits

    def changelog(self) -> tuple[str, str]:
        asked = ("ls-tree", "--name-only", "--full-tree", "HEAD", "--", "./", "docs/")
        path = next(filter(_CHANGELOG.fullmatch, (self.attempt(*asked) or "").splitlines()), "")
        text = self.attempt("show", f"HEAD:{path}", errors="replace") if path else None
        return (path, text[:LONGEST_CHANGELOG]) if text else ("", "")
