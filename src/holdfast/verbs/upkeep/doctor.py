"""Look after a store: its status, checks of everything that could be wrong, maintenance, backups and recovery."""

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.engine.journal import changed_rows
from holdfast.engine.locks import file_system_of, is_remote, problem_with_locks
from holdfast.engine.raw import counters, trail
from holdfast.engine.recovery import backup
from holdfast.engine.recovery.backup import JournalMark, back_up, look_at, restore
from holdfast.engine.recovery.salvage import Saved, salvage
from holdfast.engine.views import records, usage, vectors
from holdfast.model.errors import Conflict, HoldfastError, NotFound, StoreError
from holdfast.model.event import Event, ids_in, tokens_in
from holdfast.model.ids import days_before
from holdfast.model.ports import Classifier, Embedder
from holdfast.model.record import GLOBAL, Record
from holdfast.model.text import counted
from holdfast.policy.ranking.vitality import CAPS, DAYS, outlived
from holdfast.verbs.capture.trail import SET_ASIDE
from holdfast.verbs.memory import Memory, Report
from holdfast.verbs.records.hot import cool, hot_ids
from holdfast.verbs.records.project import saved_elsewhere
from holdfast.verbs.records.read import newest_of_kind
from holdfast.verbs.search.embed import catch_up, start_over, usable

__all__ = ["JournalMark", "Saved", "back_up", "look_at", "restore"]  # verbs of the engine that need nothing more

DESTRUCTIVE = ("retired", "erased", "redacted", "unlinked", "restored")
MOST_AUDITED = 2_000


@dataclass(frozen=True, slots=True)
class Check:
    """A check of the doctor; an empty `fix` means that all is well."""

    name: str
    found: str
    fix: str = ""


def status(memory: Memory) -> Report:
    """Return what the store contains, and its state."""
    store, week = memory.store, days_before(memory.clock.now(), 7)
    events, waiting = trail.size(store)
    recent = store.happened(("injected",), week, 10_000)
    pairs = {(event.about, id_) for event in recent for id_ in ids_in(event)}
    became = Counter(use.outcome for use in usage.uses(store, since=week) if (use.session, use.id) in pairs)

    homes = records.tallied(store, records.Filter(), "number >> 32", "kind")

    def counted_in(**chosen: Any) -> int:
        return records.counted(store, records.Filter(**chosen))

    return {
        "place": store.db.place,
        "project": memory.project,
        "here": counted_in(projects=(memory.here,)),
        "everywhere": counted_in(),
        "pending": counted_in(states=("pending",)),
        "retired": counted_in(states=("retired",)),
        "projects": len({number for number, *_ in homes if number}),
        "events": store.counted(),
        "bytes": store.db.size,
        "embedder": memory.embedder.name if memory.embedder else "none",
        "lagging": vectors.lag(store),
        "trail_events": events,
        "waiting": waiting,  # sessions not processed yet
        "spooled": len(list((store.folder / "spool").glob("*.json"))) if store.folder else 0,  # files of hooks
        "injected": sum(map(tokens_in, recent)),  # tokens in the last 7 days
        "receipts": len(recent),
        # memories of this project with something in quarantine
        "arrived": counted_in(projects=store.homes(memory.project), states=(), separate=True, waits=True),
        "became": dict(became.most_common()),  # outcomes of what was injected
        "note": usable(memory),
        "elsewhere": saved_elsewhere(memory),  # memories of this checkout under other identities
    }


def rebuild_vectors(memory: Memory, progress: Callable[[int], None]) -> int:
    """Embed every record again with the current embedder; return their number. Without an embedder nothing changes."""
    if memory.embedder is None:
        return 0
    start_over(memory)
    return catch_up(memory, progress=progress)


def examine(memory: Memory) -> Iterator[Check]:
    """Yield the checks of everything that could be wrong."""
    store, db = memory.store, memory.store.db
    if db.path is None:
        yield Check("server", f"{db.place} answers: {db.version}")
    else:
        yield Check("sqlite", db.version)
        damage = db.damage() or [f"event {row} was altered" for row in changed_rows(store)]
        fix = "holdfast store recover saves what is readable; holdfast store restore FILE restores a backup"
        yield Check("pages", "; ".join(damage[:3]), fix) if damage else Check("pages", f"{db.place} is intact")
        loose = [path for path in (db.path, db.path.parent) if stat.S_IMODE(path.stat().st_mode) & 0o077]
        if loose and os.name != "nt":
            yield Check("permissions", f"others can read {loose[0]}", f"chmod go-rwx '{loose[0]}'")
        else:
            yield Check("permissions", "only you can read the store")
        yield _locks(db.path)
    try:
        with store.transaction():
            written = Check("writing", "the store can be written")
    except StoreError as refused:
        written = Check("writing", refused.message, refused.hint)
    yield written
    for sentence in saved_elsewhere(memory):
        yield Check("project", sentence)
    sample = [entry.record for entry in records.page(store, records.Filter(states=(), separate=True), limit=200)]
    if wrong := sum(store.folded(record.id) != record for record in sample):
        yield Check("views", f"{wrong} of {len(sample)} records disagree with the journal", "holdfast store rebuild")
    else:
        yield Check("views", f"the newest {len(sample)} records agree with the journal")
    embedder, classifier = memory.embedder, memory.classifier
    yield _works(
        *("embedder", embedder, lambda: embedder and embedder.embed(["a memory"])),
        *("none: search is by words only", "Set embedder to local."),
    )
    yield _works(
        *("classifier", classifier, lambda: classifier and classifier.chances("user", "We never mock the database.")),
        *("none: only explicit markers are kept", "Reinstall Holdfast."),
    )
    lag = vectors.lag(store)
    waiting = f"{lag} records wait for new ones and are found without them" if embedder else "not in use"
    problem = usable(memory) if embedder else ""
    fix = "holdfast store rebuild vectors" if problem else ""
    yield Check("vectors", problem or (waiting if lag else "up to date"), fix)
    # Events that could not be used, and hooks that failed.
    folder, week = memory.store.folder, days_before(memory.clock.now(), 7)
    failures = counters.failures(memory.store, counters.KEPT_FAILURES)
    if aside := sorted((folder / "spool").glob(f"*{SET_ASIDE}")) if folder else []:
        why = next((f" ({failure.said})" for failure in failures if failure.name == "spool"), "")
        fix = f"Look at {aside[0].parent}/*{SET_ASIDE} and delete them; nothing else needs them"
        yield Check("spool", f"{counted(len(aside), 'event')} set aside{why}", fix)
    if failed := [failure for failure in failures if failure.name == "derive" and failure.at > week]:
        yield Check("sessions", f"{counted(len(failed), 'session')} could not be processed: {failed[0].said}")


