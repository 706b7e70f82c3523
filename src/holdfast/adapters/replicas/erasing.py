"""Remove erased records from the replicas on this machine: every markdown folder ever written, and the git notes of the repository."""

import re
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from holdfast.adapters.process import is_alive
from holdfast.adapters.replicas.git_notes import GitNotes
from holdfast.adapters.replicas.manifest import Manifest
from holdfast.adapters.replicas.record_file import file_parts
from holdfast.model.errors import Invalid, ReplicaError
from holdfast.model.files import read_regular
from holdfast.model.replica import Outdated, ReplicaUpdate, Scrubbed
from holdfast.model.text import texts_in

FOLDER_NOTE = "folder"
_ASIDE = re.compile(r"\..+\.(\d+)\.tmp")  # names that `write_whole` uses


def erase_copies(
    states: Path, folders: Iterable[Path], checkout: Path, updates: Sequence[ReplicaUpdate], is_outdated: Outdated
) -> Scrubbed:
    """Delete the files of erased records, forget their content, and scrub the git notes."""
    known = {path: _folder_of(path) for path in sorted(states.glob("*.db"))}
    removed, not_reached = list[Path](), list[str]()
    for folder in dict.fromkeys((*folders, *filter(None, known.values()))):
        for file in _outdated(folder, is_outdated):
            try:
                file.unlink(missing_ok=True)
                removed.append(file)
            except OSError as problem:
                not_reached.append(f"{file} ({problem.strerror})")
    rows = sum(_forget(path, is_outdated) for path in known)
    in_git = sorted({str(top) for file in removed if (top := _repository_of(file))})
    not_reached += [f"commits of {top} that hold its file" for top in in_git]
    notes, left = _scrub_notes(checkout, states, updates)
    not_reached += [left] if left else []
    reached = {"markdown file": len(removed), "remembered file": rows, "git note": notes}
    return Scrubbed(
        reached={name: count for name, count in reached.items() if count},
        files=tuple(map(str, removed)),
        not_reached=tuple(not_reached),
    )


def _folder_of(state: Path) -> Path | None:
    with closing(Manifest(state)) as manifest:
        noted = manifest.note(FOLDER_NOTE)
    return Path(noted) if noted else None


def _forget(state: Path, is_outdated: Outdated) -> int:
    with closing(Manifest(state)) as manifest:
        rows = [(path, about, manifest.said(path)) for path, (about, _) in manifest.stamps().items()]
        paths = [path for path, about, content in rows if is_outdated(about, "\n".join(texts_in(content)))]
        if paths:
            manifest.change([], paths, {})
    return len(paths)


def _outdated(folder: Path, is_outdated: Outdated) -> list[Path]:
    """Return the files that must go, and temporary files of syncs that were killed."""
    files = [path for path in sorted(folder.glob("*.md")) if path.is_file()]
    halves = [(path, left) for path in sorted(folder.glob(".*.tmp")) if (left := _ASIDE.fullmatch(path.name))]
    return [path for path in files if (content := _id_and_text(path)) and is_outdated(*content)] + [
        path for path, left in halves if not is_alive(int(left[1]))
    ]


def _id_and_text(path: Path) -> tuple[str, str] | None:
    """Return the record id of a file and its text; None if it belongs to no record."""
    try:
        parts = file_parts(read_regular(path).decode("utf-8", "replace"))
    except Invalid:
        return None
    return (str(parts["id"]), "\n".join(texts_in(parts))) if "id" in parts else None


def _repository_of(file: Path) -> Path | None:
    return next((folder for folder in file.parents if (folder / ".git").exists()), None)


def _scrub_notes(checkout: Path, states: Path, updates: Sequence[ReplicaUpdate]) -> tuple[int, str]:
    """Scrub the records from the notes; return how many notes changed, and a description of what is left."""
    if _repository_of(checkout / "any") is None:
        return 0, ""
    notes = GitNotes(checkout, states)
    try:
        scrubbed = notes.scrub(updates)
        known = notes.mentions([update.record.id for update in updates])
    except ReplicaError as problem:
        return 0, f"the git notes here: {problem}"
    left = "older commits of the git notes until `holdfast sync --rewrite`, and clones until they sync"
    return scrubbed, left if known else ""
