"""Commands for unfinished work."""

import click

from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.outcome import refuse
from holdfast.hosts.cli.render import json_option, show
from holdfast.hosts.cli.values import MEMORY
from holdfast.surfaces.core import work
from holdfast.surfaces.core.text import line
from holdfast.verbs.sessions.suggest import dismiss, promote, suggestions
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
    """Keep track of unfinished work that outlives a session.

    A thread is named by its id, its place in the list (#2, oldest first) or a part of its text.

    \b
    holdfast thread open "Load-test the limiter"
    holdfast thread resolve limiter --note "done in SHOP-14"
    """


@thread_command.command("open")
@click.argument("text", nargs=-1, required=True)
@click.option("--issue", "issues", multiple=True, help="An issue it touches; repeatable.")
@click.option("--force", is_flag=True, help="Although one is about the same.")
@json_option
def open_command(text: tuple[str, ...], issues: tuple[str, ...], force: bool, as_json: bool) -> None:
    """Open a thread, or touch the one that is about the same."""
    with opened() as memory:
        outcome = open_thread(memory, " ".join(text), issues=issues, force=force)
    if not isinstance(outcome, Opened | Known):
        refuse(outcome, as_json=as_json)
    show(outcome, work.opened_thread(outcome), as_json=as_json)


@thread_command.command("list")
@click.option("--archived", is_flag=True, help="Also those dormant for a month.")
@click.option("--resolved", "only_resolved", is_flag=True, help="The resolved ones instead.")
@json_option
def list_command(archived: bool, only_resolved: bool, as_json: bool) -> None:
    """List threads, liveliest first."""
    with opened() as memory:
        found = resolved_threads(memory) if only_resolved else open_threads(memory, archived=archived)
    show(found, "\n".join(map(work.thread_line, found)) or "No thread.", as_json=as_json)


@thread_command.command("triage")
@json_option
def triage_command(as_json: bool) -> None:
    """Show all open threads by the stage of their life."""
    with opened() as memory:
        found = triage(memory)
    show(found, work.triage_of(found), as_json=as_json)


@thread_command.command("touch")
@click.argument("thread")
@json_option
def touch_command(thread: str, as_json: bool) -> None:
    """Note that a thread was worked on."""
    with opened() as memory:
        found = touch(memory, thread)
    show(found, f"Touched {work.thread_line(found)}", as_json=as_json)


@thread_command.command("resolve")
@click.argument("thread")
@click.option("--note", default="", help="How.")
@json_option
def resolve_command(thread: str, note: str, as_json: bool) -> None:
    """Close a thread."""
    with opened() as memory:
        found = resolve(memory, thread, note)
    show(found, f"Resolved {work.thread_line(found)}", as_json=as_json)


@thread_command.command("reopen")
@click.argument("id", type=MEMORY)
@json_option
def reopen_command(id: str, as_json: bool) -> None:  # noqa: A002
    """Take a resolved thread up again."""
    with opened() as memory:
        found = reopen(memory, id)
    show(found, f"Reopened {work.thread_line(found)}", as_json=as_json)


@thread_command.command("suggestions")
@json_option
def suggestions_command(as_json: bool) -> None:
    """List topics that keep coming back and may deserve a thread."""
    with opened() as memory:
        found = suggestions(memory)
    show(found, "\n".join(map(line, found)) or "Nothing is suggested.", as_json=as_json)


@thread_command.command("promote")
@click.argument("id", type=MEMORY)
@json_option
def promote_command(id: str, as_json: bool) -> None:  # noqa: A002
    """Make a suggestion a thread."""
    with opened() as memory:
        found = promote(memory, id)
    show(found, f"Opened {line(found)}", as_json=as_json)


@thread_command.command("dismiss")
@click.argument("id", type=MEMORY)
@json_option
def dismiss_command(id: str, as_json: bool) -> None:  # noqa: A002
    """Turn a suggestion down; after the third time it never comes back."""
    with opened() as memory:
        found, left = dismiss(memory, id)
    show({"record": found, "left": left}, f"Dismissed {line(found)}", as_json=as_json)
