"""Commands that keep running: the MCP server, a team's server, the viewer, the live stream, and the worker that hooks start."""

import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from holdfast.hosts.cli.command import Printed, Result, Words, opened, settings, wants_json
from holdfast.model.kinds import Asked

if TYPE_CHECKING:
    from holdfast.verbs.upkeep.stream import Item

DEFAULT_PORT, TEAM_PORT = 4653, 4654
Surfaces = Annotated[Words, Asked("Which tools to offer.", flag="--surface")]


def mcp_command(*, names: Surfaces = ("core",), http: bool = False, port: int = DEFAULT_PORT) -> None:
    from holdfast.hosts.mcp.serving import preset_named, serving

    flags = click.get_current_context().find_root().obj
    with serving(names, flags) as server:
        if not http:
            from holdfast.hosts.mcp import stdio

            stdio.main(server)
            return
        from holdfast.compose import needing
        from holdfast.compose.settings import load_settings, store_folder

        with needing("http"):
            from holdfast.hosts.loopback import TOKEN_FILE, kept_token
            from holdfast.hosts.mcp.http import main
        current = load_settings(flags=flags, preset=preset_named(names))
        folder = store_folder(current.config, Path.cwd())
        # The token itself stays out of the terminal's history: the shell inserts it.
        kept = {"default": f"$(cat '{folder.absolute() / TOKEN_FILE}')", "HOLDFAST_HTTP_TOKEN": "$HOLDFAST_HTTP_TOKEN"}
        header = f"Authorization: Bearer {kept.get(current.sources['http_token'], 'YOUR_HTTP_TOKEN')}"
        announce = partial(_announce, "MCP", header)
        main(server, token=current.config.http_token or kept_token(folder), port=port, announce=announce)


def _announce(what: str, header: str, url: str) -> None:
    click.echo(f"Holdfast serves {what} at {url}. To add it to Claude Code:", err=True)
    click.echo(f'claude mcp add --transport http holdfast {url} --header "{header}"', err=True)


def run_command(
    *,
    host: str = "127.0.0.1",
    port: int = TEAM_PORT,
    names: Surfaces = ("core",),
    rate: float = 50.0,
    burst: float = 200.0,
    largest: int = 2000000,
) -> None:
    from holdfast.compose import needing

    with needing("http,postgres"):
        from holdfast.hosts.server.app import Limits, serve

    header = 'Authorization: Bearer $HOLDFAST_KEY" --header "Holdfast-Project: github.com/acme/shop'
    limits = Limits(rate=max(rate, 0.001), burst=max(burst, 1), largest=largest)
    announce = partial(_announce, "a team", header)
    serve(settings(), names, host=host, port=port, limits=limits, announce=lambda url: announce(f"{url}/mcp"))


def web_command(*, port: int | None = None, open_: bool | None = None) -> None:
    from holdfast.compose.settings import load_settings, store_folder
    from holdfast.hosts.loopback import kept_token
    from holdfast.hosts.web.app import main

    flags, current = click.get_current_context().find_root().obj, settings()
    token = current.config.http_token or kept_token(store_folder(current.config, Path.cwd()))

    def announce(link: str) -> None:
        click.echo(f"Holdfast is at {link}", err=True)
        click.echo("Anyone with this link can read this machine's memories. Press Ctrl-C to stop.", err=True)
        if open_ or (open_ is None and sys.stderr.isatty() and not os.environ.get("SSH_CONNECTION")):
            click.launch(link)

    main(lambda: load_settings(flags=flags), token=token, port=port, announce=announce)


def watch_command(
    *,
    project: str | None = None,
    everywhere: bool = False,
    whats: Words = (),
    session: str = "",
    last: int = 10,
    once: bool = False,
) -> Printed:
    from holdfast.hosts.web.live import SECONDS, look
    from holdfast.verbs.records.project import project_called
    from holdfast.verbs.upkeep.stream import Wanted, newer, older

    with opened() as memory:
        where = None if everywhere else project_called(memory, project or "")
        wanted = Wanted(project=where, whats=whats, session=session)
        place = look(memory)
        for item in reversed(older(memory, wanted, limit=last).items) if last else ():
            _print(item, everywhere=everywhere)
        if not once and not wants_json():
            click.echo(f"Following {where or 'all projects'}. Press Ctrl-C to stop.", err=True)
        while not once:
            time.sleep(SECONDS)
            if look(memory) == place:
                continue
            page = newer(memory, wanted, after=place)
            for item in reversed(page.items):
                _print(item, everywhere=everywhere)
            place = page.place or place


def _print(item: "Item", *, everywhere: bool) -> None:
    if wants_json():
        import json

        from holdfast.hosts.web.endpoints import item_json
        from holdfast.model.text import escaped

        print(escaped(json.dumps(item_json(item), ensure_ascii=False)), flush=True)
        return
    from holdfast.hosts.cli.render import page
    from holdfast.model.event import VERB_WORDS

    verb = "in hot set" if item.verb == "heated" else VERB_WORDS.get(item.verb, item.verb)  # short: it has a column
    page("happened", item, item.outcome or verb, everywhere=everywhere)()
    sys.stdout.flush()


def work_command(*, seconds: float = 120.0) -> Result:
    from holdfast.compose.settings import store_folder
    from holdfast.hosts.cli.render import page
    from holdfast.hosts.worker import work

    chosen, flags = settings(), click.get_current_context().find_root().obj
    for warning in chosen.warnings:
        click.echo(f"warning: {warning}", err=True)
    done = work(flags, store_folder(chosen.config, Path.cwd()), Path.cwd(), seconds=seconds)
    return (done, page("worked", done)) if done else ({"status": "busy"}, "Another worker holds the lock.")
