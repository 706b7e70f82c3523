"""The settings in force and where each comes from, and the folders a store is kept in."""

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from holdfast.adapters.git import came_with_repository
from holdfast.model.config import PRESETS, Config
from holdfast.model.errors import InvalidConfig

FILE = "holdfast.db"
COPY = "team.db"  # of a team's database, for when that is away
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
# Settings that are one of a few words.
CHOICES = {
    "embedder": ("local", "http", "none"),
    "observer": ("none", "anthropic", "openai", "claude"),
    "quarantine": ("show", "hide", "off"),
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
    for name, choices in CHOICES.items():
        if (chosen := getattr(config, name)) not in choices:
            raise InvalidConfig(f"There is no {name} {chosen!r}.", hint=f"Use one of {', '.join(choices)}.")
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
    """Tell a store's folder from one that only carries what a repository shares: settings, memories, or a store of its maker."""
    if (folder / FILE).exists():
        return not came_with_repository(folder)
    return not any((folder / name).exists() for name in ("config.toml", "memories"))


def keep_out_of_git(folder: Path) -> None:
    """See to it that a store inside a repository is not committed by accident; what is meant to be shared still can be."""
    if folder.name != FOLDER:
        return
    ignored = folder / ".gitignore"
    known = ignored.read_text(encoding="utf-8").splitlines() if ignored.exists() else []
    if missing := [line for line in PRIVATE if line not in known]:
        try:
            ignored.write_text("\n".join([*known, *missing, ""]), encoding="utf-8")
        except OSError:
            return  # a full or read-only disk: the store there can still be read
