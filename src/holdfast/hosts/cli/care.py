"""Commands that care for memories already kept."""

import os
import sys
from pathlib import Path
from typing import Any

import click

from holdfast.hosts.cli.erasure import erasure_lines, erasure_to_json
from holdfast.hosts.cli.options import fields_of, opened, stdin_text, teaching_fields
from holdfast.hosts.cli.outcome import present, refuse
from holdfast.hosts.cli.render import SHORT, console, icon, json_option, print_json, show_history
from holdfast.hosts.cli.values import KIND, MEMORY, RELATION, SCOPE
from holdfast.model.errors import Invalid
from holdfast.model.event import OUTCOMES, event_to_json
from holdfast.model.record import Record, record_to_json
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.lifecycle import Revision, link, record_use, rename_scope, restore, retire, revise, unlink
from holdfast.verbs.records.read import history
from holdfast.verbs.records.write import cancel, confirm


@click.command("revise")
@click.argument("id", type=MEMORY)
@click.option("--text", help="The new text; - reads it from stdin.")
@click.option("--title", help="A new headline.")
@click.option("--kind", type=KIND, help="Another kind; its fields are checked.")
@click.option(
    "--field", "pairs", multiple=True, metavar="NAME=VALUE", help="Replaces the fields; repeat a name to make a list."
)
@click.option("--anchor", "anchors", multiple=True, help="Replaces what it cites in code; repeatable.")
@click.option("--scope", "scopes", type=SCOPE, multiple=True, help="Replaces the scopes; repeatable.")
@click.option("--tag", "tags", multiple=True, help="Replaces the tags; repeatable.")
@click.option("--confidence", help="high, medium or low.")
@click.option("--visibility", help="private or team.")
@click.option("--redact", is_flag=True, help="Mask secrets instead of refusing.")
@json_option
def revise_command(
    id: str,  # noqa: A002
    text: str | None,
    pairs: tuple[str, ...],
    anchors: tuple[str, ...],
    scopes: tuple[str, ...],
    tags: tuple[str, ...],
    redact: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Give a memory a new text, title, kind or labels. The old ones stay in its history."""
    revision = Revision(
        body=stdin_text() if text == "-" else text,
        fields=fields_of(pairs) if pairs else None,
        anchors=anchors or None,
        scopes=scopes or None,
        tags=tags or None,
        **given,
    )
    with opened() as memory, teaching_fields(given["kind"] or find(memory, id).record.kind):
        outcome = revise(memory, id, revision, redact=redact)
    if isinstance(outcome, Record):
        _done("revised", outcome, as_json=as_json)
    else:
        refuse(outcome, as_json=as_json)


@click.command("confirm")
@click.argument("id", type=MEMORY)
@click.option("--force", is_flag=True, help="Keep it although something says the same.")
@json_option
def confirm_command(id: str, force: bool, as_json: bool) -> None:  # noqa: A002
    """Say yes to a memory that waits for it."""
    with opened() as memory:
        present(confirm(memory, id, waivers=Waivers(duplicate=force)), as_json=as_json)


@click.command("cancel")
@click.argument("id", type=MEMORY)
@json_option
def cancel_command(id: str, as_json: bool) -> None:  # noqa: A002
    """Say no to a memory that waits for a yes."""
    with opened() as memory:
        _done("cancelled", cancel(memory, id), as_json=as_json)


@click.command("forget")
@click.argument("id", type=MEMORY)
@click.option("--reason", default="", help="Why; shown if its like is written again.")
@click.option("--erase", "for_good", is_flag=True, help="Remove every word of it, history included. Cannot be undone.")
@click.option("--backups", "and_backups", is_flag=True, help="With --erase: rewrite backups that hold it, too.")
@click.option("--yes", is_flag=True, help="Do not ask before erasing.")
@json_option
def forget_command(id: str, reason: str, for_good: bool, and_backups: bool, yes: bool, as_json: bool) -> None:  # noqa: A002
    """Take a memory out of use, or erase it for good.

    A forgotten memory keeps its history and can be restored; an erased one is gone: from the store, and from every copy of it on this
    machine. Backups are listed, and rewritten if you say so; the command says what it cannot reach. Run it again to finish an erasure
    that was cut short, or to rewrite backups later.
    """
    with opened() as memory:
        if for_good:
            if not yes and not click.confirm(f"Erase {id} and its whole history for good?", err=True):
                raise click.Abort
            _erase(memory, id, and_backups=and_backups, as_json=as_json)
            return
        if and_backups:
            raise Invalid("--backups goes with --erase.", hint="A forgotten memory stays in backups.")
        if not reason.strip():
            raise Invalid("Say why.", hint='holdfast forget ID --reason "the service was shut down"')
        _done("forgotten", retire(memory, id, reason), as_json=as_json)


@click.command("restore")
@click.argument("id", metavar="ID|FILE")
@click.option("-y", "--yes", is_flag=True, help="With a file: ask nothing.")
@json_option
def restore_command(id: str, yes: bool, as_json: bool) -> None:  # noqa: A002
    """Put a forgotten memory back to use; or, given a file of `holdfast backup`, put that in the place of the store.

    What has a dot or a slash in it is a file. The store as it is goes to its backups first.
    """
    if any(sign in id for sign in (".", "/", os.sep)):
        from holdfast.hosts.cli.recovery import restore_store

        restore_store(Path(id), yes=yes, as_json=as_json)
        return
    with opened() as memory:
        _done("restored", restore(memory, id), as_json=as_json)


@click.command("history")
@click.argument("id", type=MEMORY)
@json_option
def history_command(id: str, as_json: bool) -> None:  # noqa: A002
    """Show everything that happened to a memory, oldest first."""
    with opened() as memory:
        events = history(memory, id)
    print_json([event_to_json(event) for event in events]) if as_json else show_history(events)


@click.command("link")
@click.argument("source", type=MEMORY)
@click.argument("relation", type=RELATION)
@click.argument("target", type=MEMORY)
@json_option
def link_command(source: str, relation: str, target: str, as_json: bool) -> None:
    """Point one memory at another.

    RELATION is relates_to, depends_on, supersedes, refines, contradicts, elaborates or mentions.
    """
    with opened() as memory:
        _done("linked", link(memory, source, relation, target), as_json=as_json)


@click.command("unlink")
@click.argument("source", type=MEMORY)
@click.argument("relation", type=RELATION)
@click.argument("target", type=MEMORY)
@json_option
def unlink_command(source: str, relation: str, target: str, as_json: bool) -> None:
    """Take a link between two memories away."""
    with opened() as memory:
        _done("unlinked", unlink(memory, source, relation, target), as_json=as_json)


@click.command("use")
@click.argument("outcome", type=click.Choice(OUTCOMES))
@click.argument("ids", type=MEMORY, nargs=-1, required=True)
@click.option("--note", default="", help="What happened.")
@json_option
def use_command(outcome: str, ids: tuple[str, ...], note: str, as_json: bool) -> None:
    """Say what became of memories: they helped, were ignored, were wrong."""
    with opened() as memory:
        used = record_use(memory, ids, outcome, note=note)
    print_json({"status": outcome, "ids": used}) if as_json else print(
        "\n".join(f"{item[:SHORT]}  {outcome}" for item in used)
    )


@click.command("rename-scope")
@click.argument("old", type=SCOPE)
@click.argument("new")
@json_option
def rename_scope_command(old: str, new: str, as_json: bool) -> None:
    """Give all memories of a scope, and of scopes nested in it, another one."""
    with opened() as memory:
        renamed = rename_scope(memory, old, new)
    print_json({"renamed": [record.id for record in renamed]}) if as_json else print(
        f"{len(renamed)} memories moved from {old} to {new}."
    )


def _erase(memory: Memory, reference: str, *, and_backups: bool, as_json: bool) -> None:
    from holdfast.verbs.records.erasing import erase
    from holdfast.verbs.upkeep.backups import backups_of, rewrite_backups

    erased = erase(memory, reference)
    backups = rewrite_backups(memory, erased) if and_backups else backups_of(memory, erased)
    if not and_backups and not as_json and (holding := [one for one in backups if one.holds]) and sys.stdin.isatty():
        click.echo("\n".join(("These backups still hold it:", *(f"  {one.path}" for one in holding))), err=True)
        if click.confirm("Rewrite them without it?", err=True):
            backups = rewrite_backups(memory, erased)
    if as_json:
        print_json(erasure_to_json(erased, backups))
        return
    for line in erasure_lines(erased, backups):
        console().print(line, markup=False, highlight=False, soft_wrap=True)


def _done(what: str, record: Record, *, as_json: bool) -> None:
    if as_json:
        print_json({"status": what, "record": record_to_json(record)})
        return
    from rich.text import Text

    console().print(Text.assemble((record.id[:SHORT], "cyan"), f"  {icon(record)} {what}: ", (record.title, "bold")))
