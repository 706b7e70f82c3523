"""Print the outcome of a write: saved, pending or rejected."""

from typing import Any, NoReturn

import click
from rich.text import Text

from holdfast.hosts.cli.render import SHORT, console, icon, print_json
from holdfast.hosts.plain import plain
from holdfast.model.errors import Conflict
from holdfast.model.record import Record, record_to_json
from holdfast.policy.admission.admit import (
    OUTCOME_CODES,
    Duplicate,
    PreviouslyRemoved,
    Refused,
    ScopeMismatch,
    SecretFound,
    Similar,
    Transient,
)
from holdfast.verbs.records.conflicts import Clash
from holdfast.verbs.records.write import Held, Outcome, Written


def present(outcome: Outcome, *, as_json: bool) -> None:
    """Print an outcome; a rejection exits with code 4."""
    match outcome:
        case Written(record=record, related=related, conflicts=conflicts, doubts=doubts):
            _show_saved("written", record, related, conflicts, doubts, as_json=as_json)
        case Held(record=record, why=why, related=related):
            _show_saved("pending", record, related, as_json=as_json, why=why)
        case refused:
            refuse(refused, as_json=as_json)


def _show_saved(
    status: str,
    record: Record,
    related: tuple[Similar, ...],
    conflicts: tuple[Clash, ...] = (),
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
    out.print(Text.assemble((record.id[:SHORT], "cyan"), f"  {icon(record)} {word}: ", (record.title, "bold")))
    if why:
        out.print(Text(f"  {why}; approve it: holdfast confirm {record.id[:SHORT]}", style="yellow"))
    for doubt in doubts:
        out.print(Text(f"  warning: {doubt}", style="yellow"))
    for near in related:
        out.print(Text(f"  related: {near.record.id[:SHORT]}  {near.record.title}", style="dim"))
    for conflict in conflicts:
        ends = f"{record.id[:SHORT]} {conflict.record.id[:SHORT]}"
        word = "replace" if conflict.replaced else "contradict"
        out.print(Text(f"  seems to {word} {conflict.record.id[:SHORT]}: {conflict.found.explain}", style="yellow"))
        out.print(Text(f"    to resolve: holdfast contradictions resolve {ends} --how supersede", style="dim"))


def refuse(refused: Refused, *, as_json: bool) -> NoReturn:
    """Print why nothing was saved and what to do, and exit with code 4."""
    message, hint, extra = _explained(refused)
    if as_json:
        print_json({"status": OUTCOME_CODES[type(refused)], "message": message, "hint": hint, **extra})
    else:
        out = console(error=True)
        out.print(Text.assemble(("not saved: ", "bold yellow"), message))
        out.print(Text(f"           {hint}", style="dim"))
    raise click.exceptions.Exit(Conflict.exit_code)


def _explained(refused: Refused) -> tuple[str, str, dict[str, Any]]:
    match refused:
        case Duplicate(matches=matches):
            best = matches[0]
            return (
                f"{best.record.id[:SHORT]} already says this ({best.similarity:.0%} of the words match): {best.record.title}",
                f"Change it with `holdfast revise {best.record.id[:SHORT]}`, or save this one too with --force.",
                {"matches": _similar(matches)},
            )
        case PreviouslyRemoved(matches=matches):
            best = matches[0]
            return (
                f"{best.record.id[:SHORT]} said this and was retired: {best.record.reason}",
                f"`holdfast restore {best.record.id[:SHORT]}` brings it back; --force saves a new one.",
                {"matches": _similar(matches)},
            )
        case Transient(markers=markers):
            words = ", ".join(f"“{marker}”" for marker in markers)
            return (
                f"{words} suggests this will change soon.",
                "Reword it, or save it anyway with --transient.",
                {"markers": list(markers)},
            )
        case ScopeMismatch(suggested=suggested):
            return (
                f"it mentions {', '.join(scope.split(':')[1] for scope in suggested)} but does not have that scope.",
                f"Add --scope {suggested[0]}, or save it anyway with --any-scope.",
                {"suggested": list(suggested)},
            )
        case SecretFound(names=names):
            return (
                f"it contains a secret ({', '.join(names)}).",
                "Remove it, or mask it with --redact.",
                {"secrets": list(names)},
            )


def _similar(similar: tuple[Similar, ...]) -> list[dict[str, Any]]:
    return [
        {"id": item.record.id, "title": item.record.title, "similarity": round(item.similarity, 3)} for item in similar
    ]


def _clash(clash: Clash) -> dict[str, Any]:
    return {"id": clash.record.id, "title": clash.record.title, **plain(clash.found), "explain": clash.found.explain}
