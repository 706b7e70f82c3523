"""Git notes of git-notes-memory: entries with YAML in front, several to a note, one ref for each namespace."""

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
_TAGGED = {"review": "verdict", "retrospective": "outcome"}  # fields that are written as tags there
_OVER = frozenset({"archived", "tombstone"})
_KEY = re.compile(r"[A-Za-z_]\w*:(\s|$)")
_TELLING = ("type:", "timestamp:", "summary:")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Note:
    """One note: everything that was appended to a commit in a namespace."""

    namespace: str
    commit: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One entry of a note, or what is wrong with it."""

    front: str = ""
    body: str = ""
    damage: str = ""


def read(path: Path) -> Iterator[Item]:
    """Return every entry of every namespace of a repository."""
    refs = _refs(path)
    if not refs:
        hint = "Notes may have to be fetched first: git fetch origin 'refs/notes/mem/*:refs/notes/mem/*'"
        raise Invalid(f"{path} has no notes of git-notes-memory.", hint=hint)
    notes = [note for ref in refs for note in _notes(path, ref)]
    dates = _dates(path, [note.commit for note in notes])
    project = GitCheckout(path).project()
    names: dict[str, str] = {}  # the ids entries refer to each other by
    found: list[Item] = []
    for note in notes:
        found.extend(_entries(note, dates.get(note.commit, ""), project, names))
    for item in found:
        yield _linked(item, names) if isinstance(item, Foreign) else item


def _refs(path: Path) -> list[str]:
    """Return the refs of known namespaces, our own before those fetched from elsewhere."""
    lines = _git(path, "for-each-ref", "--format=%(refname)", "refs/notes/").splitlines()
    others = [line for line in lines if not line.startswith("refs/notes/holdfast/")]  # those are our own replica
    known = [line for line in others if line.rsplit("/", 1)[-1] in KINDS]
    return sorted(known, key=lambda ref: (ref.startswith("refs/notes/origin/"), ref))


def _notes(path: Path, ref: str) -> Iterator[_Note]:
    """Return the notes of a ref, whichever way git has spread them over folders."""
    pairs = [line.split() for line in _git(path, "notes", f"--ref={ref}", "list").splitlines()]
    blobs = _blobs(path, [pair[0] for pair in pairs if len(pair) == 2])
    for blob, commit in (pair for pair in pairs if len(pair) == 2):
        yield _Note(namespace=ref.rsplit("/", 1)[-1], commit=commit, content=blobs.get(blob, ""))


def _blobs(path: Path, names: list[str]) -> dict[str, str]:
    """Return the contents of blobs, all of them in one question; nothing is unpacked that would not fit."""
    asked = "\n".join(dict.fromkeys(names))
    sizes = [line.split() for line in _git(path, "cat-file", _SIZES, given=asked).splitlines()]
    if larger := [name for name, size in sizes if size.isdecimal() and int(size) > LARGEST]:
        raise Invalid(
            f"The note {larger[0]} has more than {LARGEST:,} bytes.", hint="`git notes remove` takes it away."
        )
    found = objects(_git_bytes(path, "cat-file", "--batch", given=asked))
    return {name: content.decode(errors="surrogateescape") for name, content in found.items()}


def _dates(path: Path, commits: list[str]) -> dict[str, str]:
    """Return when commits were made, for entries that do not say when they were."""
    if not commits:
        return {}
    known = "\n".join(dict.fromkeys(commits))
    raw = _git_bytes(path, "log", "--no-walk=unsorted", "--ignore-missing", "--format=%H %cI", "--stdin", given=known)
    return dict(line.split(" ", 1) for line in raw.decode().splitlines() if " " in line)


def _entries(note: _Note, dated: str, project: str, names: dict[str, str]) -> Iterator[Item]:
    """Return the entries of a note, and note their names: only those that can be read are counted in them."""
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
        found = _foreign(note, meta, entry.body, where, dated)
        for commit in (note.commit, note.commit[:7]):
            names[f"{note.namespace}:{commit}:{place}"] = found.key
        place += 1
        yield replace(found, draft=replace(found.draft, project=project))


def split_entries(content: str) -> Iterator[_Entry]:
    """Return the entries of a note; a line of dashes in a text is no entry, text outside of any is damage."""
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
    said = [line for line in lines if line.strip()]
    return bool(said) and bool(_KEY.match(said[0])) and any(line.startswith(_TELLING) for line in said)


def _foreign(note: _Note, meta: Mapping[str, Any], body: str, where: str, dated: str) -> Foreign:
    told, summary, status = when(meta.get("timestamp")), text(meta.get("summary")), text(meta.get("status"))
    over = status in _OVER or (note.namespace == "blockers" and status == "resolved")
    # Rebased commits carry copies of their notes: an entry is known by when it was written, where it says so.
    name = f"{told}:{digest(summary)}" if told else f"{note.commit}:{digest(summary, body)}"
    return Foreign(
        key=f"{note.namespace}:{name}",
        where=where,
        draft=replace(_draft(note.namespace, meta, summary, body), at=told or when(dated)),
        by=Actor(kind="agent", name="git-notes-memory"),
        origin=Origin(commit=note.commit),
        state="retired" if over else "active",
        reason=status if over else "",
        dated=bool(told or dated),
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


def _linked(found: Foreign, names: Mapping[str, str]) -> Foreign:
    """Return an entry with its relations as links; those that lead nowhere any more stay in its extra only."""
    keys = [names[one] for one in texts(found.draft.extra.get("relates_to")) if one in names]
    return replace(found, links=tuple(ForeignLink(relation="relates_to", key=key) for key in keys))


def _git(path: Path, *question: str, given: str = "") -> str:
    return _git_bytes(path, *question, given=given).decode(errors="surrogateescape")


def _git_bytes(path: Path, *question: str, given: str = "") -> bytes:
    try:
        answer = run_git(path, *question, given=given.encode(), seconds=SECONDS)
    except OSError as problem:
        raise Invalid(f"git could not be asked about {path} ({problem}).") from problem
    if answer.returncode:
        said = answer.stderr.decode(errors="replace").strip().splitlines()
        raise Invalid(f"git cannot read {path}: {said[0] if said else answer.returncode}.")
    return answer.stdout
