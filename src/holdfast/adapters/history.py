"""Read the history of a repository with git: its commits, bounded and newest first, and what HEAD contains of others."""

import hashlib
import re
from collections.abc import Collection
from pathlib import Path

from holdfast.adapters.git import QUICK_SECONDS, Repository, git_text, is_object
from holdfast.model.errors import Invalid
from holdfast.model.ids import instant
from holdfast.model.ports import Commit

LONGEST_BODY, MOST_FILES = 5_000, 200
LONGEST_CHANGELOG = 1_000_000
_CHANGELOG = re.compile(
    r"(?:docs/)?(?:change(?:s|log)|history|news|releases?(?:[-_]notes)?)\.(?:md|rst|txt|markdown)", re.IGNORECASE
)
MOST_COMMITS = 400  # searched for a squashed one
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color")
_HUNK = re.compile(r"^@@ .*$", re.MULTILINE)
_LOG = ("--no-merges", "--no-renames", "--name-only", "--format=%x1e%H%x1f%at%x1f%an%x1f%s%x1f%b%x1f")


class GitHistory:
    """The repository around a folder."""

    def __init__(self, folder: Path) -> None:
        self._repository = Repository(folder, Invalid)

    def head(self) -> str:
        """Return the commit of HEAD; "" in a repository without commits."""
        if self._repository.attempt("rev-parse", "--git-dir") is None:
            raise Invalid("There is no git repository here.", hint="Run it inside the repository to learn from.")
        return self._repository.head()

    def commits(self, *, after: str = "", since: str = "", limit: int = 500) -> list[Commit]:
        """Return the commits of HEAD, newest first: those not contained in `after`, made since a date.

        If `after` was rewritten or never fetched, history is read from the beginning.
        """
        if not (head := self.head()):
            return []
        known = bool(after) and self._repository.attempt("cat-file", "-e", f"{after}^{{commit}}") is not None
        wanted = [f"--since={since}"] if since else []
        wanted += [f"{after}..{head}" if known else head, "--"]
        log = self._repository.attempt("log", *_LOG, f"--max-count={limit}", *wanted, errors="replace")
        if log is None:
            raise Invalid("git could not read the history.", hint="Run `git log` in this folder to see why.")
        commits = []
        for entry in log.split("\x1e")[1:]:
            hash_, at, author, subject, body, names = entry.split("\x1f", 5)
            files = [name for name in names.splitlines() if name.strip()]
            commits.append(
                Commit(
                    hash=hash_,
                    at=instant(int(at)),  # a date with an impossible time zone has a readable epoch
                    author=author,
                    subject=subject.strip(),
                    body=body.strip()[:LONGEST_BODY],
                    files=tuple(files[:MOST_FILES]),
                )
            )
        return commits

    def changelog(self) -> tuple[str, str]:
        """Return the path and text of the changelog as committed, at the top or in docs/."""
        asked = ("ls-tree", "--name-only", "--full-tree", "HEAD", "--", "./", "docs/")
        names = (self._repository.attempt(*asked) or "").splitlines()
        path = next((name for name in names if _CHANGELOG.fullmatch(name)), "")
        text = self._repository.attempt("show", f"HEAD:{path}", errors="replace") if path else None
        return (path, text[:LONGEST_CHANGELOG]) if text else ("", "")


def contained_in_head(folder: Path, commits: Collection[str]) -> dict[str, bool | None]:
    """Return for each commit whether HEAD contains its changes: as it is, cherry-picked one by one, or squashed; None if unknown."""
    named = {commit for commit in commits if is_object(commit)}
    asked = ("cat-file", "--batch-check=%(objectname)")
    listed = git_text(folder, *asked, stdin="\n".join(sorted(named)), seconds=QUICK_SECONDS)
    present = {line for line in (listed or "").splitlines() if " " not in line}
    unmerged = git_text(folder, "rev-list", *sorted(present), "^HEAD", "--", seconds=QUICK_SECONDS) if present else ""
    if listed is None or unmerged is None:
        return dict.fromkeys(commits)
    outside = {*unmerged.split(), *(named - present)}
    return {
        commit: None if commit not in named else commit not in outside or _squashed(folder, commit)
        for commit in commits
    }


def _squashed(folder: Path, end: str) -> bool | None:
    """Return whether HEAD has since gained all changes of a branch; None if unknown."""
    base = git_text(folder, "merge-base", "HEAD", end, seconds=QUICK_SECONDS)
    if not base:
        return None  # its commits are not here
    wanted = git_text(folder, "diff", *_PLAIN, base.strip(), end, seconds=QUICK_SECONDS)
    if not wanted:
        return wanted == ""  # nothing beyond the base, or no answer
    since, own = _patches(folder, f"{base.strip()}..HEAD"), _patches(folder, f"{base.strip()}..{end}")
    if since is None or own is None:
        return None
    return _patch_id(wanted) in since or own <= since  # as one commit, or one by one


def _patches(folder: Path, commits: str) -> set[str] | None:
    command = ("log", "-p", "--no-merges", *_PLAIN, "--format=%x1e", f"--max-count={MOST_COMMITS}")
    log = git_text(folder, *command, commits, seconds=QUICK_SECONDS)
    return None if log is None else {_patch_id(patch) for patch in log.split("\x1e")[1:]}


def _patch_id(patch: str) -> str:
    """Return a hash of a patch's changes regardless of line numbers, like `git patch-id` but for many patches at once."""
    start = patch.find("diff --git")
    lines = _HUNK.sub("@@", patch[start:] if start >= 0 else "").splitlines()
    changes = [line for line in lines if line.startswith(("diff --git", "+", "-"))]
    return hashlib.sha256("".join("".join(line.split()) for line in changes).encode()).hexdigest()
