"""Git notes as a replica: events attached to commits under refs/notes/holdfast/, shared with the repository.

`git notes` updates its ref without checking for concurrent updates, and `fast-import` rejects notes on commits
that are missing. So notes are written as trees, and refs are updated only from the commit they were read at.

A line of a note is an event: its id, a readable summary, a tab, and the event as JSON. Lines sort by id, and none depends
on another: concatenating, sorting and dropping repeats, as git's `cat_sort_uniq` does, is a correct union.
"""

import json
import os
import re
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from holdfast.adapters.git import NETWORK_SECONDS, Repository, complaint
from holdfast.adapters.importers.git_notes import NAMESPACES, namespace_of
from holdfast.adapters.replicas.authors import authors_of_lines
from holdfast.adapters.replicas.states import read_state, state_key, write_state
from holdfast.model.errors import Invalid, ReplicaError
from holdfast.model.event import SHARED, Event, event_from_json, event_to_json
from holdfast.model.fold import scrub
from holdfast.model.foreign import Remark
from holdfast.model.foreign_json import parse_json
from holdfast.model.ids import short
from holdfast.model.replica import ReadOutcome, RemoteResult, ReplicaChanges, ReplicaUpdate, WriteCounts
from holdfast.model.text import shorten

BASE, TRACKED = "refs/notes/holdfast/", "refs/holdfast/remotes/"
TRIES = 20
NOTHING = "0" * 40
ASIDE = "refs/holdfast/aside/"
LARGEST = 200_000_000  # bytes of one note: a hundred thousand events
LONGEST_LINE = 4_000_000
_TITLE = 100
# Line breaks for some programs, but not for git.
_BREAKS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}
_NAME = re.compile(rb"[0-9a-f]{40}|[0-9a-f]{64}")
_ABOUT, _ERASED = '\t{"about":"', '"verb":"erased"'
T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Note:
    """The lines of a note and its paths; git joins a note that is at several."""

    paths: set[str] = field(default_factory=set)
    lines: set[str] = field(default_factory=set)


Tree = dict[str, Note]  # by the name of the annotated object


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """An update of a ref: its old commit, the new parent, and the notes that differ from the parent's."""

    ref: str
    old: str
    parent: str
    notes: Mapping[str, Note]
    orphan: bool = False  # a commit without parents


