"""Users of a server and their API keys, stored outside the journal; only the hash of a key is stored."""

from dataclasses import asdict
from typing import Literal

from holdfast.engine.database import Row, as_dict, insert
from holdfast.engine.journal import Journal
from holdfast.model.event import Key

# It is revoked once, expires no later than it would anyway, and its last use only gets later.
_CHANGES = {"revoked": "revoked_at = ''", "expires": "expires_at = '' or expires_at > :at", "used": "used_at < :at"}


def add_user(store: Journal, name: str, at: str) -> bool:
    """Add a user; False if the name exists already."""
    sql = "insert into users (name, created_at) values (:name, :at) on conflict (name) do nothing"
    return store.db.execute(sql, {"name": name, "at": at}) > 0


def users(store: Journal) -> dict[str, str]:
    """Return every user name with the time it was added."""
    return {row[0]: row[1] for row in store.db.query("select name, created_at from users order by name")}


def remove_user(store: Journal, name: str, at: str) -> bool:
    """Remove a user and revoke their keys; False if there is no such user."""
    with store.db.transaction():
        revoke_all = "update keys set revoked_at = :at where owner = :name and revoked_at = ''"
        store.db.execute(revoke_all, {"name": name, "at": at})
        return store.db.execute("delete from users where name = :name", {"name": name}) > 0


def add(store: Journal, key: Key) -> None:
    """Store a new key."""
    insert(store.db, "keys", [asdict(key) | {"projects": "\n".join(key.projects)}])


def get(store: Journal, key_id: str) -> Key | None:
    """Return a key by its id, None if there is none."""
    rows = store.db.query("select * from keys where id = :id", {"id": key_id})
    return _key(rows[0]) if rows else None


def every(store: Journal, owner: str = "") -> list[Key]:
    """Return the keys of one user, or all keys if no owner is named, oldest first."""
    sql = "select * from keys where owner = :owner or :owner = '' order by created_at, id"
    return [_key(row) for row in store.db.query(sql, {"owner": owner})]


def mark(store: Journal, key_id: str, what: Literal["revoked", "expires", "used"], at: str) -> bool:
    """Store when a key was revoked, expires, or was last used; False if that changes nothing, or there is no such key."""
    sql = f"update keys set {what}_at = :at where id = :id and ({_CHANGES[what]})"
    return store.db.execute(sql, {"id": key_id, "at": at}) > 0


def _key(row: Row) -> Key:
    return Key(**as_dict(row, Key) | {"projects": tuple(row["projects"].split("\n"))})
