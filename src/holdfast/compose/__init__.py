"""The one place that reads configuration and the environment, and picks the adapters."""

import getpass
import os
import platform
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

from holdfast.adapters.process import is_alive
from holdfast.compose.adapters import checkout_of, embedder_of, erase_copies, observing_of
from holdfast.compose.settings import COPY, FILE, Settings, keep_out_of_git, load_settings, store_folder
from holdfast.engine.database import Database
from holdfast.engine.opening import open_store
from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import Progress, Store
from holdfast.model.config import Config
from holdfast.model.errors import InvalidConfig, StoreError, Unreachable
from holdfast.model.event import Actor
from holdfast.model.ids import Clock
from holdfast.model.session import Host
from holdfast.verbs.memory import Memory

REACH_SECONDS = 0.8
LATELY = 12 * 3600  # seconds; numbers of processes come again


def open_memory(
    settings: Settings | None = None, *, folder: Path | None = None, progress: Progress | None = None, role: str = ""
) -> Memory:
    """Open the memory for a folder (the working directory unless given); on a server's database as one of its roles."""
    here = folder or Path.cwd()
    settings = settings or load_settings(folder=here)
    config = settings.config
    process = os.getppid()
    home = store_folder(config, here)
    store, apart = _store(config, home, progress, role)
    clock = Clock()
    if last := store.last_id():
        clock.observe(last)
    memory = Memory(
        store=store,
        config=config,
        checkout=checkout_of(here, name=config.project if settings.named else "", part=settings.part),
        embedder=embedder_of(config),
        observing=lambda: observing_of(config, home),
        copies=lambda told, is_outdated: erase_copies(home, here, told, is_outdated),
        actor=Actor(kind="agent" if config.agent else "user", name=config.agent or _login(), session=config.session),
        clock=clock,
        apart=apart,
        host=Host(
            name=platform.node(),
            pid=os.getpid(),
            parent=process,
            session=_client_session(home / "seen" / f"client-{process}"),
            is_alive=is_alive,
        ),
    )
    if config.database and not apart and any((home / "erasing").glob("*.json")):
        from holdfast.verbs.records.erasing import finish

        finish(memory)  # what was erased while the database was away
    return memory


def _store(config: Config, home: Path, progress: Progress | None, role: str) -> tuple[Store, str]:
    """Open the store; where the team's database is away, the copy of this machine, with what to say about it.

    What was kept in the copy meanwhile goes to the team as soon as somebody opens it again. Without a copy nothing is
    local: a container leaves nothing behind.
    """
    shown = [progress] if progress else []
    if not config.database:
        return open_store(database_of(config, home), *shown, home=home), ""
    try:
        _look_for(config.database)
        store = open_store(database_of(config, home, role), *shown, home=home)
    except Unreachable as problem:
        return open_store(_embedded(home, COPY), *shown, home=home), f"{problem.message} {_APART}"
    if (home / COPY).exists():
        from holdfast.verbs.exchange.outbox import drain, waiting

        copy = open_store(_embedded(home, COPY))
        try:
            if waiting(copy):
                drain(copy, store)
        finally:
            copy.close()
    return store, ""


_APART = "This is the copy of this machine; what is kept now goes to the team when it is back."


def refresh_copy(memory: Memory) -> int:
    """Bring the team's records of the project at hand to this machine, for when the database is away; give how many events came."""
    if memory.apart or memory.store.is_embedded or memory.store.home is None:
        return 0
    from holdfast.verbs.exchange.outbox import pull
    from holdfast.verbs.records.erasing import finish

    copy = open_store(_embedded(memory.store.home, COPY))
    try:
        came = pull(copy, memory.store, memory.project, memory.actor.name)
    finally:
        copy.close()
    finish(memory)
    return came


def _embedded(home: Path, name: str) -> Database:
    database = SQLite(home / name)
    keep_out_of_git(home)
    return database


def _look_for(url: str) -> None:
    """See within a second whether anybody listens at the address of a database; a socket in a folder tells at once anyway."""
    told = urlsplit(url)
    if not told.hostname:
        return
    try:
        socket.create_connection((told.hostname, told.port or 5432), timeout=REACH_SECONDS).close()
    except OSError as problem:
        raise Unreachable(f"The team's database cannot be reached ({problem}).") from problem


def database_of(config: Config, home: Path, role: str = "") -> Database:
    """Open the database the settings name, or the embedded one in the store's folder."""
    if not config.database:
        return _embedded(home, FILE)
    if not config.database.startswith(_POSTGRES):
        raise InvalidConfig("database must be a postgresql:// URL.", hint="Leave it empty for the SQLite file.")
    return _postgres(config.database, role=role)


def database_at(place: str) -> Database:
    """Open the database at a postgresql:// URL, or the embedded one in a folder."""
    return _postgres(place) if place.startswith(_POSTGRES) else SQLite(Path(place).expanduser() / FILE)


def guarded_store(config: Config) -> Store:
    """Open the team's store as its server does for its users: behind the policies of the database."""
    from holdfast.engine.postgres.roles import MEMBER

    return Store(_patient(config.database, role=MEMBER))


def keys_store(config: Config, role: str = "") -> Store:
    """Open the team's store once more for looking at keys: whoever asks a server waits for that first."""
    return Store(_patient(config.database, role=role))


def _patient(url: str, role: str) -> Database:
    """Open a database for people who wait: no answer may take for ever."""
    from holdfast.engine.postgres.timeouts import ANSWER_SECONDS

    return _postgres(url, role=role, patience=ANSWER_SECONDS)


_POSTGRES = ("postgresql://", "postgres://")


def _postgres(url: str, *, role: str = "", patience: float = 0.0) -> Database:
    try:
        from holdfast.engine.postgres.database import Postgres
    except ImportError as problem:
        raise StoreError(
            "PostgreSQL needs one more package.", hint="Run: pip install 'holdfast[postgres]'"
        ) from problem
    return Postgres(url, role=role, patience=patience)


def _client_session(note: Path) -> str:
    """Give what the client that started us calls its session: as it tells us, else as it told its hooks lately."""
    names = ("CLAUDE_CODE_SESSION_ID", "GEMINI_SESSION_ID", "CODEX_SESSION_ID", "COPILOT_SESSION_ID")
    if told := next((value for name in names if (value := os.environ.get(name))), ""):
        return told
    try:
        lately = time.time() - note.stat().st_mtime < LATELY
        return note.read_text(encoding="utf-8") if lately else ""
    except OSError:
        return ""  # no hook of this client ran


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""  # a container without a user database
