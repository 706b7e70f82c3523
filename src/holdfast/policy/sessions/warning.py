"""Write the warning of a scar: the lesson, why, and what to do instead, each once."""

from holdfast.model.fence import inline
from holdfast.model.ids import short
from holdfast.model.record import Record
from holdfast.model.text import shorten

LONGEST_LESSON, LONGEST_REASON = 300, 300
MOST_STEPS = 3


def warning_of(record: Record) -> str:
    """Return what an agent reads at the command or file of a scar: one line each for lesson, reason and remedy."""
    severity = record.fields.get("severity")
    kind = inline(f"{severity} {record.kind}" if severity else record.kind)
    lesson, reason = _lesson(record.title.strip(), record.body.strip())
    steps = _listed(record, "action_protocol") or _listed(record, "solution_approach")
    reason = " ".join((reason, *(text for text in _listed(record, "why") if text not in record.body))).strip()
    lines = [f"Holdfast: {kind} {short(record.id)}: {inline(shorten(lesson, LONGEST_LESSON))}"]
    lines += [f"Why: {inline(shorten(reason, LONGEST_REASON))}"] if reason else []
    lines += [f"Instead: {inline(shorten('; '.join(steps[:MOST_STEPS]), LONGEST_REASON))}"] if steps else []
    return "\n".join(lines)


def _lesson(title: str, body: str) -> tuple[str, str]:
    """Return the lesson and the rest of the text, without saying anything twice."""
    start = title.rstrip("….").rstrip()
    if not start or body.lower().startswith(start.lower()):
        return body, ""
    return title, "" if body.lower() in title.lower() else body


def _listed(record: Record, name: str) -> list[str]:
    value = record.fields.get(name)
    return (
        [str(item) for item in value]
        if isinstance(value, list)
        else [value]
        if isinstance(value, str) and value
        else []
    )