class GitNotes:
    """The notes of a repository. What was read and written last is stored next to the database."""

    name = "notes"
    stores_events = True

    def __init__(self, folder: Path, states: Path) -> None:
        self._repository = Repository(folder)
        self._states = states
        self._read: dict[str, str] = {}
        self._before: dict[str, str] = {}

    @property
    def cursor(self) -> int:
        """The journal number up to which it is complete; 0 if notes that were written have disappeared."""
        tips, known = self._tips(), read_state(self._state)
        for name, tip in known.get("told", {}).items():
            if name not in tips or not self._repository.holds(tip, tips[name]):
                return 0
        return int(known.get("cursor", 0))

    def read(self, *, afresh: bool = False) -> ReplicaChanges:
        """Return the events of notes that changed since the last `write`; malformed lines are left alone."""
        self._read = tips = self._tips()
        self._before = known = {} if afresh else read_state(self._state).get("read", {})
        if tips == known:
            return ReplicaChanges()
        events: dict[str, Event] = {}
        remarks = []
        for namespace, tip in tips.items():
            if tip == (before := known.get(namespace, "")):
                continue
            for name, line, event in events_in(load(self._repository, tip, but=before)):
                if isinstance(event, Invalid) or event.verb not in SHARED:
                    why = event.message if isinstance(event, Invalid) else f"“{event.verb}” is not a shared event"
                    start = "".join(char if char.isprintable() else "·" for char in line[:40])
                    remarks.append(Remark(where=f"{namespace} of {name[:10]}: {start}", why=why))
                else:
                    events[event.id] = event
        return ReplicaChanges(events=tuple(events[key] for key in sorted(events)), remarks=tuple(remarks))

    def carriers(self, ids: Collection[str]) -> dict[str, str]:
        """Return who committed the lines of the events that were just read."""
        known, authors = self._before, dict[str, str]()
        for namespace, tip in self._read.items() if ids else ():
            if tip != (before := known.get(namespace, "")):
                authors |= authors_of_lines(self._repository, tip, but=before)
        return {id_: authors[id_] for id_ in ids if id_ in authors}

    def write(self, updates: Sequence[ReplicaUpdate], settled: ReadOutcome, *, cursor: int) -> WriteCounts:
        """Append the missing events, and remove the text of erased records."""
        changed = [update for update in updates if update.carried or update.record.state == "erased"]
        put, moved = WriteCounts(), dict[str, tuple[str, str]]()
        if changed or self._read != read_state(self._state).get("read", {}):
            put, moved = self._append(changed)
        if not put.remarks:
            now = self._read | {name: new for name, (_, new) in moved.items()}
            # What others committed since `read` was not read yet, even though our commit builds on it.
            read = self._read | {name: new for name, (old, new) in moved.items() if old == self._read.get(name, "")}
            earlier = read_state(self._state).get("read", {})
            write_state(self._state, {"cursor": cursor, "read": earlier if settled.again else read, "told": now})
        stays = [
            Remark(where=update.record.id, why="it is private now; what was shared of it stays shared")
            for update in updates
            if not update.carried and update.record.state != "erased"
        ]
        return replace(put, remarks=(*put.remarks, *stays))

    def scrub(self, erased: Sequence[ReplicaUpdate]) -> int:
        """Remove the text of erased records now; return how many notes changed. The next sync pushes that."""
        return self._append(erased)[0].scrubbed if self._tips() else 0

    def mentions(self, ids: Collection[str]) -> bool:
        """True if any note is about one of these records, scrubbed or not."""
        trees = self._trees(self._tips()).values()
        return any(about(line) in ids for tree in trees for note in tree.values() for line in note.lines)

    def fetch(self, remote: str) -> RemoteResult:
        """Fetch the remote's notes and merge ours onto them, so that history stays linear."""
        under = f"{TRACKED}{remote}/"
        command = ("fetch", "--quiet", "--no-tags", "--prune", "--no-recurse-submodules", "--no-write-fetch-head")
        done = self._repository.run(*command, remote, f"+{BASE}*:{under}*", seconds=NETWORK_SECONDS)
        if done.returncode:
            return RemoteResult(problem=complaint(done))
        return RemoteResult(refs=self._unite(under))

    def push(self, remote: str) -> RemoteResult:
        """Push what the remote does not have, by explicit refspec: no push configuration is changed."""
        ours, theirs = self._tips(), self._repository.refs(f"{TRACKED}{remote}/")
        names = [name for name in ours if ours[name] != theirs.get(name)]
        return self._send(remote, names) if names else RemoteResult()

    def rewrite(self, remote: str) -> RemoteResult:
        """Start each ref again with its current content, locally and at the remote, without its history."""
        tips = self._tips()
        trees = self._trees(tips)
        erased = set().union(*map(erased_in, trees.values()))
        for name, tree in trees.items():
            whole = {**tree, **without(tree, erased)}
            fresh = {commit: Note(lines=note.lines) for commit, note in whole.items()}
            next_state = Move(ref=BASE + name, old=tips[name], parent="", notes=fresh, orphan=True)
            if move(self._repository, [next_state], "Holdfast: history removed") is None:
                raise ReplicaError("The notes changed meanwhile.", hint="Try again.")
            self._repository.run("reflog", "expire", "--expire=now", BASE + name)
        if not remote:
            return RemoteResult(refs=len(tips))
        theirs = self._repository.refs(f"{TRACKED}{remote}/")
        return self._send(
            remote, list(tips), *(f"--force-with-lease={BASE}{name}:{theirs.get(name, '')}" for name in tips)
        )

    def remotes(self) -> list[str]:
        """Return the remotes it can use, origin first."""
        return sorted(self._repository.remotes(), key=lambda name: name != "origin")

    def addresses(self, remote: str) -> list[str]:
        """Return every address a remote is fetched from or pushed to, as git resolves them."""
        command = (("remote", "get-url", "--all", remote), ("remote", "get-url", "--push", "--all", remote))
        return sorted({line for query in command for line in self._repository.ask(*query).splitlines()})

    def follows_rewrites(self) -> bool:
        """True if git copies the notes of amended and rebased commits."""
        return f"{BASE}*" in (self._repository.attempt("config", "--get-all", "notes.rewriteRef") or "").split()

    def follow_rewrites(self) -> None:
        """Configure git to copy them, in this repository only."""
        self._repository.ask("config", "--add", "notes.rewriteRef", f"{BASE}*")

    def close(self) -> None:
        """Do nothing: git holds all state."""

    @cached_property
    def _state(self) -> Path:
        return self._states / f"notes-{state_key(str(self._repository.common))}.json"

    def _send(self, remote: str, names: Iterable[str], *options: str) -> RemoteResult:
        specs = [f"{BASE}{name}:{BASE}{name}" for name in names]
        # Nothing else, whatever git is configured to push.
        only = ("--porcelain", "--no-follow-tags", "--no-recurse-submodules")
        done = self._repository.run("push", *only, *options, remote, *specs, seconds=NETWORK_SECONDS)
        output = done.stdout.decode(errors="replace")
        if done.returncode:
            refused = [line for line in output.splitlines() if line.startswith("!")]
            problem = refused[0].split("\t")[-1] if refused else complaint(done)
            return RemoteResult(rejected=bool(refused), problem=problem)
        ours = self._tips()
        updates = "".join(f"update {TRACKED}{remote}/{name} {ours[name]}\n" for name in names)
        self._repository.ask("update-ref", "--stdin", stdin=updates.encode())
        return RemoteResult(refs=len(specs))

    def _unite(self, under: str) -> int:
        def plan(ours: Mapping[str, str]) -> tuple[list[Move], str, None]:
            moves = []
            for name, theirs in self._repository.refs(under).items():
                mine = ours.get(name, "")
                if name in NAMESPACES and not (mine and self._repository.holds(theirs, mine)):
                    notes: Mapping[str, Note] = {}
                    if mine and not self._repository.holds(mine, theirs):
                        notes = united(load(self._repository, mine), load(self._repository, theirs))
                    moves.append(Move(ref=BASE + name, old=mine, parent=theirs, notes=notes))
            return moves, "Holdfast: merged", None

        moved, _ = self._move(plan)
        known = read_state(self._state)
        if written := known.get("told"):  # what was written before is now part of the merge
            merged = {name: new for name, (old, new) in moved.items() if old and written.get(name) == old}
            write_state(self._state, {**known, "told": {**written, **merged}})
        return len(moved)

    def _append(self, updates: Sequence[ReplicaUpdate]) -> tuple[WriteCounts, dict[str, tuple[str, str]]]:
        """Write what is missing; return the old and new commit of each ref that moved."""

        def plan(tips: Mapping[str, str]) -> tuple[list[Move], str, WriteCounts]:
            put, changed = self._changed(self._trees(tips), updates)
            old = {name: tips.get(name, "") for name, notes in changed.items() if notes}
            moves = [Move(ref=BASE + name, old=tip, parent=tip, notes=changed[name]) for name, tip in old.items()]
            return moves, f"Holdfast: {put.events} events of {put.records} records", put

        moved, put = self._move(plan)
        return (put if moved else WriteCounts(remarks=put.remarks)), moved

    def _move(
        self, plan: Callable[[Mapping[str, str]], tuple[list[Move], str, T]]
    ) -> tuple[dict[str, tuple[str, str]], T]:
        """Update refs as planned from their commits, again if someone else was faster; return old and new commit of each."""
        for _ in range(TRIES):
            moves, message, result = plan(self._tips())
            made = move(self._repository, moves, message) if moves else {}
            if made is not None:
                return {step.ref.removeprefix(BASE): (step.old, made[step.ref]) for step in moves}, result
        raise ReplicaError("Someone else keeps changing the notes.", hint="Try again.")

    def _changed(
        self, trees: Mapping[str, Tree], updates: Sequence[ReplicaUpdate]
    ) -> tuple[WriteCounts, dict[str, Tree]]:
        """Return the notes that change when these records are written."""
        lines = [line for tree in trees.values() for note in tree.values() for line in note.lines]
        complete = [line for line in lines if _ABOUT in line and line.endswith("}}")]  # without parsing them
        present, shared = {line[:26] for line in complete}, {about(line) for line in lines}
        updates = [update for update in updates if update.record.state != "erased" or update.record.id in shared]
        wanted = {update.record.id: [event for event in update.events if event.id not in present] for update in updates}
        fresh = [update for update in updates if wanted[update.record.id]]
        # The commits on which records were created, if they exist here.
        origins = sorted({name for update in fresh if (name := update.record.origin.commit).isalnum()})
        queries = "".join(f"{name}^{{commit}}\n" for name in origins).encode()
        answers = self._repository.ask("cat-file", "--batch-check", stdin=queries).splitlines() if queries else []
        commits, head = {line.split()[0] for line in answers if " commit " in line}, self._repository.head()
        if fresh and not head:
            why = "there is no commit yet that notes could be attached to"
            return WriteCounts(remarks=(Remark(where="notes", why=why),)), {}
        changed: dict[str, Tree] = {}
        for update in fresh:
            name, there = namespace_of(update.record), update.record.origin.commit
            commit = there if there in commits else head
            tree = changed.setdefault(name, {})
            old = trees.get(name, {}).get(commit, Note())
            note = tree.setdefault(commit, Note(paths=set(old.paths), lines=set(old.lines)))
            note.lines |= {line_of(event) for event in wanted[update.record.id]}
        erased, scrubbed = set().union(*map(erased_in, (*trees.values(), *changed.values()))), 0
        for name in {*trees, *changed}:
            whole = {**trees.get(name, {}), **changed.get(name, {})}
            bare = without(whole, erased)
            scrubbed += len(bare)
            changed[name] = changed.get(name, {}) | bare
        put = WriteCounts(records=len(fresh), events=sum(map(len, wanted.values())), scrubbed=scrubbed)
        return put, changed

    def _tips(self) -> dict[str, str]:
        self._repository.common  # noqa: B018  raises ReplicaError if there is none
        return {name: tip for name, tip in self._repository.refs(BASE).items() if name in NAMESPACES}

    def _trees(self, tips: Mapping[str, str]) -> dict[str, Tree]:
        return {name: load(self._repository, tip) for name, tip in tips.items()}