def _works(name: str, part: Embedder | Classifier | None, probe: Callable[[], object], without: str, fix: str) -> Check:
    if part is None:
        return Check(name, without)
    try:
        probe()
    except HoldfastError as problem:
        return Check(name, problem.message, problem.hint or fix)
    return Check(name, f"{part.name} works")


def _locks(file: Path) -> Check:
    kind, move = file_system_of(file.parent), "move the store to a local disk and set HOLDFAST_HOME"
    try:
        problem = problem_with_locks(file.parent)
    except OSError as unwritable:
        return Check("locks", f"not checked: {unwritable.strerror}")
    if problem:
        return Check("locks", f"{problem}: processes could damage the store", move)
    if is_remote(kind):
        return Check("locks", f"the store is on {kind}, where locks may not reach other machines", move)
    return Check("locks", "locks work between processes")


# Maintenance.


def maintain(memory: Memory, *, dry_run: bool = False, retiring: bool = True) -> Report:
    """Retire unused records past their retention, trim the hot set and free space. Nothing is deleted."""
    old, retired, now, hot = list[Record](), list[Event](), memory.clock.now(), hot_ids(memory)
    for kind, days in DAYS.items() if retiring else ():
        known = newest_of_kind(memory, kind, limit=1_000_000)
        used, why = usage.of(memory.store, [record.id for record in known]), f"kept {days} days without use"
        for place, record in enumerate(known):
            if record.id not in hot and (place >= CAPS[kind] or outlived(record, used.get(record.id), now)):
                old.append(record)
                retired.append(memory.event("retired", record.id, data={"reason": why}, after=record.head))
    before, cooled = memory.store.db.size, list[Record]()
    if not dry_run:
        memory.commit(retired)
        cooled = cool(memory)
        memory.store.db.compact()
    done = {"retired": old, "cooled": cooled, "bytes_before": before, "bytes_after": memory.store.db.size}
    return done | {"dry_run": dry_run}


def audit(memory: Memory, *, days: float = 90, verb: str = "", limit: int = 100) -> list[Event]:
    """Return recent retirements, erasures and restorations, latest first."""
    return memory.store.happened((verb,) if verb else DESTRUCTIVE, days_before(memory.clock.now(), days), limit)


def removals(memory: Memory) -> list[Event]:
    """Return what was removed in this project, also from the hot set, or restored; latest first."""
    events = memory.store.happened((*DESTRUCTIVE, "heated"), "", MOST_AUDITED)
    removed = [event for event in events if event.verb != "heated" or event.data.get("hot") is not True]
    known = memory.known(event.about for event in removed)
    own = {id_ for id_, record in known.items() if record.project in (memory.project, GLOBAL)}
    return [event for event in removed if event.about in own]


# Backups and recovery: these verbs work on closed files.


def back_up_store(
    store: Path, file: Path | None, *, keep: int | None, now: str
) -> tuple[Path, JournalMark, list[Path]]:
    """Copy a store to a file, or into its folder of backups, where only so many are kept if asked.

    Return the backup, its mark, and the older ones that were removed for it.
    """
    folder = store.parent / backup.FOLDER
    target = file or folder / f"{backup.NAMED}{now}.db"
    mark = back_up(store, target)
    if file:
        backup.note_elsewhere(store.parent, target)
    return target, mark, backup.rotate(folder, keep, target) if keep else []


def recover_file(file: Path, output: Path) -> Saved:
    """Write a new store of what can be read of a damaged file."""
    if not file.is_file():
        raise NotFound(f"There is no file {file}.", hint="Check the path.")
    if output.exists():
        raise Conflict(f"{output} is there already; nothing is overwritten.", hint="Give another name.")
    saved = salvage(file, output)
    backup.leave_one_file(output)
    return saved


def recover_store(store: Path, *, now: str) -> tuple[Saved, Path]:
    """Replace a damaged store by what can be read of it; return where the damaged one is kept.

    The new store is made in the folder of the damaged one's copy, and put in place only when it is whole.
    """
    with backup.unshared(store):
        kept = backup.set_aside(store, store.parent / f"damaged-{now}")
        new = kept / "recovered.db"
        saved = salvage(kept / store.name, new)
        backup.leave_one_file(new)
        backup.put_in_place(new, store)
        new.unlink()
    return saved, kept
