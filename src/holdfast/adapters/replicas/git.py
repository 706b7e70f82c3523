"""A git repository, read and changed through git's commands."""

from functools import cached_property
from pathlib import Path
from subprocess import CompletedProcess

from holdfast.adapters.git import run_git
from holdfast.model.errors import ReplicaError

SECONDS, NETWORK_SECONDS = 60.0, 120.0
DEFAULT_IDENT = "Holdfast <holdfast@localhost>"


class Repository:
    """The repository around a folder: a checkout, a linked worktree, a submodule or a bare one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def common(self) -> Path:
        """The folder all worktrees share."""
        folder = self.attempt("rev-parse", "--git-common-dir")
        if folder is None:
            raise ReplicaError("There is no git repository here.", hint="Run it inside the repository to share with.")
        return (self.folder / folder).resolve()

    def check_inside(self, folder: Path) -> None:
        """Raise ReplicaError if a folder of this checkout is a link to elsewhere, or another repository."""
        exists = next(place for place in (folder, *folder.parents) if place.exists())
        if Repository(exists).attempt("rev-parse", "--show-toplevel") != self.ask("rev-parse", "--show-toplevel"):
            raise ReplicaError(
                f"{folder} belongs to another repository or leads out of this one.",
                hint="Replace the link or submodule by a folder.",
            )

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

    def ident(self) -> str:
        """Return the committer that git is configured with."""
        ident_ = self.attempt("var", "GIT_COMMITTER_IDENT")
        return ident_.rsplit(" ", 2)[0] if ident_ else DEFAULT_IDENT

    def ask(self, *arguments: str, stdin: bytes = b"") -> str:
        """Return git's output as text; raise ReplicaError if it fails."""
        return self.ask_bytes(*arguments, stdin=stdin).decode(errors="surrogateescape").strip()

    def ask_bytes(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Return git's output; raise ReplicaError if it fails."""
        done = self.run(*arguments, stdin=stdin)
        if done.returncode:
            raise ReplicaError(f"git {arguments[0]} failed: {complaint(done)}")
        return done.stdout

    def attempt(self, *arguments: str) -> str | None:
        """Return git's output as text; None if it fails."""
        done = self.run(*arguments)
        return None if done.returncode else done.stdout.decode(errors="surrogateescape").strip()

    def run(self, *arguments: str, stdin: bytes = b"", seconds: float = SECONDS) -> CompletedProcess[bytes]:
        """Run git in the folder with a timeout; it never prompts."""
        try:
            return run_git(self.folder, *arguments, stdin=stdin, seconds=seconds)
        except OSError as problem:
            raise ReplicaError(
                f"git cannot be run ({problem.strerror}).", hint="Is git installed and on the PATH?"
            ) from problem


def complaint(done: CompletedProcess[bytes]) -> str:
    """Return the line of git's output that names the error."""
    lines = [line for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("fatal:", "error:", " ! "))]
    return (errors or lines or [f"exit code {done.returncode}"])[0].removeprefix("fatal: ").strip()
