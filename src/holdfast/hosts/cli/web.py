"""`holdfast web` and `holdfast watch`: see what agents do and know, in a browser or in the terminal."""

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdfast.hosts.cli.options import opened, settings

if TYPE_CHECKING:
    from holdfast.verbs.upkeep.stream import Item


@click.command("web")
@click.option("--port", type=click.IntRange(0, 65_535), help="Port to listen on; 0 takes any that is free.")
@click.option("--open/--no-open", "open_it", default=None, help="Open a browser; only at a terminal unless said.")
def web_command(port: int | None, open_it: bool | None) -> None:
    """Open the viewer: see, search, judge and correct the memory in a browser.

    It listens on 127.0.0.1 only and runs until you stop it (Ctrl-C). The link it prints lets a browser in.

    \b
    holdfast web
    holdfast web --port 8080 --no-open
    """
    from holdfast.compose.settings import load_settings, store_folder
    from holdfast.hosts.mcp.token import kept_token
    from holdfast.hosts.web import serve

    flags = click.get_current_context().find_root().obj
    given = settings()
    token = given.config.http_token or kept_token(store_folder(given.config, Path.cwd()))

    def announce(link: str) -> None:
        click.echo(f"Holdfast is at {link}", err=True)
        click.echo("It shows this machine's memory to whoever has that link. Ctrl-C stops it.", err=True)
        if open_it or (open_it is None and sys.stderr.isatty() and not os.environ.get("SSH_CONNECTION")):
            click.launch(link)

    serve.main(lambda: load_settings(flags=flags), token=token, port=port, announce=announce)


@click.command("watch")
@click.option("--project", help="Another project than the one at hand.")
@click.option("--everywhere", is_flag=True, help="All projects.")
@click.option(
    "--what", "whats", multiple=True, help="Only this: prompt, tool, observation, record, warning …; repeatable."
)
@click.option("--session", default="", help="Only this session.")
@click.option("--last", default=10, show_default=True, type=click.IntRange(0, 200), help="How much to begin with.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, for programs.")
@click.option("--once", is_flag=True, help="Show what happened last and stop.")
def watch_command(
    project: str | None, everywhere: bool, whats: tuple[str, ...], session: str, last: int, as_json: bool, once: bool
) -> None:
    """Follow what agents do and what the memory keeps, as it happens: the viewer's stream in the terminal.

    \b
    holdfast watch
    holdfast watch --last 20 --once
    """
    from holdfast.hosts.web.live import SECONDS, look
    from holdfast.model.errors import Invalid
    from holdfast.verbs.records.project import project_called
    from holdfast.verbs.upkeep.stream import WHATS, Wanted, newer, older

    for what in whats:
        if what not in WHATS:
            raise Invalid(f"There is no {what!r} in the stream.", hint=f"Use some of {', '.join(WHATS)}.")
    with opened() as memory:
        where = None if everywhere else project_called(memory, project or "")
        wanted = Wanted(project=where, whats=whats, session=session)
        place = look(memory)
        shown = reversed(older(memory, wanted, limit=last).items) if last else ()
        for item in shown:
            _print(item, as_json=as_json, everywhere=everywhere)
        while not once:
            time.sleep(SECONDS)
            if look(memory) == place:
                continue
            found = newer(memory, wanted, after=place)
            for item in reversed(found.items):
                _print(item, as_json=as_json, everywhere=everywhere)
            place = found.place or place


def _print(item: "Item", *, as_json: bool, everywhere: bool) -> None:
    if as_json:
        import json

        from holdfast.hosts.web.answers import item_json
        from holdfast.model.fence import escaped

        print(escaped(json.dumps(item_json(item), ensure_ascii=False)), flush=True)
        return
    from rich.text import Text

    from holdfast.hosts.cli.render import console

    project = f" {item.project.rpartition('/')[2]}" if everywhere and item.project else ""
    style = "bold red" if item.failed or item.what == "warning" else _STYLES.get(item.what, "")
    word = (item.outcome or item.verb) if item.what in ("use", "change") else item.what
    line = Text.assemble(
        (item.at[11:19], "dim"), " ", (f"{word:<12}", style), " ", item.text, (f"  {item.client}{project}", "dim")
    )
    console().print(line)
    sys.stdout.flush()


_STYLES = {
    "prompt": "bold blue",
    "answer": "magenta",
    "record": "cyan",
    "observation": "yellow",
    "use": "green",
    "session": "bold",
}
