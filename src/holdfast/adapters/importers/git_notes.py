"""Git notes of git-notes-memory, both ways: entries with YAML front matter, several to a note, a ref for each namespace."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from holdfast.adapters.checkout import GitCheckout
from holdfast.adapters.git import NETWORK_SECONDS, Repository
from holdfast.adapters.importers.files import read_yaml, with_front
from holdfast.adapters.importers.maps import Row, digest, fields_text, map_of, text, texts, when, words
from holdfast.model.errors import Invalid
from holdfast.model.kinds import name_in
from holdfast.model.record import Origin, Record
from holdfast.model.replica import Exported, Foreign, ForeignLink, Item, Remark
from holdfast.model.text import shorten

REF = "refs/notes/mem"
LARGEST = 100_000_000  # bytes of one note
LONGEST_SUMMARY = 100
OTHERS = "learnings"  # namespace of kinds that git-notes-memory does not know
WRITER = "git-notes-memory"
NAMESPACES = words("git-notes namespaces")
ENTRIES = map_of("git-notes entries")
_SPEC_KINDS = frozenset("blocker progress review retrospective inception elicitation".split())
_SPEC_FIELDS = ("spec", "phase")
_TAGGED = {"review": "verdict", "retrospective": "outcome"}  # fields that are stored as tags there
_CLOSED = frozenset({"archived", "tombstone"})
_KEY = re.compile(r"[A-Za-z_]\w*:(\s|$)")
_RULE = re.compile(r"^---[ \t]*$", re.MULTILINE)
_REQUIRED_KEYS = ("type:", "timestamp:", "summary:")


def read(path: Path) -> Iterator[Item]:
    """Yield every entry of every namespace of a repository."""
    repository = Repository(path, Invalid, seconds=NETWORK_SECONDS)
    refs = {ref: tip for ref, tip in repository.refs("refs/notes/").items() if ref.rpartition("/")[2] in NAMESPACES}
    refs = {ref: tip for ref, tip in refs.items() if not ref.startswith("holdfast/")}  # these are our own replica
    if not refs:
        hint = "Notes may have to be fetched first: git fetch origin 'refs/notes/mem/*:refs/notes/mem/*'"
        raise Invalid(f"{path} has no notes of git-notes-memory.", hint=hint)
    notes = list[tuple[str, str, str]]()  # namespace, commit, content; local refs before fetched ones
    for ref, tip in sorted(refs.items(), key=lambda ref: (ref[0].startswith("origin/"), ref)):
        blobs = repository.notes(tip, LARGEST)
        contents = repository.blobs(blob for blob, _ in blobs)
        for blob, place in blobs:
            content = contents.get(blob, b"").decode(errors="surrogateescape")
            notes.append((ref.rpartition("/")[2], place.replace("/", ""), content))
    # The dates of commits are for entries without a time of their own.
    commits = "\n".join(dict.fromkeys(commit for _, commit, _ in notes)).encode()
    log = ("log", "--no-walk=unsorted", "--ignore-missing", "--format=%H %cI", "--stdin")
    lines = repository.ask(*log, stdin=commits).splitlines() if commits else []
    dates = dict(line.split(" ", 1) for line in lines if " " in line)
    project = GitCheckout(path).project()
    items = [item for note in notes for item in _entries(note, dates, project)]
    keys = {alias: item.key for item in items if isinstance(item, Foreign) for alias in item.aliases}
    for item in items:
        if isinstance(item, Foreign):
            # Targets that no longer exist stay in `extra` only.
            related = [keys[name] for name in texts(item.draft.extra.get("relates_to")) if name in keys]
            item = replace(item, links=tuple(ForeignLink("relates_to", key) for key in related))  # noqa: PLW2901
        yield item


def _entries(note: tuple[str, str, str], dates: Mapping[str, str], project: str) -> Iterator[Item]:
    """Yield the entries of a note; unreadable entries are not counted in their names."""
    namespace, commit, content = note
    kind, place, dated = NAMESPACES[namespace], 0, dates.get(commit, "")
    for nth, (front, body, damage) in enumerate(split_entries(content), start=1):
        where = f"{namespace} of {commit[:7]}, entry {nth}"
        try:
            meta = read_yaml(front)
        except Invalid as problem:
            damage = problem.message  # noqa: PLW2901
        if damage:
            yield Remark(where, damage)
            continue
        tags, written_at = texts(meta.get("tags")), when(meta.get("timestamp"))
        summary, status = text(meta.get("summary")), text(meta.get("status"))
        closed = status in _CLOSED or (namespace == "blockers" and status == "resolved")
        spec = {name: text(meta.get(name)) for name in _SPEC_FIELDS} if kind in _SPEC_KINDS else {}
        pairs = (tag.partition(":") for tag in tags)
        # Rebased commits have copies of their notes: an entry is identified by its time, if it has one.
        name = f"{written_at}:{digest(summary)}" if written_at else f"{commit}:{digest(summary, body)}"
        yield ENTRIES.memory(
            meta,
            where,
            used={"tags", *spec, *(("type",) if text(meta.get("type")) == namespace else ())},
            key=f"{namespace}:{name}",
            aliases=tuple(f"{namespace}:{name}:{place}" for name in (commit, commit[:7])),
            kind=kind,
            body=body or summary,
            fields={**spec, **{name: value for name, _, value in pairs if name == _TAGGED.get(kind)}},
            tags=tags,
            confidence="low" if status == "candidate" else "medium",
            project=project,
            at=written_at or when(dated),
            origin=Origin(commit=commit),
            state="retired" if closed else "active",
            reason=status if closed else "",
            dated=bool(written_at or dated),
        )
        place += 1


def split_entries(content: str) -> Iterator[tuple[str, str, str]]:
    """Yield front matter and text of the entries of a note, or what is wrong with one."""
    # A line of dashes in a text begins no entry, and text outside of entries is damage.
    lines = content.replace("\r\n", "\n").split("\n")
    rules = [place for place, line in enumerate(lines) if line.strip() == "---"]
    fronts: list[tuple[int, int]] = []
    for begin, end in pairwise(rules):
        if (not fronts or begin > fronts[-1][1]) and _is_front(lines[begin + 1 : end]):
            fronts.append((begin, end))
    open_end = [place for place in rules[-1:] if not fronts or place > fronts[-1][1]]
    last = next((place for place in open_end if _is_front(lines[place + 1 :])), len(lines))
    if "\n".join(lines[: fronts[0][0]] if fronts else lines[:last]).strip():
        yield "", "", "there is text without a front matter"
    for (begin, end), (following, _) in pairwise([*fronts, (last, 0)]):
        yield "\n".join(lines[begin + 1 : end]), "\n".join(lines[end + 1 : following]).strip(), ""
    if last < len(lines):
        yield "", "", "its front matter is cut short"


def _is_front(lines: list[str]) -> bool:
    written = [line for line in lines if line.strip()]
    return bool(written) and bool(_KEY.match(written[0])) and any(line.startswith(_REQUIRED_KEYS) for line in written)


def namespace_of(record: Record) -> str:
    """Return the namespace of a record's kind."""
    return name_in("git-notes", record.kind) or OTHERS


