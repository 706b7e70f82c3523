"""The state of a replica between syncs, in a file next to the store; losing it costs time, nothing else."""

import json
from hashlib import blake2b
from pathlib import Path
from typing import Any

from holdfast.model.files import read_regular, write_whole
from holdfast.model.foreign_json import parse_json


def state_key(place: str) -> str:
    """Return a short file name for a path or address."""
    return blake2b(place.encode(errors="surrogateescape"), digest_size=8).hexdigest()


def read_state(path: Path) -> dict[str, Any]:
    """Return the stored state; empty if it cannot be read."""
    try:
        value = parse_json(read_regular(path))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def write_state(path: Path, value: dict[str, Any]) -> None:
    """Store the state."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(path, json.dumps(value))
