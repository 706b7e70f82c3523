"""Print the result of an erasure, as text and as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

from holdfast.hosts.cli.render import SHORT
from holdfast.model.text import counted
from holdfast.verbs.records.erasing import Erased
from holdfast.verbs.upkeep.backups import Backup

_PLURALS = {
    "entry of the trail": "entries of the trail",
    "file of hooks": "files of hooks",
    "memory that quoted it": "memories that quoted it",
}


def erasure_lines(erased: Erased, backups: Sequence[Backup]) -> Iterator[str]:
    """Yield what was erased where, what still contains it, and what is out of reach."""
    for id_ in erased.ids:
        yield f"{id_[:SHORT]}  erased from the journal and every view" + _also(erased)
    if not erased.finished:
        yield "Not finished: see below. Run the same command again later."
    for path in erased.files:
        yield f"  removed: {path}"
    for id_ in erased.said_by:
        yield f"  {id_[:SHORT]} says the same and was not erased: `holdfast forget {id_[:SHORT]} --erase` erases it too"
    yield from (_backup_line(backup) for backup in backups if backup.holds or backup.rewritten or backup.removed)
    if any(backup.holds for backup in backups):
        yield f"  `holdfast forget {erased.ids[0]} --erase --backups` rewrites backups without it"
    yield f"Not reached: {'; '.join(erased.not_reached)}; backups kept elsewhere; other machines until they sync."


def erasure_to_json(erased: Erased, backups: Sequence[Backup]) -> dict[str, Any]:
    """Return the result as JSON."""
    return {
        "status": "erased" if erased.finished else "unfinished",
        "id": erased.ids[0] if erased.ids else "",
        "reached": dict(erased.reached),
        "files": list(erased.files),
        "said_by": list(erased.said_by),
        "backups": [
            {"path": backup.path, "holds": backup.holds, "rewritten": backup.rewritten, "removed": backup.removed}
            | ({"problem": backup.problem} if backup.problem else {})
            for backup in backups
        ],
        "not_reached": [*erased.not_reached, "backups kept elsewhere", "other machines until they sync"],
    }


def _also(erased: Erased) -> str:
    parts = [
        f"{count} {_PLURALS[name]}" if count > 1 and name in _PLURALS else counted(count, name)
        for name, count in erased.reached.items()
    ]
    return f"; also from {', '.join(parts)}" if parts else ""


def _backup_line(backup: Backup) -> str:
    if backup.problem:
        return f"  backup {backup.path} still contains it and cannot be rewritten: {backup.problem}"
    if backup.rewritten:
        return f"  backup {backup.path} rewritten and checked"
    if backup.removed:
        return f"  copy of a damaged store {backup.path} removed: it could not be rewritten"
    return f"  backup {backup.path} still contains it"