def write(records: Iterable[Record], folder: Path) -> Exported:
    """Append records to the notes of a repository, but private memories only if they were imported: notes are pushed."""
    repository = Repository(folder, Invalid)
    if not (head := repository.head()):
        hint = "Name a git repository with at least one commit."
        raise Invalid(f"{folder} has no commit that notes could be attached to.", hint=hint)
    notes: dict[tuple[str, str], list[Record]] = {}
    private = added = 0
    for record in records:
        if record.visibility == "private" and record.by.name != WRITER:
            private += 1
            continue
        there = record.origin.commit
        is_here = there and repository.attempt("cat-file", "-e", f"{there}^{{commit}}") is not None
        notes.setdefault((namespace_of(record), there if is_here else head), []).append(record)
    for (namespace, commit), group in notes.items():
        ref = f"--ref={REF}/{namespace}"
        existing = repository.attempt("notes", ref, "show", commit) or ""
        known = set[tuple[str, ...]]()
        for front, body, _ in split_entries(existing):
            with suppress(Invalid):  # damaged entries stay as they are
                known.add(_key(read_yaml(front), body))
        new = [record for record in group if _key(_front(record), _body(record)) not in known]
        if new:
            parts = [existing, *(with_front(_front(record), _body(record)).strip() for record in new)]
            stdin = ("\n\n".join(filter(None, parts)) + "\n").encode(errors="surrogateescape")
            repository.ask("notes", ref, "add", "--force", "--file=-", commit, stdin=stdin)
        added += len(new)
    return Exported(written=added, known=sum(map(len, notes.values())) - added, left_out=private)


def _front(record: Record) -> dict[str, Any]:
    """Return the front matter of a record's entry; `spec` is required there, so a record without one gets its project."""
    project, status = record.project.rstrip("/").rsplit("/", 1)[-1], text(record.extra.get("status"))
    if record.state == "retired":
        status = "resolved" if record.kind == "blocker" else "archived"
    optional = {"phase": record.fields.get("phase") or record.extra.get("phase"), "tags": list(record.tags)}
    optional |= {"status": status if status != "active" else "", "relates_to": record.extra.get("relates_to")}
    return {
        "type": namespace_of(record),
        "timestamp": record.created_at,
        "summary": shorten(record.title, LONGEST_SUMMARY),
        "spec": record.fields.get("spec") or record.extra.get("spec") or project or "global",
        **{name: value for name, value in optional.items() if value},
    }


def _body(record: Record) -> str:
    """Return the text with its fields; a line of dashes would begin another entry there, so it becomes asterisks."""
    fields = fields_text(record, lambda name: f"## {name.capitalize()}", (*_SPEC_FIELDS, *_TAGGED.values()))
    return _RULE.sub("***", "\n\n".join([record.body, *fields])).strip()


def _key(meta: Row, body: str) -> tuple[str, ...]:
    summary, status = text(meta.get("summary")), text(meta.get("status"))
    return when(meta.get("timestamp")), summary, body.strip() or summary, status if status != "active" else ""
