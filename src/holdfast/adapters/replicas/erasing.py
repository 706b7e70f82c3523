"""Remove erased records from the replicas on this machine: every markdown folder ever written, and the git notes of the repository."""

import re
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from holdfast.adapters.process import is_alive
from holdfast.adapters.replicas.git_notes import GitNotes
from holdfast.adapters.replicas.markdown import Manifest
from holdfast.adapters.replicas.record_file import file_parts
from holdfast.model.errors import Invalid, ReplicaError
from holdfast.model.files import read_regular
from holdfast.model.foreign_json import texts_in
from holdfast.model.replica import Outdated, ReplicaUpdate, Scrubbed

_ASIDE = re.compile(r"\..+\.(\d+)\.tmp")  # names that `write_whole` uses


def erase_copies(
    states: Path, folders: Iterable[Path], checkout: Path, updates: Sequence[ReplicaUpdate], is_outdated: Outdated
) -> Scrubbed:
    """Delete the files of erased records, forget their content, and scrub the git notes."""
    known, rows, scrubbed = list[Path](), 0, 0
    for state in sorted(states.glob("*.db")):
        with closing(Manifest(state)) as manifest:
            known += [Path(noted)] if (noted := manifest.note("folder")) else []
            contents = [(path, about, manifest.said(path)) for path, (about, _) in manifest.stamps().items()]
            paths = [path for path, about, said in contents if is_outdated(about, "\n".join(texts_in(said)))]
            manifest.change({}, paths, {})
        rows += len(paths)
    removed, not_reached = list[Path](), list[str]()
    for folder in dict.fromkeys((*folders, *known)):
        for file in _outdated(folder, is_outdated):
            try:
                file.unlink(missing_ok=True)
                removed.append(file)
            except OSError as problem:
                not_reached.append(f"{file} ({problem.strerror})")
    tops = {str(top) for file in removed if (top := _repository_of(file))}
    not_reached += [f"commits of {top} that hold its file" for top in sorted(tops)]
    if _repository_of(checkout / "any"):
        notes = GitNotes(checkout, states)
        try:
            scrubbed = notes.scrub(updates)
            if notes.mentions([update.record.id for update in updates]):
                older = "older commits of the git notes until `holdfast sync --rewrite`"
                not_reached.append(f"{older}, and clones until they sync")
        except ReplicaError as problem:
            not_reached.append(f"the git notes here: {problem}")
    counts = {"markdown file": len(removed), "remembered file": rows, "git note": scrubbed}
    reached = {name: count for name, count in counts.items() if count}
    return Scrubbed(reached=reached, files=tuple(map(str, removed)), not_reached=tuple(not_reached))


def _outdated(folder: Path, is_outdated: Outdated) -> list[Path]:
    """Return the files that must go, and temporary files of syncs that were killed."""
    halves = [(path, left) for path in sorted(folder.glob(".*.tmp")) if (left := _ASIDE.fullmatch(path.name))]
    outdated = list[Path]()
    for path in (path for path in sorted(folder.glob("*.md")) if path.is_file()):
        try:
            parts = file_parts(read_regular(path).decode("utf-8", "replace"))
        except Invalid:
            continue  # it belongs to no record
        if "id" in parts and is_outdated(str(parts["id"]), "\n".join(texts_in(parts))):
            outdated.append(path)
    return [*outdated, *(path for path, left in halves if not is_alive(int(left[1])))]


def _repository_of(file: Path) -> Path | None:
    return next((folder for folder in file.parents if (folder / ".git").exists()), None)
