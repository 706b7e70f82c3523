"""`holdfast work`: the background worker that hooks start."""

from pathlib import Path

import click

from holdfast.hosts.cli.options import settings
from holdfast.hosts.cli.render import json_option, show
from holdfast.model.text import counted


@click.command("work")
@click.option("--seconds", default=120.0, show_default=True, help="Time limit.")
@json_option
def work_command(seconds: float, as_json: bool) -> None:
    """Process activity from hooks: derive records and prepare answers. Hooks start this themselves."""
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
    counts = {"event": done.drained, "session": done.sessions, "new memory": done.records}
    counts |= {"vector": done.vectors, "updated file": done.files}
    parts = [counted(count, what) for what, count in counts.items() if count]
    summary = f"Processed: {', '.join(parts)}." if parts else "Nothing to process."
    show(done, "\n".join([summary, *done.problems]), as_json=as_json)
