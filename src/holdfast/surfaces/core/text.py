"""What a model reads: compact, ids first, why each hit is there, and how to go deeper. Stored text is data, and fenced."""

from collections.abc import Iterable

from holdfast.model.event import Event
from holdfast.model.query import Hit, Recalled
from holdfast.model.record import Record
from holdfast.model.text import CHARS_PER_TOKEN, shorten
from holdfast.policy.admit import (
    Duplicate,
    PreviouslyRemoved,
    Refused,
    ScopeMismatch,
    SecretFound,
    Similar,
    Transient,
)
from holdfast.verbs.read import Shown
from holdfast.verbs.write import Held, Outcome, Written

SHORT = 10


def index_of(found: Recalled) -> str:
    """Write the first layer: one line or two per hit."""
    if not found.hits:
        more = f" {found.gated} weak matches were left out; weak=true shows them." if found.gated else ""
        return "\n".join([f"Nothing kept fits this question.{more}", *found.notes])
    left = [f"{found.gated} weaker left out"] if found.gated else []
    left += [f"{found.cut} more fit: raise limit or budget"] if found.cut else []
    head = (
        f"{len(found.hits)} memories fit"
        + (f" ({'; '.join(left)})" if left else "")
        + ". read(ids) gives the full text."
    )
    return "\n".join([head, *(_hit(hit) for hit in found.hits), *found.notes])


def _hit(hit: Hit) -> str:
    record = hit.record
    facts = [record.kind, record.created_at[:10], hit.confidence, _checked(record), *record.scopes]
    why = ", ".join(f"{name} {value:.2f}" for name, value in hit.why.items())
    more = hit.snippet.removeprefix(record.title).strip()
    return f"{record.id[:SHORT]} {shorten(record.title, 120)}\n  [{' · '.join(facts)} · why: {why}]" + (
        f"\n  {more}" if more else ""
    )


def _checked(record: Record) -> str:
    return f"verified {record.verified_at[:10]}" if record.verified_at else "never verified"


def full(shown: Shown, *, start: int, room: int) -> str:
    """Write one record whole, or as much as there is room for, fenced and with its provenance."""
    record = shown.record
    body = record.body[start:]
    kept = body[: max(200, room * CHARS_PER_TOKEN)]
    lines = [
        f'<memory id="{record.id}" kind="{record.kind}" state="{record.state}" by="{_name(record)}" at="{record.created_at[:16]}">'
    ]
    lines += [_unfenced(record.title)] if not record.body.startswith(record.title.rstrip("…")) else []
    lines.append(_unfenced(kept))
    for name, value in record.fields.items():
        lines.append(f"{name}: {_unfenced('; '.join(map(str, value)) if isinstance(value, list) else str(value))}")
    lines.append("</memory>")
    if len(kept) < len(body):
        lines.append(f"({len(body) - len(kept)} characters more: read with start={start + len(kept)})")
    lines.append(" · ".join(_facts(shown)))
    return "\n".join(lines)


def _facts(shown: Shown) -> list[str]:
    record, usage = shown.record, shown.usage
    facts = [
        record.project or "global",
        f"confidence {record.confidence}",
        _checked(record),
        f"revision {record.revision}",
    ]
    facts += [f"reason: {record.reason}"] if record.reason else []
    facts += [f"superseded by {shown.superseded_by}"] if shown.superseded_by else []
    facts += [f"{arrow.relation} {arrow.target}" for arrow in shown.links if arrow.source == record.id]
    if usage.surfaced or usage.applied or usage.contradicted:
        facts.append(f"shown {usage.surfaced}, applied {usage.applied}, contradicted {usage.contradicted}")
    return facts


def _name(record: Record) -> str:
    return (record.by.name or record.by.kind).replace('"', "'")


def _unfenced(text: str) -> str:
    """Give a text that cannot close its own fence."""
    return text.replace("</memory", "<\\/memory").replace("<memory", "<\\memory")


def lines_of(records: Iterable[Record]) -> str:
    """Write records one line each, oldest first as given."""
    return "\n".join(
        f"{record.id[:SHORT]} {record.created_at[:16]} [{record.kind}] {shorten(record.title, 120)}"
        for record in records
    )


def history_of(events: Iterable[Event]) -> str:
    """Write what happened to a record."""
    return "\n".join(f"{event.at[:16]} {event.verb} by {event.by.name or event.by.kind}" for event in events)


def outcome_of(outcome: Outcome) -> str:
    """Write what became of a draft, and how to go on."""
    match outcome:
        case Written(record=record, related=related):
            return f"Kept as {record.id}: {shorten(record.title, 120)}" + _related(related)
        case Held(record=record, why=why):
            return f"Held as {record.id} because {why}. It is used once somebody confirms it: judge(ids, 'confirmed')."
        case refused:
            return refusal_of(refused)


def _related(related: Iterable[Similar]) -> str:
    lines = [f"\n  related: {near.record.id[:SHORT]} {shorten(near.record.title, 100)}" for near in related]
    return "".join(lines)


def refusal_of(refused: Refused) -> str:
    """Write why nothing was kept, and what to do about it."""
    match refused:
        case Duplicate(matches=matches):
            best = matches[0].record
            return f"Not kept: {best.id[:SHORT]} says this already ({shorten(best.title, 100)}). Revise that one, or call again with force=true."
        case PreviouslyRemoved(matches=matches):
            best = matches[0].record
            return f"Not kept: {best.id[:SHORT]} said this and was retired: {best.reason}. Restore it with forget(restore_it=true), or call again with force=true."
        case Transient(markers=markers):
            return f"Not kept: {', '.join(markers)} will be untrue soon. Say what lasts, or call again with force=true."
        case ScopeMismatch(suggested=suggested):
            return f"Not kept: it names a project whose scope it lacks. Add {suggested[0]} to scopes, or call again with force=true."
        case SecretFound(names=names):
            return f"Not kept: it holds a secret ({', '.join(names)}). Leave it out, or call again with redact=true."
