"""What became of branches: still there, merged as they were, merged as one squashed commit, or gone."""

import hashlib
import re
from collections.abc import Collection
from pathlib import Path

from holdfast.adapters.git import QUICK_SECONDS, git_text, is_object

MOST_COMMITS = 400  # looked through for a squashed one
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color")
_HUNK = re.compile(r"^@@ .*$", re.MULTILINE)


def default_branch(folder: Path) -> str:
    """Return the branch others are merged into: as the remote says, else main or master."""
    said = git_text(folder, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD", seconds=QUICK_SECONDS)
    if said:
        return said.strip().removeprefix("origin/")
    names = tips(folder)
    return next((name for name in ("main", "master", "trunk") if name in names), "")


def tips(folder: Path) -> dict[str, str]:
    """Return the commit each branch stands at, here or as last fetched; a local one counts more."""
    said = git_text(
        folder, "for-each-ref", "--format=%(objectname) %(refname)", "refs/remotes", "refs/heads", seconds=QUICK_SECONDS
    )
    found = {}
    for line in (said or "").splitlines():
        commit, _, name = line.partition(" ")
        short = name.removeprefix("refs/heads/")
        found[short if short != name else name.removeprefix("refs/remotes/").partition("/")[2]] = commit
    return found


def held(folder: Path, commits: Collection[str]) -> dict[str, bool | None]:
    """Tell of commits whether HEAD holds what they say: as they are, one by one under other names, or squashed into one."""
    named = {commit for commit in commits if is_object(commit)}
    outside = _unmerged(folder, named)
    if outside is None:
        return dict.fromkeys(commits)
    known = {one: True if one not in outside else _squashed(folder, one) for one in named}
    return {commit: known.get(commit) for commit in commits}


def _unmerged(folder: Path, commits: set[str]) -> frozenset[str] | None:
    """Return which of these commits HEAD does not hold; None if git cannot say. One that is not here counts as not held."""
    known = git_text(
        folder, "cat-file", "--batch-check=%(objectname)", given="\n".join(sorted(commits)), seconds=QUICK_SECONDS
    )
    if known is None:
        return None
    here = {line for line in known.splitlines() if " " not in line}
    said = git_text(folder, "rev-list", *sorted(here), "^HEAD", "--", seconds=QUICK_SECONDS) if here else ""
    return None if said is None else frozenset(said.split()) & commits | (commits - here)


def _squashed(folder: Path, end: str) -> bool | None:
    """Return whether one commit that HEAD has since says all that a branch said; None if nobody can tell."""
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
    log = ("log", "-p", "--no-merges", *_PLAIN, "--format=%x1e", f"--max-count={MOST_COMMITS}")
    said = git_text(folder, *log, commits, seconds=QUICK_SECONDS)
    return None if said is None else {_patch_id(patch) for patch in said.split("\x1e")[1:]}


def _patch_id(patch: str) -> str:
    """Return what a patch does, whatever line it does it at: as `git patch-id` does, for many patches at once."""
    begun = patch.find("diff --git")
    lines = _HUNK.sub("@@", patch[begun:] if begun >= 0 else "").splitlines()
    told = [line for line in lines if line.startswith(("diff --git", "+", "-"))]
    return hashlib.sha256("".join("".join(line.split()) for line in told).encode()).hexdigest()
