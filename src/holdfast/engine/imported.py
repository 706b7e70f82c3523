"""Records that came from another system, found by the id they had there (`extra.imported.id`)."""

import json

from holdfast.engine.database import Database
from holdfast.engine.views import Entry
from holdfast.model.record import Record, record_from_json

SHORTEST = 4
MOST = 20


def foreign_id(record: Record) -> str:
    """Give the id a record had where it was imported from; nothing for one of our own."""
    origin = record.extra.get("imported")
    given = origin.get("id") if isinstance(origin, dict) else None
    return str(given) if isinstance(given, str | int) else ""


def by_foreign_id(db: Database, reference: str, *, whole: bool = False) -> list[Entry]:
    """Give the records whose id elsewhere begins so, or is the whole of it.

    This reads every row: it is asked only where no record of our own is meant.
    """
    if len(reference) < SHORTEST and not whole:
        return []
    wanted = reference.lower()
    rows = db.query(_ABOUT, {"pattern": f'%"imported"%{_escaped(wanted)}%', "most": 10 * MOST})
    found = [Entry(number=row[0], record=record_from_json(json.loads(row[1]))) for row in rows]
    ids = {entry.number: foreign_id(entry.record).lower() for entry in found}
    same = [entry for entry in found if ids[entry.number] == wanted]
    return same if same or whole else [entry for entry in found if ids[entry.number].startswith(wanted)][:MOST]


_ABOUT = """
select number, doc from records where state <> 'erased' and lower(doc) like :pattern escape '!' order by number limit :most
"""


def _escaped(text: str) -> str:
    return "".join(f"!{char}" if char in "!%_" else char for char in text)
