"""The background worker: a hook starts it when there is work; a single one runs per store and exits when it is done.

It drains the spool, derives sessions and records from the trail, embeds records, refreshes the user's markdown files if
they are turned on, and prepares the answers of hooks. Every folder is processed with its own settings and project. It has
no children and a time limit, and nothing runs when no agent runs.
"""

import logging
import os
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from holdfast.compose import refresh_copy, turn, worker_lock
from holdfast.compose.adapters import open_replica
from holdfast.hosts.hooks.places import checkout_root, handover_file
from holdfast.hosts.preparing import HANDOVER_TOKENS, Place, Places
from holdfast.model.errors import EmbedderError, HoldfastError, StoreBusy, StoreError
from holdfast.model.session import HookEvent
from holdfast.policy.activity.session_summary import handover
from holdfast.policy.secrets.find import mask_secrets
from holdfast.verbs.capture import trail
from holdfast.verbs.capture.derive import Observed, derive, summarise
from holdfast.verbs.capture.prepare import write_handover
from holdfast.verbs.exchange.replicas import is_on
from holdfast.verbs.exchange.sync import sync
from holdfast.verbs.memory import Memory
from holdfast.verbs.sessions.receipts import note_outcomes
from holdfast.verbs.truth.contradictions import compare
from holdfast.verbs.upkeep.erasing import finish, forget_prepared

LONGEST_SECONDS = 120.0
JUDGED, MOST_JUDGED = "judged sentences", 4  # a setting of the store, for the latest sessions
DERIVING = "deriving"  # a file that is there while sessions have activity from which nothing was derived yet
KEPT_DAYS = 30  # for lists of what a session has seen, and handovers across a compaction
log = logging.getLogger(__name__)


@dataclass(slots=True)
class Worked:
    """Counts of what was done."""

    drained: int = 0
    sessions: int = 0
    records: int = 0
    vectors: int = 0
    files: int = 0
    prepared: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def work(
    flags: Mapping[str, Any],
    home: Path,
    folder: Path,
    *,
    environment: Mapping[str, str] = os.environ,
    seconds: float = LONGEST_SECONDS,
) -> Worked | None:
    """Do all pending work of the store in `home`, within a time limit; None if another worker holds the lock."""
    places = Places.of(flags, home, folder, environment)
    done, until = None, time.monotonic() + seconds
    while True:
        with worker_lock(home) as is_ours:
            if not is_ours:
                return done
            done = done or Worked()
            try:
                with places.opened(places.first) as memory:
                    _work(memory, places, home, folder, done, until)
            except StoreBusy as problem:  # others keep writing: start again, and leave the rest to the next worker
                if time.monotonic() < until:
                    continue
                done.problems.append(f"The rest is left to the next worker. {problem}")
                return done
        # A hook that ran while we held the lock left its event to us: check again after releasing it.
        if time.monotonic() > until or not any((home / "spool").glob("*.json")):
            return done


def _work(memory: Memory, places: Places, home: Path, folder: Path, done: Worked, until: float) -> None:
    touched, deriving = {places.first}, home / DERIVING
    trail.finish_idle(memory)
    while time.monotonic() < until:
        drained = trail.drain(memory, home / "spool")
        done.drained += drained
        waiting = trail.waiting(memory.store)
        if waiting:
            deriving.touch(mode=0o600)
        for session in takewhile(lambda _: time.monotonic() <= until, waiting):
            with turn(home, shared=True):  # it reads what an erasure may be deleting
                touched |= _session(memory, places, home, session, done)
            finish(memory)
        if not drained and not waiting:
            break
    trail.expire(memory)
    _tidy(home)
    finish(memory)
    forget_prepared(memory)
    done.prepared += places.prepare(touched)
    deriving.unlink(missing_ok=True)
    done.files += _attempt(memory, "files", lambda: _refresh(memory, folder, done))
    if memory.embedder is not None:
        from holdfast.verbs.search.embed import catch_up  # noqa: PLC0415  imports numpy: only for semantic search

        done.vectors = _attempt(memory, "vectors", lambda: catch_up(memory, stop=lambda: time.monotonic() > until))
    before = memory.store.last_seq()
    _attempt(memory, "comparison", lambda: compare(memory, seconds=until - time.monotonic()), catch=EmbedderError)
    if memory.store.last_seq() != before:  # a brief marks what was found
        places.prepare(touched)
    refresh_copy(memory)


