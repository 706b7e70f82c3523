"""The journal: the append-only table of all events, and queries on it."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

from holdfast.engine.database import Database, Params, Row, chosen, column, insert, stored, value
from holdfast.model.event import Actor, Event, by_record

PAGE = 2_000
# Must match the condition of the partial index word for word, or SQLite does not use the index.
FOLDING_ONLY = "verb not in ('surfaced', 'used', 'touched', 'trusted', 'heated', 'injected', 'started', 'closed')"
COLUMNS = "id, about, verb, at, actor, name, session, data"


@dataclass(frozen=True, slots=True)
class Journal:
    """The events of a database, queried by record, by session or by order of arrival."""

    db: Database

    def events_about(self, about: str) -> list[Event]:
        """Return the events that a record is folded from, in the order of their ids."""
        return self._events(f"about = :about and {FOLDING_ONLY} order by id", {"about": about})

    def all_about(self, about: str) -> list[Event]:
        """Return every event about a record or session, uses and impressions included, in the order of their ids."""
        return self._events("about = :about order by id", {"about": about})

    def holding(self, pieces: Sequence[str]) -> list[tuple[int, Event]]:
        """Return the events whose JSON contains one of these pieces of text, with their sequence numbers."""
        where = " or ".join(f"instr(data, :piece{place}) > 0" for place in range(len(pieces)))
        given = {f"piece{place}": one for place, one in enumerate(pieces)}
        return self.numbered(f"{where} order by seq", given) if where else []

    def events_with(self, ids: Iterable[str]) -> dict[str, Event]:
        """Return the stored events among these ids, by id."""
        events = self._events("id in (select value from json_each(:ids))", {"ids": list(ids)})
        return {event.id: event for event in events}

    def changed_since(self, at: str) -> list[str]:
        """Return the ids of records changed after an instant; uses and impressions are no changes."""
        return column(self.db, f"select distinct about from events where {FOLDING_ONLY} and at > :at", {"at": at})

    def changed_after(self, seq: int, most: int) -> dict[str, int]:
        """Return the records whose text or state the next `most` events after a sequence number changed, each with its number."""
        changing = f"{FOLDING_ONLY} and verb not in ('linked', 'unlinked', 'verified')"
        sql = f"select about, seq from events where {changing} and seq > :seq order by seq limit :most"
        return {row[0]: row[1] for row in self.db.query(sql, {"seq": seq, "most": most})}

    def journal(self, after: int = 0) -> Iterator[tuple[int, Event]]:
        """Yield every event after a sequence number, with its own number, in order of arrival. Reads page by page."""
        for rows in pages(self.db, f"select seq, {COLUMNS} from events where seq > :after", after):
            yield from ((row["seq"], event_of(row)) for row in rows)

    def before(self, seq: int, limit: int, *, session: str = "") -> list[tuple[int, Event]]:
        """Return (number, event) pairs before a sequence number, latest first; `session` selects one session."""
        given = {"seq": seq, "limit": limit, "session": session}
        return self.numbered(f"{chosen(given)} and seq < :seq order by seq desc limit :limit", given)

    def last_seq(self) -> int:
        """Return the sequence number of the latest event, 0 if there is none."""
        return int(value(self.db, "select coalesce(max(seq), 0) from events"))

    def provenance(self, ids: Iterable[str]) -> dict[str, list[Event]]:
        """Return how these records arrived and what was decided then, by record id; local records are left out."""
        where = f"about in (select value from json_each(:abouts)) and {FOLDING_ONLY}"
        arrived = f"{where} and verb in ('arrived', 'accepted', 'rejected') order by id"
        return by_record(self._events(arrived, {"abouts": list(ids)}))

    def happened(self, verbs: Sequence[str], since: str, limit: int) -> list[Event]:
        """Return events of some verbs since an instant, latest first."""
        where = "verb in (select value from json_each(:verbs)) and at >= :since order by seq desc limit :limit"
        return self._events(where, {"verbs": list(verbs), "since": since, "limit": limit})

    def in_session(self, session: str, verb: str, limit: int) -> list[Event]:
        """Return the events of one verb in a session, in order of arrival."""
        where = "session = :session and verb = :verb order by seq limit :limit"
        return self._events(where, {"session": session, "verb": verb, "limit": limit})

    def counted(self, session: str = "", verb: str = "") -> int:
        """Return the number of events, of a session or of a verb if they are given."""
        given = {"session": session, "verb": verb}
        return int(value(self.db, f"select count(*) from events where {chosen(given)}", given))

    def last_at(self, session: str) -> str:
        """Return the time of the last event in a session, empty if there is none."""
        sql = "select at from events where session = :session order by seq desc limit 1"
        return str(value(self.db, sql, {"session": session}, ""))

    def last_id(self) -> str:
        """Return the highest event id, empty if there is none."""
        return str(value(self.db, "select coalesce(max(id), '') from events"))

    def insert(self, events: Iterable[tuple[int, Event]]) -> None:
        """Insert events under their sequence numbers without updating views; one that is stored already stays."""
        insert(self.db, "events", [event_row(seq, event) for seq, event in events], keeping="id")

    def _events(self, where: str, given: Params) -> list[Event]:
        return [event for _, event in self.numbered(where, given)]

    def numbered(self, where: str, given: Params) -> list[tuple[int, Event]]:
        """Return the events that a condition selects, each with its sequence number."""
        rows = self.db.query(f"select seq, {COLUMNS} from events where {where}", given)
        return [(row["seq"], event_of(row)) for row in rows]


def counted_up(db: Database, name: str, by: int = 1) -> int:
    """Raise a counter, which writers take turns on, and return its new value."""
    db.execute("update counters set value = value + :by where name = :name", {"name": name, "by": by})
    return int(value(db, "select value from counters where name = :name", {"name": name}))


def event_row(seq: int, event: Event) -> dict[str, object]:
    """Return the row of an event, with its sequence number and checksum."""
    data, by = json.dumps(dict(event.data), ensure_ascii=False, allow_nan=False), event.by
    values = (event.id, event.about, event.verb, event.at, by.kind, by.name, by.session, data)
    return {"seq": seq, **dict(zip(COLUMNS.split(", "), values, strict=True)), "checksum": checksum(values)}


def checksum(columns: Iterable[object]) -> int:
    """Return the checksum of an event's columns, in the order of COLUMNS and as they are stored."""
    return crc32("\x1f".join(map(str, columns)).encode(errors="surrogatepass"))


