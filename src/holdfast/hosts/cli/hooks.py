"""Commands around hooks: the worker, and receipts of what was injected."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import click

from holdfast.hosts.cli.options import opened, settings
from holdfast.hosts.cli.render import ago, json_option, show
from holdfast.model.ids import short
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


@click.command("receipts")
@click.option("--days", default=7, show_default=True, type=click.IntRange(1), help="How many days back to look.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 500), help="Maximum number to show.")
@json_option
def receipts_command(days: int, limit: int, as_json: bool) -> None:
    """Show what was injected into sessions, why, at what cost, and whether it helped."""
    from holdfast.verbs.sessions.receipts import receipts

    with opened() as memory:
        injected = receipts(memory, days=days, limit=limit)
    lines = [
        f"{ago(receipt.at)}  {receipt.why}: {counted(len(receipt.ids), 'memory')}, {receipt.tokens} tokens, session {short(receipt.session)}"
        + (f" → {', '.join(receipt.outcomes)}" if receipt.outcomes else "")
        + (f" (observed: {_tallied(receipt.observed)})" if receipt.observed else "")
        for receipt in injected
    ]
    show(injected, "\n".join(lines) or "Nothing was injected.", as_json=as_json)


def _tallied(outcomes: Iterable[str]) -> str:
    return ", ".join(f"{count} {outcome}" for outcome, count in Counter(outcomes).most_common())
