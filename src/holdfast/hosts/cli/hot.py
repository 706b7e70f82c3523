"""`holdfast hot`: the few memories that matter most."""

from collections.abc import Callable

import click

from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.person import PERSON
from holdfast.hosts.cli.render import json_option, show
from holdfast.hosts.cli.values import MEMORY
from holdfast.model.ids import short
from holdfast.model.text import counted
from holdfast.surfaces.core import reports
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.hot import Hot, demote, hot_set, pin, promote, suggested, unpin


@click.group("hot", invoke_without_command=True)
@click.pass_context
@json_option
def hot_command(ctx: click.Context, as_json: bool) -> None:
    """Show the hot set: the few memories that matter most; or add and remove memories."""
    if ctx.invoked_subcommand is None:
        with opened() as memory:
            hot = hot_set(memory)
        show(hot, reports.hot_of(hot, PERSON), as_json=as_json)


@hot_command.command("suggest")
@json_option
def suggest_command(as_json: bool) -> None:
    """Show memories that are used but not in the set, and why."""
    with opened() as memory:
        candidates = suggested(memory)
    show(candidates, reports.suggested_of(candidates, PERSON), as_json=as_json)


def _hot_action(verb: Callable[[Memory, str], list[Hot]], done: str, help_text: str) -> None:
    """Add a subcommand to `hot` that applies a verb to a memory and prints what was done."""

    @hot_command.command(verb.__name__, help=help_text)
    @click.argument("id", type=MEMORY)
    @json_option
    def act(id: str, as_json: bool) -> None:  # noqa: A002
        with opened() as memory:
            hot = verb(memory, id)
            record = find(memory, id).record
        size = f"{counted(len(hot), 'memory')} in the hot set" if hot else "the hot set is empty"
        show(hot, f"{short(record.id)}  {done}: {record.title} ({size})", as_json=as_json)


_hot_action(promote, "added", "Add a memory.")
_hot_action(demote, "removed", "Remove a memory.")
_hot_action(pin, "pinned", "Keep a memory in the set always.")
_hot_action(unpin, "unpinned", "Unpin a memory.")
