"""`holdfast store migrate`: move a store between a file and a server."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import click

from holdfast.compose import open_memory
from holdfast.compose.settings import store_folder
from holdfast.compose.team import grant, move_store
from holdfast.hosts.cli.options import settings
from holdfast.hosts.cli.render import console, json_option, print_json, say
from holdfast.model.errors import Invalid
from holdfast.model.text import counted


@click.command("migrate")
@click.option("--to", "target", help="postgresql:// URL or folder to move the current store to; it must be empty.")
@click.option(
    "--from", "source", help="postgresql:// URL or folder to move into the current store, which must be empty."
)
@click.option(
    "--grant", "login", help="Move nothing: allow this database role to run `serve` on tables it does not own."
)
@json_option
def migrate_command(target: str | None, source: str | None, login: str | None, as_json: bool) -> None:
    """Move a whole store: journal, vectors, transcripts and all other tables.

    Both journals are compared by hash. The source is not changed. After an interruption, run it again to continue.
    Afterwards set `database` (or HOLDFAST_DATABASE) to the new place.

    \b
    holdfast store migrate --to postgresql://holdfast@db.example.org/holdfast
    holdfast --set database=postgresql://… store migrate --to ~/holdfast-copy
    holdfast store migrate --grant holdfast_server
    """
    if login and not (target or source):
        _grant(login)
        return
    if bool(target) == bool(source):
        raise Invalid("Where to, or where from?", hint="Pass --to or --from with a postgresql:// URL or a folder.")
    config = settings().config
    home = store_folder(config, Path.cwd())
    with _progress(quiet=as_json) as shown:
        moved = move_store(config, home, target=target or "", source=source or "", progress=shown)
    if as_json:
        print_json(asdict(moved))
        return
    amounts = [counted(moved.events, "event"), counted(moved.records, "memory"), counted(moved.vectors, "vector")]
    say(f"Moved: {', '.join(amounts)}.")
    say(f"Both journals have the hash {moved.hash[:16]}….")
    if target:
        say(
            f"Set database to use it from now on: {'HOLDFAST_DATABASE' if '://' in target else 'HOLDFAST_HOME'}={target}"
        )


def _grant(login: str) -> None:
    with open_memory(settings()) as memory:
        grant(memory, login)
    say(f"{login} may run `holdfast server run` now: it owns nothing, and sees only what the requesting user may see.")


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar for each table that is copied."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(error=True), disable=quiet, transient=True) as bar:
        tasks = {"": bar.add_task("opening", total=None)}

        def show_progress(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield show_progress
