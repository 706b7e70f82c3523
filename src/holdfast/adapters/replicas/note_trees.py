"""Read and write trees of git notes in any fan-out, without losing concurrent changes.

`git notes` updates its ref without checking for concurrent updates, and `fast-import` rejects notes on commits
that are missing. So notes are written as trees, and refs are updated only from the commit they were read at.
"""

import os
import re
import secrets
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from holdfast.adapters.git import objects
from holdfast.adapters.replicas.event_lines import event_of, line_of
from holdfast.adapters.replicas.git import Repository
from holdfast.model.errors import Invalid, ReplicaError
from holdfast.model.event import Event
from holdfast.model.fold import scrub

NOTHING = "0" * 40
ASIDE = "refs/holdfast/aside/"
LARGEST = 200_000_000  # bytes of one note: a hundred thousand events
_NAME = re.compile(rb"[0-9a-f]{40}|[0-9a-f]{64}")
_ABOUT, _ERASED = '\t{"about":"', '"verb":"erased"'


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


def load(repository: Repository, tip: str, *, but: str = "") -> Tree:
    """Return every note of a commit, or only those that differ from another commit."""
    entries = _entries(repository, tip)
    known = but and repository.attempt("cat-file", "-e", but) is not None
    seen = set(_entries(repository, but)) if known else set()
    fresh = [entry for entry in entries if entry not in seen]
    contents = _blobs(repository, [blob for blob, _ in fresh])
    tree: Tree = {}
    for blob, path in fresh:
        note = tree.setdefault(path.replace("/", ""), Note())
        note.paths.add(path)
        note.lines.update(line for line in contents.get(blob, "").split("\n") if line.strip())
    return tree


def events_in(tree: Mapping[str, Note]) -> Iterator[tuple[str, str, Event | Invalid]]:
    """Yield each line of a tree with the object it is attached to and its event, or the parse error."""
    for name, note in tree.items():
        for line in note.lines:
            try:
                yield name, line, event_of(line)
            except Invalid as problem:
                yield name, line, problem


def about(line: str) -> str:
    """Return the record id of a line without parsing it."""
    return line.partition(_ABOUT)[2][:26]


def is_whole(line: str) -> bool:
    """True if a line is complete, judged without parsing it."""
    return _ABOUT in line and line.endswith("}}")


def erased_in(tree: Mapping[str, Note]) -> set[str]:
    """Return the ids of records that a tree marks as erased."""
    lines = (line for note in tree.values() for line in note.lines if _ERASED in line)
    return {event.about for line in lines if (event := _readable(line)) and event.verb == "erased"}


def without(tree: Tree, erased: AbstractSet[str]) -> Tree:
    """Return the notes that change when the text of erased records is removed."""
    changed: Tree = {}
    for name, note in tree.items():
        events = {line: event for line in note.lines if about(line) in erased and (event := _readable(line))}
        bare = {line: line_of(scrub(event)) for line, event in events.items()}
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


def _readable(line: str) -> Event | None:
    try:
        return event_of(line)
    except Invalid:
        return None


def _entries(repository: Repository, tip: str) -> list[tuple[str, str]]:
    """Return blob and path of every note.

    Only a path that is an object name is a note. Other entries of the tree are ignored: no foreign name is ever passed
    to git, and no oversized blob is unpacked.
    """
    entries = repository.ask_bytes("ls-tree", "-r", "-z", "--long", tip).split(b"\0")
    split = ((head.split(), path) for head, _, path in (entry.partition(b"\t") for entry in entries if entry))
    notes = [(head[2].decode(), path.decode(), int(head[3])) for head, path in split if _is_note(head, path)]
    for blob, _, size in notes:
        if size > LARGEST:
            hint = "`git cat-file` shows its content; `git notes remove` removes it."
            raise ReplicaError(f"The note {blob[:10]} has {size:,} bytes; {LARGEST:,} is the most.", hint=hint)
    return [(blob, path) for blob, path, _ in notes]


def _is_note(head: list[bytes], path: bytes) -> bool:
    return head[1] == b"blob" and _NAME.fullmatch(path.replace(b"/", b"")) is not None


def _blobs(repository: Repository, names: list[str]) -> dict[str, str]:
    """Return the contents of blobs, read in a single call."""
    wanted = dict.fromkeys(names)
    contents = objects(repository.ask_bytes("cat-file", "--batch", stdin="\n".join(wanted).encode())) if names else {}
    if missing := [name for name in wanted if name not in contents]:
        raise ReplicaError(f"git cannot read the note {missing[0]}.", hint="Run `git fsck` to see what is damaged.")
    return {name: content.decode(errors="surrogateescape") for name, content in contents.items()}
