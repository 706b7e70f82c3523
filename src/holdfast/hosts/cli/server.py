"""Commands of `holdfast server`: one memory for a team, its users and their keys."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import click

from holdfast.hosts.cli.command import Result, command, opened, settings
from holdfast.hosts.cli.render import page, say
from holdfast.hosts.cli.serve import Surfaces
from holdfast.model.access import Key, Role
from holdfast.model.errors import MissingPackage, Unreachable
from holdfast.verbs.memory import Memory
from holdfast.verbs.upkeep import access

DEFAULT_PORT = 4654


@command(json=False)
def run_command(
    *,
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    names: Surfaces = ("core",),
    rate: float = 50.0,
    burst: float = 200.0,
    largest: int = 2000000,
) -> None:
    """Serve the memory to a team over HTTP, on PostgreSQL: every request needs a user's key."""
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


@contextmanager
def _store() -> Iterator[Memory]:
    """Open the team's store itself: access is never decided on a local copy."""
    with opened() as memory:
        if memory.apart:
            raise Unreachable
        yield memory


@command(json=False)
def user_add_command(name: str) -> None:
    """Add a user."""
    with _store() as memory:
        access.add_user(memory, name)
    say(f"Added {name}. `holdfast server key add {name} --project …` creates a key for them.")


@command(page="users")
def user_list_command() -> list[dict[str, Any]]:
    """List the users and the number of their valid keys."""
    with _store() as memory:
        users = access.list_users(memory)
    return [{"name": name, "created_at": added, "keys": working} for name, added, working in users]


@command(json=False)
def user_remove_command(name: str) -> None:
    """Remove a user and revoke their keys; what they wrote stays."""
    with _store() as memory:
        access.remove_user(memory, name)
    click.echo(f"Removed {name}; their keys are revoked.")


@command()
def key_add_command(user: str, *, projects: tuple[str, ...], role: Role = "write", days: int = 0) -> Result:
    """Create a key for a user, and print it once."""
    with _store() as memory:
        return _new(*access.issue(memory, user, projects, role, days))


@command(page="keys")
def key_list_command(user: str = "") -> list[dict[str, Any]]:
    """List keys: owner, projects, and last use."""
    with _store() as memory:
        keys, now = access.list_keys(memory, user), memory.clock.now()
    known = [{name: value for name, value in asdict(key).items() if name != "hash"} for key in keys]
    return [row | {"state": access.why_not(key, now) or "works"} for row, key in zip(known, keys, strict=True)]


@command()
def rotate_command(id: str, *, grace_days: int = 0) -> Result:
    """Replace a key by a new one with the same access."""
    with _store() as memory:
        return _new(*access.rotate(memory, id, grace_days=grace_days))


@command(json=False)
def revoke_command(id: str) -> None:
    """Revoke a key."""
    with _store() as memory:
        key = access.revoke(memory, id)
    click.echo(f"Revoked {key.id} of {key.owner}.")


def _new(secret: str, key: Key) -> Result:
    value = {"key": secret, "id": key.id, "owner": key.owner, "expires_at": key.expires_at}
    return value, page("new_key", secret, key)
