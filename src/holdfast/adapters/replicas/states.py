"""The state of replicas between syncs: small files next to the store, never in the replica. Losing one costs time, nothing else."""

import json
import os
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from holdfast.model.errors import ReplicaError
from holdfast.model.event import Json
from holdfast.model.files import read_regular, write_whole
from holdfast.model.foreign_json import parse_json

Stamp = tuple[int, int, int]
ABSENT: Stamp = (0, 0, -1)
_SCHEMA = """
create table if not exists notes (name text primary key, value text not null);
create table if not exists files (
    path text primary key, id text not null, mtime integer not null, ctime integer not null, size integer not null,
    said text not null
);
create index if not exists files_id on files (id);
"""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A file as it was: its record, and a stamp that shows without reading whether it changed."""

    path: str
    id: str
    stamp: Stamp
    said: Json


class Manifest:
    """The content of a markdown folder when it was last read or written. An unusable file is created again."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._db = _opened(path)
        except sqlite3.DatabaseError:
            path.unlink(missing_ok=True)
            self._db = _opened(path)

    def stamps(self) -> dict[str, tuple[str, Stamp]]:
        """Return record id and stamp of every file."""
        rows = self._db.execute("select path, id, mtime, ctime, size from files")
        return {path: (about, (mtime, ctime, size)) for path, about, mtime, ctime, size in rows}

    def said(self, path: str) -> Json | None:
        """Return the content of a file as it was last read or written."""
        row = self._db.execute("select said from files where path = ?", (path,)).fetchone()
        return dict(json.loads(row[0])) if row else None

    def note(self, name: str) -> str:
        """Return the value stored under a name."""
        row = self._db.execute("select value from notes where name = ?", (name,)).fetchone()
        return str(row[0]) if row else ""

    def change(self, put: Iterable[Row], drop: Iterable[str], notes: dict[str, str]) -> None:
        """Add and remove files and set notes, in a single transaction."""
        rows = [(row.path, row.id, *row.stamp, json.dumps(row.said, ensure_ascii=False)) for row in put]
        try:
            with self._db:
                self._db.executemany("delete from files where path = ?", [(path,) for path in drop])
                self._db.executemany("insert or replace into files values (?, ?, ?, ?, ?, ?)", rows)
                self._db.executemany("insert or replace into notes values (?, ?)", list(notes.items()))
        except sqlite3.Error as problem:
            raise ReplicaError(f"The state of the folder cannot be saved ({problem}).") from problem

    def close(self) -> None:
        """Close the database."""
        self._db.close()


def _opened(path: Path) -> sqlite3.Connection:
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    db = sqlite3.connect(path, timeout=30)
    try:
        db.execute("pragma secure_delete = on")  # what was erased must not stay here
        db.executescript(_SCHEMA)
    except sqlite3.DatabaseError:
        db.close()
        raise
    return db
