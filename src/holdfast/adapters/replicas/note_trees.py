"""Read and write trees of git notes in any fan-out, without losing concurrent changes.

`git notes` updates its ref without checking for concurrent updates, and `fast-import` rejects notes on commits
that are missing. So notes are written as trees, and refs are updated only from the commit they were read at.

A line of a note is an event: its id, a readable summary, a tab, and the event as JSON. Lines sort by id, and none depends
on another: concatenating, sorting and dropping repeats, as git's `cat_sort_uniq` does, is a correct union.
"""

import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from holdfast.adapters.git import Repository
from holdfast.model.errors import Invalid, ReplicaError
from holdfast.model.event import Event, event_from_json, event_to_json
from holdfast.model.fold import scrub
from holdfast.model.foreign_json import parse_json
from holdfast.model.ids import short
from holdfast.model.text import shorten

NOTHING = "0" * 40
ASIDE = "refs/holdfast/aside/"
LARGEST = 200_000_000  # bytes of one note: a hundred thousand events
LONGEST_LINE = 4_000_000
_TITLE = 100
# Line breaks for some programs, but not for git.
_BREAKS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}
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


def is_whole(line: str) -> bool:
    """True if a line is complete, judged without parsing it."""
    return _ABOUT in line and line.endswith("}}")


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
