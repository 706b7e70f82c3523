"""Read-only access to the code that a session works on, through git and the file system."""

import hashlib
import json
import logging
import os
import re
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from holdfast.adapters.git import GIT_SECONDS, QUICK_SECONDS, git, git_lines, git_text, is_object, objects, run_git
from holdfast.adapters.source import GONE, UNKNOWN, File, defined, look
from holdfast.model.anchor import CodeMark, CodeSnapshot, Touch, parse_anchor
from holdfast.model.files import read_inside, read_regular, state_of, write_whole
from holdfast.model.foreign_json import parse_json
from holdfast.model.ids import instant
from holdfast.model.ports import BranchStatus, Checkout, Earlier
from holdfast.model.record import Origin, is_network_address, project_of_remote, without_userinfo

log = logging.getLogger(__name__)
LARGEST = 2_000_000  # bytes; larger files are not read
SETTLED = 1_000_000_000  # ns after which a file that is written again has another time
SNAPSHOT_SECONDS = 0.5
RESOLVE_SECONDS = 0.3  # for finding what a text names
MOST_DEFINING = 20  # files
MOST_CHECKOUTS = 2_000
PAGE_SECONDS = 0.02  # for finding the commits behind the changes of a page of hits
MOST_TOUCHES = 300
FEW, MOST_SEARCHED = 15, 500  # files that mention a name
_LOG = ("log", "--no-color", "--no-renames", "--ignore-missing", "--raw", "--no-abbrev")
_RAW = re.compile(r":\d+ \d+ (?P<before>[0-9a-f]+) (?P<after>[0-9a-f]+) \w\d*\t(?P<path>[^\t\n]+)")
MOST_COMMITS = 400  # searched for a squashed one
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color")
_KEYWORDS = "def|class|func|fn|function|interface|struct|enum|type|const|let|var|trait|impl|module|static"


class _Checkout(NamedTuple):
    """A checkout of the user, when its git folder was made, its first commit, and what its memories are saved as."""

    path: str
    born: int
    first: str
    project: str


