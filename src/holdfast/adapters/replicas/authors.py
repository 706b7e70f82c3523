"""Find out from git who committed a note or file, regardless of what it claims."""

import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from holdfast.adapters.git import Repository
from holdfast.model.files import read_regular
from holdfast.model.ids import ULID

_WHO = "an <%ae>"  # git removes angle brackets and line ends from names
_ID = 26


def authors_of_lines(repository: Repository, tip: str, *, but: str = "") -> dict[str, str]:
    """Return who first committed each note line of `tip` that `but` does not contain, by the event id it begins with.

    Lines added by a merge have no author: anyone could have put them there.
    """
    since = [f"^{but}"] if but and repository.attempt("cat-file", "-e", but) is not None else []
    command = ("log", "--reverse", "--topo-order", "--no-merges", "--no-ext-diff", "--no-textconv", "--no-renames")
    log = repository.ask_bytes(
        *command, "-p", "-U0", "--no-color", "--text", f"--format=%x00%{_WHO}", tip, *since, "--"
    )
    authors: dict[str, str] = {}
    author = ""
    for line in log.split(b"\n"):
        if line.startswith(b"\0"):
            author = _clean(line[1:])
        elif line.startswith(b"+") and ULID.fullmatch(name := line[1 : 1 + _ID].decode(errors="replace")):
            authors.setdefault(name, author)
    return authors


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """The last commit of a file: its author, why that is not certain, and what it left in HEAD."""

    author: str = ""
    doubt: str = ""
    contents: tuple[bytes, ...] = ()  # several if names differ only in case: a checkout has one of them
    changed: bool = False  # since the commit that was asked about


def committed_files(
    repository: Repository, folder: Path, names: Collection[str], since: str = ""
) -> dict[str, Committed]:
    """Return who last committed each of these files; files that were never committed are left out.

    Git's own answer to whether a file was edited depends on attributes that a repository sets, and asks filters that
    its settings name.
    """
    if not names or not repository.head():
        return {}
    place = folder.resolve().relative_to(Path(repository.ask("rev-parse", "--show-toplevel")).resolve()).as_posix()
    wanted, commits, folders, latest = {_key(name) for name in names}, dict[str, tuple[str, str]](), {place}, ("", "")
    # A merge counts if its content differs from both sides.
    command = ("log", "--no-renames", "--name-only", "-c", "-z", f"--format=%x01%H %{_WHO}")
    for part in repository.ask_bytes(*command, "--", f":(top,icase){place}").split(b"\0"):
        if part.startswith(b"\1"):  # paths begin with the folder, so this is a commit
            made, _, who = part[1:].partition(b" ")
            latest = (made.decode(), _clean(who))
            continue
        where, _, name = part.removeprefix(b"\n").decode(errors="surrogateescape").rpartition("/")
        if where.casefold() == place.casefold() and _key(name) in wanted:
            commits.setdefault(_key(name), latest)
            folders.add(where)
    now, then = dict[str, list[str]](), dict[str, list[str]]()
    for commit, blobs in (("HEAD", now), (since, then)):
        for path, blob in (repository.files(commit, *sorted(folders)) or {} if commit else {}).items():
            if (key := _key(path)) in wanted:
                blobs.setdefault(key, []).append(blob)
    contents = repository.blobs(sorted(set().union(*now.values())))
    doubts = _doubts(repository, {commit for commit, _ in commits.values()})
    found = {}
    for name in names:
        if (key := _key(name)) in commits.keys() | now.keys():
            commit, author = commits.get(key, ("", ""))
            found[name] = Committed(
                author=author,
                doubt=doubts.get(commit, ""),
                contents=tuple(contents.get(blob, b"") for blob in now.get(key, ())),
                changed=now.get(key) != then.get(key),
            )
    return found


def _doubts(repository: Repository, commits: set[str]) -> dict[str, str]:
    """Return why the author of a commit is not certain: anyone can write a name into a commit, but not push it."""
    doubts = {"": "git names no author of it"}
    if commits and repository.remotes():
        unpushed = repository.ask("rev-list", *sorted(commits), "--not", "--remotes", "--").split()
        doubts |= dict.fromkeys(unpushed, "its commit is on no branch of a remote yet; it is imported when it is")
    if (cut := repository.common / "shallow").exists():
        why = "git's history is cut off at its commit, which hides the author: run `git fetch --unshallow`"
        doubts |= dict.fromkeys(read_regular(cut).decode().split(), why)
    return doubts


def _key(path: str) -> str:
    """Return the name of a file as file systems that ignore case compare it."""
    return unicodedata.normalize("NFC", path.rpartition("/")[2]).casefold()


def _clean(raw: bytes) -> str:
    text = raw.decode(errors="replace")
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
