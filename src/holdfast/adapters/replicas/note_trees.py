"""Trees of notes: read whichever way git has spread them over folders, and written so that nobody's lines are lost.

`git notes` moves its ref without looking whether somebody else moved it meanwhile, and `fast-import` refuses notes on commits
that are not here yet. So trees are written as trees, and refs move only from where they were read.
"""

import os
import re
import secrets
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from holdfast.adapters.git import objects
from holdfast.adapters.replicas.git import Repository
from holdfast.adapters.replicas.lines import event_of, line_of
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
    """The lines of one note and the paths it lies at; git joins what lies at several."""

    paths: set[str] = field(default_factory=set)
    lines: set[str] = field(default_factory=set)


Tree = dict[str, Note]  # by the name of the object that is annotated


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A ref's next state: from where to where, and which notes differ from the parent's."""

    ref: str
    old: str
    parent: str
    notes: Mapping[str, Note]
    anew: bool = False  # without the history before it


def load(repository: Repository, tip: str, *, but: str = "") -> Tree:
    """Return every note of a commit, or those that another commit does not hold as they are."""
    found = _entries(repository, tip)
    held = but and repository.attempt("cat-file", "-e", but) is not None
    seen = set(_entries(repository, but)) if held else set()
    fresh = [entry for entry in found if entry not in seen]
    contents = _blobs(repository, [blob for blob, _ in fresh])
    tree: Tree = {}
    for blob, path in fresh:
        note = tree.setdefault(path.replace("/", ""), Note())
        note.paths.add(path)
        note.lines.update(line for line in contents.get(blob, "").split("\n") if line.strip())
    return tree


def events_in(tree: Mapping[str, Note]) -> Iterator[tuple[str, str, Event | Invalid]]:
    """Return each line of a tree with the object it is attached to and what it says, or what is wrong with it."""
    for name, note in tree.items():
        for line in note.lines:
            try:
                yield name, line, event_of(line)
            except Invalid as problem:
                yield name, line, problem


def about(line: str) -> str:
    """Return the record a line is about, without reading all of it."""
    return line.partition(_ABOUT)[2][:26]


def is_whole(line: str) -> bool:
    """Tell a line of ours from one that was cut short, without reading all of it."""
    return _ABOUT in line and line.endswith("}}")


def erased_in(tree: Mapping[str, Note]) -> set[str]:
    """Return the records whose erasure is told in a tree."""
    lines = (line for note in tree.values() for line in note.lines if _ERASED in line)
    return {event.about for line in lines if (event := _readable(line)) and event.verb == "erased"}


def without(tree: Tree, erased: AbstractSet[str]) -> Tree:
    """Return the notes that change when everything said about erased records is taken out."""
    changed: Tree = {}
    for name, note in tree.items():
        told = {line: event for line in note.lines if about(line) in erased and (event := _readable(line))}
        bare = {line: line_of(scrub(event)) for line, event in told.items()}
        if any(line != plain for line, plain in bare.items()):
            changed[name] = Note(paths=set(note.paths), lines=note.lines - bare.keys() | set(bare.values()))
    return changed


def united(ours: Tree, theirs: Tree) -> Tree:
    """Return the notes of a union that differ from theirs."""
    changed: Tree = {}
    for name, note in ours.items():
        there = theirs.get(name, Note())
        if not note.lines <= there.lines:
            changed[name] = Note(paths=set(there.paths), lines=note.lines | there.lines)
    whole = {**theirs, **changed}
    return changed | without(whole, erased_in(whole))


def move(repository: Repository, moves: list[Move], message: str) -> dict[str, str] | None:
    """Move refs, all or none, and give where each is now; None if one of them is no longer where it was read."""
    token = f"{ASIDE}{os.getpid()}-{secrets.token_hex(4)}/"
    made = {one.ref: one.parent for one in moves}
    if wanted := [one for one in moves if one.notes or one.anew]:
        stream = b"".join(_commit(one, f"{token}{place}", repository, message) for place, one in enumerate(wanted))
        repository.ask_bytes("fast-import", "--quiet", "--date-format=now", given=stream)
        aside = repository.refs(token)
        made |= {one.ref: aside[str(place)] for place, one in enumerate(wanted)}
    updates = [f"update {one.ref} {made[one.ref]} {one.old or NOTHING}" for one in moves]
    fine = repository.run("update-ref", "--stdin", given=("\n".join(updates) + "\n").encode()).returncode == 0
    if wanted:
        gone = "".join(f"delete {token}{place}\n" for place in range(len(wanted)))
        repository.ask("update-ref", "--stdin", given=gone.encode())
    return made if fine else None


def _commit(one: Move, ref: str, repository: Repository, message: str) -> bytes:
    said = message.encode()
    parts = [f"commit {ref}\ncommitter {repository.ident()} now\ndata {len(said)}\n".encode(), said, b"\n"]
    if one.parent and not one.anew:
        parts.append(f"from {one.parent}\n".encode())
    for name, note in sorted(one.notes.items()):
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

    Only the name of an object makes a note. Whatever else somebody put into the tree stays there unread: no name of theirs
    is ever part of what git is told to do, and nothing is unpacked that would not fit.
    """
    entries = repository.ask_bytes("ls-tree", "-r", "-z", "--long", tip).split(b"\0")
    split = ((head.split(), path) for head, _, path in (entry.partition(b"\t") for entry in entries if entry))
    notes = [(head[2].decode(), path.decode(), int(head[3])) for head, path in split if _is_note(head, path)]
    for blob, _, size in notes:
        if size > LARGEST:
            hint = "`git cat-file` shows who could want that; `git notes remove` takes it away."
            raise ReplicaError(f"The note {blob[:10]} has {size:,} bytes; {LARGEST:,} is the most.", hint=hint)
    return [(blob, path) for blob, path, _ in notes]


def _is_note(head: list[bytes], path: bytes) -> bool:
    return head[1] == b"blob" and _NAME.fullmatch(path.replace(b"/", b"")) is not None


def _blobs(repository: Repository, names: list[str]) -> dict[str, str]:
    """Return the contents of blobs, all of them in one question."""
    wanted = dict.fromkeys(names)
    found = objects(repository.ask_bytes("cat-file", "--batch", given="\n".join(wanted).encode())) if names else {}
    if missing := [name for name in wanted if name not in found]:
        raise ReplicaError(f"git cannot read the note {missing[0]}.", hint="`git fsck` says what is damaged.")
    return {name: content.decode(errors="surrogateescape") for name, content in found.items()}
