"""`holdfast web` and `holdfast watch`: follow activity and browse memories, in a browser or in the terminal."""

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
@click.option("--port", type=click.IntRange(0, 65_535), help="Port to listen on; 0 picks a free one.")
@click.option("--open/--no-open", "open_it", default=None, help="Open a browser; default: only at a terminal.")
def web_command(port: int | None, open_it: bool | None) -> None:
    """Open the viewer: browse, search and correct memories in a browser.

    Listens on 127.0.0.1 only and runs until you stop it (Ctrl-C). Open the printed link to log in.

    \b
    holdfast web
    holdfast web --port 8080 --no-open
    """
    from holdfast.compose.settings import load_settings, store_folder
    from holdfast.hosts.mcp.token import kept_token
    from holdfast.hosts.web import serve

    flags = click.get_current_context().find_root().obj
    current = settings()
    token = current.config.http_token or kept_token(store_folder(current.config, Path.cwd()))

    def announce(link: str) -> None:
        click.echo(f"Holdfast is at {link}", err=True)
        click.echo("Anyone with this link can read this machine's memories. Press Ctrl-C to stop.", err=True)
        if open_it or (open_it is None and sys.stderr.isatty() and not os.environ.get("SSH_CONNECTION")):
            click.launch(link)

    serve.main(lambda: load_settings(flags=flags), token=token, port=port, announce=announce)


@click.command("watch")
@click.option("--project", help="Another project than the current one.")
@click.option("--everywhere", is_flag=True, help="All projects.")
@click.option(
    "--what", "whats", multiple=True, help="Only this: prompt, tool, observation, record, warning …; repeatable."
)
@click.option("--session", default="", help="Only this session.")
@click.option(
    "--last", default=10, show_default=True, type=click.IntRange(0, 200), help="How many past items to show first."
)
@click.option("--json", "as_json", is_flag=True, help="A JSON object on each line, for programs.")
@click.option("--once", is_flag=True, help="Show past items and stop.")
def watch_command(
    project: str | None, everywhere: bool, whats: tuple[str, ...], session: str, last: int, as_json: bool, once: bool
) -> None:
    """Follow activity and new memories live: the viewer's stream in the terminal.

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
            raise Invalid(f"There is no {what!r} in the stream.", hint=f"Use one of {', '.join(WHATS)}.")
    with opened() as memory:
        where = None if everywhere else project_called(memory, project or "")
        wanted = Wanted(project=where, whats=whats, session=session)
        place = look(memory)
        past = reversed(older(memory, wanted, limit=last).items) if last else ()
        for item in past:
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

    from holdfast.hosts.cli.render import clock, console, hanging
    from holdfast.model.event import VERB_WORDS

    project = f" {item.project.rpartition('/')[2]}" if everywhere and item.project else ""
    style = "bold red" if item.failed or item.what == "warning" else _STYLES.get(item.what, "")
    verb = "in hot set" if item.verb == "heated" else VERB_WORDS.get(item.verb, item.verb)  # short: it has a column
    word = (item.outcome or verb) if item.what in ("use", "change") else _WORDS.get(item.what, item.what)
    line = Text.assemble(
        (clock(item.at), "dim"), " ", (f"{word:<12}", style), " ", item.text, (f"  {item.client}{project}", "dim")
    )
    hanging(console(), line, WATCH_INDENT)
    sys.stdout.flush()


WATCH_INDENT = 22  # where the text of an item begins
_WORDS = {"record": "saved"}
_STYLES = {
    "prompt": "bold blue",
    "answer": "magenta",
    "record": "cyan",
    "observation": "yellow",
    "use": "green",
    "session": "bold",
}
