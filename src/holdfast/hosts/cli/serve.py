"""`holdfast server run`: one memory for a team."""

import click

from holdfast.hosts.cli.options import settings
from holdfast.model.errors import MissingPackage

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
