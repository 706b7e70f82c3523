"""The journal: the append-only table of all events, and queries on it."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

from holdfast.engine.database import Database, Row, stored
from holdfast.model.event import Actor, Event

PAGE = 2_000
# Must match the condition of the partial index word for word, or SQLite does not use the index.
FOLDING_ONLY = "verb not in ('surfaced', 'used', 'touched', 'trusted', 'heated', 'injected', 'started', 'closed')"
ABOUTS = "select value from json_each(:abouts)"
COLUMNS = "id, about, verb, at, actor, name, session, data"


@dataclass(frozen=True, slots=True)
class Journal:
    """The events of a database, queried by record, by session or by order of arrival."""

    db: Database

    def events_about(self, about: str) -> list[Event]:
        """Return the events that a record is folded from, in the order of their ids."""
        sql = f"select {COLUMNS} from events where about = :about and {FOLDING_ONLY} order by id"
        return [event_of(row) for row in self.db.query(sql, {"about": about})]

    def all_about(self, about: str) -> list[Event]:
        """Return every event about a record or session, uses and impressions included, in the order of their ids."""
        rows = self.db.query(f"select {COLUMNS} from events where about = :about order by id", {"about": about})
        return [event_of(row) for row in rows]

    def holding(self, pieces: Sequence[str]) -> list[tuple[int, Event]]:
        """Return the events whose JSON contains one of these pieces of text, with their sequence numbers."""
        where = " or ".join(f"instr(data, :piece{place}) > 0" for place in range(len(pieces)))
        if not where:
            return []
        given = {f"piece{place}": piece for place, piece in enumerate(pieces)}
        rows = self.db.query(f"select seq, {COLUMNS} from events where {where} order by seq", given)
        return [(row["seq"], event_of(row)) for row in rows]

    def events_with(self, ids: Iterable[str]) -> dict[str, Event]:
        """Return the stored events among these ids, by id."""
        sql = f"select {COLUMNS} from events where id in (select value from json_each(:ids))"
        return {row["id"]: event_of(row) for row in self.db.query(sql, {"ids": json.dumps(list(ids))})}

    def changed_since(self, at: str) -> list[str]:
        """Return the ids of records changed after an instant; uses and impressions are no changes."""
        sql = f"select distinct about from events where {FOLDING_ONLY} and at > :at"
        return [row[0] for row in self.db.query(sql, {"at": at})]

    def changed_after(self, seq: int, most: int) -> list[str]:
        """Return the ids of records that events after one of them changed, at most `most`."""
        sql = f"select distinct about from events where {FOLDING_ONLY} and seq > :seq limit :most"
        return [row[0] for row in self.db.query(sql, {"seq": seq, "most": most})]

    def journal(self, after: int = 0) -> Iterator[tuple[int, Event]]:
        """Yield every event after a sequence number, with its own number, in order of arrival. Reads page by page."""
        while rows := self.db.query(
            f"select seq, {COLUMNS} from events where seq > :after order by seq limit :page",
            {"after": after, "page": PAGE},
        ):
            yield from ((row["seq"], event_of(row)) for row in rows)
            after = rows[-1]["seq"]

    def before(self, seq: int, limit: int, *, session: str = "") -> list[tuple[int, Event]]:
        """Return (number, event) pairs before a sequence number, latest first; `session` selects one session."""
        own = "session = :session and " if session else ""
        rows = self.db.query(
            f"select seq, {COLUMNS} from events where {own}seq < :seq order by seq desc limit :limit",
            {"seq": seq, "limit": limit} | ({"session": session} if session else {}),
        )
        return [(row["seq"], event_of(row)) for row in rows]

    def last_seq(self) -> int:
        """Return the sequence number of the latest event, 0 if there is none."""
        return int(self.db.query("select coalesce(max(seq), 0) from events")[0][0])

    def provenance(self, ids: Iterable[str]) -> dict[str, list[Event]]:
        """Return the `arrived` events of these records, by record id; local records have none and are left out."""
        sql = f"""
        select {COLUMNS} from events where about in (select value from json_each(:ids)) and {FOLDING_ONLY}
        and verb = 'arrived' order by id
        """
        found: dict[str, list[Event]] = {}
        for row in self.db.query(sql, {"ids": json.dumps(list(ids))}):
            found.setdefault(row["about"], []).append(event_of(row))
        return found

    def happened(self, verbs: Sequence[str], since: str, limit: int) -> list[Event]:
        """Return events of some verbs since an instant, latest first."""
        sql = f"""
        select {COLUMNS} from events where verb in (select value from json_each(:verbs)) and at >= :since
        order by seq desc limit :limit
        """
        rows = self.db.query(sql, {"verbs": json.dumps(list(verbs)), "since": since, "limit": limit})
        return [event_of(row) for row in rows]

    def in_session(self, session: str, verb: str, limit: int) -> list[Event]:
        """Return the events of one verb in a session, in order of arrival."""
        sql = f"select {COLUMNS} from events where session = :session and verb = :verb order by seq limit :limit"
        return [event_of(row) for row in self.db.query(sql, {"session": session, "verb": verb, "limit": limit})]

    def counted(self, session: str, verb: str) -> int:
        """Return the number of events of one verb in a session."""
        sql = "select count(*) from events where session = :session and verb = :verb"
        return int(self.db.query(sql, {"session": session, "verb": verb})[0][0])

    def count_of(self, verb: str) -> int:
        """Return the number of events of one verb."""
        return int(self.db.query("select count(*) from events where verb = :verb", {"verb": verb})[0][0])

    def last_at(self, session: str) -> str:
        """Return the time of the last event in a session, empty if there is none."""
        sql = "select at from events where session = :session order by seq desc limit 1"
        rows = self.db.query(sql, {"session": session})
        return str(rows[0][0]) if rows else ""

    def event_count(self) -> int:
        """Return how many events there are."""
        return int(self.db.query("select count(*) from events")[0][0])

    def last_id(self) -> str:
        """Return the highest event id, empty if there is none."""
        return str(self.db.query("select coalesce(max(id), '') from events")[0][0])

    def insert(self, seq: int, event: Event) -> bool:
        """Insert an event under a sequence number without updating views; only for recovering a damaged store."""
        return bool(self.db.execute(INSERT, event_row(seq, event)))


def event_row(seq: int, event: Event) -> dict[str, object]:
    """Return the row of an event, with its sequence number and checksum."""
    row: dict[str, object] = {
        "id": event.id,
        "about": event.about,
        "verb": event.verb,
        "at": event.at,
        "actor": event.by.kind,
        "name": event.by.name,
        "session": event.by.session,
        "data": json.dumps(dict(event.data), ensure_ascii=False, allow_nan=False),
    }
    return {"seq": seq, **row, "checksum": checksum(row.values())}


def checksum(columns: Iterable[object]) -> int:
    """Return the checksum of an event's columns, in the order of COLUMNS and as they are stored."""
    return crc32("\x1f".join(map(str, columns)).encode(errors="surrogatepass"))


