"""`holdfast mcp`: the server that MCP clients start, or connect to."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from holdfast.hosts.mcp.protocol import Server

DEFAULT_PORT = 4653


@click.command("mcp")
@click.option(
    "--surface", "names", multiple=True, default=("core",), show_default=True, help="Which tools to offer; repeatable."
)
@click.option("--http", "over_http", is_flag=True, help="Listen on 127.0.0.1 for any number of clients.")
@click.option("--port", default=DEFAULT_PORT, show_default=True, help="Port to listen on; 0 picks a free one.")
def mcp_command(names: tuple[str, ...], over_http: bool, port: int) -> None:
    """Serve the memory to MCP clients, over stdio or HTTP.

    Over stdio clients start this themselves. To add it to a client by hand:

    \b
    claude mcp add holdfast -- holdfast mcp
    codex mcp add holdfast -- holdfast mcp

    Over HTTP it runs until it is stopped, and prints how to add it.
    """
    from holdfast.hosts.mcp.serving import serving

    flags = click.get_current_context().find_root().obj
    with serving(names, flags) as server:
        if over_http:
            _serve_http(server, flags, names, port)
        else:
            from holdfast.hosts.mcp import stdio

            stdio.main(server)


def _serve_http(server: "Server", flags: Mapping[str, Any], names: tuple[str, ...], port: int) -> None:
    from pathlib import Path

    from holdfast.compose.settings import load_settings, store_folder
    from holdfast.hosts.mcp.serving import preset_named
    from holdfast.hosts.mcp.token import FILE, kept_token
    from holdfast.model.errors import MissingPackage

    try:
        from holdfast.hosts.mcp import http
    except ImportError as problem:
        hint = "Run: pip install 'holdfast[http]'"
        raise MissingPackage("Serving over HTTP needs an optional package.", hint=hint) from problem
    settings = load_settings(flags=flags, preset=preset_named(names))
    folder = store_folder(settings.config, Path.cwd())
    token = settings.config.http_token or kept_token(folder)
    # The token itself stays out of the terminal's history: the shell inserts it.
    places = {"default": f"$(cat '{folder.absolute() / FILE}')", "HOLDFAST_HTTP_TOKEN": "$HOLDFAST_HTTP_TOKEN"}
    placeholder = places.get(settings.sources["http_token"], "YOUR_HTTP_TOKEN")

    def announce(url: str) -> None:
        click.echo(f"Holdfast serves MCP at {url}. To add it to Claude Code:", err=True)
        click.echo(
            f'claude mcp add --transport http holdfast {url} --header "Authorization: Bearer {placeholder}"', err=True
        )

    http.main(server, token=token, port=port, announce=announce)