def pages(db: Database, sql: str, after: int = 0) -> Iterator[Sequence[Row]]:
    """Yield the rows of a select page by page; its first column, which must be above `:after`, orders them."""
    key = sql.split()[1].rstrip(",")
    while rows := db.query(f"{sql} order by {key} limit :page", {"after": after, "page": PAGE}):
        yield rows
        after = rows[-1][0]


def fill_checksums(db: Database) -> None:
    """Add checksums to events that an older version stored without them."""
    for rows in pages(db, f"select seq, {COLUMNS} from events where checksum is null and seq > :after"):
        sums = [{"seq": row[0], "checksum": checksum(tuple(row)[1:])} for row in rows]
        db.many("update events set checksum = :checksum where seq = :seq", sums)


def changed_rows(store: Journal) -> list[str]:
    """Return the ids of events whose columns no longer match their checksum."""
    sql = f"select seq, checksum, {COLUMNS} from events where checksum is not null and seq > :after"
    rows = (row for page in pages(store.db, sql) for row in page)
    return [str(row["id"]) for row in rows if checksum(tuple(row)[2:]) != row["checksum"]]


def event_of(row: Row) -> Event:
    """Return the event stored in a row."""
    by = Actor(kind=row["actor"], name=row["name"], session=row["session"])
    data = stored(row["data"], dict)
    return Event(id=row["id"], about=row["about"], verb=row["verb"], at=row["at"], by=by, data=data)
