"""Backups after an erasure: which of them still hold what was erased, and the same backups without it."""

import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.engine.recovery import backup
from holdfast.model.errors import HoldfastError, StoreError
from holdfast.model.event import Json
from holdfast.model.fold import scrub
from holdfast.policy.erasing import Eraser, sentences_in
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.erasing import Erased, erasures_of, sweep_store


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A copy of the store that a command made: whether it holds what was erased, what was done about it, and what went wrong."""

    path: str
    holds: bool
    rewritten: bool = False
    removed: bool = False  # it is damaged, so it could not be rewritten
    problem: str = ""


def backups_of(memory: Memory, erased: Erased) -> list[Backup]:
    """Return every known backup, and whether it still holds what was erased."""
    files = _files(memory)
    eraser = Eraser((*erased.texts, *_texts_in(files, erased)))
    return [Backup(path=str(file), holds=_holds(file, erased, eraser)) for file in files]


def rewrite_backups(memory: Memory, erased: Erased) -> list[Backup]:
    """Erase it from the backups that hold it: each is rewritten, checked, and then takes its own place."""
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
        file.unlink()  # the remains of a damaged store: what could be saved of it was saved
        return Backup(path=str(file), holds=False, removed=True)
    except (HoldfastError, OSError) as problem:
        return Backup(path=str(file), holds=True, problem=str(problem))
    return Backup(path=str(file), holds=_holds(file, erased, eraser), rewritten=True)


def _texts_in(files: Sequence[Path], erased: Erased) -> tuple[str, ...]:
    """Return what backups still know of the memories: after the erasure only they do."""
    return sentences_in([data for file in files for data in _said(file, erased)])


def _said(file: Path, erased: Erased) -> list[Json]:
    try:
        events = backup.said_in(file, erased.ids)
    except StoreError:
        return []  # damaged, or the log of one: its bytes are looked through
    return [dict(event.data) for event in events if scrub(event) != event]


def _holds(file: Path, erased: Erased, eraser: Eraser) -> bool:
    if _said(file, erased):
        return True
    if not file.stat().st_size:
        return False
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as raw:
        return eraser.is_in_bytes(raw)
