"""Git notes as a replica: events attached to commits under refs/notes/holdfast/, shared with the repository.

`git notes` updates its ref without checking for concurrent updates, and `fast-import` rejects notes on commits
that are missing. So notes are written as trees, and refs are updated only from the commit they were read at.

A line of a note is an event: its id, a readable summary, a tab, and the event as JSON. Lines sort by id, and none depends
on another: concatenating, sorting and dropping repeats, as git's `cat_sort_uniq` does, is a correct union.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.adapters.git import NETWORK_SECONDS, WHO, Repository, complaint, one_line
from holdfast.adapters.importers.git_notes import NAMESPACES, namespace_of
from holdfast.model.errors import Invalid, ReplicaError
from holdfast.model.event import SHARED, Event, event_from_json, event_to_json
from holdfast.model.files import digest, read_regular, write_whole
from holdfast.model.foreign_json import json_or_none, parse_json
from holdfast.model.ids import ULID, short
from holdfast.model.ports import RemoteReplica
from holdfast.model.record import scrub
from holdfast.model.replica import ReadOutcome, Remark, RemoteResult, ReplicaChanges, ReplicaUpdate, WriteCounts
from holdfast.model.text import shorten

BASE, TRACKED = "refs/notes/holdfast/", "refs/holdfast/remotes/"
TRIES = 20
NOTHING = "0" * 40
ASIDE = "refs/holdfast/aside"
LARGEST = 200_000_000  # bytes of one note: a hundred thousand events
LONGEST_LINE = 4_000_000
_TITLE = 100
# Line breaks for some programs, but not for git.
_BREAKS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}
_ABOUT, _ERASED = '\t{"about":"', '"verb":"erased"'
_ID = 26
# The lines of notes by the name of the annotated object; git joins a note that is at several paths.
Tree = dict[str, set[str]]


class Move(NamedTuple):
    """An update of a ref: its old commit, the new parent ("" for a new history), and the notes that differ from the parent's."""

    name: str
    old: str
    parent: str
    notes: Mapping[str, AbstractSet[str]]


Moved = dict[str, tuple[str, str]]  # the old and new commit of each ref that moved
Planned = tuple[list[Move], str, WriteCounts]  # a message, and what is written