class GitCheckout(Checkout):
    """A folder, in git or not; answers are cached. Its identity is the remote, else the path."""

    def __init__(self, folder: Path, name: str = "", known: Path | None = None) -> None:
        # The user's name for it, and the file that lists the user's checkouts and their identities.
        self._folder, self._name, self._known = folder, name, known
        self._asked_at: tuple[str, ...] = ()
        self._origin = Origin()
        self._noted = set[str]()
        self._touches: dict[tuple[str, str, tuple[tuple[str, ...], ...]], list[Touch]] = {}
        self._held: dict[tuple[str, str], bool | None] = {}
        self._looked: dict[tuple[str, CodeMark | None], tuple[str, CodeMark]] = {}  # with the state of the file

    def project(self) -> str:
        return self._name or self._remote or str(self._root)

    def address(self) -> str:
        return self._remote_url or str(self._root)

    def doubt(self) -> str:
        """Return why the address of the remote is no identity; "" if it is one, or is no address of a network."""
        if self._name or self._remote or not is_network_address(self._remote_url):
            return ""
        address = without_userinfo(self._remote_url)
        return f"The address of the remote ({address!r}) can be read in two ways, so this project is {self._root}."

    def note_project(self, project: str) -> None:
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
                why: Literal["here", "moved", "history"] = "here" if here else "moved" if moved else "history"
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
        with suppress(OSError, ValueError):
            if self._facts:
                return min(entry.stat(follow_symlinks=False).st_mtime_ns for entry in os.scandir(self._facts[1]))
        return 0

    def _first_commit(self) -> str:
        """Return the first commit; "" without one, in a shallow clone, and if git takes too long."""
        if not self._facts or (self._facts[1] / "shallow").exists():
            return ""
        return self._ask("rev-list", "--max-parents=0", "HEAD", seconds=QUICK_SECONDS).rpartition("\n")[2]

    def origin(self) -> Origin:
        if not self._facts:
            return Origin()
        # The times of HEAD and its reflog tell when HEAD last moved.
        moved = tuple(state_of(self._facts[2] / name) for name in ("HEAD", "logs/HEAD"))
        if not all(moved) or moved != self._asked_at:
            (top, common, _), self._asked_at = self._facts, moved
            self._origin = Origin(
                branch=self._ask("symbolic-ref", "--quiet", "--short", "HEAD"),
                worktree=top.name if common.name == ".git" and common.parent != top else "",
                commit=self._ask("rev-parse", "--quiet", "--verify", "HEAD"),
            )
        return self._origin

    def in_git(self) -> bool:
        return bool(self._facts)

    def top(self) -> Path:
        return self._facts[0] if self._facts else self._folder

    def commits_since(self, at: str, paths: Sequence[str] = ()) -> list[str] | None:
        listing = self._ask_git("log", "--format=%at", f"--since={at}", "HEAD", "--", *paths)
        return None if listing is None else [made for line in listing.split() if (made := instant(int(line))) > at]

    def snapshot(self, cited: Mapping[str, CodeMark | None], *, at: str = "") -> CodeSnapshot:
        until, marks = time.monotonic() + SNAPSHOT_SECONDS, dict[str, CodeMark]()
        for anchor, mark in cited.items():
            place = parse_anchor(anchor)
            # A mark is valid as long as the file has the same time and size; a version is read from several files.
            state = state_of(self.top() / place.path) if place.path and not at and place.kind != "version" else ""
            known = self._looked.get((anchor, mark))
            if state and known and known[0] == state:
                marks[anchor] = known[1]
            elif time.monotonic() > until or (place.kind == "commit" and not (self._facts and place.value.isalnum())):
                marks[anchor] = UNKNOWN
            elif place.kind == "commit":  # gone if it is no ancestor, unknown if it is not in this repository
                asked = ("merge-base", "--is-ancestor", place.value, at or "HEAD")
                answer = run_git(self._folder, *asked, seconds=QUICK_SECONDS).returncode
                marks[anchor] = {0: CodeMark(), 1: GONE}.get(answer, UNKNOWN)
            else:
                marks[anchor] = look(place, lambda path: self._read(path, at), mark)
                if state and time.time_ns() - int(state.split()[0]) > SETTLED:
                    self._looked[anchor, mark] = state, marks[anchor]
        return CodeSnapshot(commit=at or self.origin().commit, marks=marks)

    def touches(self, cited: Mapping[str, Collection[str]], since: str, *, quick: bool = False) -> list[Touch] | None:
        if not self._facts:
            return None
        key = (self.origin().commit, since, tuple(sorted((path, *sorted(blobs)) for path, blobs in cited.items())))
        if key not in self._touches:
            if (found := self._read_touches(cited, since, PAGE_SECONDS if quick else QUICK_SECONDS)) is None:
                return None
            self._touches = {key: found}  # only the latest: a page of hits asks the same question several times
        return self._touches[key]

    def _read_touches(self, cited: Mapping[str, Collection[str]], since: str, seconds: float) -> list[Touch] | None:
        # Read until every file had its cited content: with a commit to stop at, git would walk to it before it prints.
        wanted = {(path, blob) for path, blobs in cited.items() for blob in blobs}
        span = ("--format=%x1e%H%x1f%an%x1f%at%x1f%s", f"--max-count={MOST_TOUCHES}", f"--since={since}", "HEAD", "--")
        found, started, head = list[Touch](), time.monotonic(), ["", "", "0", ""]
        try:
            with git_lines(self.top(), *_LOG, *span, *cited, seconds=seconds) as lines:
                for line in (raw.decode(errors="replace").rstrip("\n") for raw in lines):
                    if line.startswith("\x1e"):
                        head = line[1:].split("\x1f", 3)
                    elif match := _RAW.fullmatch(line):
                        commit, author, at, subject = head
                        known = {"commit": commit, "author": author, "at": instant(int(at)), "subject": subject}
                        found.append(Touch(**known, **match.groupdict()))
                        wanted.discard((match["path"], match["before"]))
                        if not wanted:
                            break
        except OSError:
            return None
        return found if not wanted or time.monotonic() - started < seconds else None

    def versions(self, anchor: str, blobs: Sequence[str]) -> dict[str, CodeMark]:
        query, place = "\n".join(blobs).encode() + b"\n", parse_anchor(anchor)
        batch = git(self.top(), "cat-file", "--batch", stdin=query, seconds=QUICK_SECONDS) if self._facts else None
        return {blob: look(place, {place.path: raw}.get) for blob, raw in objects(batch or b"").items()}

    def renamed(self, paths: Sequence[str], since: Sequence[str]) -> dict[str, str]:
        commits = sorted(set(filter(is_object, since)))
        base = (self._ask_git("merge-base", "--octopus", *commits) or "").strip() if commits else ""
        span = ["HEAD", f"^{base}"] if base else ["HEAD", f"--max-count={MOST_TOUCHES}"]
        asked = ("-M", "--diff-filter=R", "--name-status")
        staged = self._ask_git("diff-index", "--cached", *asked, "HEAD") or ""
        lines = f"{staged}\n{self._ask_git('log', *asked, '--format=', '--ignore-missing', *span) or ''}".splitlines()
        moves = [line.split("\t") for line in lines if line.startswith("R")]
        places = dict.fromkeys(paths, "")
        for _, old, new in reversed([move for move in moves if len(move) == 3]):  # oldest first: a file may move twice
            for path, place in places.items():
                if (place or path) == old:
                    places[path] = new
        return {path: place for path, place in places.items() if place}

    def defining(self, names: Sequence[str], extension: str = "", seconds: float = QUICK_SECONDS) -> list[str]:
        last = sorted({name.partition(".")[0] if name[:1].isupper() else name.rpartition(".")[2] for name in names})
        kind = ["--", f"*.{extension}"] if extension else []
        # Plain words are found a hundred times faster than a pattern, which is only needed where many files have them.
        plain = [argument for name in last for argument in ("-e", name)]
        listing = (self._ask_git("grep", "-l", "-I", "-w", "-F", *plain, *kind, seconds=seconds) or "").splitlines()
        if len(listing) <= FEW:
            return listing
        either = "|".join(map(re.escape, last))
        pattern = rf"({_KEYWORDS})[^=(]*\b({either})\b|^[ \t]*({either})[ \t]*(:[^=]*)?=|\.({either})[ \t]*=[ \t]*(async )?function"
        asked = ("grep", "-l", "-I", "-E", "-e", pattern, "--", *listing[:MOST_SEARCHED])
        return (self._ask_git(*asked, seconds=seconds) or "").splitlines()

    def definitions(self, names: Sequence[str], paths: Sequence[str] = ()) -> dict[str, list[str]]:
        until = time.monotonic() + RESOLVE_SECONDS
        if not paths and self._facts and names:
            paths = self.defining(names, seconds=RESOLVE_SECONDS)[:MOST_DEFINING]
        found: dict[str, list[str]] = {name: [] for name in names}
        for path in paths:
            file = self._read(path, "")
            if time.monotonic() > until:
                return {}  # a definition that was not looked at could be the one that is meant
            if isinstance(file, bytes) and b"\0" not in file[:8_000]:
                text = file.decode(errors="replace").replace("\r\n", "\n")
                for name, anchors in found.items():
                    anchors += [f"{path}::{qualified}" for qualified in defined(path, text, name)]
        return found

    def files_named(self, names: Sequence[str]) -> dict[str, str]:
        paths = {name: name for name in names if isinstance(self._read(name, ""), bytes)}
        other = [name for name in names if name not in paths]
        patterns = [f":(glob)**/{name}" for name in other if not set(name) & set("*?[")]
        listing = self._ask_git("ls-files", "--", *patterns, seconds=RESOLVE_SECONDS) if patterns else ""
        for name in other:
            ends = [path for path in (listing or "").splitlines() if path.endswith(f"/{name}")]
            paths |= {name: ends[0]} if len(ends) == 1 else {}
        return paths

    def files(self) -> list[str] | None:
        listing = self._ask_git("ls-files", "-z")
        return None if listing is None else list(filter(None, listing.split("\0")))

    def content(self, what: str) -> bytes | None:
        is_asked = self._facts and not what.startswith("-")
        return git(self.top(), "cat-file", "blob", what, seconds=QUICK_SECONDS) if is_asked else None

    def facts_of(self, commit: str) -> tuple[str, str, str] | None:
        line = self._ask_git("log", "-1", "--format=%an%x1f%at%x1f%s", commit, "--") if is_object(commit) else None
        if not line or line.count("\x1f") != 2:
            return None
        author, at, subject = line.rstrip("\n").split("\x1f")
        return author, instant(int(at)), subject

    def files_of(self, commit: str) -> list[str]:
        asked = ("diff-tree", "-r", "-z", "--root", "--no-commit-id", "--name-only", commit, "--")
        names = self._ask_git(*asked) if is_object(commit) else ""
        return list(filter(None, (names or "").split("\0")))

    def tips(self) -> dict[str, str]:
        asked = ("for-each-ref", "--sort=-refname", "--format=%(objectname) %(refname)")  # local branches last
        refs = (line.split(" ", 1) for line in (self._ask_git(*asked, "refs/remotes", "refs/heads") or "").splitlines())
        return {name.split("/", 2 if name.startswith("refs/heads/") else 3)[-1]: commit for commit, name in refs}

    def merge_base(self, other: str) -> str:
        return self._ask("merge-base", "HEAD", other) or self._ask("merge-base", "HEAD", f"origin/{other}")

    def commit_of(self, name: str) -> str:
        asked = ("rev-parse", "--quiet", "--verify")
        return self._ask(*asked, f"{name}^{{commit}}") or self._ask(*asked, f"origin/{name}^{{commit}}")

    @cached_property
    def default_branch(self) -> str:
        if head := self._ask_git("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"):
            return head.strip().removeprefix("origin/")
        return next(filter(self.tips().get, ("main", "master", "trunk")), "")

    def changed(self) -> list[str]:
        # Working files are not compared: git would run the filters that a repository names.
        base = self.merge_base(self.default_branch) if self._facts and self.default_branch else ""
        found = self._ask_git("diff-tree", "-r", "--name-only", "-z", base, "HEAD") if base else ""
        return list(filter(None, (found or "").split("\0")))

    def branch_status(self, born: Mapping[str, str]) -> dict[str, BranchStatus]:
        there, here = self.tips(), self.origin().commit
        ends = {name: there.get(name) or commit for name, commit in born.items()}
        # Computed once for each HEAD: comparing patches is slow.
        wanted = {end for end in ends.values() if end and (here, end) not in self._held}
        if wanted and self._facts:
            self._held |= {(here, end): is_held for end, is_held in self._contained(wanted).items()}
        held = {name: self._held.get((here, end)) for name, end in ends.items()}
        known: Mapping[bool | None, BranchStatus] = {True: "merged", None: "unknown"}
        return {name: known.get(is_held, "open" if name in there else "gone") for name, is_held in held.items()}

    def _contained(self, commits: Collection[str]) -> dict[str, bool | None]:
        """Return for each commit whether HEAD contains its changes: as it is, cherry-picked one by one, or squashed; None if unknown."""
        named = {commit for commit in commits if is_object(commit)}
        listed = self._ask_git("cat-file", "--batch-check=%(objectname)", stdin="\n".join(sorted(named)))
        present = {line for line in (listed or "").splitlines() if " " not in line}
        unmerged = self._ask_git("rev-list", *sorted(present), "^HEAD", "--") if present else ""
        if listed is None or unmerged is None:
            return dict.fromkeys(commits)
        outside = {*unmerged.split(), *(named - present)}
        return dict.fromkeys(commits) | {each: each not in outside or self._squashed(each) for each in named}

    def _squashed(self, end: str) -> bool | None:
        base = (self._ask_git("merge-base", "HEAD", end) or "").strip()
        wanted = self._ask_git("diff", *_PLAIN, base, end) if base else None  # its commits may not be here
        if not wanted:
            return None if wanted is None else True  # nothing beyond the base, or no answer
        command = ("log", "-p", "--no-merges", *_PLAIN, "--format=%x1e", f"--max-count={MOST_COMMITS}")
        since, own = (self._ask_git(*command, f"{base}..{tip}") for tip in ("HEAD", end))
        if since is None or own is None:
            return None
        there, here = ({_patch_id(patch) for patch in log.split("\x1e")[1:]} for log in (since, own))
        return _patch_id(wanted) in there or here <= there  # as one commit, or one by one

    def _read(self, path: str, at: str) -> File:
        try:
            if at and (self.top() / path).resolve().is_relative_to(self.top().resolve()):
                return self.content(f"{at}:{path}")
            return read_inside(self.top(), Path(path).expanduser(), LARGEST)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, RuntimeError, ValueError) as problem:
            return not isinstance(problem, PermissionError)

    @cached_property
    def _facts(self) -> tuple[Path, Path, Path] | None:
        """The top folder of this worktree, the git folder that all worktrees share, and its own; None outside git."""
        lines = self._ask("rev-parse", "--show-toplevel", "--git-common-dir", "--git-dir").splitlines()
        if len(lines) != 3:
            return None
        return Path(lines[0]), (self._folder / lines[1]).resolve(), self._folder / lines[2]

    @cached_property
    def _root(self) -> Path:
        if not self._facts:
            return self._folder.resolve()
        top, common, _ = self._facts
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
        return (git_text(self._folder, "ls-remote", "--get-url", "--", remote) or "").removesuffix("\n")

    def _ask_git(self, *question: str, seconds: float = QUICK_SECONDS, stdin: str = "") -> str | None:
        """Return the output of git in the top folder; None if it fails, and outside git."""
        return git_text(self.top(), *question, seconds=seconds, stdin=stdin) if self._facts else None

    def _ask(self, *question: str, seconds: float = GIT_SECONDS) -> str:
        """Return the output of git in the folder, stripped; "" if it fails."""
        return (git_text(self._folder, *question, seconds=seconds) or "").strip()


def _patch_id(patch: str) -> str:
    """Return a hash of a patch's changes regardless of line numbers, like `git patch-id` but for many patches at once."""
    changes = [line for line in patch.splitlines() if line.startswith(("diff --git", "+", "-"))]
    return hashlib.sha256("".join("".join(line.split()) for line in changes).encode()).hexdigest()
