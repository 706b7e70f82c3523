"""Commands of `holdfast server`: one memory for a team, its users and their keys."""

from dataclasses import asdict
from typing import Any

import click

from holdfast.hosts.cli.command import Result, command, settings
from holdfast.hosts.cli.serve import Surfaces
from holdfast.model.errors import MissingPackage
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


def user_list_command(memory: Memory) -> list[dict[str, Any]]:
    names = ("name", "created_at", "keys")
    return [dict(zip(names, user, strict=True)) for user in access.list_users(memory)]


def key_list_command(memory: Memory, user: str = "") -> list[dict[str, Any]]:
    keys, now = access.list_keys(memory, user), memory.clock.now()
    known = [{name: value for name, value in asdict(key).items() if name != "hash"} for key in keys]
    return [row | {"state": access.why_not(key, now) or "works"} for row, key in zip(known, keys, strict=True)]


@command(json=False)
def revoke_command(memory: Memory, id: str) -> Result:
    key = access.revoke(memory, id)
    return None, f"Revoked {key.id} of {key.owner}."
