"""Write a brief for a plan or a sub-agent within an exact token budget."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from holdfast.model.ids import short
from holdfast.model.kinds import SEVERITIES
from holdfast.model.record import Record
from holdfast.model.text import counted, defused, filled, headline, inline, shorten, texts_of, tokens_of
from holdfast.policy.sessions.evidence import wording

FORMATS = ("full", "compact", "gate")
BUDGETS = {"full": 4_000, "compact": 500, "gate": 100}
SMALLEST = 20
LINE = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The text, the records in it, and how many did not fit."""

    text: str
    tokens: int
    included: tuple[str, ...] = ()
    left_out: int = 0
    blocking: int = 0


def brief(plan: str, records: Sequence[Record], form: str, budget: int, doubts: Mapping[str, str]) -> Brief:
    """Return the records that matter to a plan in one of three formats, within a token budget, with what to check first by id."""
    ordered = sorted(records, key=lambda one: (not is_blocking(one), one.source == "starter", severity_of(one)))
    head, blocking = f"What is known about: {shorten(plan, LINE)}", sum(map(is_blocking, ordered))
    if form == "gate":  # what stops a plan: scars with a check to run, and critical ones, which must be considered
        critical = [one for one in ordered if one.fields.get("severity") == "critical" and one.source != "starter"]
        ordered = [record for record in ordered if is_blocking(record) or record in critical]
        if not ordered:
            text = clipped(f"PASS: nothing blocks {shorten(plan, 60)}", budget)
            return Brief(text=text, tokens=tokens_of(text))
        head = "STOP until verified:" if is_blocking(ordered[0]) else "STOP until considered:"
        blocking = len(ordered)
    lines, included = [clipped(head, budget)], list[str]()
    for record in ordered:
        text = _whole(record) if form == "full" else _line(record)
        text += f" [check first: {inline(shorten(doubts[record.id], LINE))}]" if record.id in doubts else ""
        room = budget - tokens_of("\n".join([*lines, ""]))
        fitted = text if tokens_of(text) <= room else clipped(text, room) if room >= SMALLEST else ""
        if not fitted or tokens_of("\n".join([*lines, fitted])) > budget:
            break
        lines.append(fitted)
        included.append(record.id)
    left_out = len(ordered) - len(included)
    if not ordered:
        lines.append("No memory matches this plan.")
    elif not included:  # what matters is that something is known
        lines = [f"{'STOP: ' * bool(blocking)}{counted(left_out, 'memory')} on this plan; {budget} tokens are too few."]
    text = clipped(defused("\n".join(lines)), budget)
    return Brief(text=text, tokens=tokens_of(text), included=tuple(included), left_out=left_out, blocking=blocking)


def is_blocking(record: Record) -> bool:
    """True if work must stop until the record's check was run."""
    return record.fields.get("blocking") is True


def severity_of(record: Record) -> int:
    """Return the place of a record's severity, the worst first; those without one come last."""
    severity = record.fields.get("severity")
    return SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)


def _line(record: Record) -> str:
    first = headline(record.body)
    more = "" if record.title.rstrip("…").startswith(first.rstrip("…")) else f" — {shorten(first, LINE)}"
    return f"- [{record.graded}] {shorten(record.title, LINE)}{more} ({short(record.id)}){_verification(record)}"


def _whole(record: Record) -> str:
    reasons = {name: text for name in ("why", "rationale") if isinstance(text := record.fields.get(name), str)}
    against = record.fields.get("counter_arguments")
    parts = filled(
        f"## [{record.graded}] {record.title}",
        record.body != record.title and record.body,
        *(f"{name}: {shorten(text, 300)}" for name, text in reasons.items()),
        isinstance(against, list) and f"against it: {'; '.join(against)}",
        wording(record, "steps"),
        _verification(record).strip(),
        f"({short(record.id)}, {record.created_at[:10]})",
    )
    return "\n".join(parts)


def _verification(record: Record) -> str:
    if not is_blocking(record):
        return ""
    commands, expected = "; ".join(texts_of(record.fields.get("verify_with"))), record.fields.get("must_show")
    return f" Run: {commands}" * bool(commands) + f" Must show: {expected}" * bool(expected)


def clipped(text: str, budget: int) -> str:
    """Return a text cut to a number of tokens at a word's end, including the ellipsis."""
    if tokens_of(text) <= budget:
        return text
    # Binary search: characters outside ASCII cost more.
    end = bisect_right(range(1, len(text) + 1), budget, key=lambda end: tokens_of(text[:end] + "…"))
    cut = text[:end]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut).rstrip() + "…"
