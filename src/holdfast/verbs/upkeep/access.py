"""Who may use a server: users, and keys that open some projects to them. A key is shown once; its hash is kept."""

import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import get_args

from holdfast.engine.raw import keys
from holdfast.model.access import EVERYWHERE, Access, Key, Role
from holdfast.model.errors import Conflict, Invalid, NotFound
from holdfast.model.ids import days_before, days_between
from holdfast.verbs.memory import Memory

PREFIX = "hf"
LONGEST_NAME = 60
LONGEST_PROJECT = 500
MOST_DAYS = 3_650
ROLES: tuple[str, ...] = get_args(Role)
_NAME = re.compile(rf"[\w.@+-]{{1,{LONGEST_NAME}}}")
_SHOWN = re.compile(rf"{PREFIX}_([0-9a-f]{{12}})_([\w-]{{43}})")
_PASS = re.compile(r"([0-9a-f]{12})\.([0-9TZ:.+-]{20,40})\.([0-9a-f]{64})")
PASS_DAYS = 0.5  # how long somebody who logged in stays so
_AGO = 1 / 1440  # days: how exactly it is noted when a key was last used


def add_user(memory: Memory, name: str) -> None:
    """Add a user; records they write carry this name."""
    if not _NAME.fullmatch(name):
        raise Invalid(f"A name is 1 to {LONGEST_NAME} letters, digits or . _ @ + -.")
    if not keys.add_user(memory.store.db, name, memory.clock.now()):
        raise Conflict(f"There is a user {name} already.")


def list_users(memory: Memory) -> list[tuple[str, str, int]]:
    """Give every user with when they were added and how many keys of theirs work."""
    now, every = memory.clock.now(), keys.every(memory.store.db)
    working = [key.owner for key in every if not why_not(key, now)]
    return [(name, added, working.count(name)) for name, added in keys.users(memory.store.db).items()]


def remove_user(memory: Memory, name: str) -> None:
    """Remove a user and revoke their keys; what they wrote stays."""
    if not keys.remove_user(memory.store.db, name, memory.clock.now()):
        raise NotFound(f"There is no user {name}.", hint="`holdfast user list` shows all.")


def issue(memory: Memory, owner: str, projects: Sequence[str], role: Role = "write", days: int = 0) -> tuple[str, Key]:
    """Make a key for a user; give what they must show, which is kept nowhere, and the key as it is kept."""
    if owner not in keys.users(memory.store.db):
        raise NotFound(f"There is no user {owner}.", hint=f"`holdfast user add {owner}` adds one.")
    if role not in ROLES:
        raise Invalid(f"There is no role {role!r}.", hint=f"Roles are {', '.join(ROLES)}.")
    if not 0 <= days <= MOST_DAYS:
        raise Invalid(f"A key may last up to {MOST_DAYS} days; 0 means until it is revoked.")
    given = tuple(dict.fromkeys(projects))
    if not given or not all(0 < len(one) <= LONGEST_PROJECT and one.isprintable() for one in given):
        raise Invalid("Which projects does it open?", hint=f"Name them, or {EVERYWHERE} for all.")
    ends = days_before(memory.clock.now(), -days) if days else ""
    return _keep(memory, Key(id="", owner=owner, hash="", role=role, projects=given, created_at="", expires_at=ends))


def rotate(memory: Memory, key_id: str, *, grace_days: int = 0) -> tuple[str, Key]:
    """Make a key that opens what another one does, which ends now or after some days."""
    old, now = find_key(memory, key_id), memory.clock.now()
    if why := why_not(old, now):
        raise Conflict(f"The key {old.id} is {why}.", hint="Make another with `holdfast key add`.")
    if not 0 <= grace_days <= MOST_DAYS:
        raise Invalid(f"The old key may go on for up to {MOST_DAYS} days.")
    with memory.store.transaction():
        shown, made = _keep(memory, old)
        if grace_days:
            keys.expire(memory.store.db, old.id, days_before(now, -grace_days))
        else:
            keys.revoke(memory.store.db, old.id, now)
    return shown, made


def revoke(memory: Memory, key_id: str) -> Key:
    """Let a key open nothing from now on."""
    key = find_key(memory, key_id)
    if not keys.revoke(memory.store.db, key.id, memory.clock.now()):
        raise Conflict(f"The key {key.id} was revoked already.")
    return key


def list_keys(memory: Memory, owner: str = "") -> list[Key]:
    """Return the keys of a user, or all, oldest first."""
    return keys.every(memory.store.db, owner)


def find_key(memory: Memory, key_id: str) -> Key:
    """Give a key by its id."""
    if found := keys.get(memory.store.db, key_id.strip()):
        return found
    raise NotFound(f"There is no key {key_id}.", hint="`holdfast key list` shows their ids.")


def why_not(key: Key, now: str) -> str:
    """Say why a key opens nothing; empty if it does."""
    if key.revoked_at:
        return "revoked"
    return "expired" if key.expires_at and key.expires_at <= now else ""


def authenticate(memory: Memory, shown: str) -> tuple[Key, Access] | None:
    """Give the key somebody shows and what it lets them do; None if it opens nothing."""
    said = _SHOWN.fullmatch(shown)
    key = keys.get(memory.store.db, said[1]) if said else None
    if not said or key is None or not hmac.compare_digest(key.hash, _hash(said[2])):
        return None
    return _let_in(memory, key)


def pass_for(memory: Memory, key: Key) -> str:
    """Give what a browser shows instead of a key once its user has shown that: good for half a day, and no longer than the key."""
    now = memory.clock.now()
    return f"{key.id}.{now}.{_seal(key, now)}"


def authenticate_pass(memory: Memory, shown: str) -> tuple[Key, Access] | None:
    """Give the key that a pass was made for and what it lets somebody do; None if it opens nothing (any more)."""
    said = _PASS.fullmatch(shown)
    key = keys.get(memory.store.db, said[1]) if said else None
    if not said or key is None or not hmac.compare_digest(_seal(key, said[2]), said[3]):
        return None
    return None if days_between(said[2], memory.clock.now()) > PASS_DAYS else _let_in(memory, key)


def _seal(key: Key, at: str) -> str:
    """Give what only who knows the hash of a key can make; a rotated key has another."""
    return hmac.new(key.hash.encode(), f"pass {key.id} {at}".encode(), sha256).hexdigest()


def _let_in(memory: Memory, key: Key) -> tuple[Key, Access] | None:
    now = memory.clock.now()
    if why_not(key, now):
        return None
    if not key.used_at or days_between(key.used_at, now) > _AGO:
        keys.used(memory.store.db, key.id, now)
    return key, Access(user=key.owner, role=key.role, projects=key.projects)


def _keep(memory: Memory, like: Key) -> tuple[str, Key]:
    secret, key_id = secrets.token_urlsafe(32), secrets.token_hex(6)
    made = replace(like, id=key_id, hash=_hash(secret), created_at=memory.clock.now(), used_at="", revoked_at="")
    keys.add(memory.store.db, made)
    return f"{PREFIX}_{key_id}_{secret}", made


def _hash(secret: str) -> str:
    """Give the hash that is kept: 256 random bits need no slow one."""
    return sha256(secret.encode()).hexdigest()
