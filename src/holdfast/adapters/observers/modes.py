"""Modes as files: those that come with Holdfast, and the user's own in the store's `modes/` folder."""

import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from holdfast.model.errors import InvalidConfig
from holdfast.model.files import read_regular
from holdfast.model.foreign_json import parse_json
from holdfast.model.observer import Mode, merged, mode_from_json

FOLDER = "modes"
LARGEST = 500_000
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*(?:--[a-z0-9]+(?:-[a-z0-9]+)*)?")


def load_mode(name: str, home: Path | None) -> Mode:
    """Return a mode by name; `parent--child` is the parent overridden by the child's file."""
    if not _NAME.fullmatch(name):
        raise InvalidConfig(f"{name[:60]!r} is not the name of a mode.", hint="Use lower-case words joined by '-'.")
    parent, refined, _ = name.partition("--")
    value = _read(parent, home)
    return mode_from_json(name, merged(value, _read(name, home)) if refined else value)


def mode_names(home: Path | None) -> list[str]:
    """Return the names of all modes."""
    shipped = [path.name for path in files("holdfast.adapters.observers").joinpath(FOLDER).iterdir()]
    own = [path.name for path in (home / FOLDER).glob("*.json")] if home else []
    return sorted({name.removesuffix(".json") for name in (*shipped, *own) if name.endswith(".json")})


def _read(name: str, home: Path | None) -> Mapping[str, Any]:
    """Read a mode's file; the user's own takes precedence over the shipped one."""
    own = home / FOLDER / f"{name}.json" if home else None
    shipped = files("holdfast.adapters.observers").joinpath(FOLDER, f"{name}.json")
    try:
        value = parse_json(read_regular(own, LARGEST) if own and own.exists() else shipped.read_bytes())
    except FileNotFoundError as problem:
        hint = f"Modes are: {', '.join(mode_names(home))}."
        raise InvalidConfig(f"There is no mode {name}.", hint=hint) from problem
    except (OSError, ValueError) as problem:
        raise InvalidConfig(f"The mode {name} cannot be read: {problem}.", hint="Fix or remove its file.") from problem
    if not isinstance(value, dict):
        raise InvalidConfig(f"The mode {name} must be a JSON object.")
    return value
