"""The list of changed records beside a store, one for each project: hooks read it, since they open no database."""
# A line is the id of a record and its kind (`trigger` if it names commands or files of its own), or `*` if anything may
# have changed. Lines are written before the transaction ends, and a reader takes its place in the list while no
# transaction runs: what comes before that place is in the store, and a transaction that fails only leaves a line too
# many.

import os
from collections.abc import Iterable
from pathlib import Path

from holdfast.engine.views import Entry
from holdfast.model.files import changes_file

MOST = 1_000  # records of one commit that are listed one by one
ANYTHING = "*"


def note(folder: Path | None, entries: Iterable[Entry]) -> None:
    """List records that changed, for each project that something was prepared for."""
    lines: dict[str, list[str]] = {}
    for record in [entry.record for entry in entries] if folder else ():
        lines.setdefault(record.project, []).append(f"{record.id} {'trigger' if record.triggers else record.kind}")
    for project, changed in lines.items():
        _append(Path(changes_file(str(folder), project)), changed if len(changed) <= MOST else [ANYTHING])


def note_anything(folder: Path | None) -> None:
    """Note that any record of any project may have changed."""
    for file in (folder / "changes").glob("*.log") if folder else ():
        _append(file, [ANYTHING])


def place(folder: Path, project: str) -> int:
    """Return the length of a project's list, which is begun if there is none. Call it in a transaction."""
    file = Path(changes_file(str(folder), project))
    file.parent.mkdir(mode=0o700, exist_ok=True)
    file.touch(mode=0o600)
    return file.stat().st_size


def _append(file: Path, lines: Iterable[str]) -> None:
    """Append lines, if something was prepared for the project; a list that cannot be written is removed."""
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_APPEND), "wb", buffering=0) as out:
            out.write("".join(f"{line}\n" for line in lines).encode())
    except FileNotFoundError:
        return
    except OSError:  # no room: without a list, readers know nothing and prepare again
        file.unlink(missing_ok=True)
