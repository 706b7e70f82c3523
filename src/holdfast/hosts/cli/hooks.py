"""Commands around hooks: the worker they start, what they put into contexts, and the brief as they would print it."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import click

from holdfast.hosts.cli.options import opened, settings
from holdfast.hosts.cli.render import json_option, show
from holdfast.model.text import counted


@click.command("work")
@click.option("--seconds", default=120.0, show_default=True, help="Stop after this long, whatever is left.")
@json_option
def work_command(seconds: float, as_json: bool) -> None:
    """Take in what hooks dropped, make records of it and prepare their answers. Hooks start this themselves."""
    from holdfast.compose.settings import store_folder
    from holdfast.hosts.worker import work

    chosen = settings()
    for warning in chosen.warnings:
        click.echo(f"warning: {warning}", err=True)
    home, flags = store_folder(chosen.config, Path.cwd()), click.get_current_context().find_root().obj
    done = work(flags, home, Path.cwd(), seconds=seconds)
    if done is None:
        show({"status": "busy"}, "Another worker holds the lock.", as_json=as_json)
        return
    told = f"{counted(done.drained, 'happening')} drained, {counted(done.sessions, 'session')} derived into {counted(done.records, 'memory')}, {counted(done.vectors, 'vector')} made."
    told += f" {counted(done.files, 'file')} brought up to date." if done.files else ""
    show(done, "\n".join([told, *done.problems]), as_json=as_json)


@click.command("receipts")
@click.option("--days", default=7, show_default=True, type=click.IntRange(1), help="How many days back to look.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 500), help="Most to show.")
@json_option
def receipts_command(days: int, limit: int, as_json: bool) -> None:
    """Show what sessions were told unasked, why, at what cost, and what became of it."""
    from holdfast.verbs.sessions.receipts import receipts

    with opened() as memory:
        found = receipts(memory, days=days, limit=limit)
    lines = [
        f"{one.at[:16]} {one.why}: {counted(len(one.ids), 'memory')}, {one.tokens} tokens, session {one.session[:13]}"
        + (f" → {', '.join(one.outcomes)}" if one.outcomes else "")
        + (f" (seen: {_tallied(one.observed)})" if one.observed else "")
        for one in found
    ]
    show(found, "\n".join(lines) or "Nothing was put into a context unasked.", as_json=as_json)


def _tallied(outcomes: Iterable[str]) -> str:
    return ", ".join(f"{count} {outcome}" for outcome, count in Counter(outcomes).most_common())


@click.command("opening")
@json_option
def opening_command(as_json: bool) -> None:
    """Print the brief a session of this project would begin with."""
    from holdfast.verbs.capture.prepare import brief_of

    with opened() as memory:
        made = brief_of(memory)
    if made.text and not as_json:
        print(made.text)  # as an agent gets it: what was stored went through the fence when it was made
    else:
        show(made, "Nothing to tell yet.", as_json=as_json)