def load(repository: Repository, tip: str, *, but: str = "") -> Tree:
    """Return every note of a commit, or only those that differ from another commit."""
    entries = _entries(repository, tip)
    known = but and repository.attempt("cat-file", "-e", but) is not None
    seen = set(_entries(repository, but)) if known else set()
    fresh = [entry for entry in entries if entry not in seen]
    contents = repository.blobs(blob for blob, _ in fresh)
    tree: Tree = {}
    for blob, path in fresh:
        if blob not in contents:
            raise ReplicaError(f"git cannot read the note {blob}.", hint="Run `git fsck` to see what is damaged.")
        lines = contents[blob].decode(errors="surrogateescape").split("\n")
        note = tree.setdefault(path.replace("/", ""), Note())
        note.paths.add(path)
        note.lines.update(line for line in lines if line.strip())
    return tree


def events_in(tree: Mapping[str, Note]) -> Iterator[tuple[str, str, Event | Invalid]]:
    """Yield each line of a tree with the object it is attached to and its event, or the parse error."""
    for name, note in tree.items():
        for line in note.lines:
            yield name, line, _parsed(line)


def line_of(event: Event) -> str:
    """Write an event as a line, without the local names of the project and worktree."""
    value = event_to_json(event)
    del value["id"]
    value["data"] = data = {name: item for name, item in value["data"].items() if name != "project"}
    if isinstance(origin := data.get("origin"), dict):
        data["origin"] = {name: item for name, item in origin.items() if name != "worktree"}
    encoded = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f"{event.id} {_summary(event)}\t{encoded.translate(_BREAKS)}"


