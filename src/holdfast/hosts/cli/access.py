"""`holdfast user` and `holdfast key`: who may use a server, and by which keys."""

from dataclasses import asdict
from typing import Any

import click

from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.render import json_option, show
from holdfast.model.access import Key
from holdfast.model.errors import Unreachable
from holdfast.verbs.memory import Memory
from holdfast.verbs.upkeep import access
from holdfast.verbs.upkeep.access import ROLES, why_not


def _store() -> Memory:
    """Open the store itself: a copy of it decides about nobody."""
    memory = opened()
    if memory.apart:
        memory.close()
        raise Unreachable
    return memory


@click.group("user")
def user_command() -> None:
    """Add, list and remove the users of a server. What they write carries their name.

    \b
    holdfast user add ada
    holdfast user list
    """


@user_command.command("add")
@click.argument("name")
def add_user_command(name: str) -> None:
    """Add a user."""
    with _store() as memory:
        access.add_user(memory, name)
    click.echo(f"Added {name}. `holdfast key add {name} --project …` makes a key for them.")


@user_command.command("list")
@json_option
def list_users_command(as_json: bool) -> None:
    """List the users and how many keys of theirs work."""
    with _store() as memory:
        found = access.list_users(memory)
    lines = [f"{name:<20} since {added[:10]}   {working} working keys" for name, added, working in found]
    rows = [{"name": name, "created_at": added, "keys": working} for name, added, working in found]
    show(rows, "\n".join(lines) or "There are no users yet.", as_json=as_json)


@user_command.command("remove")
@click.argument("name")
def remove_user_command(name: str) -> None:
    """Remove a user and revoke their keys; what they wrote stays."""
    with _store() as memory:
        access.remove_user(memory, name)
    click.echo(f"Removed {name}; their keys open nothing any more.")


@click.group("key")
def key_command() -> None:
    """Make, list, rotate and revoke keys. A key is shown once: only its hash is kept.

    \b
    holdfast key add ada --project github.com/acme/shop --days 90
    holdfast key list
    """


@key_command.command("add")
@click.argument("user")
@click.option("--project", "projects", multiple=True, required=True, help="Project it opens; repeatable; * for all.")
@click.option("--role", type=click.Choice(ROLES), default="write", show_default=True, help="What it lets them do.")
@click.option("--days", default=0, help="Days until it expires; 0: never.")
@json_option
def add_key_command(user: str, projects: tuple[str, ...], role: Any, days: int, as_json: bool) -> None:
    """Make a key for a user, and show it this once."""
    with _store() as memory:
        shown, key = access.issue(memory, user, projects, role, days)
    _show_new(shown, key, as_json=as_json)


@key_command.command("list")
@click.argument("user", default="")
@json_option
def list_keys_command(user: str, as_json: bool) -> None:
    """List keys: whose they are, what they open, when they were last used."""
    with _store() as memory:
        found, now = access.list_keys(memory, user), memory.clock.now()
    show([_told(key, now) for key in found], "\n".join(_line(key, now) for key in found) or "No keys.", as_json=as_json)


@key_command.command("rotate")
@click.argument("id")
@click.option("--grace-days", default=0, help="Days the old key goes on working.")
@json_option
def rotate_command(id: str, grace_days: int, as_json: bool) -> None:  # noqa: A002
    """Make a key that opens what another does, and end the other."""
    with _store() as memory:
        shown, key = access.rotate(memory, id, grace_days=grace_days)
    _show_new(shown, key, as_json=as_json)


@key_command.command("revoke")
@click.argument("id")
def revoke_command(id: str) -> None:  # noqa: A002
    """Let a key open nothing from now on."""
    with _store() as memory:
        key = access.revoke(memory, id)
    click.echo(f"Revoked {key.id} of {key.owner}.")


def _show_new(shown: str, key: Key, *, as_json: bool) -> None:
    told = f"{shown}\n\nThis is shown once. {key.owner} may {key.role} in {', '.join(key.projects)}"
    text = f"{told}{f' until {key.expires_at[:10]}' if key.expires_at else ''}; its id is {key.id}."
    show({"key": shown, "id": key.id, "owner": key.owner, "expires_at": key.expires_at}, text, as_json=as_json)


def _told(key: Key, now: str) -> dict[str, Any]:
    told = asdict(key) | {"state": why_not(key, now) or "works"}
    del told["hash"]
    return told


def _line(key: Key, now: str) -> str:
    used = f"used {key.used_at[:16]}" if key.used_at else "never used"
    ends = f", until {key.expires_at[:10]}" if key.expires_at else ""
    return f"{key.id}  {key.owner:<16} {key.role:<6} {why_not(key, now) or 'works':<8} {', '.join(key.projects)}   {used}{ends}"
