"""Status of the store, checks of everything that could be wrong, and rebuilding views."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.engine.journal import changed_rows
from holdfast.engine.locks import file_system_of, is_remote, problem_with_locks
from holdfast.engine.raw import counters, trail
from holdfast.engine.store import Progress, Store
from holdfast.engine.views import records, vectors
from holdfast.engine.views.records import Filter
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import days_before
from holdfast.model.text import counted
from holdfast.verbs.capture.trail import SET_ASIDE
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.project import saved_elsewhere
from holdfast.verbs.search.embed import catch_up, start_over, usable
from holdfast.verbs.sessions.receipts import outcomes_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What the store contains, and its state."""

    place: str
    project: str
    here: int
    everywhere: int
    pending: int
    retired: int
    projects: int
    events: int
    bytes: int
    embedder: str
    lagging: int
    trail_events: int = 0  # events in the trail
    waiting: int = 0  # sessions not processed yet
    spooled: int = 0  # files of hooks not drained yet
    injected: int = 0  # tokens injected in the last 7 days
    receipts: int = 0  # number of injections
    arrived: int = 0  # memories of this project with something in quarantine
    became: Mapping[str, int] = field(default_factory=dict)  # outcomes of what was injected
    note: str = ""
    elsewhere: tuple[str, ...] = ()  # sentences about memories of this checkout under other identities


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check of the doctor; an empty `fix` means that all is well."""

    name: str
    found: str
    fix: str = ""


def status(memory: Memory) -> Status:
    """Return what the store contains."""
    store = memory.store
    here = store.project_number(memory.project)
    events, waiting = trail.size(store)
    week = days_before(memory.clock.now(), 7)
    recent = store.happened(("injected",), week, 10_000)
    spool = store.folder / "spool" if store.folder else None
    return Status(
        place=store.db.place,
        project=memory.project,
        here=records.counted(store, Filter(projects=(here,))),
        everywhere=records.counted(store, Filter()),
        pending=records.counted(store, Filter(states=("pending",))),
        retired=records.counted(store, Filter(states=("retired",))),
        projects=len([name for name, count in store.projects().items() if name and count]),
        events=store.event_count(),
        bytes=store.db.size,
        embedder=memory.embedder.name if memory.embedder else "none",
        lagging=vectors.lag(store),
        trail_events=events,
        waiting=waiting,
        spooled=sum(1 for _ in spool.glob("*.json")) if spool else 0,
        injected=sum(tokens for event in recent if isinstance(tokens := event.data.get("tokens"), int)),
        receipts=len(recent),
        arrived=records.counted(
            store, Filter(projects=store.homes(memory.project), states=(), separate=True, waits=True)
        ),
        became=outcomes_of(memory, recent, week),
        note=usable(memory),
        elsewhere=tuple(saved_elsewhere(memory)),
    )


def rebuild_views(memory: Memory, progress: Progress) -> int:
    """Rebuild every view except vectors from the journal; return the number of records."""
    return memory.store.rebuild(progress=progress)


def rebuild_vectors(memory: Memory, progress: Callable[[int], None]) -> int:
    """Embed every record again with the current embedder; return their number. Without an embedder nothing changes."""
    if memory.embedder is None:
        return 0
    start_over(memory)
    return catch_up(memory, progress=progress)


def examine(memory: Memory) -> Iterator[Check]:
    """Yield the checks of everything that could be wrong."""
    db = memory.store.db
    if db.path is None:
        yield Check(name="server", found=f"{db.place} answers: {db.version}")
    else:
        yield Check(name="sqlite", found=db.version)
        yield _integrity(memory.store)
        yield _permissions(db.path)
        yield _locks(db.path)
    for sentence in saved_elsewhere(memory):
        yield Check(name="project", found=sentence)
    yield _agreement(memory)
    yield _embedder(memory)
    yield _classifier(memory)
    yield _lag(memory)
    yield from _hooks(memory)


def _integrity(store: Store) -> Check:
    damage = store.db.damage()
    if not damage:
        damage = [f"event {row} was altered" for row in changed_rows(store)]
    if not damage:
        return Check(name="pages", found=f"{store.db.place} is intact")
    fix = "holdfast store recover saves what is readable; holdfast store restore FILE restores a backup"
    return Check(name="pages", found="; ".join(damage[:3]), fix=fix)


def _permissions(file: Path) -> Check:
    loose = [path for path in (file, file.parent) if stat.S_IMODE(path.stat().st_mode) & 0o077]
    if not loose or os.name == "nt":
        return Check(name="permissions", found="only you can read the store")
    return Check(name="permissions", found=f"others can read {loose[0]}", fix=f"chmod go-rwx '{loose[0]}'")


def _locks(file: Path) -> Check:
    """Check that locks work between processes, and the kind of file system."""
    kind, move = file_system_of(file.parent), "move the store to a local disk and set HOLDFAST_HOME"
    try:
        problem = problem_with_locks(file.parent)
    except OSError as unwritable:
        return Check(name="locks", found=f"not checked: {unwritable.strerror}")
    if problem:
        return Check(name="locks", found=f"{problem}: processes could damage the store", fix=move)
    if is_remote(kind):
        return Check(name="locks", found=f"the store is on {kind}, where locks may not reach other machines", fix=move)
    return Check(name="locks", found="locks work between processes")


def _agreement(memory: Memory) -> Check:
    """Compare the newest records with their events."""
    sample = records.page(memory.store, Filter(states=(), separate=True), limit=200)
    from_journal = {entry.record.id: memory.store.folded(entry.record.id) for entry in sample}
    wrong = [entry.record.id for entry in sample if from_journal[entry.record.id] != entry.record]
    if not wrong:
        return Check(name="views", found=f"the newest {len(sample)} records agree with the journal")
    return Check(
        name="views",
        found=f"{len(wrong)} of {len(sample)} records disagree with the journal",
        fix="holdfast store rebuild",
    )


def _hooks(memory: Memory) -> Iterator[Check]:
    """Report events that could not be used, and hooks that failed."""
    folder = memory.store.folder
    aside = sorted((folder / "spool").glob(f"*{SET_ASIDE}")) if folder else []
    failed = [
        failure
        for failure in counters.failures(memory.store, counters.KEPT_FAILURES)
        if failure.name in ("spool", "derive")
    ]
    if aside:
        reasons = [failure.said for failure in failed if failure.name == "spool"]
        why = f" ({reasons[0]})" if reasons else ""
        fix = f"Look at {aside[0].parent}/*{SET_ASIDE} and delete them; nothing else needs them"
        yield Check(name="spool", found=f"{counted(len(aside), 'event')} set aside{why}", fix=fix)
    lost = [
        failure for failure in failed if failure.name == "derive" and failure.at > days_before(memory.clock.now(), 7)
    ]
    if lost:
        yield Check(name="sessions", found=f"{counted(len(lost), 'session')} could not be processed: {lost[0].said}")


def _classifier(memory: Memory) -> Check:
    if memory.classifier is None:
        return Check(name="classifier", found="none: only explicit markers are kept")
    try:
        memory.classifier.chances("user", "We never mock the database here.")
    except HoldfastError as problem:
        return Check(name="classifier", found=problem.message, fix=problem.hint or "Reinstall Holdfast.")
    return Check(name="classifier", found=f"{memory.classifier.name} works")


def _embedder(memory: Memory) -> Check:
    if memory.embedder is None:
        return Check(name="embedder", found="none: search is by words only")
    try:
        memory.embedder.embed(["a memory"])
    except HoldfastError as problem:
        return Check(name="embedder", found=problem.message, fix=problem.hint or "Set embedder to local.")
    return Check(name="embedder", found=f"{memory.embedder.name} works")


def _lag(memory: Memory) -> Check:
    waiting = vectors.lag(memory.store)
    if problem := usable(memory) if memory.embedder else "":
        return Check(name="vectors", found=problem, fix="holdfast store rebuild vectors")
    if not waiting or memory.embedder is None:
        return Check(name="vectors", found="up to date" if not waiting else "not in use")
    return Check(name="vectors", found=f"{waiting} records have none yet; recall catches up automatically")