def event_of(line: str) -> Event:
    """Parse a line."""
    if len(line) > LONGEST_LINE:
        raise Invalid(f"It is longer than {LONGEST_LINE:,} characters.")
    front, tab, encoded = line.partition("\t")
    try:
        value = parse_json(encoded) if tab else None
    except ValueError as problem:
        raise Invalid("It is cut short or not ours.") from problem
    if not isinstance(value, dict):
        raise Invalid("It is cut short or not ours.")
    return event_from_json({**value, "id": front.split(" ", 1)[0]})


def _summary(event: Event) -> str:
    title, kind = event.data.get("title") or event.data.get("reason"), event.data.get("kind")
    subject = f"“{shorten(title, _TITLE)}”" if isinstance(title, str) and title.strip() else f"of {short(event.about)}"
    changed = [name for name in event.data if name != "on"]  # `on` is what its author had seen
    parts = ", ".join(changed) if event.verb == "revised" else kind if isinstance(kind, str) else ""
    words = " ".join(
        word for word in (event.at[:10], event.by.name or event.by.kind, event.verb, parts, subject) if word
    )
    return " ".join("".join(char if char.isprintable() else " " for char in words).split())


def about(line: str) -> str:
    """Return the record id of a line without parsing it."""
    return line.partition(_ABOUT)[2][:26]


