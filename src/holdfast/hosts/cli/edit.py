"""Commands that change single memories: revise, forget, restore, link; and their history."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from holdfast.hosts.cli.options import declined, fields_of, from_top, opened, stdin_text, teaching_fields
from holdfast.hosts.cli.outcome import refuse, show_done
from holdfast.hosts.cli.render import agreed, console, json_option, print_json, say, show_history
from holdfast.hosts.cli.values import KIND, MEMORY, RELATION, SCOPE
from holdfast.model.errors import Invalid
from holdfast.model.event import event_to_json
from holdfast.model.ids import short
from holdfast.model.record import Record, record_to_json
from holdfast.model.text import counted, shorten
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.lifecycle import Revision, link, restore, retire, revise, unlink
from holdfast.verbs.records.read import history
from holdfast.verbs.records.undo import undo_last

if TYPE_CHECKING:
    from holdfast.verbs.upkeep.backups import Backup
    from holdfast.verbs.upkeep.erasing import Erased


_PLURALS = {
    "entry of the trail": "entries of the trail",
    "file of hooks": "files of hooks",
    "memory that quoted it": "memories that quoted it",
}


@click.command("revise")
@click.argument("id", type=MEMORY)
@click.option("--text", help="The new text; - reads it from stdin.")
@click.option("--title", help="A new headline.")
@click.option("--kind", type=KIND, help="Another kind; its fields are checked.")
@click.option(
    "--field", "pairs", multiple=True, metavar="NAME=VALUE", help="Replaces the fields; repeat a name to make a list."
)
@click.option("--anchor", "anchors", multiple=True, help="Replaces its anchors; repeatable.")
@click.option(
    "--trigger",
    "triggers",
    multiple=True,
    help="Replaces its triggers; repeatable. '' infers them again, none turns them off.",
)
@click.option("--scope", "scopes", type=SCOPE, multiple=True, help="Replaces the scopes; repeatable.")
@click.option("--tag", "tags", multiple=True, help="Replaces the tags; repeatable.")
@click.option("--confidence", help="high, medium or low.")
@click.option("--visibility", help="private or team.")
@click.option("--redact", is_flag=True, help="Mask secrets instead of rejecting.")
@json_option
def revise_command(
    id: str,  # noqa: A002
    text: str | None,
    pairs: tuple[str, ...],
    anchors: tuple[str, ...],
    triggers: tuple[str, ...],
    scopes: tuple[str, ...],
    tags: tuple[str, ...],
    redact: bool,
    as_json: bool,
    **changes: Any,
) -> None:
    """Change a memory's text, title, kind or labels. The old ones stay in its history."""
    revision = Revision(
        body=stdin_text() if text == "-" else text,
        fields=fields_of(pairs) if pairs else None,
        triggers=tuple(filter(None, triggers)) if triggers else None,
        scopes=scopes or None,
        tags=tags or None,
        **changes,
    )
    with opened() as memory, teaching_fields(changes["kind"] or find(memory, id).record.kind):
        revision = replace(revision, anchors=from_top(memory, anchors) or None)
        outcome = revise(memory, id, revision, redact=redact)
    if isinstance(outcome, Record):
        _done("revised", outcome, as_json=as_json)
    else:
        refuse(outcome, as_json=as_json)


@click.command("undo")
@click.argument("id", type=MEMORY, default="")
@json_option
def undo_command(id: str, as_json: bool) -> None:  # noqa: A002
    """Take back your last change, or your last change of one memory: saved, revised, retired, decided, linked, judged.

    The twenty latest commands that changed something can be taken back, one after the other. The history keeps both.
    """
    with opened() as memory:
        undone = undo_last(memory, id)
    if as_json:
        print_json([record_to_json(record) for record in undone])
    for record in [] if as_json else undone:
        console().print(
            Text.assemble((short(record.id), "cyan"), f"  undone, it is {record.state} now: {record.title}")
        )


@click.command("forget")
@click.argument("id", type=MEMORY)
@click.option(
    "--reason", default="", help="Why (required unless --erase); printed if something similar is written again."
)
@click.option(
    "--erase", "for_good", is_flag=True, help="Delete its text permanently, history included. Cannot be undone."
)
@click.option("--backups", "and_backups", is_flag=True, help="With --erase: also rewrite backups that contain it.")
@click.option("--yes", is_flag=True, help="Do not ask before erasing.")
@json_option
def forget_command(id: str, reason: str, for_good: bool, and_backups: bool, yes: bool, as_json: bool) -> None:  # noqa: A002
    """Retire a memory, or erase it permanently.

    A retired memory keeps its history and can be restored; an erased one is deleted from the store and from every copy on this
    machine. Backups are listed, and rewritten on request; the command reports what it cannot reach. Run it again to finish an
    interrupted erasure, or to rewrite backups later.
    """
    with opened() as memory:
        if for_good:
            if not yes and not _agrees_to_erase(memory, id):
                declined()
            _erase(memory, id, and_backups=and_backups, as_json=as_json)
            return
        if and_backups:
            raise Invalid("--backups needs --erase.", hint="A retired memory stays in backups.")
        if not reason.strip():
            raise Invalid("A reason is required.", hint='holdfast forget ID --reason "the service was shut down"')
        _done("forgotten", retire(memory, id, reason), as_json=as_json)