class GitNotes(RemoteReplica):
    """The notes of a repository. What was read and written last is stored next to the database, never in the replica."""

    name = "notes"
    stores_events = True

    def __init__(self, folder: Path, states: Path) -> None:
        self._repository = Repository(folder)
        self._states = states
        self._read, self._before = dict[str, str](), dict[str, str]()

    @property
    def cursor(self) -> int:
        tips, known = self._tips(), self._known()
        written = known.get("told", {}).items()  # notes may have disappeared
        is_there = all(name in tips and self._repository.holds(tip, tips[name]) for name, tip in written)
        return int(known.get("cursor", 0)) if is_there else 0

    def read(self, *, afresh: bool = False) -> ReplicaChanges:
        self._read = tips = self._tips()
        self._before = known = {} if afresh else self._known().get("read", {})
        events, remarks = dict[str, Event](), list[Remark]()
        for namespace, tip in tips.items():
            before = known.get(namespace, "")
            tree = _load(self._repository, tip, but=before) if tip != before else {}
            for name, line in ((name, line) for name, lines in tree.items() for line in lines):
                event = event_of(line)
                if isinstance(event, Invalid) or event.verb not in SHARED:
                    why = event.message if isinstance(event, Invalid) else f"“{event.verb}” is not a shared event"
                    start = "".join(char if char.isprintable() else "·" for char in line[:40])
                    remarks.append(Remark(f"{namespace} of {name[:10]}: {start}", why))
                else:
                    events[event.id] = event
        return ReplicaChanges(events=tuple(events[key] for key in sorted(events)), remarks=tuple(remarks))

    def carriers(self, ids: Collection[str]) -> dict[str, str]:
        authors = dict[str, str]()
        for namespace, tip in self._read.items() if ids else ():
            if tip != (before := self._before.get(namespace, "")):
                authors |= self._authors(tip, but=before)
        return {id_: authors[id_] for id_ in ids if id_ in authors}

    def _authors(self, tip: str, *, but: str) -> dict[str, str]:
        """Return who first committed each line of `tip` that `but` does not contain, by the event id it begins with."""
        # Lines added by a merge have no author: anyone could have put them there.
        since = [f"^{but}"] if but and self._repository.attempt("cat-file", "-e", but) is not None else []
        command = ("log", "--reverse", "--topo-order", "--no-merges", "--no-ext-diff", "--no-textconv", "--no-renames")
        shown = ("-p", "-U0", "--no-color", "--text", f"--format=%x00%{WHO}")
        authors, author = dict[str, str](), ""
        for line in self._repository.ask_bytes(*command, *shown, tip, *since, "--").split(b"\n"):
            if line.startswith(b"\0"):
                author = one_line(line[1:].decode(errors="replace"))
            elif line.startswith(b"+") and ULID.fullmatch(name := line[1 : 1 + _ID].decode(errors="replace")):
                authors.setdefault(name, author)
        return authors

    def write(self, updates: Sequence[ReplicaUpdate], settled: ReadOutcome, *, cursor: int) -> WriteCounts:
        changed = [update for update in updates if update.carried or update.record.state == "erased"]
        known = self._known().get("read", {})
        put, moved = self._append(changed) if changed or self._read != known else (WriteCounts(), {})
        if not put.remarks:
            now = self._read | {name: new for name, (_, new) in moved.items()}
            # What others committed since `read` was not read yet, even though our commit builds on it.
            read = self._read | {name: new for name, (old, new) in moved.items() if old == self._read.get(name, "")}
            self._keep({"cursor": cursor, "read": known if settled.again else read, "told": now})
        why = "it is private now; what was shared of it stays shared"
        private = [update.record for update in updates if not update.carried and update.record.state != "erased"]
        return replace(put, remarks=(*put.remarks, *(Remark(record.id, why) for record in private)))

    def scrub(self, erased: Sequence[ReplicaUpdate]) -> int:
        """Remove the text of erased records now; return how many notes changed. The next sync pushes that."""
        return self._append(erased)[0].scrubbed if self._tips() else 0

    def mentions(self, ids: Collection[str]) -> bool:
        """True if any note is about one of these records, scrubbed or not."""
        trees = self._trees(self._tips()).values()
        return any(_about(line) in ids for tree in trees for lines in tree.values() for line in lines)

    def fetch(self, remote: str) -> RemoteResult:
        under = f"{TRACKED}{remote}/"
        command = ("fetch", "--quiet", "--no-tags", "--prune", "--no-recurse-submodules", "--no-write-fetch-head")
        done = self._repository.run(*command, remote, f"+{BASE}*:{under}*", seconds=NETWORK_SECONDS)
        if done.returncode:
            return RemoteResult(problem=complaint(done))

        def plan(ours: Mapping[str, str]) -> Planned:
            moves = []
            for name, theirs in self._repository.refs(under).items():
                mine = ours.get(name, "")
                if name in NAMESPACES and not (mine and self._repository.holds(theirs, mine)):
                    is_ahead = mine and not self._repository.holds(mine, theirs)
                    notes = _united(_load(self._repository, mine), _load(self._repository, theirs)) if is_ahead else {}
                    moves.append(Move(name, mine, theirs, notes))
            return moves, "Holdfast: merged", WriteCounts()

        moved, _ = self._move(plan)
        known = self._known()
        if written := known.get("told"):  # what was written before is now part of the merge
            merged = {name: new for name, (old, new) in moved.items() if old and written.get(name) == old}
            self._keep({**known, "told": {**written, **merged}})
        return RemoteResult(refs=len(moved))

    def push(self, remote: str) -> RemoteResult:
        ours, theirs = self._tips(), self._repository.refs(f"{TRACKED}{remote}/")
        names = [name for name in ours if ours[name] != theirs.get(name)]
        return self._send(remote, names) if names else RemoteResult()

    def rewrite(self, remote: str) -> RemoteResult:
        tips = self._tips()
        trees = self._trees(tips)
        erased = set().union(*map(_erased_in, trees.values()))
        for name, tree in trees.items():
            fresh = Move(name, tips[name], "", {**tree, **_without(tree, erased)})
            if move(self._repository, [fresh], "Holdfast: history removed") is None:
                raise ReplicaError("The notes changed meanwhile.", hint="Try again.")
            self._repository.run("reflog", "expire", "--expire=now", BASE + name)
        if not remote:
            return RemoteResult(refs=len(tips))
        theirs = self._repository.refs(f"{TRACKED}{remote}/")
        leases = [f"--force-with-lease={BASE}{name}:{theirs.get(name, '')}" for name in tips]
        return self._send(remote, list(tips), *leases)

    def remotes(self) -> list[str]:
        return sorted(self._repository.remotes(), key=lambda name: name != "origin")

    def addresses(self, remote: str) -> list[str]:
        command = (("remote", "get-url", "--all", remote), ("remote", "get-url", "--push", "--all", remote))
        return sorted({line for query in command for line in self._repository.ask(*query).splitlines()})

    def follows_rewrites(self, *, set_it: bool = False) -> bool:
        if set_it:
            self._repository.ask("config", "--add", "notes.rewriteRef", f"{BASE}*")
        return f"{BASE}*" in (self._repository.attempt("config", "--get-all", "notes.rewriteRef") or "").split()

    @cached_property
    def _state(self) -> Path:
        return self._states / f"notes-{digest(str(self._repository.common))}.json"

    def _known(self) -> dict[str, Any]:
        """Return the stored state; empty if it cannot be read: losing it costs time, nothing else."""
        try:
            value = parse_json(read_regular(self._state))
        except (OSError, ValueError):
            return {}
        return value if isinstance(value, dict) else {}

    def _keep(self, state: Mapping[str, Any]) -> None:
        self._states.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(self._state, json.dumps(state))

    def _send(self, remote: str, names: Iterable[str], *options: str) -> RemoteResult:
        # By explicit refspec, and nothing else, whatever git is configured to push.
        specs = [f"{BASE}{name}:{BASE}{name}" for name in names]
        only = ("--porcelain", "--no-follow-tags", "--no-recurse-submodules")
        done = self._repository.run("push", *only, *options, remote, *specs, seconds=NETWORK_SECONDS)
        if done.returncode:
            refused = [line for line in done.stdout.decode(errors="replace").splitlines() if line.startswith("!")]
            problem = refused[0].split("\t")[-1] if refused else complaint(done)
            return RemoteResult(rejected=bool(refused), problem=problem)
        ours = self._tips()
        updates = "".join(f"update {TRACKED}{remote}/{name} {ours[name]}\n" for name in names)
        self._repository.ask("update-ref", "--stdin", stdin=updates.encode())
        return RemoteResult(refs=len(specs))

    def _append(self, updates: Sequence[ReplicaUpdate]) -> tuple[WriteCounts, Moved]:
        moved, put = self._move(partial(self._planned, updates))
        return (put if moved else WriteCounts(remarks=put.remarks)), moved

    def _move(self, plan: Callable[[Mapping[str, str]], Planned]) -> tuple[Moved, WriteCounts]:
        """Update refs as planned from their commits, again if someone else was faster."""
        for _ in range(TRIES):
            moves, message, put = plan(self._tips())
            made = move(self._repository, moves, message) if moves else {}
            if made is not None:
                return {step.name: (step.old, made[step.name]) for step in moves}, put
        raise ReplicaError("Someone else keeps changing the notes.", hint="Try again.")

    def _planned(self, updates: Sequence[ReplicaUpdate], tips: Mapping[str, str]) -> Planned:
        trees = self._trees(tips)
        lines = [line for tree in trees.values() for lines in tree.values() for line in lines]
        complete = [line for line in lines if _ABOUT in line and line.endswith("}}")]  # without parsing them
        present, shared = {line[:_ID] for line in complete}, {_about(line) for line in lines}
        updates = [update for update in updates if update.record.state != "erased" or update.record.id in shared]
        wanted = {update.record.id: [event for event in update.events if event.id not in present] for update in updates}
        fresh = [update for update in updates if wanted[update.record.id]]
        # The commits on which records were created, if they exist here.
        origins = sorted({name for update in fresh if (name := update.record.origin.commit).isalnum()})
        queries = "".join(f"{name}^{{commit}}\n" for name in origins).encode()
        answers = self._repository.ask("cat-file", "--batch-check", stdin=queries).splitlines() if queries else []
        commits, head = {line.split()[0] for line in answers if " commit " in line}, self._repository.head()
        if fresh and not head:
            remark = Remark("notes", "there is no commit yet that notes could be attached to")
            return [], "", WriteCounts(remarks=(remark,))
        changed: dict[str, Tree] = {}
        for update in fresh:
            name, there = namespace_of(update.record), update.record.origin.commit
            commit = there if there in commits else head
            old = trees.get(name, {}).get(commit, set())
            changed.setdefault(name, {}).setdefault(commit, {*old}).update(map(line_of, wanted[update.record.id]))
        erased, scrubbed = set().union(*map(_erased_in, (*trees.values(), *changed.values()))), 0
        for name in {*trees, *changed}:
            bare = _without({**trees.get(name, {}), **changed.get(name, {})}, erased)
            scrubbed += len(bare)
            changed[name] = changed.get(name, {}) | bare
        put = WriteCounts(records=len(fresh), events=sum(map(len, wanted.values())), scrubbed=scrubbed)
        moves = [Move(name, tips.get(name, ""), tips.get(name, ""), notes) for name, notes in changed.items() if notes]
        return moves, f"Holdfast: {put.events} events of {put.records} records", put

    def _tips(self) -> dict[str, str]:
        self._repository.common  # noqa: B018  raises ReplicaError if there is none
        return {name: tip for name, tip in self._repository.refs(BASE).items() if name in NAMESPACES}

    def _trees(self, tips: Mapping[str, str]) -> dict[str, Tree]:
        return {name: _load(self._repository, tip) for name, tip in tips.items()}