def erased_in(tree: Mapping[str, Note]) -> set[str]:
    """Return the ids of records that a tree marks as erased."""
    lines = (line for note in tree.values() for line in note.lines if _ERASED in line)
    events = map(_parsed, lines)
    return {event.about for event in events if isinstance(event, Event) and event.verb == "erased"}


def without(tree: Tree, erased: AbstractSet[str]) -> Tree:
    """Return the notes that change when the text of erased records is removed."""
    changed: Tree = {}
    for name, note in tree.items():
        events = {line: _parsed(line) for line in note.lines if about(line) in erased}
        bare = {line: line_of(scrub(event)) for line, event in events.items() if isinstance(event, Event)}
        if any(line != plain for line, plain in bare.items()):
            changed[name] = Note(paths=set(note.paths), lines=note.lines - bare.keys() | set(bare.values()))
    return changed


def united(ours: Tree, theirs: Tree) -> Tree:
    """Return the notes of a merge that differ from theirs."""
    changed: Tree = {}
    for name, note in ours.items():
        there = theirs.get(name, Note())
        if not note.lines <= there.lines:
            changed[name] = Note(paths=set(there.paths), lines=note.lines | there.lines)
    whole = {**theirs, **changed}
    return changed | without(whole, erased_in(whole))


def move(repository: Repository, moves: list[Move], message: str) -> dict[str, str] | None:
    """Update refs, all or none, and return their new commits; None if one of them has changed since it was read."""
    token = f"{ASIDE}{os.getpid()}-{secrets.token_hex(4)}/"
    made = {step.ref: step.parent for step in moves}
    if wanted := [step for step in moves if step.notes or step.orphan]:
        stream = b"".join(_commit(step, f"{token}{place}", repository, message) for place, step in enumerate(wanted))
        repository.ask_bytes("fast-import", "--quiet", "--date-format=now", stdin=stream)
        aside = repository.refs(token)
        made |= {step.ref: aside[str(place)] for place, step in enumerate(wanted)}
    updates = [f"update {step.ref} {made[step.ref]} {step.old or NOTHING}" for step in moves]
    updated = repository.run("update-ref", "--stdin", stdin=("\n".join(updates) + "\n").encode()).returncode == 0
    if wanted:
        gone = "".join(f"delete {token}{place}\n" for place in range(len(wanted)))
        repository.ask("update-ref", "--stdin", stdin=gone.encode())
    return made if updated else None


def _commit(step: Move, ref: str, repository: Repository, message: str) -> bytes:
    encoded = message.encode()
    parts = [f"commit {ref}\ncommitter {repository.ident()} now\ndata {len(encoded)}\n".encode(), encoded, b"\n"]
    if step.parent and not step.orphan:
        parts.append(f"from {step.parent}\n".encode())
    for name, note in sorted(step.notes.items()):
        place = f"{name[:2]}/{name[2:]}"
        parts += [f"D {path}\n".encode() for path in sorted(note.paths - {place})]
        content = "".join(f"{line}\n" for line in sorted(note.lines)).encode(errors="surrogateescape")
        parts += [f"M 100644 inline {place}\ndata {len(content)}\n".encode(), content, b"\n"]
    return b"".join(parts) + b"\n"


def _parsed(line: str) -> Event | Invalid:
    try:
        return event_of(line)
    except Invalid as problem:
        return problem


def _entries(repository: Repository, tip: str) -> list[tuple[str, str]]:
    """Return blob and path of every note.

    Only a path that is an object name is a note. Other entries of the tree are ignored: no foreign name is ever passed
    to git, and no oversized blob is unpacked.
    """
    notes = list[tuple[str, str]]()
    for entry in filter(None, repository.ask_bytes("ls-tree", "-r", "-z", "--long", tip).split(b"\0")):
        head, _, path = entry.partition(b"\t")
        _, sort, blob, size = head.decode().split()
        if sort != "blob" or not _NAME.fullmatch(path.replace(b"/", b"")):
            continue
        if int(size) > LARGEST:
            hint = "`git cat-file` shows its content; `git notes remove` removes it."
            raise ReplicaError(f"The note {blob[:10]} has {int(size):,} bytes; {LARGEST:,} is the most.", hint=hint)
        notes.append((blob, path.decode()))
    return notes
