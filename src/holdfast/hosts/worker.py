"""The worker: started by a hook when there is something to do, one at a time for a store, gone when nothing is left.

It drains the spool, makes sessions and records of the trail, embeds records, refreshes the user's own markdown files where
they are turned on, and prepares what hooks answer with. Every folder is served with its own settings and project. It has no
children, stops after a while whatever is left, and nothing runs when no agent runs.
"""

import json
import logging
import os
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.compose import open_memory, refresh_copy
from holdfast.compose.adapters import open_replica
from holdfast.compose.locks import alone, turn
from holdfast.compose.settings import load_settings
from holdfast.hosts.hooks.places import (
    OF_A_SESSION,
    checkout_root,
    handover_file,
    prepared_file,
    remotes_of,
    session_settings,
)
from holdfast.model.errors import HoldfastError, StoreError
from holdfast.model.trail import Happening
from holdfast.policy.activity.recap import handover
from holdfast.policy.secrets.find import mask_secrets
from holdfast.verbs.capture.derive import derive, summarise
from holdfast.verbs.capture.mining import log_output, mine_outputs
from holdfast.verbs.capture.observer import Observed
from holdfast.verbs.capture.prepare import hand_over, prepare
from holdfast.verbs.capture.trail import (
    SET_ASIDE,
    activity_of,
    drain,
    expire,
    mark_derived,
    new_activity,
    note_session,
    waiting_sessions,
)
from holdfast.verbs.exchange.replicas import is_on
from holdfast.verbs.exchange.sync import sync
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.branches import note_tips
from holdfast.verbs.records.erasing import finish, forget_prepared
from holdfast.verbs.sessions.receipts import note_outcomes

LONGEST_SECONDS = 120.0
HANDOVER_TOKENS = 1_200
KEPT_DAYS = 30  # what a session was shown, and left for its own other side of a compaction
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


def work(
    flags: Mapping[str, Any],
    home: Path,
    folder: Path,
    *,
    environment: Mapping[str, str] = os.environ,
    seconds: float = LONGEST_SECONDS,
) -> Worked | None:
    """Do all there is to do for the store in `home`, for at most so long; None if another worker holds the lock.

    `flags` are settings for every folder but for those of a session, which hold for the folder it was started in.
    """
    places = _Places.of(flags, home, folder, environment)
    done, until = None, time.monotonic() + seconds
    while True:
        with alone(home) as is_ours:
            if not is_ours:
                return done
            done = done or Worked()
            with places.opened(places.first) as memory:
                _work(memory, places, home, folder, done, until)
        # A hook that came while we held the lock left its event to us: look again, now that we do not.
        if time.monotonic() > until or not any((home / "spool").glob("*.json")):
            return done


class Place(NamedTuple):
    """A checkout by its root, and the project that the shell of a session names for it, if it does."""

    root: str
    project: str = ""


@dataclass(slots=True)
class _Places:
    """What is served: places, each with the settings of the session that last worked there."""

    flags: Mapping[str, Any]
    environment: Mapping[str, str]
    home: str
    first: Place
    given: Mapping[str, Any]  # on the command line, for the folder it was started in
    settings: dict[Place, Mapping[str, Any]]

    @classmethod
    def of(cls, flags: Mapping[str, Any], home: Path, folder: Path, environment: Mapping[str, str]) -> "_Places":
        own = {name: value for name, value in flags.items() if name in OF_A_SESSION and value is not None}
        names = {f"HOLDFAST_{name.upper()}" for name in OF_A_SESSION}
        settings = session_settings(environment) | own
        first = Place(checkout_root(str(folder)), str(settings.get("project", "")))
        return cls(
            flags={name: value for name, value in flags.items() if name not in OF_A_SESSION} | {"home": str(home)},
            environment={name: value for name, value in environment.items() if name not in names},
            home=str(home),
            first=first,
            given=own,
            settings={first: settings},
        )

    def opened(self, place: Place) -> Memory:
        """Open the memory of a place. Of a folder that is gone, what was prepared for it says which project it was."""
        folder = Path(place.root)
        given = {**self.settings.get(place, {}), **(self.given if place == self.first else {})}
        if not folder.is_dir() and (project := self._prepared_for(place).get("project")):
            given["project"] = project
        settings = load_settings(folder=folder, environment=self.environment, flags={**self.flags, **given})
        return open_memory(settings, folder=folder)

    def prepared_file(self, place: Place) -> Path:
        """Return where the answers for a place are prepared."""
        return Path(prepared_file(self.home, place.root, place.project))

    def _prepared_for(self, place: Place) -> dict[str, Any]:
        try:
            found = json.loads(self.prepared_file(place).read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) and found.get("path") == place.root else {}


