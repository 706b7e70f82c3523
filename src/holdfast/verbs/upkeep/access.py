"""Users of a server and their keys for projects. A key is displayed once; only its hash is stored."""

import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from typing import get_args

from holdfast.engine.raw import keys
from holdfast.engine.store import Store
from holdfast.model.errors import Conflict, Invalid, NotFound, Unreachable
from holdfast.model.event import EVERYWHERE, Access, Key, Role
from holdfast.model.ids import days_before, days_between
from holdfast.verbs.memory import Memory, Report, check_choice

PREFIX = "hf"
LONGEST_NAME = 60
LONGEST_PROJECT = 500
MOST_DAYS = 3_650
ROLES: tuple[str, ...] = get_args(Role)
_NAME = re.compile(rf"[\w.@+-]{{1,{LONGEST_NAME}}}")
_SHOWN = re.compile(rf"{PREFIX}_([0-9a-f]{{12}})_([\w-]{{43}})")
_PASS = re.compile(r"([0-9a-f]{12})\.([0-9TZ:.+-]{20,40})\.([0-9a-f]{64})")
PASS_DAYS = 0.5  # how long a login lasts
_AGO = 1 / 1440  # days: resolution of a key's last use


def _store(memory: Memory) -> Store:
    """Return the team's store itself: access is never decided on a local copy."""
    if memory.apart:
        raise Unreachable
    return memory.store


def add_user(memory: Memory, name: str) -> None:
    """Add a user; their writes are signed with this name."""
    store = _store(memory)
    if not _NAME.fullmatch(name):
        raise Invalid(f"A name is 1 to {LONGEST_NAME} letters, digits or . _ @ + -.")
    if not keys.add_user(store, name, memory.clock.now()):
        raise Conflict(f"The user {name} exists already.")


def list_users(memory: Memory) -> list[Report]:
    """Return every user with the time they were added and the number of their valid keys."""
    now, every = memory.clock.now(), keys.every(_store(memory))
    working, users = [key.owner for key in every if not why_not(key, now)], keys.users(memory.store).items()
    return [{"name": name, "created_at": added, "keys": working.count(name)} for name, added in users]


def remove_user(memory: Memory, name: str) -> None:
    """Remove a user and revoke their keys; what they wrote stays."""
    if not keys.remove_user(_store(memory), name, memory.clock.now()):
        raise NotFound(f"There is no user {name}.", hint="`holdfast server user list` shows all.")


def issue(memory: Memory, owner: str, projects: Sequence[str], role: Role = "write", days: int = 0) -> tuple[str, Key]:
    """Create a key for a user; return the key itself, which is stored nowhere, and its stored form."""
    if owner not in keys.users(_store(memory)):
        raise NotFound(f"There is no user {owner}.", hint=f"`holdfast server user add {owner}` adds one.")
    check_choice(role, ROLES, "a role")
    if not 0 <= days <= MOST_DAYS:
        raise Invalid(f"A key may last up to {MOST_DAYS} days; 0 means until it is revoked.")
    names = tuple(dict.fromkeys(projects))
    if not names or not all(0 < len(project) <= LONGEST_PROJECT and project.isprintable() for project in names):
        raise Invalid("Which projects is the key for?", hint=f"Name them, or {EVERYWHERE} for all.")
    ends = days_before(memory.clock.now(), -days) if days else ""
    return _keep(memory, Key(id="", owner=owner, hash="", role=role, projects=names, created_at="", expires_at=ends))


def rotate(memory: Memory, key_id: str, *, grace_days: int = 0) -> tuple[str, Key]:
    """Create a key with the access of another one, which expires now or after some days."""
    old, now = find_key(memory, key_id), memory.clock.now()
    if why := why_not(old, now):
        raise Conflict(f"The key {old.id} is {why}.", hint="Make another with `holdfast server key add`.")
    if not 0 <= grace_days <= MOST_DAYS:
        raise Invalid(f"The old key may stay valid for up to {MOST_DAYS} days.")
    with memory.store.transaction():
        secret, key = _keep(memory, old)
        if grace_days:
            keys.mark(memory.store, old.id, "expires", days_before(now, -grace_days))
        else:
            keys.mark(memory.store, old.id, "revoked", now)
    return secret, key


def revoke(memory: Memory, key_id: str) -> Key:
    """Revoke a key."""
    key = find_key(memory, key_id)
    if not keys.mark(memory.store, key.id, "revoked", memory.clock.now()):
        raise Conflict(f"The key {key.id} was revoked already.")
    return key


def list_keys(memory: Memory, owner: str = "") -> list[Report]:
    """Return the keys of a user, or all, oldest first, each with whether it works, and without its hash."""
    now = memory.clock.now()
    rows = [asdict(key) | {"state": why_not(key, now) or "works"} for key in keys.every(_store(memory), owner)]
    return [{name: value for name, value in row.items() if name != "hash"} for row in rows]


def find_key(memory: Memory, key_id: str) -> Key:
    """Return a key by its id."""
    if key := keys.get(_store(memory), key_id.strip()):
        return key
    raise NotFound(f"There is no key {key_id}.", hint="`holdfast server key list` shows their ids.")


def why_not(key: Key, now: str) -> str:
    """Return why a key is invalid; "" if it is valid."""
    if key.revoked_at:
        return "revoked"
    return "expired" if key.expires_at and key.expires_at <= now else ""


def authenticate(memory: Memory, presented: str) -> tuple[Key, Access] | None:
    """Return the key that was presented and its access; None if it is invalid."""
    match = _SHOWN.fullmatch(presented)
    key = keys.get(memory.store, match[1]) if match else None
    if not match or key is None or not hmac.compare_digest(key.hash, _hash(match[2])):
        return None
    return _let_in(memory, key)


def pass_for(memory: Memory, key: Key) -> str:
    """Return a pass that a browser presents instead of a key after login: valid for half a day, and no longer than the key."""
    now = memory.clock.now()
    return f"{key.id}.{now}.{_seal(key, now)}"


def authenticate_pass(memory: Memory, presented: str) -> tuple[Key, Access] | None:
    """Return the key of a pass and its access; None if it is invalid or expired."""
    match = _PASS.fullmatch(presented)
    key = keys.get(memory.store, match[1]) if match else None
    if not match or key is None or not hmac.compare_digest(_seal(key, match[2]), match[3]):
        return None
    return None if days_between(match[2], memory.clock.now()) > PASS_DAYS else _let_in(memory, key)


def _seal(key: Key, at: str) -> str:
    """Return a signature that needs the hash of a key; a rotated key has another."""
    return hmac.new(key.hash.encode(), f"pass {key.id} {at}".encode(), sha256).hexdigest()


def _let_in(memory: Memory, key: Key) -> tuple[Key, Access] | None:
    now = memory.clock.now()
    if why_not(key, now):
        return None
    if not key.used_at or days_between(key.used_at, now) > _AGO:
        keys.mark(memory.store, key.id, "used", now)
    return key, Access(user=key.owner, role=key.role, projects=key.projects)


def _keep(memory: Memory, template: Key) -> tuple[str, Key]:
    secret, key_id = secrets.token_urlsafe(32), secrets.token_hex(6)
    key = replace(template, id=key_id, hash=_hash(secret), created_at=memory.clock.now(), used_at="", revoked_at="")
    keys.add(memory.store, key)
    return f"{PREFIX}_{key_id}_{secret}", key


def _hash(secret: str) -> str:
    """Return the hash that is stored: 256 random bits need no slow one."""
    return sha256(secret.encode()).hexdigest()
