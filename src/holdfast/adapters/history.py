"""Read the history of a repository with git: bounded, without merges, newest first."""

import re
from pathlib import Path

from holdfast.adapters.git import LATE, run_git
from holdfast.model.errors import Invalid
from holdfast.model.history import Commit
from holdfast.model.ids import instant

SECONDS = 60.0
LONGEST_BODY, MOST_FILES = 5_000, 200
LONGEST_CHANGELOG = 1_000_000
_CHANGELOG = re.compile(
    r"(?:docs/)?(?:change(?:s|log)|history|news|releases?(?:[-_]notes)?)\.(?:md|rst|txt|markdown)", re.IGNORECASE
)
_LOG = ("--no-merges", "--no-renames", "--name-only", "--format=%x1e%H%x1f%at%x1f%an%x1f%s%x1f%b%x1f")


class GitHistory:
    """The repository around a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def head(self) -> str:
        """Return the commit of HEAD; "" in a repository without commits."""
        if self._ask("rev-parse", "--git-dir") is None:
            raise Invalid("There is no git repository here.", hint="Run it inside the repository to learn from.")
        return (self._ask("rev-parse", "--quiet", "--verify", "HEAD") or "").strip()

    def commits(self, *, after: str = "", since: str = "", limit: int = 500) -> list[Commit]:
        """Return the commits of HEAD, newest first: those not contained in `after`, made since a date.

        If `after` was rewritten or never fetched, history is read from the beginning.
        """
        if not (head := self.head()):
            return []
        known = bool(after) and self._ask("cat-file", "-e", f"{after}^{{commit}}") is not None
        wanted = [f"--since={since}"] if since else []
        wanted += [f"{after}..{head}" if known else head, "--"]
        log = self._ask("log", *_LOG, f"--max-count={limit}", *wanted)
        if log is None:
            raise Invalid("git could not read the history.", hint="Run `git log` in this folder to see why.")
        return [_commit(entry) for entry in log.split("\x1e")[1:]]

    def changelog(self) -> tuple[str, str]:
        """Return the path and text of the changelog as committed, at the top or in docs/."""
        names = (self._ask("ls-tree", "--name-only", "--full-tree", "HEAD", "--", "./", "docs/") or "").splitlines()
        path = next((name for name in names if _CHANGELOG.fullmatch(name)), "")
        text = self._ask("show", f"HEAD:{path}") if path else None
        return (path, text[:LONGEST_CHANGELOG]) if text else ("", "")

    def _ask(self, *arguments: str) -> str | None:
        try:
            answer = run_git(self._folder, *arguments, seconds=SECONDS)
        except OSError as problem:
            raise Invalid(f"git cannot be run ({problem}).", hint="Is git installed and on the PATH?") from problem
        if answer.returncode == LATE:
            raise Invalid("git took too long.", hint="Try again, or with a smaller --limit.")
        return answer.stdout.decode(errors="replace") if answer.returncode == 0 else None


def _commit(entry: str) -> Commit:
    hash_, at, author, subject, body, names = entry.split("\x1f", 5)
    files = [name for name in names.splitlines() if name.strip()]
    return Commit(
        hash=hash_,
        at=instant(int(at)),  # a date with an impossible time zone has a readable epoch
        author=author,
        subject=subject.strip(),
        body=body.strip()[:LONGEST_BODY],
        files=tuple(files[:MOST_FILES]),
    )
