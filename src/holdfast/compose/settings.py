"""Load the settings with the source of each value, and find the folder of the store."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from hashlib import blake2b
from pathlib import Path
from typing import Any

from holdfast.adapters.checkout import GitCheckout
from holdfast.adapters.git import git_text
from holdfast.model import files
from holdfast.model.config import PRESETS, Config, Preset, preset_of
from holdfast.model.errors import Conflict, Invalid, InvalidConfig
from holdfast.model.patterns import tables

COPY = "team.db"  # local copy of a team's database, for when that is unreachable
_TABLES = {section: dict(rows) for section, rows in tables(__file__).items()}
PRIVATE = [f"{files.FILE}*", f"{COPY}*", *_TABLES["private"]["files"].split()]
CHOICES = {name: tuple(row.split()) for name, row in _TABLES["choices"].items()} | {"preset": ("", *PRESETS)}
REPOSITORY_SETTINGS: Mapping[str, range | tuple[bool, ...]] = {
    name: range(int(first), int(last) + 1) if last else tuple(word == "true" for word in row.split(" or "))
    for name, row in _TABLES["repository"].items()
    for first, _, last in [row.partition(" to ")]
}
_PREFIX = "HOLDFAST_"
LARGEST_FILE = 200_000  # bytes of a file with settings
_KNOWN = {spec.name: spec for spec in fields(Config)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings in force, and where each value came from."""

    config: Config
    sources: Mapping[str, str]
    named: bool = False  # the user's settings name this folder's project
    warnings: tuple[str, ...] = ()  # settings that were ignored: of a repository's file, or of an unknown name
    wrong: tuple[InvalidConfig, ...] = ()  # values that cannot be used; the defaults are in force


def load_settings(
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] = os.environ,
    flags: Mapping[str, Any] | None = None,
    preset: str = "",
    lenient: bool = False,
) -> Settings:
    """Collect the settings: defaults, a preset, the user's file, the repository's file, HOLDFAST_* variables, flags.

    `preset` is the one in force unless the settings choose another; the variables of its system count too. An unknown name
    is ignored with a warning, and a wrong value raised as InvalidConfig, or noted if `lenient`; a flag must be right.
    """
    here, values, sources = folder or working_folder(), dict[str, Any](), dict.fromkeys(_KNOWN, "default")
    user, (repository_file, of_repository, warnings) = str(user_file()), _repository_settings(here)
    variables = [name for name in environment if name.startswith(_PREFIX)]
    layers: list[tuple[str, Mapping[str, Any]]] = [
        (user, _user_settings(user_file(), here)),
        (repository_file, of_repository),
        *((name, {name.removeprefix(_PREFIX).lower(): environment[name]}) for name in variables),
        ("flag", {name: value for name, value in (flags or {}).items() if value is not None}),
    ]
    wrong = list[InvalidConfig]()
    for source, name, value in ((source, *pair) for source, layer in layers for pair in layer.items()):
        try:
            values[name] = check_setting(source, name, value)
            sources[name] = source
        except InvalidConfig as problem:
            if source == "flag":
                raise
            problem.hint += f" `{f'holdfast config unset {name}' if source == user else f'unset {source}'}` removes it."
            if name not in _KNOWN:
                warnings = (*warnings, f"Ignored: {problem.message} {problem.hint}")
            elif lenient:
                wrong.append(problem)
            else:
                raise
    if preset in PRESETS and "preset" not in values:
        values["preset"], sources["preset"] = preset, "surface"
    system = preset_of(named := values.get("preset", ""))
    from_files = (user, repository_file)
    for source, name, value in _foreign_settings(system, environment, here):
        if name not in values or sources[name] in from_files:
            values[name], sources[name] = check_setting(source, name, value), source
    sources |= {name: f"preset {named}" for name in system.settings if name not in values}
    config = Config(**{**system.settings, **values})
    known = {*system.variables, *system.switches}
    unknown = [name for name in environment if system.prefix and name.startswith(system.prefix) and name not in known]
    idle = f"Without effect here: {', '.join(sorted(unknown))}. See docs/compatibility.md."
    warnings = (*warnings, *_unlisted_store(config, here), *([idle] if unknown else ()))
    is_named = sources["project"] == user and bool(config.project)
    return Settings(config=config, sources=sources, named=is_named, warnings=warnings, wrong=tuple(wrong))


