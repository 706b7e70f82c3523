"""Export the journal as JSON lines, and import such an export."""

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, pairwise
from typing import Any

from holdfast.engine.views import records
from holdfast.model.errors import Invalid
from holdfast.model.event import SHARED, Event, event_from_json, event_to_json
from holdfast.model.foreign_json import TooDeep, parse_json
from holdfast.model.record import Record, record_to_json
from holdfast.verbs.exchange.incoming import PAGE, keep_events, marks_of
from holdfast.verbs.memory import Memory, Report
from holdfast.verbs.records.read import pages

FORMAT = 1
LONGEST_LINE = 4_000_000


def export(memory: Memory) -> Iterator[str]:
    """Yield the whole store as lines: a header, then every event in order of arrival; starters are left out."""
    yield json.dumps({"holdfast": "export", "format": FORMAT})
    starters = records.starters(memory.store)
    for _, event in memory.store.journal():
        if event.about not in starters:
            yield json.dumps(event_to_json(event), ensure_ascii=False)


def records_of(memory: Memory, system: str = "") -> Iterator[Record]:
    """Yield every active or retired record in their order, and pending ones from a system; starters are left out."""
    for record in (record for page in pages(memory) for record in page if record.source != "starter"):
        came = record.state == "pending" and record.extra.get("imported")
        if record.state in ("active", "retired") or (isinstance(came, dict) and came.get("system") == system):
            yield record


def export_records(memory: Memory) -> Iterator[str]:
    """Yield the records as a JSON array, line by line."""
    lines = (json.dumps(record_to_json(record), ensure_ascii=False) for record in records_of(memory))
    yield from chain("[", (f"{line}," if following else line for line, following in pairwise(chain(lines, [""]))), "]")


def import_lines(
    memory: Memory, lines: Iterable[str], progress: Callable[[int], None] = lambda _: None, *, quarantine_as: str = ""
) -> Report:
    """Import an export, and count its events and the records they changed. Idempotent: it can be repeated or resumed.

    `quarantine_as` names the source of a file that is not the user's own: its memories are quarantined, and its events about
    trust, use and acceptance are left out.
    """
    numbered = enumerate(lines, start=1)
    header = _parsed(*next(numbered, (1, "")))
    if not isinstance(header, dict) or header.get("holdfast") != "export":
        hint = "Its first line is not the header of one. Use --from to import from another system."
        raise Invalid("This is not a Holdfast export.", hint=hint)
    if header.get("format") != FORMAT:
        raise Invalid(f"This export has format {header.get('format')}; {FORMAT} is known.", hint="Upgrade Holdfast.")
    events, changed = 0, set[str]()
    while page := list(islice(numbered, PAGE)):
        batch = list[Event]()
        for place, line in ((place, line) for place, line in page if line.strip()):
            parsed = _parsed(place, line)
            try:
                batch.append(event_from_json(parsed))
            except Invalid as problem:
                raise Invalid(f"Line {place}: {problem.message}", hint=problem.hint) from problem
        if quarantine_as:
            batch = [event for event in batch if event.verb in SHARED]
            batch = [*marks_of(memory, batch, quarantine_as, "import"), *batch]
        changed.update(record.id for record in keep_events(memory, batch))
        events += len(batch)
        progress(events)
    return {"events": events, "records": len(changed)}


def _parsed(place: int, line: str) -> Any:
    try:
        if len(line) > LONGEST_LINE:
            raise Invalid(f"Line {place} is longer than {LONGEST_LINE:,} characters.")
        return parse_json(line)
    except TooDeep as problem:
        hint = "Remove that line; nothing was imported."
        raise Invalid(f"Line {place} cannot be used: {problem}.", hint=hint) from problem
    except (TypeError, ValueError) as problem:
        raise Invalid(f"Line {place} is not JSON.", hint="The file may be truncated, or of another kind.") from problem
