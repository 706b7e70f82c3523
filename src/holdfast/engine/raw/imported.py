"""Find records imported from another system by the id they had there (`extra.imported`: id, aliases)."""

from holdfast.engine.database import stored
from holdfast.engine.journal import Journal
from holdfast.engine.views import Entry
from holdfast.model.record import Record, record_from_json

SHORTEST, LONGEST = 4, 500  # characters of an id; a database refuses patterns of any length
MOST = 20


def foreign_ids(record: Record) -> tuple[str, ...]:
    """Return the foreign id of a record as stored (thread:t-1) and without prefix (t-1), and its aliases; empty if not imported."""
    origin = record.extra.get("imported")
    if not isinstance(origin, dict):
        return ()
    given, aliases = origin.get("id"), origin.get("aliases")
    whole = str(given).lower() if isinstance(given, str | int) else ""
    own = (whole, whole.rpartition(":")[2]) if whole else ()
    return (*own, *(str(alias).lower() for alias in (aliases if isinstance(aliases, list) else ())))


def by_foreign_id(store: Journal, reference: str, *, whole: bool = False, system: str = "") -> list[Entry]:
    """Return the records with this foreign id, else those whose foreign id starts with it; `whole` allows no prefixes.

    `system` limits the result to one system. Reads every row: call it only if no id of our own matches.
    """
    if len(reference) > LONGEST or (len(reference) < SHORTEST and not whole):
        return []
    wanted = reference.lower()
    escaped, end = wanted.translate(_ESCAPES), '"' if whole else ""
    patterns = {
        "keyed": f'%"imported"%:{escaped}{end}%',
        "named": f'%"imported"%"id": "{escaped}{end}%',
        "called": f'%"imported"%"aliases": [%"{escaped}{end}%',
        "numbered": f'%"imported"%"id": {escaped}%',
    }
    rows = store.db.query(_ABOUT, {**patterns, "most": 10 * MOST})
    entries = [Entry(number=row[0], record=stored(row[1], record_from_json)) for row in rows]
    found = [(entry, foreign_ids(entry.record)) for entry in entries if _is_of(entry.record, system)]
    same = [entry for entry, ids in found if wanted in ids]
    if same or whole:
        return same
    return [entry for entry, ids in found if any(one.startswith(wanted) for one in ids)][:MOST]


_ESCAPES = str.maketrans({char: f"!{char}" for char in "!%_"})  # for `like`
_ABOUT = """
select number, doc from records
where state <> 'erased' and (
    lower(doc) like :keyed escape '!' or lower(doc) like :named escape '!'
    or lower(doc) like :called escape '!' or lower(doc) like :numbered escape '!'
)
order by number limit :most
"""


def _is_of(record: Record, system: str) -> bool:
    origin = record.extra.get("imported")
    return not system or (isinstance(origin, dict) and origin.get("system") == system)
