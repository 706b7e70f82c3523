"""What a replica remembers between syncs, in a file beside the store; losing it costs time, nothing else."""

import json
import os
from hashlib import blake2b
from pathlib import Path
from typing import Any

from holdfast.model.foreign_json import parse_json


def state_key(place: str) -> str:
    """Return a short name for a place."""
    return blake2b(place.encode(errors="surrogateescape"), digest_size=8).hexdigest()


def read_state(path: Path) -> dict[str, Any]:
    """Return what is remembered; nothing if that cannot be read."""
    try:
        value = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def write_state(path: Path, value: dict[str, Any]) -> None:
    """Remember something instead."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_aside(path, json.dumps(value))


def write_aside(path: Path, content: str, mode: int = 0o600) -> None:
    """Write a file aside and put it in place at once, so that nobody ever reads half of it."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with os.fdopen(
        os.open(fresh, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, mode), "w", encoding="utf-8", newline="\n"
    ) as file:
        file.write(content)
    fresh.replace(path)
