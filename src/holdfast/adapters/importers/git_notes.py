"""Import git notes of git-notes-memory: entries with YAML front matter, several to a note, a ref for each namespace."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from holdfast.adapters.checkout import GitCheckout
from holdfast.adapters.git import objects, run_git
from holdfast.adapters.importers.front_matter import read_yaml
from holdfast.adapters.importers.values import digest, rest, text, texts, when
from holdfast.model.errors import Invalid
from holdfast.model.event import Actor
from holdfast.model.foreign import Foreign, ForeignLink, Item, Remark
from holdfast.model.record import Draft, Origin

SECONDS = 120.0
LARGEST = 100_000_000  # bytes of one note
_SIZES = "--batch-check=%(objectname) %(objectsize)"
KINDS = {
    "inception": "inception",
    "elicitation": "elicitation",
    "research": "reference",
    "decisions": "decision",
    "progress": "progress",
    "blockers": "blocker",
    "reviews": "review",
    "learnings": "learning",
    "retrospective": "retrospective",
    "patterns": "pattern",
}
_SPEC_KINDS = frozenset("blocker progress review retrospective inception elicitation".split())
_TAGGED = {"review": "verdict", "retrospective": "outcome"}  # fields that are stored as tags there
_CLOSED = frozenset({"archived", "tombstone"})
_KEY = re.compile(r"[A-Za-z_]\w*:(\s|$)")
_REQUIRED_KEYS = ("type:", "timestamp:", "summary:")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Note:
    """A note: everything that was appended to a commit in a namespace."""

    namespace: str
    commit: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """An entry of a note, or what is wrong with it."""

    front: str = ""
    body: str = ""
    damage: str = ""


def read(path: Path) -> Iterator[Item]:
    """Yield every entry of every namespace of a repository."""
    refs = _refs(path)
    if not refs:
        hint = "Notes may have to be fetched first: git fetch origin 'refs/notes/mem/*:refs/notes/mem/*'"
        raise Invalid(f"{path} has no notes of git-notes-memory.", hint=hint)
    notes = [note for ref in refs for note in _notes(path, ref)]
    dates = _dates(path, [note.commit for note in notes])
    project = GitCheckout(path).project()
    names: dict[str, str] = {}  # keys by the ids with which entries refer to each other
    items: list[Item] = []
    for note in notes:
        items.extend(_entries(note, dates.get(note.commit, ""), project, names))
    for item in items:
        yield _linked(item, names) if isinstance(item, Foreign) else item


def _refs(path: Path) -> list[str]:
    """Return the refs of known namespaces, local ones before fetched ones."""
    lines = _git(path, "for-each-ref", "--format=%(refname)", "refs/notes/").splitlines()
    others = [line for line in lines if not line.startswith("refs/notes/holdfast/")]  # these are our own replica
    known = [line for line in others if line.rsplit("/", 1)[-1] in KINDS]
    return sorted(known, key=lambda ref: (ref.startswith("refs/notes/origin/"), ref))


def _notes(path: Path, ref: str) -> Iterator[_Note]:
    """Yield the notes of a ref."""
    pairs = [line.split() for line in _git(path, "notes", f"--ref={ref}", "list").splitlines()]
    blobs = _blobs(path, [pair[0] for pair in pairs if len(pair) == 2])
    for blob, commit in (pair for pair in pairs if len(pair) == 2):
        yield _Note(namespace=ref.rsplit("/", 1)[-1], commit=commit, content=blobs.get(blob, ""))


def _blobs(path: Path, names: list[str]) -> dict[str, str]:
    """Return the contents of blobs, read in a single call, unless one is too large."""
    query = "\n".join(dict.fromkeys(names))
    sizes = [line.split() for line in _git(path, "cat-file", _SIZES, stdin=query).splitlines()]
    if larger := [name for name, size in sizes if size.isdecimal() and int(size) > LARGEST]:
        raise Invalid(f"The note {larger[0]} has more than {LARGEST:,} bytes.", hint="`git notes remove` removes it.")
    contents = objects(_git_bytes(path, "cat-file", "--batch", stdin=query))
    return {name: content.decode(errors="surrogateescape") for name, content in contents.items()}


def _dates(path: Path, commits: list[str]) -> dict[str, str]:
    """Return the dates of commits, for entries without a time of their own."""
    if not commits:
        return {}
    known = "\n".join(dict.fromkeys(commits))
    raw = _git_bytes(path, "log", "--no-walk=unsorted", "--ignore-missing", "--format=%H %cI", "--stdin", stdin=known)
    return dict(line.split(" ", 1) for line in raw.decode().splitlines() if " " in line)


def _entries(note: _Note, dated: str, project: str, names: dict[str, str]) -> Iterator[Item]:
    """Yield the entries of a note and register their names; unreadable entries are not counted in them."""
    place = 0
    for nth, entry in enumerate(split_entries(note.content), start=1):
        where = f"{note.namespace} of {note.commit[:7]}, entry {nth}"
        try:
            meta = read_yaml(entry.front)
        except Invalid as problem:
            yield Remark(where=where, why=problem.message)
            continue
        if entry.damage:
            yield Remark(where=where, why=entry.damage)
            continue
        memory = _foreign(note, meta, entry.body, where, dated)
        aliases = tuple(f"{note.namespace}:{commit}:{place}" for commit in (note.commit, note.commit[:7]))
        names |= dict.fromkeys(aliases, memory.key)
        place += 1
        yield replace(memory, draft=replace(memory.draft, project=project), aliases=aliases)


def split_entries(content: str) -> Iterator[_Entry]:
    """Yield the entries of a note; a line of dashes in a text begins no entry, and text outside of entries is damage."""
    lines = content.replace("\r\n", "\n").split("\n")
    rules = [place for place, line in enumerate(lines) if line.strip() == "---"]
    fronts: list[tuple[int, int]] = []
    for begin, end in pairwise(rules):
        if (not fronts or begin > fronts[-1][1]) and _is_front(lines[begin + 1 : end]):
            fronts.append((begin, end))
    open_end = [place for place in rules[-1:] if not fronts or place > fronts[-1][1]]
    last = next((place for place in open_end if _is_front(lines[place + 1 :])), len(lines))
    if "\n".join(lines[: fronts[0][0]] if fronts else lines[:last]).strip():
        yield _Entry(damage="there is text without a front matter")
    for (begin, end), (following, _) in zip(fronts, [*fronts, (last, 0)][1:], strict=True):
        yield _Entry(front="\n".join(lines[begin + 1 : end]), body="\n".join(lines[end + 1 : following]).strip())
    if last < len(lines):
        yield _Entry(damage="its front matter is cut short")


def _is_front(lines: list[str]) -> bool:
    written = [line for line in lines if line.strip()]
    return bool(written) and bool(_KEY.match(written[0])) and any(line.startswith(_REQUIRED_KEYS) for line in written)


def _foreign(note: _Note, meta: Mapping[str, Any], body: str, where: str, dated: str) -> Foreign:
    written_at, summary, status = when(meta.get("timestamp")), text(meta.get("summary")), text(meta.get("status"))
    closed = status in _CLOSED or (note.namespace == "blockers" and status == "resolved")
    # Rebased commits have copies of their notes: an entry is identified by its time, if it has one.
    name = f"{written_at}:{digest(summary)}" if written_at else f"{note.commit}:{digest(summary, body)}"
    return Foreign(
        key=f"{note.namespace}:{name}",
        where=where,
        draft=replace(_draft(note.namespace, meta, summary, body), at=written_at or when(dated)),
        by=Actor(kind="agent", name="git-notes-memory"),
        origin=Origin(commit=note.commit),
        state="retired" if closed else "active",
        reason=status if closed else "",
        dated=bool(written_at or dated),
    )


def _draft(namespace: str, meta: Mapping[str, Any], summary: str, body: str) -> Draft:
    kind, tags = KINDS[namespace], texts(meta.get("tags"))
    fields = {name: text(meta.get(name)) for name in ("spec", "phase")} if kind in _SPEC_KINDS else {}
    used = {"summary", "tags", *fields} | ({"type"} if text(meta.get("type")) == namespace else set())
    pairs = (tag.partition(":") for tag in tags)
    fields |= {name: value for name, _, value in pairs if name == _TAGGED.get(kind)}
    return Draft(
        kind=kind,
        title=summary,
        body=body or summary,
        fields=fields,
        tags=tags,
        confidence="low" if text(meta.get("status")) == "candidate" else "medium",
        extra=rest(meta, used, ("timestamp",)),
    )


def _linked(memory: Foreign, names: Mapping[str, str]) -> Foreign:
    """Return an entry with its relations as links; targets that no longer exist stay in `extra` only."""
    keys = [names[name] for name in texts(memory.draft.extra.get("relates_to")) if name in names]
    return replace(memory, links=tuple(ForeignLink(relation="relates_to", key=key) for key in keys))


def _git(path: Path, *arguments: str, stdin: str = "") -> str:
    return _git_bytes(path, *arguments, stdin=stdin).decode(errors="surrogateescape")


def _git_bytes(path: Path, *arguments: str, stdin: str = "") -> bytes:
    try:
        answer = run_git(path, *arguments, stdin=stdin.encode(), seconds=SECONDS)
    except OSError as problem:
        raise Invalid(f"git could not be run in {path} ({problem}).") from problem
    if answer.returncode:
        errors = answer.stderr.decode(errors="replace").strip().splitlines()
        raise Invalid(f"git cannot read {path}: {errors[0] if errors else answer.returncode}.")
    return answer.stdout
