"""Commands of `holdfast server`: one memory for a team, its users and their keys."""

from dataclasses import asdict
from typing import Any

import click

from holdfast.hosts.cli.command import Result, command, settings
from holdfast.hosts.cli.render import page
from holdfast.hosts.cli.serve import Surfaces
from holdfast.model.access import Key, Role
from holdfast.model.errors import MissingPackage, Unreachable
from holdfast.verbs.memory import Memory
from holdfast.verbs.upkeep import access

DEFAULT_PORT = 4654


def run_command(
    *,
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    names: Surfaces = ("core",),
    rate: float = 50.0,
    burst: float = 200.0,
    largest: int = 2000000,
) -> None:
    try:
        from holdfast.hosts.server.app import Limits
        from holdfast.hosts.server.run import serve
    except ImportError as problem:
        hint = "Run: pip install 'holdfast[http,postgres]'"
        raise MissingPackage("Serving a team needs optional packages.", hint=hint) from problem

    def announce(url: str) -> None:
        click.echo(f"Holdfast serves a team at {url}/mcp. To add it to Claude Code:", err=True)
        header = '--header "Authorization: Bearer $HOLDFAST_KEY" --header "Holdfast-Project: github.com/acme/shop"'
        click.echo(f"claude mcp add --transport http holdfast {url}/mcp {header}", err=True)

    limits = Limits(rate=max(rate, 0.001), burst=max(burst, 1), largest=largest)
    serve(settings(), names, host=host, port=port, limits=limits, announce=announce)


def _team(memory: Memory) -> Memory:
    """Return the team's store itself: access is never decided on a local copy."""
    if memory.apart:
        raise Unreachable
    return memory


@command(json=False)
def user_add_command(memory: Memory, name: str) -> Result:
    access.add_user(_team(memory), name)
    return None, f"Added {name}. `holdfast server key add {name} --project …` creates a key for them."


def user_list_command(memory: Memory) -> list[dict[str, Any]]:
    names = ("name", "created_at", "keys")
    return [dict(zip(names, user, strict=True)) for user in access.list_users(_team(memory))]


@command(json=False)
def user_remove_command(memory: Memory, name: str) -> Result:
    access.remove_user(_team(memory), name)
    return None, f"Removed {name}; their keys are revoked."


def key_add_command(
    memory: Memory, user: str, *, projects: tuple[str, ...], role: Role = "write", days: int = 0
) -> Result:
    return _new(*access.issue(_team(memory), user, projects, role, days))


def key_list_command(memory: Memory, user: str = "") -> list[dict[str, Any]]:
    keys, now = access.list_keys(_team(memory), user), memory.clock.now()
    known = [{name: value for name, value in asdict(key).items() if name != "hash"} for key in keys]
    return [row | {"state": access.why_not(key, now) or "works"} for row, key in zip(known, keys, strict=True)]


def rotate_command(memory: Memory, id: str, *, grace_days: int = 0) -> Result:
    return _new(*access.rotate(_team(memory), id, grace_days=grace_days))


@command(json=False)
def revoke_command(memory: Memory, id: str) -> Result:
    key = access.revoke(_team(memory), id)
    return None, f"Revoked {key.id} of {key.owner}."


def _new(secret: str, key: Key) -> Result:
    value = {"key": secret, "id": key.id, "owner": key.owner, "expires_at": key.expires_at}
    return value, page("new_key", secret, key)
