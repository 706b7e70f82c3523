"""Context for a session or a sub-agent that keeps to its budget exactly. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.model.fence import defused
from holdfast.model.record import Record
from holdfast.model.text import headline, shorten, tokens_of
from holdfast.policy.ranking.variants import wording

FORMATS = ("full", "compact", "gate")
BUDGETS = {"full": 4_000, "compact": 500, "gate": 100}
SMALLEST = 20
_ORDER = {"critical": 0, "high": 1, "medium": 2, "low": 3}
LINE = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The text, what is in it, and what was left out for want of room."""

    text: str
    tokens: int
    included: tuple[str, ...] = ()
    left_out: int = 0
    blocking: int = 0


def brief(plan: str, found: Sequence[Record], form: str, budget: int) -> Brief:
    """Write records that matter to a plan in one of three forms, in no more tokens than the budget."""
    ordered = sorted(found, key=lambda record: (not is_blocking(record), record.source == "starter", _rank(record)))
    blocking = [record for record in ordered if is_blocking(record)]
    if form == "gate":
        return _gate(plan, blocking, budget)
    write = _whole if form == "full" else _line
    head = f"What is known about: {shorten(plan, LINE)}"
    return _packed(head, [(record, write(record)) for record in ordered], budget, len(blocking))


def is_blocking(record: Record) -> bool:
    """Tell whether work must stop until a record was verified."""
    return record.fields.get("blocking") is True


def _gate(plan: str, blocking: Sequence[Record], budget: int) -> Brief:
    if not blocking:
        text = clipped(f"PASS: nothing blocks {shorten(plan, 60)}", budget)
        return Brief(text=text, tokens=tokens_of(text))
    return _packed("STOP until verified:", [(record, _line(record)) for record in blocking], budget, len(blocking))


def _packed(head: str, parts: Sequence[tuple[Record, str]], budget: int, blocking: int) -> Brief:
    """Take parts in order while they fit; the one that does not is shortened if that leaves something to read."""
    lines, included = [clipped(head, budget)], list[str]()
    for record, text in parts:
        room = budget - tokens_of("\n".join([*lines, ""]))
        fitting = text if tokens_of(text) <= room else clipped(text, room) if room >= SMALLEST else ""
        if not fitting or tokens_of("\n".join([*lines, fitting])) > budget:
            break
        lines.append(fitting)
        included.append(record.id)
    if not parts:
        lines.append("Nothing kept fits this plan.")
    text = clipped(defused("\n".join(lines)), budget)
    return Brief(
        text=text,
        tokens=tokens_of(text),
        included=tuple(included),
        left_out=len(parts) - len(included),
        blocking=blocking,
    )


def _line(record: Record) -> str:
    first = headline(record.body)
    more = "" if record.title.rstrip("…").startswith(first.rstrip("…")) else f" — {shorten(first, LINE)}"
    return f"- {_label(record)} {shorten(record.title, LINE)}{more} ({record.id[:8]}){_verification(record)}"


def _whole(record: Record) -> str:
    parts = [f"## {_label(record)} {record.title}", record.body if record.body != record.title else ""]
    parts += [
        f"{name}: {shorten(text, 300)}"
        for name in ("why", "rationale")
        if isinstance(text := record.fields.get(name), str)
    ]
    against = record.fields.get("counter_arguments")
    parts += [f"against it: {'; '.join(against)}"] if isinstance(against, list) else []
    parts += [wording(record, "steps"), _verification(record).strip(), f"({record.id[:8]}, {record.created_at[:10]})"]
    return "\n".join(part for part in parts if part)


def _label(record: Record) -> str:
    severity = record.fields.get("severity")
    return f"[{severity} {record.kind}]" if severity else f"[{record.kind}]"


def _verification(record: Record) -> str:
    if not is_blocking(record):
        return ""
    commands = record.fields.get("verify_with")
    run = "; ".join(commands) if isinstance(commands, list) else ""
    shows = record.fields.get("must_show")
    return f" Run: {run}" * bool(run) + f" Must show: {shows}" * bool(shows)


def _rank(record: Record) -> int:
    return _ORDER.get(str(record.fields.get("severity")), len(_ORDER))


def clipped(text: str, budget: int) -> str:
    """Cut a text to a number of tokens, at a word's end, with an ellipsis that is part of it."""
    if tokens_of(text) <= budget:
        return text
    low, high = 0, len(text)
    while low < high:  # characters outside ASCII cost more, so the place is searched for
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens_of(text[:middle] + "…") <= budget else (low, middle - 1)
    cut = text[:low]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut).rstrip() + "…"
