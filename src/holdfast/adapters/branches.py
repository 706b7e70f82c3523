"""Find the status of branches: open, merged, squashed into a single commit, or deleted."""

import hashlib
import re
from collections.abc import Collection
from pathlib import Path

from holdfast.adapters.git import QUICK_SECONDS, git_text, is_object

MOST_COMMITS = 400  # searched for a squashed one
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color")
_HUNK = re.compile(r"^@@ .*$", re.MULTILINE)


def default_branch(folder: Path) -> str:
    """Return the branch others are merged into: the remote's default, else main or master."""
    remote_head = git_text(
        folder, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD", seconds=QUICK_SECONDS
    )
    if remote_head:
        return remote_head.strip().removeprefix("origin/")
    names = tips(folder)
    return next((name for name in ("main", "master", "trunk") if name in names), "")


def tips(folder: Path) -> dict[str, str]:
    """Return the commit of each branch, local or as last fetched; a local branch takes precedence."""
    listing = git_text(
        folder, "for-each-ref", "--format=%(objectname) %(refname)", "refs/remotes", "refs/heads", seconds=QUICK_SECONDS
    )
    commits = {}
    for line in (listing or "").splitlines():
        commit, _, name = line.partition(" ")
        short = name.removeprefix("refs/heads/")
        commits[short if short != name else name.removeprefix("refs/remotes/").partition("/")[2]] = commit
    return commits


def contained_in_head(folder: Path, commits: Collection[str]) -> dict[str, bool | None]:
    """Return for each commit whether HEAD contains its changes: as it is, cherry-picked one by one, or squashed; None if unknown."""
    named = {commit for commit in commits if is_object(commit)}
    outside = _unmerged(folder, named)
    if outside is None:
        return dict.fromkeys(commits)
    known = {commit: True if commit not in outside else _squashed(folder, commit) for commit in named}
    return {commit: known.get(commit) for commit in commits}


def _unmerged(folder: Path, commits: set[str]) -> frozenset[str] | None:
    """Return the commits that HEAD does not contain, including those missing from this repository; None if git fails."""
    known = git_text(
        folder, "cat-file", "--batch-check=%(objectname)", stdin="\n".join(sorted(commits)), seconds=QUICK_SECONDS
    )
    if known is None:
        return None
    present = {line for line in known.splitlines() if " " not in line}
    unmerged = git_text(folder, "rev-list", *sorted(present), "^HEAD", "--", seconds=QUICK_SECONDS) if present else ""
    return None if unmerged is None else frozenset(unmerged.split()) & commits | (commits - present)


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