def _load(repository: Repository, tip: str, *, but: str = "") -> Tree:
    """Return every note of a commit, or only those that differ from another commit."""
    known = but and repository.attempt("cat-file", "-e", but) is not None
    seen = set(repository.notes(but, LARGEST)) if known else set()
    fresh = [entry for entry in repository.notes(tip, LARGEST) if entry not in seen]
    contents, tree = repository.blobs(blob for blob, _ in fresh), Tree()
    for blob, path in fresh:
        if blob not in contents:
            raise ReplicaError(f"git cannot read the note {blob}.", hint="Run `git fsck` to see what is damaged.")
        lines = contents[blob].decode(errors="surrogateescape").split("\n")
        tree.setdefault(path.replace("/", ""), set()).update(line for line in lines if line.strip())
    return tree


def line_of(event: Event) -> str:
    """Write an event as a line, without the local names of the project and worktree."""
    value = event_to_json(event)
    del value["id"]
    value["data"] = data = {name: item for name, item in value["data"].items() if name != "project"}
    if isinstance(origin := data.get("origin"), dict):
        data["origin"] = {name: item for name, item in origin.items() if name != "worktree"}
    encoded = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    title, kind = event.data.get("title") or event.data.get("reason"), event.data.get("kind")
    subject = f"“{shorten(title, _TITLE)}”" if isinstance(title, str) and title.strip() else f"of {short(event.about)}"
    changed = ", ".join(name for name in event.data if name != "on")  # `on` is what its author had seen
    parts = changed if event.verb == "revised" else kind if isinstance(kind, str) else ""
    summary = one_line(f"{event.at[:10]} {event.by.name or event.by.kind} {event.verb} {parts} {subject}")
    return f"{event.id} {summary}\t{encoded.translate(_BREAKS)}"