def working_folder() -> Path:
    """Return the working directory; raise Invalid if it was deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError as problem:
        raise Invalid("The working directory was deleted.", hint="Change to a folder that exists.") from problem


def user_file() -> Path:
    """Return the path of the user's own settings file."""
    from platformdirs import user_config_path

    return user_config_path("holdfast", appauthor=False) / "config.toml"


def settings_files(folder: Path) -> list[str]:
    """Return the files that the settings of a folder come from, whether they exist or not."""
    return [str(user_file()), str((_nearest(folder) or folder / files.FOLDER) / "config.toml")]


def printable(name: str, value: object) -> object:
    """Return a setting's value as people and programs may read it, without credentials."""
    if name in ("embedder_key", "observer_key", "http_token") and value:
        return "(set)"
    if name == "database":
        return re.sub(r"(?<=:)(?!//).*(?=@)|(?<=password=)[^&]+", "…", str(value))
    return list(value) if isinstance(value, tuple) else value


def keep_settings(values: Mapping[str, Any]) -> Path:
    """Save settings in the user's own file; everything else in it stays as it was."""
    checked = {name: check_setting("Not saved", name, value) for name, value in values.items()}
    return _save({n: list(value) if isinstance(value, tuple) else value for n, value in checked.items()})


def drop_setting(name: str) -> Path:
    """Remove a setting from the user's own file; raise InvalidConfig if it is not set there."""
    if name not in _read(file := user_file()).keys() - {"projects"}:
        raise InvalidConfig(f"{name} is not set in {file}.", hint="`holdfast config` shows where each value is set.")
    return _save({}, without=name)


def name_project(folder: Path, name: str) -> Path:
    """Name the project of a folder in the user's own file."""
    return _save({"projects": {**_read(user_file()).get("projects", {}), str(folder): name}})


def put_settings_back(before: bytes | None, after: bytes) -> None:
    """Return the user's own file from one content to an earlier one; raise Conflict if it has another by now."""
    file = user_file()
    if not file.exists() or files.read_regular(file, LARGEST_FILE) != after:
        raise Conflict(f"{file} was changed again in the meantime.")
    if before is None:
        file.unlink()
    else:
        files.write_whole(file, before)


def _save(values: Mapping[str, Any], *, without: str = "") -> Path:
    """Write new values into the user's own file, or remove one; raise InvalidConfig where that would change other lines."""
    import tomllib

    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    file = user_file()
    before = _read(file)
    text = files.read_regular(file, LARGEST_FILE).decode() if before or file.exists() else ""
    newline = "\r\n" if "\r\n" in text else "\n"
    try:
        document = tomlkit.parse(text.replace("\r\n", "\n"))
        unchanged = document.as_string().replace("\n", newline) == text
        added = tomlkit.item({name: value for name, value in values.items() if name not in document}).as_string()
        document.update({name: value for name, value in values.items() if name in document})
        document.pop(without, None)
    except (TOMLKitError, RecursionError) as problem:
        raise InvalidConfig(f"{file} cannot be edited: {problem}.", hint="Edit it by hand.") from problem
    edited: str = (added + document.as_string()).replace("\n", newline)  # new ones first: a table ends at the next one
    wanted = {name: value for name, value in {**before, **values}.items() if name != without}
    if not unchanged or tomllib.loads(edited) != wanted:
        raise InvalidConfig(f"{file} cannot be edited without changing other lines.", hint="Edit it by hand.")
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    files.write_whole(file, edited.encode())
    return file


