"""Search or list lessons and decisions by kind and severity, without recording an impression; archive them."""

import re
from collections.abc import Sequence

from holdfast.model.ids import days_before
from holdfast.model.query import Hit, Query, Recalled
from holdfast.model.record import Record
from holdfast.verbs.memory import Memory, find, is_reference
from holdfast.verbs.records.lifecycle import link, retire
from holdfast.verbs.records.read import MOST_LISTED, list_records
from holdfast.verbs.search.brief import LESSONS
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.close import LEARNINGS

_SUCCESSOR = re.compile(r"\bsuperseded by ([\w-]+)", re.IGNORECASE)
MORE = 3  # times as many hits are requested when some will be filtered out


def search_lessons(
    memory: Memory, text: str, *, kinds: Sequence[str] = (*LESSONS, "observation"), severity: str = "", limit: int = 5
) -> Recalled:
    """Find lessons by question; an id returns its record."""
    if is_reference(memory, text):
        record = find(memory, text).record
        return Recalled(hits=(Hit(record=record, score=1.0, confidence="strong", why={"id": 1.0}, fit=1.0),))
    recalled = recall(memory, Query(text=text, kinds=tuple(kinds), limit=limit * MORE), surface=False)
    hits = [hit for hit in recalled.hits if _is_as_severe(hit.record, severity) and _is_meant(hit.record)]
    return Recalled(hits=tuple(hits[:limit]), search=recalled.search, gated=recalled.gated, notes=recalled.notes)


def recent_lessons(
    memory: Memory,
    *,
    kinds: Sequence[str] = (*LEARNINGS, "decision"),
    severity: str = "",
    days: float = 0,
    limit: int = 10,
) -> list[Record]:
    """Return lessons and decisions, latest first, without those that ship with Holdfast."""
    since = days_before(memory.clock.now(), days) if days else ""
    page = list_records(memory, Query(text="", kinds=tuple(kinds), since=since, limit=MOST_LISTED))
    own = [record for record in page.records if _is_as_severe(record, severity)]
    return own[:limit]


def archive(memory: Memory, reference: str, reason: str) -> Record:
    """Take a lesson out of use; if the reason is "superseded by" the id of another, that one gets a link to it."""
    record, named = find(memory, reference).record, _SUCCESSOR.search(reason)
    if named and is_reference(memory, named[1]):
        link(memory, named[1], "supersedes", record.id)
    return retire(memory, record.id, reason)


def _is_meant(record: Record) -> bool:
    """True for lessons, and for observations that sub-agents reported; not for those derived from activity."""
    return record.kind != "observation" or record.fields.get("type") == "sub-agent"


def _is_as_severe(record: Record, severity: str) -> bool:
    return severity in ("", record.fields.get("severity"))