def event_of(line: str) -> Event | Invalid:
    """Return the event of a line, or what is wrong with the line."""
    if len(line) > LONGEST_LINE:
        return Invalid(f"It is longer than {LONGEST_LINE:,} characters.")
    front, tab, encoded = line.partition("\t")
    value = json_or_none(encoded) if tab else None
    if not isinstance(value, dict):
        return Invalid("It is cut short or not ours.")
    try:
        return event_from_json({**value, "id": front.split(" ", 1)[0]})
    except Invalid as problem:
        return problem


def _about(line: str) -> str:
    """Return the record id of a line without parsing it."""
    return line.partition(_ABOUT)[2][:_ID]


def _erased_in(tree: Tree) -> set[str]:
    events = (event_of(line) for lines in tree.values() for line in lines if _ERASED in line)
    return {event.about for event in events if isinstance(event, Event) and event.verb == "erased"}


def _without(tree: Tree, erased: AbstractSet[str]) -> Tree:
    """Return the notes that change when the text of erased records is removed."""
    changed: Tree = {}
    for name, lines in tree.items():
        events = {line: event_of(line) for line in lines if _about(line) in erased}
        bare = {line: line_of(scrub(event)) for line, event in events.items() if isinstance(event, Event)}
        if any(line != plain for line, plain in bare.items()):
            changed[name] = lines - bare.keys() | set(bare.values())
    return changed


