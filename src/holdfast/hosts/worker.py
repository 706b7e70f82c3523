"""The worker: started by a hook when there is something to do, one at a time for a store, gone when nothing is left.

It drains the spool, makes sessions and records of the trail, lets vectors catch up, refreshes the user's own markdown files where
they are turned on, and prepares what hooks answer with. It has no children, stops after a while whatever is left, and nothing runs when no agent runs.
"""

import logging
import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.compose import open_memory, refresh_copy
from holdfast.compose.adapters import open_replica
from holdfast.compose.settings import Settings
from holdfast.engine import tally, trail
from holdfast.engine.turns import turn
from holdfast.hosts.hooks.places import checkout_root, handover_file, prepared_file
from holdfast.model.errors import HoldfastError
from holdfast.model.trail import Happening
from holdfast.policy.recap import handover
from holdfast.policy.secrets import mask_secrets
from holdfast.verbs.branches import note_tips
from holdfast.verbs.derive import derive, summarise
from holdfast.verbs.erasing import finish, forget_prepared
from holdfast.verbs.memory import Memory
from holdfast.verbs.mining import log_output, mine_outputs
from holdfast.verbs.observer import Observed
from holdfast.verbs.prepare import hand_over, prepare
from holdfast.verbs.receipts import note_outcomes
from holdfast.verbs.replicas import is_on
from holdfast.verbs.sync import sync
from holdfast.verbs.trail import drain, expire, note_session

LONGEST_SECONDS = 120.0
HANDOVER_TOKENS = 1_200
KEPT_DAYS = 30  # what a session was shown, and left for its own other side of a compaction
LOCK = "work.lock"
log = logging.getLogger(__name__)


@dataclass(slots=True)
class Worked:
    """What was done."""

    drained: int = 0
    sessions: int = 0
    records: int = 0
    mined: int = 0
    vectors: int = 0
    files: int = 0
    prepared: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def work(settings: Settings, home: Path, folder: Path, *, seconds: float = LONGEST_SECONDS) -> Worked | None:
    """Do all there is to do, for at most so long; None if another worker is at it."""
    done, until = None, time.monotonic() + seconds
    while True:
        with alone(home) as is_ours:
            if not is_ours:
                return done
            done = done or Worked()
            with open_memory(settings, folder=folder) as memory:
                _work(memory, settings, home, folder, done, until)
        # A hook that came while we were still there left it to us: look once more, now that we are not.
        if time.monotonic() > until or not any((home / "spool").glob("*.json")):
            return done


def _work(memory: Memory, settings: Settings, home: Path, folder: Path, done: Worked, until: float) -> None:
    roots = {checkout_root(str(folder))}
    while time.monotonic() < until:
        found = drain(memory, home / "spool")
        done.drained += found.taken
        waiting = trail.waiting(memory.store.db)
        for session in waiting:
            if time.monotonic() > until:
                break
            with turn(home):  # it reads what an erasure may be taking away
                roots |= _session(memory, settings, home, session, done)
            finish(memory)
        if not found.taken and not waiting:
            break
    expire(memory)
    _tidy(home)
    finish(memory)
    forget_prepared(memory)
    for root in sorted(roots):
        _prepare(settings, home, root, done)
    done.files += _refresh(memory, folder, done)
    done.vectors = _embed(memory, until)
    refresh_copy(memory)


def _refresh(memory: Memory, folder: Path, done: Worked) -> int:
    """Bring the user's own markdown files up to date, where they are turned on; nothing that needs asking is done."""
    if not is_on(memory, "folder"):
        return 0
    replica, sharing = open_replica("folder", memory, folder)
    try:
        with closing(replica):
            synced = sync(memory, replica, sharing)
    except HoldfastError as problem:
        done.problems.append(str(problem))
        tally.fail(memory.store.db, "files", memory.clock.now(), str(problem))
        return 0
    done.problems += [f"left alone: {remark.where}: {remark.why}" for remark in synced.remarks]
    return synced.came + synced.put.records + synced.put.removed


