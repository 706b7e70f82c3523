"""Commands of `holdfast server`: one memory for a team, its users and their keys."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import click

from holdfast.hosts.cli.options import opened, settings
from holdfast.hosts.cli.render import ago, json_option, local, say, show
from holdfast.model.access import Key
from holdfast.model.errors import MissingPackage, Unreachable
from holdfast.model.text import counted
from holdfast.verbs.memory import Memory
from holdfast.verbs.upkeep import access
from holdfast.verbs.upkeep.access import ROLES, why_not

DEFAULT_PORT = 4654


@click.command("run")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=DEFAULT_PORT, show_default=True, help="Port to listen on; 0 picks a free one.")
@click.option(
    "--surface", "names", multiple=True, default=("core",), show_default=True, help="Which tools to offer; repeatable."
)
@click.option("--rate", default=50.0, show_default=True, help="Requests per second for each key, on average.")
@click.option("--burst", default=200.0, show_default=True, help="Requests a key may make at once.")
@click.option("--largest", default=2_000_000, show_default=True, help="Largest request in bytes.")
def run_command(host: str, port: int, names: tuple[str, ...], rate: float, burst: float, largest: int) -> None:
    """Serve the memory to a team over HTTP, on PostgreSQL: every request needs a user's key.

    \b
    holdfast server user add anna
    holdfast server key add anna --project github.com/acme/shop
    holdfast server run

    / is the viewer (log in with a key), /mcp is for MCP clients, /healthz and /readyz for monitoring, /metrics for Prometheus. Use a
    proxy for TLS: see docs/team-server.md.
    """
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


@click.group("user")
def user_command() -> None:
    """Add, list and remove the users of a server. Their writes are signed with their name.

    \b
    holdfast server user add ada
    holdfast server user list
    """


@user_command.command("add")
@click.argument("name")
def add_user_command(name: str) -> None:
    """Add a user."""
    with _store() as memory:
        access.add_user(memory, name)
    say(f"Added {name}. `holdfast server key add {name} --project …` creates a key for them.")


@user_command.command("list")
@json_option
def list_users_command(as_json: bool) -> None:
    """List the users and the number of their valid keys."""
    with _store() as memory:
        users = access.list_users(memory)
    lines = [f"{name:<20} since {ago(added)}   {counted(working, 'valid key')}" for name, added, working in users]
    rows = [{"name": name, "created_at": added, "keys": working} for name, added, working in users]
    show(rows, "\n".join(lines) or "No users yet.", as_json=as_json)


@user_command.command("remove")
@click.argument("name")
def remove_user_command(name: str) -> None:
    """Remove a user and revoke their keys; what they wrote stays."""
    with _store() as memory:
        access.remove_user(memory, name)
    click.echo(f"Removed {name}; their keys are revoked.")


@click.group("key")
def key_command() -> None:
    """Create, list, rotate and revoke keys. A key is printed once: only its hash is stored.

    \b
    holdfast server key add ada --project github.com/acme/shop --days 90
    holdfast server key list
    """


@key_command.command("add")
@click.argument("user")
@click.option(
    "--project", "projects", multiple=True, required=True, help="Project it gives access to; repeatable; * for all."
)
@click.option("--role", type=click.Choice(ROLES), default="write", show_default=True, help="What it allows.")
@click.option("--days", default=0, help="Days until it expires; 0: never.")
@json_option
def add_key_command(user: str, projects: tuple[str, ...], role: Any, days: int, as_json: bool) -> None:
    """Create a key for a user, and print it once."""
    with _store() as memory:
        secret, key = access.issue(memory, user, projects, role, days)
    _show_new(secret, key, as_json=as_json)


@key_command.command("list")
@click.argument("user", default="")
@json_option
def list_keys_command(user: str, as_json: bool) -> None:
    """List keys: owner, projects, and last use."""
    with _store() as memory:
        keys, now = access.list_keys(memory, user), memory.clock.now()
    show(
        [_key_to_json(key, now) for key in keys],
        "\n".join(_line(key, now) for key in keys)
        or "No keys. Create one: holdfast server key add USER --project NAME",
        as_json=as_json,
    )


@key_command.command("rotate")
@click.argument("id")
@click.option("--grace-days", default=0, help="Days until the old key stops working.")
@json_option
def rotate_command(id: str, grace_days: int, as_json: bool) -> None:  # noqa: A002
    """Replace a key by a new one with the same access."""
    with _store() as memory:
        secret, key = access.rotate(memory, id, grace_days=grace_days)
    _show_new(secret, key, as_json=as_json)


@key_command.command("revoke")
@click.argument("id")
def revoke_command(id: str) -> None:  # noqa: A002
    """Revoke a key."""
    with _store() as memory:
        key = access.revoke(memory, id)
    click.echo(f"Revoked {key.id} of {key.owner}.")


def _show_new(secret: str, key: Key, *, as_json: bool) -> None:
    message = f"{secret}\n\nThis key is printed only once. {key.owner} may {key.role} in {', '.join(key.projects)}"
    text = f"{message}{f' until {local(key.expires_at)}' if key.expires_at else ''}; its id is {key.id}."
    show({"key": secret, "id": key.id, "owner": key.owner, "expires_at": key.expires_at}, text, as_json=as_json)


def _key_to_json(key: Key, now: str) -> dict[str, Any]:
    value = asdict(key) | {"state": why_not(key, now) or "works"}
    del value["hash"]
    return value


def _line(key: Key, now: str) -> str:
    used = f"used {ago(key.used_at)}" if key.used_at else "never used"
    ends = f", until {local(key.expires_at)}" if key.expires_at else ""
    state = why_not(key, now) or "works"
    return f"{key.id}  {key.owner:<16} {key.role:<6} {state:<8} {used}{ends}\n  {', '.join(key.projects)}"
