"""The one place that reads configuration and the environment, and picks the adapters."""

import getpass
import json
import os
import platform
import socket
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from holdfast.adapters.checkout import GitCheckout
from holdfast.adapters.process import is_alive
from holdfast.engine.database import Database
from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import Progress, Store, open_store
from holdfast.model.config import PRESETS, Config
from holdfast.model.errors import InvalidConfig, StoreError, Unreachable
from holdfast.model.event import Actor
from holdfast.model.foreign import Item
from holdfast.model.history import History
from holdfast.model.ids import Clock
from holdfast.model.observer import Observer, Observing
from holdfast.model.ports import Checkout, Embedder, Replica, Travelling
from holdfast.model.record import Record
from holdfast.model.session import Host
from holdfast.policy.sharing import Sharing, own, with_team
from holdfast.verbs.memory import Memory

FILE = "holdfast.db"
COPY = "team.db"  # of a team's database, for when that is away
REACH_SECONDS = 0.8
FOLDER = ".holdfast"
# What of a store must not get into a repository; the rest of its folder (settings, team memories) may.
PRIVATE = (
    *(
        f"{FILE}*",
        f"{COPY}*",
        "http-token*",
        "setup.json",
        "spool",
        "prepared",
        "seen",
        "sessions",
        "hooks.log*",
        "work.lock",
    ),
    *("replicas", "markdown", "backups", "damaged-*"),
)
LATELY = 12 * 3600  # seconds; numbers of processes come again
EMBEDDERS = ("local", "http", "none")
OBSERVERS = ("none", "anthropic", "openai", "claude")
# What can be read, and the module that reads it; `file` is any file.
IMPORTERS = {
    "gitmem": "gitmem",
    "memory-mcp": "memory_mcp",
    "bettermemory": "bettermemory",
    "claude-mem": "claude_mem",
    "git-notes": "git_notes",
    "claude-code": "claude_code",
    "file": "file",
}
# A repository somebody cloned must not choose where memories are kept or sent: only these may stand in its file.
PROJECT_SETTINGS = frozenset(
    {
        "project",
        "recall_limit",
        "recall_budget",
        "confirm_writes",
        "allowed_scopes",
        "pending_days",
        "starters",
        "hot_capacity",
        "inject",
        "brief_budget",
        "preset",
        "guard_secrets",
        "prompt_hints",
    }
)
_KNOWN = {spec.name: spec for spec in fields(Config)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings in force, and where each value came from."""

    config: Config
    sources: Mapping[str, str]


def open_memory(
    settings: Settings | None = None, *, folder: Path | None = None, progress: Progress | None = None, role: str = ""
) -> Memory:
    """Open the memory for a folder (the working directory unless given); on a server's database as one of its roles."""
    here = folder or Path.cwd()
    settings = settings or load_settings(folder=here)
    config = settings.config
    process = os.getppid()
    home = store_folder(config, here)
    store, apart = _store(config, here, home, progress, role)
    clock = Clock()
    if last := store.last_id():
        clock.observe(last)
    return Memory(
        store=store,
        config=config,
        checkout=checkout_of(here, _name_of_its_own(settings)),
        embedder=_embedder(config),
        observing=lambda: _observing(config, here),
        actor=Actor(kind="agent" if config.agent else "user", name=config.agent or _login(), session=config.session),
        clock=clock,
        apart=apart,
        host=Host(
            name=platform.node(),
            pid=os.getpid(),
            parent=process,
            session=_client_session(store_folder(config, here) / "seen" / f"client-{process}"),
            is_alive=is_alive,
        ),
    )


def _store(config: Config, here: Path, home: Path, progress: Progress | None, role: str) -> tuple[Store, str]:
    """Open the store; where the team's database is away, the copy of this machine, with what to say about it.

    What was kept in the copy meanwhile goes to the team as soon as somebody opens it again. Without a copy nothing is
    local: a container leaves nothing behind.
    """
    shown = [progress] if progress else []
    if not config.database:
        return open_store(database_of(config, here), *shown, home=home), ""
    try:
        _look_for(config.database)
        store = open_store(database_of(config, here, role), *shown, home=home)
    except Unreachable as problem:
        return open_store(_copy(home), *shown, home=home), f"{problem.message} {_APART}"
    if (home / COPY).exists():
        from holdfast.verbs.outbox import drain, waiting

        copy = open_store(_copy(home))
        try:
            if waiting(copy):
                drain(copy, store)
        finally:
            copy.close()
    return store, ""


_APART = "This is the copy of this machine; what is kept now goes to the team when it is back."


def refresh_copy(memory: Memory) -> int:
    """Bring the team's records of the project at hand to this machine, for when the database is away; give how many events came."""
    if memory.apart or memory.store.db.dialect != "postgres" or memory.store.home is None:
        return 0
    from holdfast.verbs.outbox import pull

    copy = open_store(_copy(memory.store.home))
    try:
        return pull(copy, memory.store, memory.project, memory.actor.name)
    finally:
        copy.close()


def _copy(home: Path) -> Database:
    database = SQLite(home / COPY)
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


def _name_of_its_own(settings: Settings) -> str:
    """Give the name a repository gives itself; one that is set elsewhere may be of other code than is at hand."""
    its_own = Path(settings.sources.get("project", "")).parent.name == FOLDER
    return settings.config.project if its_own else ""


def checkout_of(folder: Path, name: str = "") -> Checkout:
    """Give the code around a folder, under a name of its own if it has one."""
    return GitCheckout(folder, name)


def history_of(folder: Path) -> History:
    """Give the history of the repository around a folder."""
    from holdfast.adapters.history import GitHistory

    return GitHistory(folder)


def foreign_items(system: str, path: Path) -> Iterator[Item]:
    """Give what the reader of another system finds at a path."""
    read: Callable[[Path], Iterator[Item]] = import_module(f"holdfast.adapters.importers.{IMPORTERS[system]}").read
    return read(path.expanduser())


def open_replica(name: str, memory: Memory, folder: Path | None = None) -> tuple[Replica, Sharing]:
    """Give a replica of this folder's memory by its name, and who it is shared with."""
    here, team = folder or Path.cwd(), with_team(memory.project)
    home = store_folder(memory.config, here)
    if name == "notes":
        return open_notes(memory, here), team
    from holdfast.adapters.replicas.git import Repository
    from holdfast.adapters.replicas.markdown import MarkdownFolder

    if name == "folder":
        return MarkdownFolder(home / "markdown", home / "replicas"), own()
    repository, place = Repository(here), memory.checkout.top() / FOLDER / "memories"
    at, follows = repository.head, repository.holds
    made = MarkdownFolder(
        place, home / "replicas", name=name, implied=team.implied, head=at, follows=follows, mode=0o666
    )
    return made, team


def markdown_folder(folder: Path, states: Path, memory: Memory) -> tuple[Replica, Sharing]:
    """Give a folder of markdown files wherever it lies; one of a repository says of which project its memories are."""
    from holdfast.adapters.replicas.markdown import MarkdownFolder

    of_team = folder.absolute().parts[-2:] == (FOLDER, "memories")
    sharing = with_team(memory.project) if of_team else own()
    return MarkdownFolder(folder, states, implied=sharing.implied), sharing


def open_notes(memory: Memory, folder: Path | None = None) -> Travelling:
    """Give the notes of the repository around a folder."""
    from holdfast.adapters.replicas.git_notes import GitNotes

    here = folder or Path.cwd()
    return GitNotes(here, store_folder(memory.config, here) / "replicas")


def write_markdown(records: Iterable[Record], folder: Path) -> int:
    """Write records as a folder that bettermemory reads; give how many."""
    from holdfast.adapters.exporters.bettermemory import write

    return write(records, folder.expanduser())


def load_settings(
    *, folder: Path | None = None, environment: Mapping[str, str] = os.environ, flags: Mapping[str, Any] | None = None
) -> Settings:
    """Gather the settings: defaults, the user's file, the project's file, HOLDFAST_* variables, flags."""
    values: dict[str, Any] = {}
    sources = dict.fromkeys(_KNOWN, "default")
    for source, given in _layers(folder or Path.cwd(), environment, flags or {}):
        for name, value in given.items():
            values[name] = _checked(source, name, value)
            sources[name] = source
    for name, value in _preset(values.get("preset", "")).items():
        if name not in values:
            values[name], sources[name] = value, f"preset {values['preset']}"
    config = Config(**values)
    if config.embedder not in EMBEDDERS:
        raise InvalidConfig(f"There is no embedder {config.embedder!r}.", hint=f"Use one of {', '.join(EMBEDDERS)}.")
    if config.observer not in OBSERVERS:
        raise InvalidConfig(f"There is no observer {config.observer!r}.", hint=f"Use one of {', '.join(OBSERVERS)}.")
    return Settings(config=config, sources=sources)


def user_file() -> Path:
    """Give the file of the user's own settings."""
    from platformdirs import user_config_path

    return user_config_path("holdfast", appauthor=False) / "config.toml"


def keep_settings(values: Mapping[str, Any]) -> Path:
    """Write settings into the user's own file, each on its line; everything else in it stays as it was."""
    file = user_file()
    checked = {name: _checked("The form", name, value) for name, value in values.items()}
    before = _read(file)
    text = file.read_text(encoding="utf-8") if before else ""
    for name, value in checked.items():
        text = _with_line(text, name, f"{name} = {_as_toml(value)}")
    if tomllib.loads(text) != {
        **before,
        **tomllib.loads("\n".join(f"{n} = {_as_toml(v)}" for n, v in checked.items())),
    }:
        raise InvalidConfig(f"{file} cannot be changed line by line.", hint="Edit it by hand.")
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = file.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
        out.write(text)
    aside.replace(file)
    return file


def _with_line(text: str, name: str, line: str) -> str:
    """Put a line in place of the one that sets a name, else before everything else: tables come last in TOML."""
    lines = text.splitlines()
    first_table = next((at for at, one in enumerate(lines) if one.lstrip().startswith("[")), len(lines))
    for at in range(first_table):
        if lines[at].partition("=")[0].strip() == name:
            lines[at] = line
            break
    else:
        lines.insert(0, line)
    return "\n".join(lines) + "\n"


def _as_toml(value: Any) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def store_folder(config: Config, here: Path) -> Path:
    """Give the folder of the store: as set, else the nearest .holdfast/ upward, else the platform's data folder."""
    if not config.home and (nearest := _nearest(here)) and _is_home(nearest):
        return nearest
    return user_folder(config)


def user_folder(config: Config) -> Path:
    """Give the folder of the store outside any project: as set, else the platform's data folder."""
    if config.home:
        return Path(config.home).expanduser()
    from platformdirs import user_data_path

    return user_data_path("holdfast", appauthor=False)


def _layers(
    here: Path, environment: Mapping[str, str], flags: Mapping[str, Any]
) -> list[tuple[str, Mapping[str, Any]]]:
    user = user_file()
    layers: list[tuple[str, Mapping[str, Any]]] = [(str(user), _read(user))]
    if (nearest := _nearest(here)) and (nearest / "config.toml").is_file():
        project = nearest / "config.toml"
        layers.append((str(project), _project_settings(project)))
    prefix = "HOLDFAST_"
    variables = {name: value for name, value in environment.items() if name.startswith(prefix)}
    layers += [(name, {name.removeprefix(prefix).lower(): value}) for name, value in variables.items()]
    layers.append(("flag", {name: value for name, value in flags.items() if value is not None}))
    return layers


def _preset(name: str) -> Mapping[str, Any]:
    if name and name not in PRESETS:
        raise InvalidConfig(f"There is no preset {name!r}.", hint=f"Use one of {', '.join(PRESETS)}.")
    return PRESETS.get(name, {})


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise InvalidConfig(f"{path} cannot be read: {problem}.", hint="Mend or remove that file.") from problem


def _project_settings(path: Path) -> dict[str, Any]:
    given = _read(path)
    for name in given:
        if name in _KNOWN and name not in PROJECT_SETTINGS:
            hint = "Set it in your own config.toml or by a HOLDFAST_ variable: a repository may not choose it for you."
            raise InvalidConfig(f"{path}: {name} cannot be set by a project.", hint=hint)
    return given


def _checked(source: str, name: str, value: Any) -> Any:
    """Give a value in its setting's type, or say what is wrong with it and where."""
    if name not in _KNOWN:
        near = get_close_matches(name, _KNOWN, n=1, cutoff=0.4)
        hint = f"Did you mean {near[0]}?" if near else "`holdfast config` shows every setting."
        raise InvalidConfig(f"{source}: there is no setting {name}.", hint=hint)
    default = _KNOWN[name].default
    try:
        return _converted(default, value)
    except (ValueError, TypeError) as problem:
        wanted = {bool: "true or false", int: "a whole number", float: "a number", tuple: "a list of texts"}
        expected = wanted.get(type(default), "a text")
        raise InvalidConfig(f"{source}: {name} must be {expected}, not {value!r}.") from problem


def _converted(default: Any, value: Any) -> Any:
    match default:
        case bool():
            return value if isinstance(value, bool) else _WORDS_FOR_BOOL[str(value).lower()]
        case int() | float() if not isinstance(value, bool):
            return type(default)(value)
        case tuple():
            items = [item.strip() for item in value.split(",")] if isinstance(value, str) else list(value)
            if not all(isinstance(item, str) for item in items):
                raise TypeError
            return tuple(item for item in items if item)
        case str() if isinstance(value, str):
            return value
    raise TypeError


class _Words(dict[str, bool]):
    def __missing__(self, word: str) -> bool:
        raise ValueError(word)


_WORDS_FOR_BOOL = _Words(
    {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
)


def _nearest(here: Path) -> Path | None:
    return next((path for folder in (here, *here.parents) if (path := folder / FOLDER).is_dir()), None)


def _is_home(folder: Path) -> bool:
    """Tell a store's folder from one that only carries what a repository shares (settings, team memories)."""
    return (folder / FILE).exists() or not any((folder / name).exists() for name in ("config.toml", "memories"))


def database_of(config: Config, here: Path, role: str = "") -> Database:
    """Open the database the settings name."""
    if not config.database:
        folder = store_folder(config, here)
        database = SQLite(folder / FILE)
        keep_out_of_git(folder)
        return database
    if not config.database.startswith(_POSTGRES):
        raise InvalidConfig("database must be a postgresql:// URL.", hint="Leave it empty for the SQLite file.")
    return _postgres(config.database, role=role)


def database_at(place: str) -> Database:
    """Open the database at a postgresql:// URL, or the embedded one in a folder."""
    return _postgres(place) if place.startswith(_POSTGRES) else SQLite(Path(place).expanduser() / FILE)


def guarded_store(config: Config) -> Store:
    """Open the team's store as its server does for its users: behind the policies of the database."""
    from holdfast.engine.access import MEMBER

    return Store(_patient(config.database, role=MEMBER))


def keys_store(config: Config, role: str = "") -> Store:
    """Open the team's store once more for looking at keys: whoever asks a server waits for that first."""
    return Store(_patient(config.database, role=role))


def _patient(url: str, role: str) -> Database:
    """Open a database for people who wait: no answer may take for ever."""
    from holdfast.engine.patience import ANSWER_SECONDS

    return _postgres(url, role=role, patience=ANSWER_SECONDS)


_POSTGRES = ("postgresql://", "postgres://")


def _postgres(url: str, *, role: str = "", patience: float = 0.0) -> Database:
    try:
        from holdfast.engine.postgres import Postgres
    except ImportError as problem:
        raise StoreError(
            "PostgreSQL needs one more package.", hint="Run: pip install 'holdfast[postgres]'"
        ) from problem
    return Postgres(url, role=role, patience=patience)


def keep_out_of_git(folder: Path) -> None:
    """See to it that a store inside a repository is not committed by accident; what is meant to be shared still can be."""
    if folder.name != FOLDER:
        return
    ignored = folder / ".gitignore"
    known = ignored.read_text(encoding="utf-8").splitlines() if ignored.exists() else []
    if missing := [line for line in PRIVATE if line not in known]:
        ignored.write_text("\n".join([*known, *missing, ""]), encoding="utf-8")


def _embedder(config: Config) -> Embedder | None:
    if config.embedder == "none":
        return None
    if config.embedder == "http":
        if not (config.embedder_url and config.embedder_model):
            raise InvalidConfig("The http embedder needs embedder_url and embedder_model.")
        from holdfast.adapters.embedders.http import HttpEmbedder

        return HttpEmbedder(
            config.embedder_url,
            config.embedder_model,
            config.embedder_key,
            floor=config.embedder_floor,
            ceiling=config.embedder_ceiling,
        )
    from holdfast.adapters.embedders.local import LocalEmbedder

    return LocalEmbedder()


def _observing(config: Config, here: Path) -> Observing | None:
    if config.observer == "none":
        return None
    from holdfast.adapters.observers.modes import load_mode

    return Observing(observer=_observer(config), mode=load_mode(config.mode, store_folder(config, here)))


def _observer(config: Config) -> Observer:
    url, model, key = config.observer_url, config.observer_model, config.observer_key
    if config.observer == "claude":
        from holdfast.adapters.observers.claude import ClaudeObserver

        return ClaudeObserver(model)
    if url and not url.startswith(("https://", "http://")):
        raise InvalidConfig("observer_url must begin with https:// or http://.")
    if config.observer == "openai":
        if not model:
            raise InvalidConfig("The openai observer needs observer_model.")
        from holdfast.adapters.observers.openai import OpenAIObserver

        return OpenAIObserver(url, model, key)
    if not key:
        raise InvalidConfig("The anthropic observer needs observer_key.")
    from holdfast.adapters.observers.anthropic import AnthropicObserver

    return AnthropicObserver(url, model, key)


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
