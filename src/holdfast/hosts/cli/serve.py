"""Commands that keep running: the MCP server, the viewer, the live stream, and the worker that hooks start."""

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from holdfast.hosts.cli.command import Result, opened, settings
from holdfast.model.request import Asked

if TYPE_CHECKING:
    from holdfast.verbs.upkeep.stream import Item

DEFAULT_PORT = 4653
WATCH_INDENT = 22  # where the text of an item begins
_STYLES = {
    "prompt": "bold blue",
    "answer": "magenta",
    "record": "cyan",
    "observation": "yellow",
    "use": "green",
    "session": "bold",
}
Surfaces = Annotated[tuple[str, ...], Asked("Which tools to offer.", flag="--surface")]


def mcp_command(*, names: Surfaces = ("core",), http: bool = False, port: int = DEFAULT_PORT) -> None:
    from holdfast.hosts.mcp.serving import preset_named, serving

    flags = click.get_current_context().find_root().obj
    with serving(names, flags) as server:
        if not http:
            from holdfast.hosts.mcp import stdio

            stdio.main(server)
            return
        from holdfast.compose.settings import load_settings, store_folder
        from holdfast.model.errors import MissingPackage

        try:
            from holdfast.hosts.loopback import TOKEN_FILE, kept_token
            from holdfast.hosts.mcp.http import main
        except ImportError as problem:
            hint = "Run: pip install 'holdfast[http]'"
            raise MissingPackage("Serving over HTTP needs an optional package.", hint=hint) from problem
        current = load_settings(flags=flags, preset=preset_named(names))
        folder = store_folder(current.config, Path.cwd())
        # The token itself stays out of the terminal's history: the shell inserts it.
        places = {
            "default": f"$(cat '{folder.absolute() / TOKEN_FILE}')",
            "HOLDFAST_HTTP_TOKEN": "$HOLDFAST_HTTP_TOKEN",
        }
        header = f"Authorization: Bearer {places.get(current.sources['http_token'], 'YOUR_HTTP_TOKEN')}"

        def announce(url: str) -> None:
            click.echo(f"Holdfast serves MCP at {url}. To add it to Claude Code:", err=True)
            click.echo(f'claude mcp add --transport http holdfast {url} --header "{header}"', err=True)

        main(server, token=current.config.http_token or kept_token(folder), port=port, announce=announce)


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
    whats: tuple[str, ...] = (),
    session: str = "",
    last: int = 10,
    once: bool = False,
    as_json: bool = False,
) -> None:
    from holdfast.hosts.web.live import SECONDS, look
    from holdfast.model.errors import Invalid
    from holdfast.verbs.records.project import project_called
    from holdfast.verbs.upkeep.stream import WHATS, Wanted, newer, older

    if unknown := [what for what in whats if what not in WHATS]:
        raise Invalid(f"There is no {unknown[0]!r} in the stream.", hint=f"Use one of {', '.join(WHATS)}.")
    with opened() as memory:
        where = None if everywhere else project_called(memory, project or "")
        wanted = Wanted(project=where, whats=whats, session=session)
        place = look(memory)
        for item in reversed(older(memory, wanted, limit=last).items) if last else ():
            _print(item, as_json=as_json, everywhere=everywhere)
        if not once and not as_json:
            click.echo(f"Following {where or 'all projects'}. Press Ctrl-C to stop.", err=True)
        while not once:
            time.sleep(SECONDS)
            if look(memory) == place:
                continue
            page = newer(memory, wanted, after=place)
            for item in reversed(page.items):
                _print(item, as_json=as_json, everywhere=everywhere)
            place = page.place or place


def _print(item: "Item", *, as_json: bool, everywhere: bool) -> None:
    if as_json:
        import json

        from holdfast.hosts.web.endpoints import item_json
        from holdfast.model.fence import escaped

        print(escaped(json.dumps(item_json(item), ensure_ascii=False)), flush=True)
        return
    from rich.text import Text

    from holdfast.hosts.cli.render import console, hanging, local
    from holdfast.model.event import VERB_WORDS

    project = f" {item.project.rpartition('/')[2]}" if everywhere and item.project else ""
    style = "bold red" if item.failed or item.what == "warning" else _STYLES.get(item.what, "")
    verb = "in hot set" if item.verb == "heated" else VERB_WORDS.get(item.verb, item.verb)  # short: it has a column
    word = (item.outcome or verb) if item.what in ("use", "change") else {"record": "saved"}.get(item.what, item.what)
    parts = (
        (local(item.at, "%H:%M:%S"), "dim"),
        " ",
        (f"{word:<12}", style),
        " ",
        item.text,
        (f"  {item.client}{project}", "dim"),
    )
    hanging(console(), Text.assemble(*parts), WATCH_INDENT)
    sys.stdout.flush()


def work_command(*, seconds: float = 120.0) -> Result:
    from holdfast.compose.settings import store_folder
    from holdfast.hosts.worker import work
    from holdfast.model.text import counted

    chosen, flags = settings(), click.get_current_context().find_root().obj
    for warning in chosen.warnings:
        click.echo(f"warning: {warning}", err=True)
    done = work(flags, store_folder(chosen.config, Path.cwd()), Path.cwd(), seconds=seconds)
    if done is None:
        return {"status": "busy"}, "Another worker holds the lock."
    counts = {"event": done.drained, "session": done.sessions, "new memory": done.records}
    counts |= {"vector": done.vectors, "updated file": done.files}
    parts = [counted(count, what) for what, count in counts.items() if count]
    summary = f"Processed: {', '.join(parts)}." if parts else "Nothing to process."
    return done, "\n".join([summary, *done.problems])
