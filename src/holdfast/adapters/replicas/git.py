"""One repository, asked and changed through git's own commands."""

from functools import cached_property
from pathlib import Path
from subprocess import CompletedProcess

from holdfast.adapters.git import run_git
from holdfast.model.errors import ReplicaError

SECONDS, NETWORK_SECONDS = 60.0, 120.0
NOBODY = "Holdfast <holdfast@localhost>"


class Repository:
    """The repository around a folder: a checkout, a linked worktree, a submodule or a bare one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def common(self) -> Path:
        """The folder all worktrees share."""
        said = self.attempt("rev-parse", "--git-common-dir")
        if said is None:
            raise ReplicaError("There is no git repository here.", hint="Run it inside the repository to share with.")
        return (self.folder / said).resolve()

    def head(self) -> str:
        """Return the commit that is checked out; nothing in a repository without commits."""
        return self.attempt("rev-parse", "--quiet", "--verify", "HEAD^{commit}") or ""

    def remotes(self) -> list[str]:
        """Return the names of its remotes."""
        return self.ask("remote").split()

    def refs(self, under: str) -> dict[str, str]:
        """Return the refs under a prefix, by what follows it, with what they point at."""
        lines = self.ask("for-each-ref", "--format=%(objectname) %(refname)", under).splitlines()
        return {name.removeprefix(under): sha for sha, _, name in (line.partition(" ") for line in lines)}

    def holds(self, earlier: str, later: str) -> bool:
        """Return whether one commit is another or comes before it."""
        return earlier == later or self.run("merge-base", "--is-ancestor", earlier, later).returncode == 0

    def ident(self) -> str:
        """Return who commits here, as git knows them."""
        said = self.attempt("var", "GIT_COMMITTER_IDENT")
        return said.rsplit(" ", 2)[0] if said else NOBODY

    def ask(self, *question: str, given: bytes = b"") -> str:
        """Return what git answers."""
        return self.ask_bytes(*question, given=given).decode(errors="surrogateescape").strip()

    def ask_bytes(self, *question: str, given: bytes = b"") -> bytes:
        """Return what git answers, byte by byte."""
        done = self.run(*question, given=given)
        if done.returncode:
            raise ReplicaError(f"git {question[0]} failed: {complaint(done)}")
        return done.stdout

    def attempt(self, *question: str) -> str | None:
        """Return what git answers, None where it does not."""
        done = self.run(*question)
        return None if done.returncode else done.stdout.decode(errors="surrogateescape").strip()

    def run(self, *question: str, given: bytes = b"", seconds: float = SECONDS) -> CompletedProcess[bytes]:
        """Run git in the folder; it never waits for somebody to type."""
        try:
            return run_git(self.folder, *question, given=given, seconds=seconds)
        except OSError as problem:
            raise ReplicaError(
                f"git cannot be run ({problem.strerror}).", hint="Is git installed and on the PATH?"
            ) from problem


def complaint(done: CompletedProcess[bytes]) -> str:
    """Return the line in which git says what is wrong."""
    lines = [line for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("fatal:", "error:", " ! "))]
    return (telling or lines or [f"exit code {done.returncode}"])[0].removeprefix("fatal: ").strip()