def _work(memory: Memory, places: _Places, home: Path, folder: Path, done: Worked, until: float) -> None:
    touched = {places.first}
    while time.monotonic() < until:
        drained = drain(memory, home / "spool")
        done.drained += drained.taken
        waiting = waiting_sessions(memory)
        for session in waiting:
            if time.monotonic() > until:
                break
            with turn(home):  # it reads what an erasure may be taking away
                touched |= _session(memory, places, home, session, done)
            finish(memory)
        if not drained.taken and not waiting:
            break
    expire(memory)
    _tidy(home)
    finish(memory)
    forget_prepared(memory)
    for place in sorted(touched):
        if Path(place.root).is_dir():
            _prepare(places, place, done)
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
        memory.note_failure("files", str(problem))
        return 0
    done.problems += [f"left alone: {remark.where}: {remark.why}" for remark in synced.remarks]
    return synced.came + synced.put.records + synced.put.removed


def _session(memory: Memory, places: _Places, home: Path, session: str, done: Worked) -> set[Place]:
    """Derive records from one session's trail, in the project of each folder it worked in.

    The whole trail is read each time, and what was made of it before is there already: a worker that dies loses
    nothing, and a turn that is not over is derived once it ended. A failure of one session is noted and does not keep the
    others waiting; where the store itself fails, everything stays as it is for the next worker.
    """
    fresh, activity = new_activity(memory, session), activity_of(memory, session)
    roots = {one.cwd: checkout_root(one.cwd or ".") for one in activity}
    place_of = {one.id: Place(roots[one.cwd], one.settings.get("project", "")) for one in activity}
    touched = {place_of[one.id] for one in fresh}
    places.settings |= {place_of[one.id]: one.settings for one in fresh}
    ended = any(one.event == "SessionEnd" for one in fresh)
    for place in touched:
        own = [one for one in activity if place_of[one.id] == place]
        try:
            with places.opened(place) as there:
                note_session(there, own)
                done.records += _derive(there, own, since=fresh[0].id, ended=ended)
                note_outcomes(there, own, ended=ended)
                done.mined += _mine(there, fresh, session)
        except StoreError:
            raise
        except Exception as problem:  # the loop of a host: one session must not stop the others
            log.exception("session %s", session)
            reason = mask_secrets(f"{session[:40]}: {problem}")
            done.problems.append(reason)
            memory.note_failure("derive", reason)
    if any(one.event == "PreCompact" for one in fresh):
        hand_over(Path(handover_file(str(home), session)), handover(activity, HANDOVER_TOKENS))
    if fresh:
        mark_derived(memory, session, fresh[-1].id)
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


def _prepare(places: _Places, place: Place, done: Worked) -> None:
    with places.opened(place) as memory:
        note_tips(memory)
        prepare(memory, places.prepared_file(place), path=place.root, remotes=remotes_of(place.root))
        done.prepared.append(memory.project)


def _tidy(home: Path) -> None:
    """Throw away what hooks noted for sessions that are long gone, and what a hook that was killed did not finish."""
    for path in (home / "spool").glob(".*"):
        if path.stat().st_mtime < time.time() - 3_600:
            path.unlink(missing_ok=True)
    old = time.time() - KEPT_DAYS * 86_400
    prepared = (*(home / "prepared").glob("handover-*"), *(home / "prepared").glob("*-*.json"))  # of earlier versions
    for path in (*(home / "seen").glob("*"), *prepared, *(home / "spool").glob(f"*{SET_ASIDE}")):
        if path.stat().st_mtime < old:
            path.unlink(missing_ok=True)


def _embed(memory: Memory, until: float) -> int:
    if memory.embedder is None:
        return 0
    from holdfast.verbs.search.embed import catch_up  # noqa: PLC0415  numpy: only where meaning is searched

    try:
        return catch_up(memory, stop=lambda: time.monotonic() > until)
    except HoldfastError as problem:
        log.warning("vectors wait: %s", problem)
        memory.note_failure("vectors", mask_secrets(str(problem)))
        return 0
