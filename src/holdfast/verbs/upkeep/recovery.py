"""Back up a store's file, restore a backup, and save what a damaged file still holds. These verbs work on closed files."""

from dataclasses import dataclass
from pathlib import Path

from holdfast.engine.recovery import backup
from holdfast.engine.recovery.backup import JournalMark, back_up, look_at
from holdfast.engine.recovery.salvage import Saved, salvage
from holdfast.model.errors import Conflict, NotFound

__all__ = [
    "BackedUp",
    "JournalMark",
    "Saved",
    "back_up",
    "back_up_store",
    "look_at",
    "recover_file",
    "recover_store",
    "restore",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp:
    """A backup that was made, and the older ones that were removed for it."""

    file: Path
    mark: JournalMark
    removed: list[Path]


def back_up_store(store: Path, file: Path | None, *, keep: int | None, now: str) -> BackedUp:
    """Copy a store to a file, or into its folder of backups, where only so many are kept if asked."""
    folder = store.parent / backup.FOLDER
    target = file or folder / f"{backup.NAMED}{now}.db"
    mark = back_up(store, target)
    if file:
        backup.note_elsewhere(store.parent, target)
    return BackedUp(file=target, mark=mark, removed=backup.rotate(folder, keep, target) if keep else [])


def restore(file: Path, store: Path, *, now: str) -> tuple[JournalMark, Path | None]:
    """Replace a store by a backup; return what was restored, and where the store that was there is kept."""
    return backup.restore(file, store, store.parent / backup.FOLDER / f"before-restore-{now}.db")


def recover_file(file: Path, output: Path) -> Saved:
    """Write a new store of what can be read of a damaged file."""
    if not file.is_file():
        raise NotFound(f"There is no file {file}.", hint="Check the path.")
    if output.exists():
        raise Conflict(f"{output} is there already; nothing is overwritten.", hint="Give another name.")
    saved = salvage(file, output)
    backup.as_of_now(output)
    return saved


def recover_store(store: Path, *, now: str) -> tuple[Saved, Path]:
    """Replace a damaged store by what can be read of it; return where the damaged one is kept.

    The new store is made in the folder of the damaged one's copy, and put in place only when it is whole.
    """
    with backup.unshared(store):
        kept = backup.set_aside(store, store.parent / f"damaged-{now}")
        new = kept / "recovered.db"
        saved = salvage(kept / store.name, new)
        backup.as_of_now(new)
        backup.put_in_place(new, store)
        new.unlink()
    return saved, kept
