"""Commands for threads: unfinished work."""

import click

from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.outcome import refuse
from holdfast.hosts.cli.person import PERSON
from holdfast.hosts.cli.render import json_option, show
from holdfast.hosts.cli.values import MEMORY
from holdfast.surfaces.core import session_text
from holdfast.verbs.sessions.thread import (
    Known,
    Opened,
    open_thread,
    open_threads,
    reopen,
    resolve,
    resolved_threads,
    touch,
    triage,
)


@click.group("thread")
def thread_command() -> None:
    """Track unfinished work that outlives a session.

    Refer to a thread by its id, its number in the list (#2, oldest first) or a part of its text.

    \b
    holdfast thread open "Load-test the limiter"
    holdfast thread resolve limiter --note "done in SHOP-14"
    """


@thread_command.command("open")
@click.argument("text", nargs=-1, required=True)
@click.option("--issue", "issues", multiple=True, help="A related issue; repeatable.")
@click.option("--force", is_flag=True, help="Open it although there is a similar thread.")
@json_option
def open_command(text: tuple[str, ...], issues: tuple[str, ...], force: bool, as_json: bool) -> None:
    """Open a thread, or touch the similar one that exists."""
    with opened() as memory:
        outcome = open_thread(memory, " ".join(text), issues=issues, force=force)
    if not isinstance(outcome, Opened | Known):
        refuse(outcome, as_json=as_json)
    show(outcome, session_text.opened_thread(outcome, PERSON), as_json=as_json)


@thread_command.command("list")
@click.option("--archived", is_flag=True, help="Also list threads dormant for a month.")
@click.option("--resolved", "only_resolved", is_flag=True, help="List resolved threads instead.")
@json_option
def list_command(archived: bool, only_resolved: bool, as_json: bool) -> None:
    """List threads, most active first."""
    with opened() as memory:
        threads = resolved_threads(memory) if only_resolved else open_threads(memory, archived=archived)
    lines = [session_text.thread_line(thread, PERSON) for thread in threads]
    nothing = "No resolved threads." if only_resolved else 'No open threads. Open one: holdfast thread open "…"'
    show(threads, "\n".join(lines) or nothing, as_json=as_json)


@thread_command.command("triage")
@json_option
def triage_command(as_json: bool) -> None:
    """Show all open threads by stage."""
    with opened() as memory:
        stages = triage(memory)
    show(stages, session_text.triage_of(stages, PERSON), as_json=as_json)


@thread_command.command("touch")
@click.argument("thread")
@json_option
def touch_command(thread: str, as_json: bool) -> None:
    """Record that a thread was worked on."""
    with opened() as memory:
        touched = touch(memory, thread)
    show(touched, f"Touched {session_text.thread_line(touched, PERSON)}", as_json=as_json)


@thread_command.command("resolve")
@click.argument("thread")
@click.option("--note", default="", help="How it was resolved.")
@json_option
def resolve_command(thread: str, note: str, as_json: bool) -> None:
    """Resolve a thread."""
    with opened() as memory:
        resolved = resolve(memory, thread, note)
    show(resolved, f"Resolved {session_text.thread_line(resolved, PERSON)}", as_json=as_json)


@thread_command.command("reopen")
@click.argument("id", type=MEMORY)
@json_option
def reopen_command(id: str, as_json: bool) -> None:  # noqa: A002
    """Reopen a resolved thread."""
    with opened() as memory:
        reopened = reopen(memory, id)
    show(reopened, f"Reopened {session_text.thread_line(reopened, PERSON)}", as_json=as_json)