def store_folder(config: Config, folder: Path) -> Path:
    """Return the folder of the store: as set, else the one the user made for this folder, else the platform's data folder."""
    if config.home:
        return Path(config.home).expanduser().absolute()
    try:
        return Path(files.home_of(str(folder)))
    except PermissionError as problem:
        hint = "Run: chmod -R go-w on that folder, or `holdfast store detach` to use the usual store here."
        raise InvalidConfig(f"The store of this folder is not used: {problem}.", hint=hint) from problem
    except (OSError, ValueError) as problem:
        raise InvalidConfig(f"The list of stores in {files.data_folder()} cannot be read: {problem}.") from problem


def user_folder(config: Config) -> Path:
    """Return the folder of the store outside any project: as set, else the platform's data folder."""
    return Path(config.home or files.data_folder()).expanduser().absolute()


def make_store(folder: Path, at: Path | None = None) -> Path:
    """Use a store of its own for a folder, in the user's data folder or `at` another one; return where it is."""
    name = f"{folder.resolve().name}-{blake2b(bytes(folder.resolve()), digest_size=4).hexdigest()}"
    store = (at or Path(files.data_folder()) / "stores" / name).resolve()
    store.mkdir(mode=0o700, parents=True, exist_ok=True)
    if git_text(store, "ls-files", "--error-unmatch", "--", f":(top,icase,glob)**/{files.FILE}") is not None:
        raise Conflict(f"{store} came with the repository: git tracks a store there.", hint="Choose another folder.")
    try:
        files.check_own(str(store))
    except PermissionError as problem:
        raise Conflict(f"{store} cannot be your store: {problem}.", hint="Choose another folder.") from problem
    files.list_store(str(folder), str(store))
    return store


def _unlisted_store(config: Config, folder: Path) -> tuple[str, ...]:
    """Return a warning about a store nearby that is not on the user's list: it may be someone else's."""
    near = None if config.home or config.database else _nearest(folder)
    if near and (near / files.FILE).exists() and str(near.resolve()) not in files.listed_stores().values():
        why = f"{near} holds a store that is not on your list, so it is not used: it may have come with the repository."
        return (f"{why} If you made it: holdfast store separate {near.parent} --at {near}",)
    return ()


def _user_settings(file: Path, start: Path) -> dict[str, Any]:
    """Read the user's own file; its table `projects` names the projects of folders and their subfolders."""
    values = _read(file)
    named = values.pop("projects", {})
    if not isinstance(named, dict) or not all(isinstance(name, str) for name in named.values()):
        raise InvalidConfig(f"{file}: projects must be a table of folders and names.")
    folders = {Path(folder).expanduser().resolve(): name for folder, name in named.items()}
    nearest = next((parent for parent in (start.resolve(), *start.resolve().parents) if parent in folders), None)
    return values | ({"project": folders[nearest]} if nearest else {})


def _foreign_settings(preset: Preset, environment: Mapping[str, str], folder: Path) -> Iterator[tuple[str, str, Any]]:
    for variable, setting in preset.variables.items():
        value = environment.get(variable, "").strip()
        if setting == "home" and Path(value).suffix == ".db":  # a file there; here its folder
            value = str(Path(value).parent)
        if setting == "project" and value.lower() in ("default", GitCheckout(folder).project().lower().split("/")[-1]):
            value = ""  # what its users call this repository
        if value:
            yield variable, setting, value
    for variable, off in preset.switches.items():
        if (value := environment.get(variable, "")) and not _converted(False, value):
            yield from ((variable, name, value) for name, value in off.items())


def _read(path: Path) -> dict[str, Any]:
    try:
        text = files.read_regular(path, LARGEST_FILE).decode()
        import tomllib  # takes five milliseconds: only if there is a file

        return tomllib.loads(text)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise InvalidConfig(f"{path} cannot be read: {why}.", hint="Fix or remove that file.") from problem


