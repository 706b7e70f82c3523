"""bettermemory's tools, as rows.txt maps them to verbs: what its maps can name. Every write has a status."""

from pathlib import Path
from typing import Any

from holdfast.model.errors import Invalid
from holdfast.model.record import Record
from holdfast.model.text import shorten
from holdfast.policy.admission.admit import SAME, Duplicate, PreviouslyRemoved, ScopeMismatch, SecretFound, Transient
from holdfast.policy.admission.refusals import Remedies, explain, explain_pending
from holdfast.surfaces.bettermemory import verbs
from holdfast.surfaces.bettermemory.staleness import STALE_DAYS, verified_parts
from holdfast.surfaces.contract import read_contract
from holdfast.surfaces.maps import Terms, mapped, read_rows, shapes_in
from holdfast.surfaces.phrases import content
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.write import Outcome, Written, WrittenPending

HERE = Path(__file__).parent
CONTRACT, SHAPES = read_contract(HERE), shapes_in(HERE)
SNIPPET, AROUND = 200, 20
LONG_WORDS = 500  # words from which an ambient memory is too long for background
REMEDIES = Remedies(
    revise="memory_update",
    restore="memory_restore",
    force="force=true",
    transient="acknowledge_transient=true",
    any_scope="acknowledge_scope_mismatch=true",
    approve="memory_write_confirm(pending_id) once the user agrees",
    reject="memory_write_cancel(pending_id)",
)


def listed(memory: Memory, with_bodies: bool, **where: Any) -> list[dict[str, Any]]:
    """List memories, newest first, in full or as rows."""
    shape = SHAPES["FULL" if with_bodies else "LISTED"]
    return [mapped(shape, row, memory, TERMS) for row in verbs.listed(memory, with_bodies, **where)]


def save(memory: Memory, **args: Any) -> dict[str, Any]:
    """Save a memory, or return why it was refused."""
    return written(memory, verbs.save(memory, **args), args["content"])


def update(memory: Memory, id_: str, **args: Any) -> dict[str, Any]:
    """Change a memory in place, or return why that was refused."""
    return written(memory, verbs.update(memory, id_, **args), args.get("content", ""))


def written(memory: Memory, outcome: Outcome | Record, text: str = "") -> dict[str, Any]:
    """Return the outcome of a write, as a status with what to do next."""
    match outcome:
        case Record():
            return mapped(SHAPES["COMMITTED"], outcome, memory, TERMS)
        case Written(record=record):
            return mapped(SHAPES["COMMITTED"], record, memory, TERMS) | mapped(
                SHAPES["NEIGHBOURS"], outcome, memory, TERMS
            )
        case WrittenPending(record=record, why=why):
            reason = "config" if "confirm_writes" in why else "user-inference"
            hint = explain_pending(record.id, REMEDIES)
            return mapped(SHAPES["PENDING"], (outcome, {"reason": reason, "hint": hint}), memory, TERMS)
    refusal = explain(outcome, REMEDIES)
    match outcome:
        case Transient(markers=markers):
            details: dict[str, Any] = {"markers": [_around(text, marker) for marker in markers]}
            return {"status": "transient_warning", **details, "hint": refusal.hint}
        case ScopeMismatch(suggested=suggested):
            details = mapped(SHAPES["MISMATCH"], {"suggested": suggested}, memory, TERMS)
        case Duplicate():
            details = mapped(f"matches=matches[{SHAPES['SIMILAR']}]", outcome, memory, TERMS)
        case PreviouslyRemoved():
            details = mapped(f"removed_matches=matches[{SHAPES['REMOVED']}]", outcome, memory, TERMS)
        case SecretFound():
            raise Invalid(refusal.reason, hint=refusal.hint)
    return {"status": refusal.code, **details, "hint": refusal.hint}


def _around(text: str, marker: str) -> dict[str, str]:
    """Return a marker with the text around it."""
    place = max(0, text.lower().find(marker))
    snippet = " ".join(text[max(0, place - AROUND) : place + len(marker) + AROUND].split())
    return {"marker": marker, "snippet": snippet} if text else {"marker": marker}


def _marker(name: str, fired: int, insisted: int) -> dict[str, Any]:
    rate = round(insisted / (fired + insisted), 3) if fired + insisted else 0.0
    return {"marker": name, "fire_count": fired, "override_count": insisted, "override_rate": rate}


def _warnings(record: Record) -> list[str]:
    is_long = verbs.category_of(record) == "ambient" and len(record.body.split()) > LONG_WORDS
    return ["ambient_body_long"] if is_long else []


TERMS = Terms(
    filters={
        "active": lambda records: [record.id for record in records if record.state != "retired"],
        "category": verbs.category_of,
        "cwd": lambda extra: extra.get("cwd") or (extra.get("origin") or {}).get("cwd"),
        "evidence": lambda scope: scope.split(":")[1],
        "folder": lambda memory: str(memory.checkout.top()),
        "likeness": lambda match: "high" if match.similarity >= SAME else "medium",
        "markers": lambda markers: [_marker(name, *counts) for name, counts in markers.items()],
        "now": lambda memory: memory.clock.now(),
        "pending": verbs.record_id_of,
        "removed": lambda records: [record.id for record in records if record.state == "retired"],
        "snippet": lambda hit: shorten(hit.snippet or content(hit.record), SNIPPET),
        "source": verbs.source_of,
        "verified": verified_parts,
        "warnings": _warnings,
        "whole": lambda days: None if days is None else int(days),
    },
    lookups={"written": written},
    constants={"stale_days": STALE_DAYS},
)

ROWS = read_rows(HERE, {**vars(verbs), **globals()})
