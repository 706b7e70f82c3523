"""Export records as git notes that git-notes-memory reads: entries with YAML front matter, a ref for each namespace."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from holdfast.adapters.git import run_git
from holdfast.adapters.importers.front_matter import read_yaml
from holdfast.adapters.importers.git_notes import split_entries
from holdfast.adapters.importers.values import text, when
from holdfast.model.errors import Invalid
from holdfast.model.kinds import CODED, KINDS
from holdfast.model.record import Record
from holdfast.model.text import shorten

REF = "refs/notes/mem"
LONGEST_SUMMARY = 100
OTHERS = "learnings"  # namespace of kinds that git-notes-memory does not know
WRITER = "git-notes-memory"
_HEAD_FIELDS = ("spec", "phase", "verdict", "outcome")
_RULE = re.compile(r"^---[ \t]*$", re.MULTILINE)
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesWritten:
    """How many entries an export added, how many the notes had already, and how many memories are private."""

    added: int = 0
    known: int = 0
    private: int = 0


def write(records: Iterable[Record], folder: Path) -> NotesWritten:
    """Append records to the notes of a repository; an entry that is there already is not added again.

    Notes are pushed with a repository, so private memories are left out, unless they were imported from notes.
    """
    head = _git(folder, "rev-parse", "HEAD", problem=f"{folder} has no commit that notes could be attached to.").strip()
    notes: dict[tuple[str, str], list[Record]] = {}
    private = 0
    for record in records:
        if record.visibility == "private" and record.by.name != WRITER:
            private += 1
            continue
        there = record.origin.commit if _exists(folder, record.origin.commit) else head
        notes.setdefault((namespace_of(record), there), []).append(record)
    added = sum(_append(folder, namespace, commit, group) for (namespace, commit), group in notes.items())
    return NotesWritten(added=added, known=sum(map(len, notes.values())) - added, private=private)


def namespace_of(record: Record) -> str:
    """Return the namespace of a record's kind."""
    return KINDS[record.kind].names.get("git-notes", OTHERS) if record.kind in KINDS else OTHERS


def entry(record: Record) -> str:
    """Return a record as an entry of a note."""
    head = yaml.dump(front(record), Dumper=_DUMPER, sort_keys=False, allow_unicode=True, default_flow_style=False)
    return f"---\n{head}---\n\n{_body(record)}\n"


def front(record: Record) -> dict[str, Any]:
    """Return the front matter of a record's entry; `spec` is required there, so a record without one gets its project."""
    project = record.project.rstrip("/").rsplit("/", 1)[-1]
    optional = {
        "phase": record.fields.get("phase") or record.extra.get("phase"),
        "tags": list(record.tags),
        "status": _status(record),
        "relates_to": record.extra.get("relates_to"),
    }
    return {
        "type": namespace_of(record),
        "timestamp": record.created_at,
        "summary": shorten(record.title, LONGEST_SUMMARY),
        "spec": record.fields.get("spec") or record.extra.get("spec") or project or "global",
        **{name: value for name, value in optional.items() if value},
    }


def _status(record: Record) -> str:
    """Return the status of an entry; empty if it is active, which is not written there."""
    if record.state != "retired":
        return text(record.extra.get("status")) if record.extra.get("status") != "active" else ""
    return "resolved" if record.kind == "blocker" else "archived"


def _body(record: Record) -> str:
    """Return the text with its fields; a line of dashes would begin another entry there, so it becomes asterisks."""
    parts = [record.body]
    for name, value in record.fields.items():
        if value and name not in CODED and name not in _HEAD_FIELDS:
            lines = "\n".join(f"- {item}" for item in value) if isinstance(value, list) else str(value)
            parts.append(f"## {name.replace('_', ' ').capitalize()}\n{lines}")
    return _RULE.sub("***", "\n\n".join(parts)).strip()


def _append(folder: Path, namespace: str, commit: str, records: list[Record]) -> int:
    """Append the entries that a note does not have; return how many."""
    ref = f"--ref={REF}/{namespace}"
    shown = run_git(folder, "notes", ref, "show", commit)
    existing = shown.stdout.decode(errors="surrogateescape") if not shown.returncode else ""
    known = set(_keys(existing))
    new = [record for record in records if _key(front(record), _body(record)) not in known]
    if new:
        parts = [existing.strip(), *(entry(record).strip() for record in new)]
        content = "\n\n".join(part for part in parts if part) + "\n"
        _git(folder, "notes", ref, "add", "--force", "--file=-", commit, stdin=content)
    return len(new)


def _keys(content: str) -> Iterator[tuple[str, ...]]:
    for one in split_entries(content):
        try:
            yield _key(read_yaml(one.front), one.body)
        except Invalid:  # damaged entries stay as they are
            continue


def _key(meta: Any, body: str) -> tuple[str, ...]:
    """Return what makes an entry of a note distinct: its time, words and status."""
    summary, status = text(meta.get("summary")), text(meta.get("status"))
    return when(meta.get("timestamp")), summary, body.strip() or summary, status if status != "active" else ""


def _exists(folder: Path, commit: str) -> bool:
    return bool(commit) and not run_git(folder, "cat-file", "-e", f"{commit}^{{commit}}").returncode


def _git(folder: Path, *arguments: str, stdin: str = "", problem: str = "") -> str:
    try:
        answer = run_git(folder, *arguments, stdin=stdin.encode(errors="surrogateescape"))
    except OSError as error:
        raise Invalid(f"git could not be run in {folder} ({error}).") from error
    if answer.returncode:
        said = answer.stderr.decode(errors="replace").strip().splitlines()
        raise Invalid(
            problem or f"git cannot write notes in {folder}: {said[0] if said else answer.returncode}.",
            hint="Name a git repository with at least one commit." if problem else "",
        )
    return answer.stdout.decode(errors="surrogateescape")