def _session(memory: Memory, settings: Settings, home: Path, session: str, done: Worked) -> set[str]:
    """Derive what one session's trail holds, in the project of each folder it worked in.

    The whole trail is told again each time, and what was made of it before is there already: a worker that dies loses
    nothing, and a turn that still goes on is derived once it ended.
    """
    fresh, happenings = trail.fresh(memory.store.db, session), trail.of_session(memory.store.db, session)
    touched = {checkout_root(one.cwd or ".") for one in fresh}
    ended = any(one.event == "SessionEnd" for one in fresh)
    for root in touched:
        own = [one for one in happenings if checkout_root(one.cwd or ".") == root]
        with _opened(settings, root) as there:
            try:
                note_session(there, own)
                done.records += _derive(there, own, since=fresh[0].id, ended=ended)
                note_outcomes(there, own, ended=ended)
                done.mined += _mine(there, fresh, session)
            except HoldfastError as problem:
                done.problems.append(mask_secrets(str(problem)))
                tally.fail(memory.store.db, "derive", memory.clock.now(), mask_secrets(str(problem)))
    if any(one.event == "PreCompact" for one in fresh):
        hand_over(Path(handover_file(str(home), session)), handover(happenings, HANDOVER_TOKENS))
    trail.settle(memory.store.db, session, fresh[-1].id)
    done.sessions += 1
    return touched


def _derive(memory: Memory, happenings: list[Happening], *, since: str, ended: bool) -> int:
    told = [one for one in happenings if one.event != "Injected"]
    if not told:
        return 0
    derived = derive(memory, told, since=since, everything=ended)
    said = derived.observer.summary if isinstance(derived.observer, Observed) else None
    over = ended or told[-1].event in ("Stop", "PreCompact")
    summary = summarise(memory, told, said) if over or said else None
    return len(derived.observations) + len(derived.kept) + len(derived.held) + (summary is not None)


def _mine(memory: Memory, fresh: list[Happening], session: str) -> int:
    """Log what an agent answered, once, and offer what comes back often enough."""
    said = "\n\n".join(one.text for one in fresh if one.event in ("Stop", "SubagentStop") and one.text)
    return len(mine_outputs(memory).offered) if log_output(memory, said, session) else 0


def _prepare(settings: Settings, home: Path, root: str, done: Worked) -> None:
    with _opened(settings, root) as memory:
        note_tips(memory)
        prepare(memory, Path(prepared_file(str(home), root)))
        done.prepared.append(memory.project)


def _tidy(home: Path) -> None:
    """Throw away what hooks noted for sessions that are long gone, and what a hook that was killed did not finish."""
    for path in (home / "spool").glob(".*"):
        if path.stat().st_mtime < time.time() - 3_600:
            path.unlink(missing_ok=True)
    old = time.time() - KEPT_DAYS * 86_400
    for path in (*(home / "seen").glob("*"), *(home / "prepared").glob("handover-*")):
        if path.stat().st_mtime < old:
            path.unlink(missing_ok=True)


def _embed(memory: Memory, until: float) -> int:
    if memory.embedder is None:
        return 0
    from holdfast.verbs.embed import catch_up  # noqa: PLC0415  numpy: only where meaning is searched

    try:
        return catch_up(memory, stop=lambda: time.monotonic() > until)
    except HoldfastError as problem:
        log.warning("vectors wait: %s", problem)
        tally.fail(memory.store.db, "vectors", memory.clock.now(), mask_secrets(str(problem)))
        return 0


def _opened(settings: Settings, root: str) -> Memory:
    folder = Path(root)
    return open_memory(settings, folder=folder if folder.is_dir() else Path.home())


@contextmanager
def alone(home: Path) -> Iterator[bool]:
    """Hold the store's one place for a worker; one whose holder died is free again."""
    file = home / LOCK
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not _locked(handle):
            yield False
            return
        os.ftruncate(handle, 0)
        os.write(handle, str(os.getpid()).encode())
        yield True
        os.ftruncate(handle, 0)
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    """Take the lock of an open file if nobody has it; it goes with the process, however that ends."""
    try:
        import fcntl  # noqa: PLC0415  not on Windows
    except ImportError:
        import msvcrt  # noqa: PLC0415

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
