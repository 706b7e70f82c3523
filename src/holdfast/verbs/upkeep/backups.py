"""Find backups that still contain erased memories, and rewrite them without."""

import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.engine.recovery import backup
from holdfast.model.errors import HoldfastError, StoreError
from holdfast.model.event import Json
from holdfast.model.files import open_regular
from holdfast.model.fold import scrub
from holdfast.policy.erasing import Eraser, sentences_in
from holdfast.verbs.memory import Memory
from holdfast.verbs.upkeep.erasing import Erased, erasures_of, sweep_store


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A copy of the store: whether it contains what was erased, what was done about it, and what went wrong."""

    path: str
    holds: bool
    rewritten: bool = False
    removed: bool = False  # deleted: it is damaged and could not be rewritten
    problem: str = ""


def backups_of(memory: Memory, erased: Erased) -> list[Backup]:
    """Return every known backup, and whether it still contains what was erased."""
    files = _files(memory)
    eraser = Eraser((*erased.texts, *_texts_in(files, erased)))
    return [Backup(path=str(file), holds=_holds(file, erased, eraser)) for file in files]


def rewrite_backups(memory: Memory, erased: Erased) -> list[Backup]:
    """Erase the memories from the backups that contain them: each is rewritten, checked and replaced."""
    files = _files(memory)
    eraser = Eraser((*erased.texts, *_texts_in(files, erased)))
    return [
        _rewritten(memory, file, erased, eraser)
        if _holds(file, erased, eraser)
        else Backup(path=str(file), holds=False)
        for file in files
        if file.exists()
    ]


def _files(memory: Memory) -> list[Path]:
    return backup.known(memory.store.folder) if memory.store.folder else []


def _rewritten(memory: Memory, file: Path, erased: Erased, eraser: Eraser) -> Backup:
    erasures = erasures_of(memory, erased.ids)
    try:
        backup.rewrite(file, lambda store: sweep_store(store, erasures, eraser))
    except StoreError as problem:
        if file.parent.name == backup.FOLDER:
            return Backup(path=str(file), holds=True, problem=str(problem))
        file.unlink()  # the rest of a damaged store: what was readable is recovered
        return Backup(path=str(file), holds=False, removed=True)
    except (HoldfastError, OSError) as problem:
        return Backup(path=str(file), holds=True, problem=str(problem))
    return Backup(path=str(file), holds=_holds(file, erased, eraser), rewritten=True)


def _texts_in(files: Sequence[Path], erased: Erased) -> tuple[str, ...]:
    """Return the texts of the memories that only backups still contain."""
    return sentences_in([data for file in files for data in _erased_data(file, erased)])


def _erased_data(file: Path, erased: Erased) -> list[Json]:
    try:
        events = backup.events_in(file, erased.ids)
    except StoreError:
        return []  # damaged, or a log: its bytes are searched instead
    return [dict(event.data) for event in events if scrub(event) != event]


def _holds(file: Path, erased: Erased, eraser: Eraser) -> bool:
    if _erased_data(file, erased):
        return True
    if not file.stat().st_size:
        return False
    with open_regular(file) as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as raw:
        return eraser.is_in_bytes(raw)