def _repository_settings(folder: Path) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    """Return a repository's file, what it sets as far as it may, and a warning about the rest."""
    file = (_nearest(folder) or folder / files.FOLDER) / "config.toml"
    try:
        written = _read(file)
    except InvalidConfig as problem:
        return str(file), {}, (f"Ignored: {problem.message}",)
    values, refused = dict[str, Any](), list[str]()
    for name, value in written.items():
        try:
            values[name] = check_setting("repository", name, value)
        except InvalidConfig as problem:
            refused.append(f"{name} ({problem.message.removeprefix('repository: ').rstrip('.')})")
            continue
        allowed = REPOSITORY_SETTINGS.get(name, ())
        if values[name] not in allowed:
            del values[name]
            bounds = f"must be between {allowed[0]} and {allowed[-1]}" if isinstance(allowed, range) else ""
            refused.append(f"{name} ({bounds or 'only your own settings or a HOLDFAST_ variable may set it'})")
    return str(file), values, (f"Ignored in {file}: {'; '.join(refused)}",) if refused else ()


def check_setting(source: str, name: str, value: Any) -> Any:
    """Return a value in its setting's type; raise InvalidConfig with the source if it has another."""
    if name not in _KNOWN:
        from difflib import get_close_matches

        near = get_close_matches(name, _KNOWN, n=1, cutoff=0.8)
        hint = f"Did you mean {near[0]}?" if near else "`holdfast config` shows every setting."
        raise InvalidConfig(f"{source}: there is no setting {name}.", hint=hint)
    if value not in (choices := CHOICES.get(name, (value,))):
        hint = f"Use one of {', '.join(filter(None, choices))}."
        raise InvalidConfig(f"{source}: there is no {name} {value!r}.", hint=hint)
    default, least = _KNOWN[name].default, int(name == "recall_limit")
    try:
        return _converted(default, value, least)
    except (ValueError, TypeError, KeyError) as problem:
        wanted = {bool: "true or false", float: "a number", tuple: "a list of texts", str: "a text"}
        expected = wanted.get(type(default), f"a whole number from {least}")
        raise InvalidConfig(f"{source}: {name} must be {expected}, not {value!r}.") from problem


def _converted(default: Any, value: Any, least: int = 0) -> Any:
    match default:
        case bool():
            return value if isinstance(value, bool) else _WORDS_FOR_BOOL[str(value).lower()]
        case int() | float() if not isinstance(value, bool):
            number = type(default)(value)
            if isinstance(number, float) or number >= least:
                return number
        case tuple():
            items = [item.strip() for item in value.split(",")] if isinstance(value, str) else list(value)
            if not all(isinstance(item, str) for item in items):
                raise TypeError
            return tuple(item for item in items if item)
        case str() if isinstance(value, str):
            return value
    raise TypeError


_WORDS_FOR_BOOL = dict.fromkeys(("true", "1", "yes", "on"), True) | dict.fromkeys(("false", "0", "no", "off"), False)


def _nearest(start: Path) -> Path | None:
    return next((path for folder in (start, *start.parents) if (path := folder / files.FOLDER).is_dir()), None)


def keep_out_of_git(folder: Path) -> None:
    """Keep a store inside a repository from being committed by accident; shared files still can be."""
    if folder.name != files.FOLDER:
        return
    # The lines stand last, where they win over any that came with the repository.
    ignored, block = folder / ".gitignore", "\n".join([*PRIVATE, ""])
    try:
        known = files.read_regular(ignored, LARGEST_FILE, links=False).decode() if ignored.exists() else ""
        if not known.endswith(block):
            files.write_whole(ignored, known + "\n" * (bool(known) and not known.endswith("\n")) + block, 0o644)
    except (OSError, UnicodeDecodeError):
        return  # a full or read-only disk, a link or a pipe: the store there can still be read
