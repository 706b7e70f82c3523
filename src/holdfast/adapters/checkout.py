"""Read-only access to the code that a session works on, through git and the file system."""

import json
import logging
import os
import time
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from holdfast.adapters import branches, changes
from holdfast.adapters.git import GIT_SECONDS, QUICK_SECONDS, git_text, run_git
from holdfast.adapters.source.cited_places import (
    GONE,
    UNKNOWN,
    Absent,
    Content,
    File,
    Unreadable,
    content_or_absent,
    look,
    only,
)
from holdfast.adapters.source.definitions import defined
from holdfast.model.anchor import CodeMark, CodeSnapshot, Touch, parse_anchor
from holdfast.model.files import read_inside, read_regular, write_whole
from holdfast.model.foreign_json import parse_json
from holdfast.model.history import BranchStatus, Earlier, Evidence
from holdfast.model.ids import instant
from holdfast.model.record import Origin
from holdfast.model.scope import is_network_address, project_of_remote, without_userinfo

log = logging.getLogger(__name__)
LARGEST = 2_000_000  # bytes; larger files are not read
SNAPSHOT_SECONDS = 0.5
RESOLVE_SECONDS = 0.3  # for finding what a text names
MOST_DEFINING = 20  # files
MOST_CHECKOUTS = 2_000
PAGE_SECONDS = 0.02  # for finding the commits behind the changes of a page of hits


class _Checkout(NamedTuple):
    """A checkout of the user, when its git folder was made, its first commit, and what its memories are saved as."""

    path: str
    born: int
    first: str
    project: str


