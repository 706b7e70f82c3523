"""What git knows of how cited files came to be as they are: the commits that touched them, where they went, what they said."""

import re
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from holdfast.adapters.git import QUICK_SECONDS, git, git_text, git_told, is_object, objects
from holdfast.model.anchor import Touch
from holdfast.model.ids import parse_instant

MOST_TOUCHES = 300
_LOG = (
    "log",
    "--no-color",
    "--no-renames",
    "--ignore-missing",
    "--raw",
    "--no-abbrev",
    "--format=%x1e%H%x1f%an%x1f%aI%x1f%s",
)
_RAW = re.compile(r":\d+ \d+ (?P<before>[0-9a-f]+) (?P<after>[0-9a-f]+) \w\d*\t(?P<path>[^\t\n]+)")


def touches(
    folder: Path, cited: Mapping[str, Collection[str]], since: str, *, seconds: float = QUICK_SECONDS
) -> list[Touch] | None:
    """Return the commits since an instant that touched files, newest first, back to where each held what was cited of it.

    Git is heard no longer than that; None if it did not say in time. (With a commit to stop at it would walk all the way
    to there before it says a word.)
    """
    wanted = {(path, blob) for path, blobs in cited.items() for blob in blobs}
    span = [f"--max-count={MOST_TOUCHES}", f"--since={since}", "HEAD", "--", *cited]
    found, began = list[Touch](), time.monotonic()
    head: list[str] = []
    try:
        with git_told(folder, *_LOG, *span, seconds=seconds) as lines:
            for line in (raw.decode(errors="replace").rstrip("\n") for raw in lines):
                if line.startswith("\x1e"):
                    head = line[1:].split("\x1f", 3)
                elif match := _RAW.fullmatch(line):
                    found.append(_touch(head, match))
                    wanted.discard((match["path"], match["before"]))
                    if not wanted:
                        break
    except OSError:
        return None
    return found if not wanted or time.monotonic() - began < seconds else None


def _touch(head: Sequence[str], match: re.Match[str]) -> Touch:
    commit, author, at, subject = head
    return Touch(commit=commit, author=author, at=parse_instant(at), subject=subject, **match.groupdict())


def contents(folder: Path, blobs: Sequence[str]) -> dict[str, bytes]:
    """Return what several blobs hold, asked for at once; those that are not here are left out."""
    said = git(folder, "cat-file", "--batch", given="\n".join(blobs).encode() + b"\n", seconds=QUICK_SECONDS) or b""
    return objects(said)


def renamed(folder: Path, paths: Sequence[str], since: Sequence[str]) -> dict[str, str]:
    """Tell where files that are gone went, as far as git can see a rename."""
    base = _base(folder, since)
    span = ["HEAD", f"^{base}"] if base else ["HEAD", f"--max-count={MOST_TOUCHES}"]
    said = git_text(
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
    moves = [line.split("\t") for line in (said or "").splitlines() if line.startswith("R")]
    found = dict.fromkeys(paths, "")
    for _, old, new in reversed([move for move in moves if len(move) == 3]):  # oldest first: a file may move twice
        for path, place in found.items():
            if (place or path) == old:
                found[path] = new
    return {path: place for path, place in found.items() if place}


def defining(folder: Path, name: str, extension: str) -> list[str]:
    """Return the tracked files of a kind in which a name may be defined."""
    last = re.escape(name.rpartition(".")[2])
    pattern = (
        rf"(def|class|func|fn|function|interface|struct|enum|type|const|let|var|trait|impl|module)[^=(]*\b{last}\b"
    )
    said = git_text(folder, "grep", "-l", "-I", "-E", "-e", pattern, "--", f"*.{extension}", seconds=QUICK_SECONDS)
    return (said or "").splitlines()


def content(folder: Path, what: str) -> bytes | None:
    """Return the content of an object: a blob's id, or commit:path."""
    named = what.partition(":")[0]
    return None if named.startswith("-") else git(folder, "cat-file", "blob", what, seconds=QUICK_SECONDS)


def facts_of(folder: Path, commit: str) -> tuple[str, str, str] | None:
    """Return author, date and subject of a commit; None if it is not here."""
    if not is_object(commit):
        return None
    said = git_text(folder, "log", "-1", "--format=%an%x1f%aI%x1f%s", commit, "--", seconds=QUICK_SECONDS)
    if not said or said.count("\x1f") != 2:
        return None
    author, at, subject = said.rstrip("\n").split("\x1f")
    return author, parse_instant(at), subject


def _base(folder: Path, commits: Sequence[str]) -> str:
    """Return the commit that all of these hold; nothing if one of them is not here."""
    known = sorted({commit for commit in commits if re.fullmatch(r"[0-9a-f]{7,64}", commit)})
    if len(known) <= 1:
        return known[0] if known else ""
    said = git_text(folder, "merge-base", "--octopus", *known, seconds=QUICK_SECONDS)
    return (said or "").strip()