def fill_checksums(db: Database) -> None:
    """Add checksums to events that an older version stored without them."""
    after = 0
    while rows := db.query(f"{_UNCHECKED} and seq > :after order by seq limit :page", {"after": after, "page": PAGE}):
        db.many(
            "update events set checksum = :checksum where seq = :seq",
            [{"seq": row[0], "checksum": checksum(tuple(row)[1:])} for row in rows],
        )
        after = rows[-1][0]


def changed_rows(store: Journal) -> list[str]:
    """Return the ids of events whose columns no longer match their checksum."""
    changed, after = list[str](), 0
    sql = f"select seq, checksum, {COLUMNS} from events where checksum is not null and seq > :after order by seq limit :page"
    while rows := store.db.query(sql, {"after": after, "page": PAGE}):
        changed += [str(row["id"]) for row in rows if checksum(tuple(row)[2:]) != row["checksum"]]
        after = rows[-1][0]
    return changed


def event_of(row: Row) -> Event:
    """Return the event stored in a row."""
    return Event(
        id=row["id"],
        about=row["about"],
        verb=row["verb"],
        at=row["at"],
        by=Actor(kind=row["actor"], name=row["name"], session=row["session"]),
        data=stored(row["data"], dict),
    )


_UNCHECKED = f"select seq, {COLUMNS} from events where checksum is null"
INSERT = """
insert into events (seq, id, about, verb, at, actor, name, session, data, checksum)
values (:seq, :id, :about, :verb, :at, :actor, :name, :session, :data, :checksum)
on conflict (id) do nothing
"""