class GitCheckout:
    """A folder, in git or not; answers are cached. Its identity is the remote, else the path.

    `name` is the user's name for this folder; `known` is the file that lists the user's checkouts and their identities.
    """

    def __init__(self, folder: Path, name: str = "", known: Path | None = None) -> None:
        self._folder, self._name, self._known = folder, name, known
        self._asked_at: tuple[int, ...] = ()
        self._origin = Origin()
        self._noted = set[str]()
        self._touches: dict[tuple[str, str, tuple[tuple[str, ...], ...]], list[Touch]] = {}
        self._held: dict[tuple[str, str], bool | None] = {}

    def project(self) -> str:
        """Return the user's name for it, else host/owner/name of the remote, else the path of the main worktree or folder."""
        return self._name or self._remote or str(self._root)

    def address(self) -> str:
        """Return the address of the remote it belongs to, else its path, whatever the user calls it."""
        return self._remote_url or str(self._root)

    def doubt(self) -> str:
        """Return why the address of the remote is no identity, if it looks like one; "" otherwise."""
        if self._name or self._remote or not is_network_address(self._remote_url):
            return ""
        address = without_userinfo(self._remote_url)
        return f"The address of the remote ({address!r}) can be read in two ways, so this project is {self._root}."

    def note_project(self, project: str) -> None:
        """Add to the list of checkouts that memories of this one are saved as `project`."""
        if project in self._noted or self._known is None or not self._known.parent.is_dir():
            return
        self._noted.add(project)
        known = self._checkouts()
        mine = _Checkout(str(self._root), self._born, "", project)
        if any(each._replace(first="") == mine for each in known):
            return
        kept = [each for each in known if (each.path, each.project) != (mine.path, project)]
        try:
            known = [*kept, mine._replace(first=self._first_commit())][-MOST_CHECKOUTS:]
            write_whole(self._known, json.dumps(known))
        except OSError as problem:  # a full disk: the memories themselves are saved
            log.warning("the list of checkouts was not updated: %s", problem)

    def earlier(self, *, by_history: bool = False) -> list[Earlier]:
        """Return the other identities that this checkout had here or before it was moved, or those with the same first commit."""
        if not (known := self._checkouts()):
            return []
        mine, now, born = str(self._root), self.project(), self._born
        others = [each for each in known if each.project != now]
        first = self._first_commit() if others and by_history else ""
        is_new = not any((each.path, each.project) == (mine, now) for each in known)
        found = dict[str, Earlier]()
        for each in others:
            here = each.path == mine and each.born in (0, born)
            moved = born != 0 and each.born == born
            if here or moved or (first and each.first == first):
                # A path is the identity of this folder alone; a remote may be that of other checkouts, too.
                certain = here and moved and each.project == mine and bool(self._remote) and is_new
                why: Evidence = "here" if here else "moved" if moved else "history"
                found[each.project] = Earlier(project=each.project, why=why, certain=certain)
        return list(found.values())

    def _checkouts(self) -> "list[_Checkout]":
        try:
            known = parse_json(read_regular(self._known)) if self._known else []
            return [_Checkout(str(path), int(born), str(first), str(name)) for path, born, first, name in known]
        except (OSError, ValueError, TypeError):
            return []  # not there, or damaged: it is made again

    @cached_property
    def _born(self) -> int:
        """When git's folder was made (ns), from its oldest file: it stays when the folder is moved, and no clone ships it. 0 outside git."""
        if not self._facts:
            return 0
        try:
            return min(entry.stat(follow_symlinks=False).st_mtime_ns for entry in os.scandir(self._facts[1]))
        except (OSError, ValueError):
            return 0

    def _first_commit(self) -> str:
        """Return the first commit; "" without one, in a shallow clone, and if git takes too long."""
        asked = ("rev-list", "--max-parents=0", "HEAD")
        commits = (self._try(*asked, seconds=QUICK_SECONDS) or "").splitlines() if self._facts else []
        return commits[-1] if commits and not (self._facts and (self._facts[1] / "shallow").exists()) else ""

    def origin(self) -> Origin:
        """Return the branch, the worktree (only if it is a linked one) and the commit."""
        if not self._facts:
            return Origin()
        moved = self._head_moved_at()
        if not moved or moved != self._asked_at:
            self._asked_at, self._origin = moved, self._ask_origin(*self._facts)
        return self._origin

    def in_git(self) -> bool:
        """True if the folder belongs to a repository."""
        return bool(self._facts)

    def top(self) -> Path:
        """Return the top folder of this worktree; outside git the folder itself."""
        return self._facts[0] if self._facts else self._folder

    def commits_since(self, at: str, paths: Sequence[str] = ()) -> list[str] | None:
        """Return the author times of the commits since an instant, of these paths or of all; None if git fails."""
        narrowed = ["--", *paths] if paths else []
        said = self._try("log", "--format=%at", f"--since={at}", "HEAD", *narrowed, seconds=QUICK_SECONDS)
        if said is None:
            return None
        return [made for line in said.splitlines() if (made := instant(int(line))) > at]

    def snapshot(self, cited: Mapping[str, CodeMark | None], *, at: str = "") -> CodeSnapshot:
        """Look up cited places in the current files or at a commit; those not reached within 0.5 s are unknown."""
        until, marks = time.monotonic() + SNAPSHOT_SECONDS, dict[str, CodeMark]()
        for anchor, mark in cited.items():
            place, late = parse_anchor(anchor), time.monotonic() > until
            if place.kind == "commit":
                marks[anchor] = UNKNOWN if late else self._commit(place.value, at or "HEAD")
            else:
                marks[anchor] = UNKNOWN if late else look(place, lambda path: self._read(path, at), mark)
        return CodeSnapshot(commit=at or self.origin().commit, marks=marks)

    def touches(self, cited: Mapping[str, Collection[str]], since: str, *, quick: bool = False) -> list[Touch] | None:
        """Return the commits since an instant that touched files, newest first; None if git does not answer.

        For each file the commits go back to where it had one of the cited contents.
        """
        if not self._facts:
            return None
        key = (self.origin().commit, since, tuple(sorted((path, *sorted(blobs)) for path, blobs in cited.items())))
        if key not in self._touches:
            seconds = PAGE_SECONDS if quick else QUICK_SECONDS
            if (found := changes.touches(self.top(), cited, since, seconds=seconds)) is None:
                return None
            self._touches = {key: found}  # only the latest: a page of hits asks the same question several times
        return self._touches[key]

    def versions(self, anchor: str, blobs: Sequence[str]) -> dict[str, CodeMark]:
        """Return what was at a place in several versions of its file, by blob."""
        found = changes.contents(self.top(), blobs) if self._facts else {}
        place = parse_anchor(anchor)
        return {blob: look(place, only(place.path, raw)) for blob, raw in found.items()}

    def renamed(self, paths: Sequence[str], since: Sequence[str]) -> dict[str, str]:
        """Return the new paths of files that were renamed, by old path."""
        return changes.renamed(self.top(), paths, since) if self._facts else {}

    def defining(self, name: str, extension: str) -> list[str]:
        """Return the files in which a name may be defined."""
        return changes.defining(self.top(), [name], extension) if self._facts else []

    def definitions(self, names: Sequence[str], paths: Sequence[str] = ()) -> dict[str, list[str]]:
        """Return the anchors of all definitions that each name may mean, in these files or, if none are passed, in all."""
        until = time.monotonic() + RESOLVE_SECONDS
        if not paths and self._facts and names:
            paths = changes.defining(self.top(), names, seconds=RESOLVE_SECONDS)[:MOST_DEFINING]
        found: dict[str, list[str]] = {name: [] for name in names}
        for path in paths:
            file = self._read(path, "")
            if time.monotonic() > until:
                return {}  # a definition that was not looked at could be the one that is meant
            if isinstance(file, Content) and b"\0" not in file.raw[:8_000]:
                text = file.raw.decode(errors="replace").replace("\r\n", "\n")
                for name, anchors in found.items():
                    anchors += [f"{path}::{qualified}" for qualified in defined(path, text, name)]
        return found

    def files_named(self, names: Sequence[str]) -> dict[str, str]:
        """Return the path of each file that is there by this name, or is the only one whose path ends with it."""
        paths = {name: name for name in names if isinstance(self._read(name, ""), Content)}
        other = [name for name in names if name not in paths]
        tracked = changes.ending(self.top(), other, seconds=RESOLVE_SECONDS) if other and self._facts else []
        for name in other:
            ends = [path for path in tracked if path.endswith(f"/{name}")]
            paths |= {name: ends[0]} if len(ends) == 1 else {}
        return paths

    def files(self) -> list[str] | None:
        """Return the tracked files; None if this is no repository, or git does not answer."""
        return changes.tracked(self.top()) if self._facts else None

    def content(self, what: str) -> bytes | None:
        """Return the content of a blob or of `commit:path`; None if it does not exist."""
        return changes.content(self.top(), what) if self._facts else None

    def facts_of(self, commit: str) -> tuple[str, str, str] | None:
        """Return the author, date and subject of a commit."""
        return changes.facts_of(self.top(), commit) if self._facts and commit else None

    def files_of(self, commit: str) -> list[str]:
        """Return the files that a commit changed."""
        return changes.files_of(self.top(), commit) if self._facts and commit else []

    def tips(self) -> dict[str, str]:
        """Return the commit that each branch points to."""
        return branches.tips(self.top()) if self._facts else {}

    def merge_base(self, other: str) -> str:
        """Return the merge base of HEAD and another commit or branch, or an empty string if there is none."""
        names = (other, f"origin/{other}")
        return next((found for name in names if (found := self._ask("merge-base", "HEAD", name))), "")

    def commit_of(self, name: str) -> str:
        """Return the commit of a name, here or at the remote, or an empty string if there is none."""
        names = (name, f"origin/{name}")
        asked = (self._ask("rev-parse", "--quiet", "--verify", f"{each}^{{commit}}") for each in names)
        return next((found for found in asked if found), "")

    @cached_property
    def default_branch(self) -> str:
        """The branch that others are merged into."""
        return branches.default_branch(self.top()) if self._facts else ""

    def branch_status(self, born: Mapping[str, str]) -> dict[str, BranchStatus]:
        """Return the status of branches, each given with its last known commit."""
        there, here = self.tips(), self.origin().commit
        ends = {name: there.get(name) or commit for name, commit in born.items()}
        # Computed once for each HEAD: comparing patches is slow.
        wanted = {end for end in ends.values() if end and (here, end) not in self._held}
        if wanted and self._facts:
            found = branches.contained_in_head(self.top(), wanted)
            self._held |= {(here, end): one for end, one in found.items()}
        return {
            name: self._branch_status(self._held.get((here, end)), alive=name in there) for name, end in ends.items()
        }

    @staticmethod
    def _branch_status(held: bool | None, *, alive: bool) -> BranchStatus:
        if held is None:
            return "unknown"
        return "merged" if held else "open" if alive else "gone"

    def _commit(self, name: str, at: str) -> CodeMark:
        """Look up a commit: gone if it is no ancestor of `at`, unknown if it is not in this repository."""
        if not self._facts or not name.isalnum():
            return UNKNOWN
        answer = run_git(self._folder, "merge-base", "--is-ancestor", name, at, seconds=QUICK_SECONDS)
        return {0: CodeMark(), 1: GONE}.get(answer.returncode, UNKNOWN)

    def _read(self, path: str, at: str) -> File:
        """Read the current file, or the file at a commit; files outside the worktree are not read."""
        try:
            if at and (self.top() / path).resolve().is_relative_to(self.top().resolve()):
                return content_or_absent(changes.content(self.top(), f"{at}:{path}"))
            return Content(read_inside(self.top(), Path(path).expanduser(), LARGEST))
        except (FileNotFoundError, NotADirectoryError):
            return Absent()
        except (OSError, RuntimeError, ValueError):
            return Unreadable()

    def _ask_origin(self, top: Path, common: Path) -> Origin:
        linked = common.name == ".git" and common.parent != top
        branch = self._ask("symbolic-ref", "--quiet", "--short", "HEAD")
        commit = self._ask("rev-parse", "--quiet", "--verify", "HEAD")
        return Origin(branch=branch, worktree=top.name if linked else "", commit=commit)

    def _head_moved_at(self) -> tuple[int, ...]:
        """Return when HEAD last moved, from the times of HEAD and its reflog (ns); empty if there is no reflog."""
        try:
            return tuple((self._git_folder / name).stat().st_mtime_ns for name in ("HEAD", "logs/HEAD"))
        except OSError:
            return ()

    @cached_property
    def _facts(self) -> tuple[Path, Path] | None:
        """The top folder of this worktree and the git folder that all worktrees share; None outside git."""
        lines = self._ask("rev-parse", "--show-toplevel", "--git-common-dir").splitlines()
        if len(lines) != 2:
            return None
        top = Path(lines[0])
        return top, (self._folder / lines[1]).resolve()

    @cached_property
    def _git_folder(self) -> Path:
        return self._folder / self._ask("rev-parse", "--git-dir")

    @cached_property
    def _root(self) -> Path:
        if not self._facts:
            return self._folder.resolve()
        top, common = self._facts
        return common.parent if common.name == ".git" else top

    @cached_property
    def _remote(self) -> str | None:
        return project_of_remote(self._remote_url)

    @cached_property
    def _remote_url(self) -> str:
        """The address that git fetches from, after its own rewriting (`insteadOf`): of origin, else of the first remote."""
        if not self._facts:
            return ""
        url = self._fetched_from("origin")
        if url != "origin":
            return url
        first = self._ask("config", "--name-only", "--get-regexp", r"^remote\..*\.url$").partition("\n")[0]
        return self._fetched_from(first.removeprefix("remote.").removesuffix(".url")) if first else ""

    def _fetched_from(self, remote: str) -> str:
        url = git_text(self._folder, "ls-remote", "--get-url", "--", remote)
        return (url or "").removesuffix("\n")

    def _ask(self, *question: str) -> str:
        return self._try(*question) or ""  # no git: the folder itself is the identity

    def _try(self, *question: str, seconds: float = GIT_SECONDS) -> str | None:
        """Return the output of git, stripped; None if it fails."""
        said = git_text(self._folder, *question, seconds=seconds)
        return None if said is None else said.strip()