def _united(ours: Tree, theirs: Tree) -> Tree:
    changed = {name: lines | theirs.get(name, set()) for name, lines in ours.items()}
    changed = {name: lines for name, lines in changed.items() if lines != theirs.get(name)}
    whole = {**theirs, **changed}
    return changed | _without(whole, _erased_in(whole))


def move(repository: Repository, moves: list[Move], message: str) -> dict[str, str] | None:
    """Update refs, all or none, and return their new commits; None if one of them has changed since it was read."""
    made = {step.name: step.parent for step in moves}
    ident = repository.attempt("var", "GIT_COMMITTER_IDENT") or "Holdfast <holdfast@localhost> 0 +0000"
    head = f"committer {ident.rsplit(' ', 2)[0]} now\ndata {len(message)}\n{message}\n"
    if wanted := [step for step in moves if step.notes or not step.parent]:
        stream = list[str]()
        for step in wanted:
            parent = f"from {step.parent}\n" if step.parent else ""
            stream.append(f"reset {ASIDE}\ncommit {ASIDE}\nmark :1\n{head}{parent}")
            before = [path for _, path in repository.notes(step.parent, LARGEST)] if step.parent else []
            homes = {name: f"{name[:2]}/{name[2:]}" for name in sorted(step.notes)}
            stream += [f"D {path}\n" for path in before if homes.get(path.replace("/", ""), path) != path]
            for name, path in homes.items():
                content = "".join(f"{line}\n" for line in sorted(step.notes[name]))
                size = len(content.encode(errors="surrogateescape"))
                stream.append(f"M 100644 inline {path}\ndata {size}\n{content}\n")
            stream.append("\nget-mark :1\n")
        stdin = "".join((*stream, f"reset {ASIDE}\n")).encode(errors="surrogateescape")  # leaves no ref
        fresh = repository.ask("fast-import", "--quiet", "--date-format=now", stdin=stdin).split()
        made |= zip((step.name for step in wanted), fresh, strict=True)
    updates = [f"update {BASE}{step.name} {made[step.name]} {step.old or NOTHING}" for step in moves]
    updated = repository.run("update-ref", "--stdin", stdin=("\n".join(updates) + "\n").encode()).returncode == 0
    return made if updated else None
