"""Open a memory: the only place that reads configuration and the environment, and picks the adapters."""

import getpass
import os
import platform
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit

from holdfast.adapters.embedders.local import LocalClassifier
from holdfast.adapters.git import git_text
from holdfast.adapters.process import is_alive
from holdfast.compose.adapters import checkout_of, embedder_of, erase_copies, observing_of
from holdfast.compose.settings import COPY, Settings, keep_out_of_git, load_settings, store_folder, working_folder
from holdfast.engine.database import Database
from holdfast.engine.locks import lock_file, try_lock
from holdfast.engine.locks import turn as turn
from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import Progress, Store, open_store
from holdfast.model.config import Config
from holdfast.model.errors import InvalidConfig, MissingPackage, Unreachable
from holdfast.model.event import Actor, ActorKind
from holdfast.model.files import FILE, read_regular
from holdfast.model.ids import Clock
from holdfast.model.session import Host
from holdfast.verbs.memory import Context, Memory

# numpy's threads spin while they wait, which doubles the CPU time of a recall. Set before anything imports numpy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
LOCK, POSTGRES = "work.lock", ("postgresql://", "postgres://")
REACH_SECONDS = 0.8
RECENT = 12 * 3600  # seconds; process ids are reused


def open_memory(
    settings: Settings | None = None, *, folder: Path | None = None, progress: Progress | None = None, role: str = ""
) -> Memory:
    """Open the memory for a folder (the working directory by default); on a server's database with one of its roles."""
    folder = folder or working_folder()
    settings = settings or load_settings(folder=folder)
    config = settings.config
    process, home = os.getppid(), store_folder(config, folder)
    if config.mode != "code":
        from holdfast.adapters.observers import load_mode

        load_mode(config.mode, home)  # raises InvalidConfig if there is none of this name
    store, apart = _store(config, home, progress, role)
    kind: ActorKind = "agent" if config.agent else "user"
    session = _client_session(home / "seen" / f"client-{process}")
    actor, clock = Actor(kind=kind, name=config.agent or _user(folder), session=config.session), Clock()
    if last := store.last_id():
        clock.observe(last)
    checkout = checkout_of(folder, name=config.project if settings.named else "", known=home / "checkouts.json")
    memory = Memory(
        store=store,
        config=config,
        checkout=checkout,
        embedder=embedder_of(config),
        classifier=LocalClassifier(),
        observing=lambda: observing_of(config, home),
        # Imported with the first erasure.
        on_erased=lambda memory, events: import_module("holdfast.verbs.upkeep.erasing").commit(memory, events),
        copies=lambda updates, is_outdated: erase_copies(home, folder, updates, is_outdated),
        context=Context(actor=actor),
        clock=clock,
        apart=apart,
        host=Host(name=platform.node(), pid=os.getpid(), parent=process, session=session, is_alive=is_alive),
    )
    notices = [apart, "" if config.project else checkout.doubt()]
    if any(each.certain for each in checkout.earlier()):
        from holdfast.verbs.records.project import follow_address

        notices.append(follow_address(memory))
    memory = replace(memory, notices=tuple(filter(None, notices)))
    if config.database and not apart and any((home / "erasing").glob("*.json")):
        from holdfast.verbs.upkeep.erasing import finish

        finish(memory)  # complete erasures made while the database was unreachable
    return memory


@contextmanager
def worker_lock(home: Path) -> Iterator[bool]:
    """Hold the store's one lock for a worker. It goes with the process, however that ends."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = lock_file(home / LOCK)
    try:
        yield try_lock(handle)
    finally:
        os.close(handle)


def _store(config: Config, home: Path, progress: Progress | None, role: str) -> tuple[Store, str]:
    """Open the store; if the team's database is unreachable, the copy on this machine, with a note about that.

    What was saved in the copy is sent to the team the next time the store is opened.
    """
    opened = partial(open_store, progress=progress or (lambda *_: None), home=home)
    if not config.database:
        return opened(database_of(config, home)), ""
    try:
        parts = urlsplit(config.database)
        if parts.hostname:  # a socket in a folder needs no check
            import socket  # it takes five milliseconds

            try:
                socket.create_connection((parts.hostname, parts.port or 5432), timeout=REACH_SECONDS).close()
            except OSError as problem:
                raise Unreachable(f"The team's database cannot be reached ({problem}).") from problem
        store = opened(database_of(config, home, role))
    except Unreachable as problem:
        what = "Working on the local copy; what is saved now is sent to the team when the database is back."
        return opened(_embedded(home, COPY)), f"{problem.message} {what}"
    if (home / COPY).exists():
        from holdfast.verbs.exchange.replicas import drain, waiting

        with closing(open_store(_embedded(home, COPY))) as copy:
            if waiting(copy):
                drain(copy, store)
    return store, ""


def refresh_copy(memory: Memory) -> int:
    """Copy the team's records of the current project to this machine, for when the database is unreachable; return the number of events."""
    if memory.apart or memory.store.is_embedded or memory.store.home is None:
        return 0
    from holdfast.verbs.exchange.replicas import pull
    from holdfast.verbs.upkeep.erasing import finish

    with closing(open_store(_embedded(memory.store.home, COPY))) as copy:
        copied = pull(copy, memory.store, memory.project, memory.actor.name)
    finish(memory)
    return copied


def _embedded(home: Path, name: str) -> Database:
    database = SQLite(home / name)
    keep_out_of_git(home)
    return database


def database_of(config: Config, home: Path, role: str = "") -> Database:
    """Open the database that the settings name, or the embedded one in the store's folder."""
    if config.database and not config.database.startswith(POSTGRES):
        raise InvalidConfig("database must be a postgresql:// URL.", hint="Leave it empty for the SQLite file.")
    return database_at(config.database or str(home), role=role)


def database_at(place: str, *, role: str = "", seconds: float = 0.0) -> Database:
    """Open the database at a postgresql:// URL, or the embedded one in a folder."""
    if not place.startswith(POSTGRES):
        return _embedded(Path(place).expanduser(), FILE)
    with needing("postgres"):
        from holdfast.engine.postgres.database import Postgres
    return Postgres(place, role=role, patience=seconds)


def served_store(config: Config, role: str = "") -> Store:
    """Open the team's store with connections of its own, whose queries time out, for requests of people who wait."""
    from holdfast.engine.postgres.database import ANSWER_SECONDS

    return Store(database_at(config.database, role=role, seconds=ANSWER_SECONDS))


@contextmanager
def needing(extras: str) -> Iterator[None]:
    """Name the extras to install if an import fails."""
    try:
        yield
    except ImportError as problem:
        raise MissingPackage(hint=f"Run: pip install 'holdfast[{extras}]'") from problem


def _client_session(note: Path) -> str:
    """Return the client's own session id: from its environment, else as its hooks recently noted it."""
    names = ("CLAUDE_CODE_SESSION_ID", "GEMINI_SESSION_ID", "CODEX_SESSION_ID", "COPILOT_SESSION_ID")
    if session := next(filter(None, map(os.environ.get, names)), ""):
        return session
    with suppress(OSError):  # this client has run no hook
        return read_regular(note).decode() if time.time() - note.stat().st_mtime < RECENT else ""
    return ""


def _user(folder: Path) -> str:
    """Return the name that git signs commits with in a folder, else that of the login."""
    with suppress(OSError, KeyError, ImportError):  # a container without a user database
        return (git_text(folder, "config", "user.name") or "").strip() or getpass.getuser()
    return ""
