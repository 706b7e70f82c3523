"""Commands about what is taken in unasked: the history of a repository, and the observer that may read the trail."""

from pathlib import Path

import click
from rich.text import Text

from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.render import SHORT, console, json_option, print_json
from holdfast.hosts.cli.values import DATE
from holdfast.hosts.plain import plain
from holdfast.model.ids import parse_instant
from holdfast.model.text import counted
from holdfast.verbs.capture.learn import LIMIT, MOST, Learned, learn
from holdfast.verbs.capture.observer import ObserverStatus, observer_status


@click.command("learn")
@click.option("--since", type=DATE, default="", help="Only commits made on or after this date, read already or not.")
@click.option("--limit", default=LIMIT, show_default=True, type=click.IntRange(1, MOST), help="Most commits to read.")
@click.option("--dry-run", is_flag=True, help="Only say what would be kept.")
@json_option
def learn_command(since: str, limit: int, dry_run: bool, as_json: bool) -> None:
    """Learn from the repository: what was chosen and why, what had to be fixed again, what was taken back.

    Choices wait for a yes (`holdfast confirm`); the rest is kept as observations that may become scars. Done again it
    reads only what is new.
    """
    from holdfast.compose.adapters import history_of

    with opened() as memory:
        found = learn(
            memory,
            history_of(Path.cwd()),
            since=parse_instant(since) if since else "",
            limit=limit,
            dry_run=dry_run,
        )
    if as_json:
        print_json(plain(found))
        return
    _show_learned(found)


def _show_learned(found: Learned) -> None:
    out = console()
    word = "would be kept" if found.dry_run else "kept"
    for record in found.kept:
        state = "waits for a yes" if record.state == "pending" else "may become a scar"
        out.print(Text.assemble((record.id[:SHORT], "cyan"), f"  {record.title}  ", (state, "dim")))
    out.print(f"{counted(found.commits, 'new commit')} read: {len(found.kept)} {word}, {found.known} known already.")
    if found.left_out:
        out.print(
            Text(
                f"{found.left_out} more were left out: confirm or cancel some, then `holdfast learn --since …`.",
                style="yellow",
            )
        )


@click.command("observer")
@json_option
def observer_command(as_json: bool) -> None:
    """Show who writes observations, what that may cost in a day, and what it did cost."""
    with opened() as memory:
        found = observer_status(memory)
    if as_json:
        print_json(plain(found))
        return
    for name, line in _lines(found):
        console().print(Text.assemble((f"{name:<9}", "dim"), line))


def _lines(found: ObserverStatus) -> list[tuple[str, str]]:
    if found.observer == "none" or found.daily_tokens <= 0:
        why = "none is set" if found.observer == "none" else "observer_daily_tokens is 0"
        return [("observer", f"off ({why}): rules alone write observations, at no cost")]
    lines = [
        ("observer", f"{found.observer} {found.model}, mode {found.mode}"),
        (
            "today",
            f"{found.spent:,} of {found.daily_tokens:,} tokens in {counted(found.calls, 'call')}, {found.left:,} left",
        ),
    ]
    lines += [("problem", found.problem)] if found.problem else []
    lines += [("waits", f"until {found.waiting_until}")] if found.waiting_until else []
    return lines + [("failed", f"{failure.at}  {failure.said}") for failure in found.failures[:3]]
