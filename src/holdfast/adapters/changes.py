"""Read the history of cited files from git: the commits that changed them, renames and old contents."""

import re
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from holdfast.adapters.git import QUICK_SECONDS, git, git_lines, git_text, is_object, objects
from holdfast.model.anchor import Touch
from holdfast.model.ids import instant

MOST_TOUCHES = 300
FEW, MOST_SEARCHED = 15, 500  # files that mention a name
_LOG = (
    "log",
    "--no-color",
    "--no-renames",
    "--ignore-missing",
    "--raw",
    "--no-abbrev",
    "--format=%x1e%H%x1f%an%x1f%at%x1f%s",
)
_RAW = re.compile(r":\d+ \d+ (?P<before>[0-9a-f]+) (?P<after>[0-9a-f]+) \w\d*\t(?P<path>[^\t\n]+)")


def touches(
    folder: Path, cited: Mapping[str, Collection[str]], since: str, *, seconds: float = QUICK_SECONDS
) -> list[Touch] | None:
    """Return the commits since an instant that changed files, newest first, back to where each had the cited content.

    Reading stops there; None if git took too long. (Given a commit to stop at, git would walk all the way to it before
    printing anything.)
    """
    wanted = {(path, blob) for path, blobs in cited.items() for blob in blobs}
    span = [f"--max-count={MOST_TOUCHES}", f"--since={since}", "HEAD", "--", *cited]
    changes, started = list[Touch](), time.monotonic()
    head: list[str] = []
    try:
        with git_lines(folder, *_LOG, *span, seconds=seconds) as lines:
            for line in (raw.decode(errors="replace").rstrip("\n") for raw in lines):
                if line.startswith("\x1e"):
                    head = line[1:].split("\x1f", 3)
                elif match := _RAW.fullmatch(line):
                    changes.append(_touch(head, match))
                    wanted.discard((match["path"], match["before"]))
                    if not wanted:
                        break
    except OSError:
        return None
    return changes if not wanted or time.monotonic() - started < seconds else None


def _touch(head: Sequence[str], match: re.Match[str]) -> Touch:
    commit, author, at, subject = head
    return Touch(commit=commit, author=author, at=instant(int(at)), subject=subject, **match.groupdict())


def contents(folder: Path, blobs: Sequence[str]) -> dict[str, bytes]:
    """Return the contents of several blobs, read at once; missing ones are left out."""
    batch = git(folder, "cat-file", "--batch", stdin="\n".join(blobs).encode() + b"\n", seconds=QUICK_SECONDS) or b""
    return objects(batch)


def renamed(folder: Path, paths: Sequence[str], since: Sequence[str]) -> dict[str, str]:
    """Return the new paths of files that git detects as renamed."""
    base = _base(folder, since)
    span = ["HEAD", f"^{base}"] if base else ["HEAD", f"--max-count={MOST_TOUCHES}"]
    log = git_text(
        folder,
        "log",
        "-M",
        "--diff-filter=R",
        "--name-status",
        "--format=",
        "--ignore-missing",
        *span,
        seconds=QUICK_SECONDS,
    )
    moves = [line.split("\t") for line in (log or "").splitlines() if line.startswith("R")]
    places = dict.fromkeys(paths, "")
    for _, old, new in reversed([move for move in moves if len(move) == 3]):  # oldest first: a file may move twice
        for path, place in places.items():
            if (place or path) == old:
                places[path] = new
    return {path: place for path, place in places.items() if place}


def defining(folder: Path, names: Sequence[str], extension: str = "", *, seconds: float = QUICK_SECONDS) -> list[str]:
    """Return the tracked files, of a kind or all, in which one of the names may be defined."""
    parts = (name.split(".") for name in names)
    last = sorted({part[0] if part[0][:1].isupper() else part[-1] for part in parts})
    kind = ["--", f"*.{extension}"] if extension else []
    # Plain words are found a hundred times faster than a pattern, which is only needed where many files have them.
    plain = [argument for name in last for argument in ("-e", name)]
    listing = (git_text(folder, "grep", "-l", "-I", "-w", "-F", *plain, *kind, seconds=seconds) or "").splitlines()
    if len(listing) <= FEW:
        return listing
    either = "|".join(map(re.escape, last))
    keywords = "def|class|func|fn|function|interface|struct|enum|type|const|let|var|trait|impl|module|static"
    pattern = rf"({keywords})[^=(]*\b({either})\b|^[ \t]*({either})[ \t]*(:[^=]*)?=|\.({either})[ \t]*=[ \t]*(async )?function"
    found = git_text(folder, "grep", "-l", "-I", "-E", "-e", pattern, "--", *listing[:MOST_SEARCHED], seconds=seconds)
    return (found or "").splitlines()


def ending(folder: Path, names: Sequence[str], *, seconds: float = QUICK_SECONDS) -> list[str]:
    """Return the tracked files whose path ends with one of the names."""
    patterns = [f":(glob)**/{name}" for name in names if not set(name) & set("*?[")]
    listing = git_text(folder, "ls-files", "--", *patterns, seconds=seconds) if patterns else ""
    return (listing or "").splitlines()


def tracked(folder: Path) -> list[str] | None:
    """Return all tracked files; None if git does not answer in time."""
    listing = git_text(folder, "ls-files", "-z", seconds=QUICK_SECONDS)
    return None if listing is None else [path for path in listing.split("\0") if path]


def content(folder: Path, what: str) -> bytes | None:
    """Return the content of an object: a blob's id, or commit:path."""
    named = what.partition(":")[0]
    return None if named.startswith("-") else git(folder, "cat-file", "blob", what, seconds=QUICK_SECONDS)


def facts_of(folder: Path, commit: str) -> tuple[str, str, str] | None:
    """Return author, date and subject of a commit; None if it is missing."""
    if not is_object(commit):
        return None
    line = git_text(folder, "log", "-1", "--format=%an%x1f%at%x1f%s", commit, "--", seconds=QUICK_SECONDS)
    if not line or line.count("\x1f") != 2:
        return None
    author, at, subject = line.rstrip("\n").split("\x1f")
    return author, instant(int(at)), subject


def files_of(folder: Path, commit: str) -> list[str]:
    """Return the files that a commit changed; none if it is missing."""
    if not is_object(commit):
        return []
    words = ("diff-tree", "-r", "-z", "--root", "--no-commit-id", "--name-only", commit, "--")
    names = git_text(folder, *words, seconds=QUICK_SECONDS)
    return [name for name in (names or "").split("\0") if name]


def _base(folder: Path, commits: Sequence[str]) -> str:
    """Return the common ancestor of commits; "" if one of them is missing."""
    known = sorted({commit for commit in commits if re.fullmatch(r"[0-9a-f]{7,64}", commit)})
    if len(known) <= 1:
        return known[0] if known else ""
    ancestor = git_text(folder, "merge-base", "--octopus", *known, seconds=QUICK_SECONDS)
    return (ancestor or "").strip()
