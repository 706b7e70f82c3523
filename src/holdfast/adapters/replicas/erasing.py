"""Take erased records out of the replicas of this machine: every folder of files that was ever written, and the notes at hand."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from pathlib import Path

from holdfast.adapters.replicas.git_notes import GitNotes
from holdfast.adapters.replicas.manifest import Manifest
from holdfast.model.errors import ReplicaError
from holdfast.model.replica import Scrubbed, Telling

_FRONT = 100_000  # characters; the id stands in the front matter
FOLDER_NOTE = "folder"


def erase_copies(
    states: Path, folders: Iterable[Path], here: Path, ids: Collection[str], told: Sequence[Telling]
) -> Scrubbed:
    """Remove the files of erased records, forget what they said, and scrub the notes of the repository at hand."""
    known = {path: _folder_of(path) for path in sorted(states.glob("*.db"))}
    removed = [
        file for folder in dict.fromkeys((*folders, *filter(None, known.values()))) for file in _remove(folder, ids)
    ]
    rows = sum(_forget(path, ids) for path in known)
    notes, complaint = _scrub_notes(here, states, told)
    in_git = sorted({str(top) for file in removed if (top := _repository_of(file))})
    not_reached = [f"commits of {top} that hold its file" for top in in_git]
    if notes:
        not_reached.append("older commits of the git notes until `holdfast sync --rewrite`, and clones until they sync")
    if complaint:
        not_reached.append(f"the git notes here: {complaint}")
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


def _forget(state: Path, ids: Collection[str]) -> int:
    with closing(Manifest(state)) as manifest:
        paths = [path for path, (about, _) in manifest.stamps().items() if about in ids]
        if paths:
            manifest.change([], paths, {})
    return len(paths)


def _remove(folder: Path, ids: Collection[str]) -> list[Path]:
    """Remove the files whose front matter names a record, and what a sync that was killed left of them."""
    files = [path for pattern in ("*.md", ".*.tmp") for path in sorted(folder.glob(pattern)) if path.is_file()]
    gone = [path for path in files if _names(path, ids)]
    for path in gone:
        path.unlink(missing_ok=True)
    return gone


def _names(path: Path, ids: Collection[str]) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        front = file.read(_FRONT).removeprefix("\ufeff")
    lines = front.partition("---\n")[2].partition("\n---")[0].splitlines() if front.startswith("---") else []
    own = next((line.partition(":")[2].strip(" '\"").upper() for line in lines if line.startswith("id:")), "")
    return own in ids


def _repository_of(file: Path) -> Path | None:
    return next((folder for folder in file.parents if (folder / ".git").exists()), None)


def _scrub_notes(here: Path, states: Path, told: Sequence[Telling]) -> tuple[int, str]:
    """Return how many notes told of the records and no longer do, and what kept us from it."""
    if _repository_of(here / "any") is None:
        return 0, ""
    try:
        return GitNotes(here, states).scrub(told), ""
    except ReplicaError as problem:
        return 0, str(problem)
