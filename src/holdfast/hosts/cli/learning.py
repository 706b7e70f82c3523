"""Commands that learn from git history, and show the observer."""

from pathlib import Path

import click
from rich.text import Text

from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.render import ago, console, json_option, local, print_json, working
from holdfast.hosts.cli.values import DATE
from holdfast.hosts.plain import plain
from holdfast.model.ids import parse_instant, short
from holdfast.model.text import counted
from holdfast.verbs.capture.learn import LIMIT, MOST, Learned, learn
from holdfast.verbs.capture.observer import ObserverStatus, observer_status


@click.command("learn")
@click.option("--since", type=DATE, default="", help="Only commits made on or after this date, read already or not.")
@click.option(
    "--limit", default=LIMIT, show_default=True, type=click.IntRange(1, MOST), help="Maximum number of commits to read."
)
@click.option("--dry-run", is_flag=True, help="Preview what would be saved.")
@json_option
def learn_command(since: str, limit: int, dry_run: bool, as_json: bool) -> None:
    """Learn from git history: decisions and their reasons, reverts, changes that broke something, repeated fixes, regressions.

    Decisions, and reverts that are not marked as such, are pending until approved (`holdfast review approve`); the rest is saved as
    observations that may become scars. A reverted change that came back is left out, and a patch on two branches counts once.
    The next run reads only new commits.
    """
    from holdfast.compose.adapters import history_of

    with opened() as memory, working("reading the git history"):
        learned = learn(
            memory,
            history_of(Path.cwd()),
            since=parse_instant(since) if since else "",
            limit=limit,
            dry_run=dry_run,
        )
    if as_json:
        print_json(plain(learned))
        return
    _show_learned(learned)


def _show_learned(learned: Learned) -> None:
    out = console()
    word = "would be saved" if learned.dry_run else "saved"
    for record in learned.kept:
        state = "pending approval" if record.state == "pending" else "may become a scar"
        out.print(Text.assemble((short(record.id), "cyan"), f"  {record.title}  ", (state, "dim")))
    out.print(
        f"{counted(learned.commits, 'new commit')} read: {len(learned.kept)} {word}, {learned.known} already known."
    )
    if learned.left_out:
        out.print(
            Text(
                f"{learned.left_out} more were left out: approve or reject some, then run `holdfast ingest learn --since …`.",
                style="yellow",
            )
        )


@click.command("observer")
@json_option
def observer_command(as_json: bool) -> None:
    """Show which observer is configured, its daily budget and what it has spent."""
    with opened() as memory:
        state = observer_status(memory)
    if as_json:
        print_json(plain(state))
        return
    for name, line in _lines(state):
        console().print(Text.assemble((f"{name:<9}", "dim"), line))


def _lines(state: ObserverStatus) -> list[tuple[str, str]]:
    if state.observer == "none" or state.daily_tokens <= 0:
        why = "none is set" if state.observer == "none" else "observer_daily_tokens is 0"
        return [("observer", f"off ({why}): rules write observations, at no cost")]
    lines = [
        ("observer", f"{state.observer} {state.model}, mode {state.mode}"),
        (
            "today",
            f"{state.spent:,} of {state.daily_tokens:,} tokens in {counted(state.calls, 'call')}, {state.left:,} left",
        ),
    ]
    lines += [("problem", state.problem)] if state.problem else []
    lines += [("paused", f"until {local(state.waiting_until)}")] if state.waiting_until else []
    return lines + [("failed", f"{ago(failure.at)}  {failure.said}") for failure in state.failures[:3]]
