"""Print the outcome of a write: saved, pending or rejected."""

from typing import Any, NoReturn

import click
from rich.text import Text

from holdfast.hosts.cli.render import console, hanging, icon, indented, print_json
from holdfast.hosts.to_json import plain
from holdfast.model.errors import Conflict
from holdfast.model.ids import SHORT, short
from holdfast.model.record import Record, record_to_json
from holdfast.policy.admission.admit import (
    Duplicate,
    PreviouslyRemoved,
    Refused,
    ScopeMismatch,
    SecretFound,
    Similar,
    Transient,
    how_near,
)
from holdfast.policy.admission.refusals import Remedies, explain
from holdfast.policy.sessions.triggers import warns_at
from holdfast.verbs.records.conflicts import LikelyConflict
from holdfast.verbs.records.write import Outcome, Written, WrittenPending

REMEDIES = Remedies(
    revise="`holdfast revise {id}`",
    restore="`holdfast restore {id}`",
    force="--force",
    transient="--transient",
    add_scope="--scope {scope}",
    any_scope="--any-scope",
    redact="--redact",
    approve="`holdfast review approve {id}`",
    reject="`holdfast review reject {id}`",
)


def present(outcome: Outcome, *, as_json: bool) -> None:
    """Print an outcome; a rejection exits with code 4."""
    match outcome:
        case Written(record=record, related=related, conflicts=conflicts, doubts=doubts):
            _show_saved("written", record, related, conflicts, doubts, as_json=as_json)
        case WrittenPending(record=record, why=why, related=related):
            _show_saved("pending", record, related, as_json=as_json, why=why)
        case refused:
            refuse(refused, as_json=as_json)


def _show_saved(
    status: str,
    record: Record,
    related: tuple[Similar, ...],
    conflicts: tuple[LikelyConflict, ...] = (),
    doubts: tuple[str, ...] = (),
    *,
    as_json: bool,
    why: str = "",
) -> None:
    if as_json:
        value = {"status": status, "record": record_to_json(record), "related": _similar(related)}
        value |= {"conflicts": [_clash(conflict) for conflict in conflicts]} if conflicts else {}
        value |= {"doubts": list(doubts)} if doubts else {}
        print_json(value | ({"why": why} if why else {}))
        return
    out = console()
    word = "saved" if status == "written" else "pending approval"
    show_done(word, record)
    if why:
        indented(out, f"because {why}", 2, style="yellow")
        indented(out, f"to approve: holdfast review approve {short(record.id)}", 4, style="dim")
        indented(out, f"to reject:  holdfast review reject {short(record.id)}", 4, style="dim")
    if places := warns_at(record):
        indented(out, f"warns at {places}", 2, style="dim")
    for doubt in doubts:
        indented(out, f"warning: {doubt}", 2, style="yellow")
    for near in related:
        indented(out, f"{how_near(near)}: {short(near.record.id)}  {near.record.title}", 2, style="dim")
    for conflict in conflicts:
        ends = f"{short(record.id)} {short(conflict.record.id)}"
        word = "replace" if conflict.replaced else "contradict"
        indented(out, f"seems to {word} {short(conflict.record.id)}: {conflict.found.explain}", 2, style="yellow")
        indented(out, f"to resolve: holdfast review resolve {ends} --how supersede", 4, style="dim")


def show_done(what: str, record: Record) -> None:
    """Print what was done with a memory."""
    head = Text.assemble((short(record.id), "cyan"), f"  {icon(record)} {what}: ", (record.title, "bold"))
    hanging(console(), head, SHORT + 4)


def refuse(refused: Refused, *, as_json: bool) -> NoReturn:
    """Print why nothing was saved and what to do, and exit with code 4."""
    refusal = explain(refused, REMEDIES)
    if as_json:
        print_json({"status": refusal.code, "message": refusal.reason, "hint": refusal.hint, **_details(refused)})
    else:
        out = console(error=True)
        hanging(out, Text.assemble(("Not saved: ", "bold yellow"), refusal.reason), len("Not saved: "))
        indented(out, refusal.hint, len("Not saved: "), style="dim")
    raise click.exceptions.Exit(Conflict.exit_code)


def _details(refused: Refused) -> dict[str, Any]:
    match refused:
        case Duplicate(matches=matches) | PreviouslyRemoved(matches=matches):
            return {"matches": _similar(matches)}
        case Transient(markers=markers):
            return {"markers": list(markers)}
        case ScopeMismatch(suggested=suggested):
            return {"suggested": list(suggested)}
        case SecretFound(names=names):
            return {"secrets": list(names)}


def _similar(similar: tuple[Similar, ...]) -> list[dict[str, Any]]:
    return [
        {"id": item.record.id, "title": item.record.title, "similarity": round(item.similarity, 3)} for item in similar
    ]


def _clash(clash: LikelyConflict) -> dict[str, Any]:
    return {"id": clash.record.id, "title": clash.record.title, **plain(clash.found), "explain": clash.found.explain}