def _attempt(memory: Memory, what: str, part: Callable[[], Any], *, catch: type[HoldfastError] = HoldfastError) -> Any:
    """Return what a part of the work comes to; a failure is noted, and left to the next worker."""
    try:
        return part()
    except catch as problem:
        log.warning("%s postponed: %s", what, problem)
        memory.note_failure(what, mask_secrets(str(problem)))
        return 0


def _refresh(memory: Memory, folder: Path, done: Worked) -> int:
    """Sync the user's own markdown files, if they are turned on; changes that need confirmation are skipped."""
    if not is_on(memory, "folder"):
        return 0
    replica, sharing = open_replica("folder", memory, folder)
    try:
        with closing(replica):
            synced = sync(memory, replica, sharing)
    except HoldfastError as problem:
        done.problems.append(str(problem))
        raise
    done.problems += [f"note: {remark.where}: {remark.why}" for remark in synced.remarks]
    return synced.came + synced.put.records + synced.put.removed


def _session(memory: Memory, places: Places, home: Path, session: str, done: Worked) -> set[Place]:
    """Derive records from a session's trail, in the project of each folder it worked in.

    The whole trail is read each time, and records derived before are not created again: a worker that dies loses
    nothing, and an open turn is derived once it has ended. A failure of one session is recorded and does not stop the
    others; if the store itself fails, everything is left for the next worker.
    """
    fresh, activity = (trail.of_session(memory.store, session, fresh=fresh) for fresh in (True, False))
    roots = {event.cwd: checkout_root(event.cwd or ".") for event in activity}
    place_of = {event.id: Place(roots[event.cwd], event.settings.get("project", "")) for event in activity}
    touched = {place_of[event.id] for event in fresh}
    places.settings |= {place_of[event.id]: event.settings for event in fresh}
    places.active |= touched
    ended = any(event.event == "SessionEnd" for event in fresh)
    stopped = ended or any(event.event == "Idle" for event in fresh)
    if any(event.event == "PreCompact" for event in fresh):  # first: the session may continue at any moment
        _recall_judged(memory, session)
        write_handover(Path(handover_file(str(home), session)), handover(activity, HANDOVER_TOKENS, memory.reader))
    for place in touched:
        own = [event for event in activity if place_of[event.id] == place]
        try:
            with places.opened(place) as project_memory:
                trail.note_session(project_memory, own)
                done.records += _derive(project_memory, own, since=fresh[0].id, ended=stopped)
                note_outcomes(project_memory, own, ended=ended)
        except StoreError:
            raise
        except Exception as problem:  # the outermost loop of a host: a failing session must not stop the others
            log.exception("session %s", session)
            reason = mask_secrets(f"{session[:40]}: {problem}")
            done.problems.append(reason)
            memory.note_failure("derive", reason)
    if fresh:
        trail.settle(memory.store, session, fresh[-1].id)
    done.sessions += 1
    return touched


def _derive(memory: Memory, recorded: list[HookEvent], *, since: str, ended: bool) -> int:
    activity = [event for event in recorded if event.event != "Injected"]
    if not activity:
        return 0
    others = _recall_judged(memory, activity[0].session)
    derived = derive(memory, activity, since=since, include_open=ended)
    observed = derived.observer.summary if isinstance(derived.observer, Observed) else None
    summary = summarise(memory, activity, observed)  # of an open turn too: its session may never continue
    if not memory.store.is_guarded:
        judged = {**others, activity[0].session: memory.reader.known}
        memory.store.note(JUDGED, dict([*judged.items()][-MOST_JUDGED:]))
    return len(derived.observations) + len(derived.kept) + len(derived.held) + (summary is not None)


def _recall_judged(memory: Memory, session: str) -> dict[str, dict[str, list[float]]]:
    """Load how the sentences of a session were judged, so that they are judged once; return those of other sessions."""
    judged = memory.store.kept(JUDGED, dict[str, dict[str, list[float]]]())
    memory.reader.known.clear()
    memory.reader.known.update(judged.pop(session, {}))
    return judged


def _tidy(home: Path) -> None:
    """Delete notes of hooks about old sessions, and files that killed hooks left unfinished."""
    old = dict.fromkeys(("seen/*", "prepared/handover-*", f"spool/*{trail.SET_ASIDE}"), KEPT_DAYS)
    for names, days in {"spool/.*": 1 / 24, **old}.items():
        for path in home.glob(names):
            with suppress(FileNotFoundError):  # a hook may have just finished it
                if path.stat().st_mtime < time.time() - days * 86_400:
                    path.unlink()