@click.command("restore")
@click.argument("id", type=MEMORY)
@json_option
def restore_command(id: str, as_json: bool) -> None:  # noqa: A002
    """Bring back a retired memory. `holdfast store restore` restores a backup."""
    if Path(id).suffix or Path(id).is_file():
        raise Invalid(f"{id} is a file.", hint=f"To replace the store by a backup: holdfast store restore {id}")
    with opened() as memory:
        _done("restored", restore(memory, id), as_json=as_json)


@click.command("history")
@click.argument("id", type=MEMORY)
@json_option
def history_command(id: str, as_json: bool) -> None:  # noqa: A002
    """Show all events of a memory, oldest first."""
    with opened() as memory:
        events = history(memory, id)
    print_json([event_to_json(event) for event in events]) if as_json else show_history(events)


@click.command("link")
@click.argument("source", type=MEMORY)
@click.argument("relation", type=RELATION)
@click.argument("target", type=MEMORY)
@json_option
def link_command(source: str, relation: str, target: str, as_json: bool) -> None:
    """Link a memory to another.

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
    """Remove a link between two memories."""
    with opened() as memory:
        _done("unlinked", unlink(memory, source, relation, target), as_json=as_json)


def _agrees_to_erase(memory: Memory, reference: str) -> bool:
    title = shorten(find(memory, reference).record.title or "its remains", 60)
    return agreed(f"Erase “{title}” and its whole history for good?")


def _erase(memory: Memory, reference: str, *, and_backups: bool, as_json: bool) -> None:
    from holdfast.verbs.upkeep.backups import backups_of, rewrite_backups
    from holdfast.verbs.upkeep.erasing import erase

    erased = erase(memory, reference)
    backups = rewrite_backups(memory, erased) if and_backups else backups_of(memory, erased)
    if (
        not and_backups
        and not as_json
        and (holding := [backup for backup in backups if backup.holds])
        and sys.stdin.isatty()
    ):
        say("\n".join(("These backups still contain it:", *(f"  {backup.path}" for backup in holding))), err=True)
        if agreed("Rewrite them without it?"):
            backups = rewrite_backups(memory, erased)
    if as_json:
        print_json(_erasure_to_json(erased, backups))
        return
    for line in _erasure_lines(erased, backups):
        console().print(line, markup=False, highlight=False, soft_wrap=True)


def _done(what: str, record: Record, *, as_json: bool) -> None:
    if as_json:
        print_json({"status": what, "record": record_to_json(record)})
        return
    show_done(what, record)


def _erasure_lines(erased: "Erased", backups: Sequence["Backup"]) -> Iterator[str]:
    """Yield what was erased where, what still contains it, and what is out of reach."""
    for id_ in erased.ids:
        yield f"{short(id_)}  erased from the journal and every view" + _also(erased)
    if not erased.finished:
        yield "Not finished: see below. Run the same command again later."
    for path in erased.files:
        yield f"  removed: {path}"
    for id_ in erased.said_by:
        yield f"  {short(id_)} says the same and was not erased: `holdfast forget {short(id_)} --erase` erases it too"
    yield from (_backup_line(backup) for backup in backups if backup.holds or backup.rewritten or backup.removed)
    if any(backup.holds for backup in backups):
        yield f"  `holdfast forget {erased.ids[0]} --erase --backups` rewrites backups without it"
    yield f"Not reached: {'; '.join(erased.not_reached)}; backups kept elsewhere; other machines until they sync."


def _erasure_to_json(erased: "Erased", backups: Sequence["Backup"]) -> dict[str, Any]:
    """Return the result as JSON."""
    return {
        "status": "erased" if erased.finished else "unfinished",
        "id": erased.ids[0] if erased.ids else "",
        "reached": dict(erased.reached),
        "files": list(erased.files),
        "said_by": list(erased.said_by),
        "backups": [
            {"path": backup.path, "holds": backup.holds, "rewritten": backup.rewritten, "removed": backup.removed}
            | ({"problem": backup.problem} if backup.problem else {})
            for backup in backups
        ],
        "not_reached": [*erased.not_reached, "backups kept elsewhere", "other machines until they sync"],
    }


def _also(erased: "Erased") -> str:
    parts = [
        f"{count} {_PLURALS[name]}" if count > 1 and name in _PLURALS else counted(count, name)
        for name, count in erased.reached.items()
    ]
    return f"; also from {', '.join(parts)}" if parts else ""


def _backup_line(backup: "Backup") -> str:
    if backup.problem:
        return f"  backup {backup.path} still contains it and cannot be rewritten: {backup.problem}"
    if backup.rewritten:
        return f"  backup {backup.path} rewritten and checked"
    if backup.removed:
        return f"  copy of a damaged store {backup.path} removed: it could not be rewritten"
    return f"  backup {backup.path} still contains it"
