"""The store: the journal, the one door for writes, and views that follow it in the same transaction."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.engine import transcripts
from holdfast.engine.database import Database, Row, stored
from holdfast.engine.guard import is_protected, protect
from holdfast.engine.sqlite import SQLite
from holdfast.engine.views import (
    Batch,
    Entry,
    View,
    heat,
    labels,
    links,
    privates,
    records,
    sessions,
    steps,
    touches,
    trusts,
    usage,
    vectors,
    words,
)
from holdfast.engine.views.records import PROJECT_BITS
from holdfast.model.errors import NewerStore, StoreError
from holdfast.model.event import FOLDING, Actor, Event
from holdfast.model.fold import fold_all, scrub, set_aside
from holdfast.model.record import Record

Progress = Callable[[int, int], None]
PAGE = 2_000
# Vectors are expensive and can be checked one by one, so a rebuild of the rest leaves them alone.
ALL_VIEWS: tuple[View, ...] = (
    records,
    labels,
    links,
    usage,
    touches,
    trusts,
    heat,
    steps,
    sessions,
    words,
    vectors,
    privates,
)
# Word for word the condition of the index over it, or SQLite would not use that.
_FOLDING_ONLY = "verb not in ('surfaced', 'used', 'touched', 'trusted', 'heated', 'injected', 'started', 'closed')"
MOVING = "moving"  # the setting of a store that is being filled from another
_ABOUTS = "select value from json_each(:abouts)"
_COLUMNS = "id, about, verb, at, actor, name, session, data"


def _silent(_done: int, _all: int) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class Store:
    """An open store. Reading goes through the views; every write is `commit`."""

    db: Database
    home: Path | None = None

    @property
    def folder(self) -> Path | None:
        """The folder of what is kept beside the store on this machine: that of an embedded one, else as told."""
        return self.db.path.parent if isinstance(self.db, SQLite) else self.home

    def commit(self, events: Sequence[Event]) -> list[Entry]:
        """Keep events and bring every view up to date, all or nothing; give the records that changed.

        An event already here changes nothing, so the same events may arrive again, in any order.
        """
        with self.db.transaction():
            fresh = self._append(events)
            erased = self._erased({event.about for event in fresh if event.verb in ("erased", "accepted")})
            for about in erased:
                self._scrub(about)
            entries = self.entries(dict.fromkeys(event.about for event in fresh if event.verb in FOLDING))
            batch = Batch(entries=entries, counted=[event for event in fresh if event.verb not in FOLDING])
            for view in ALL_VIEWS:
                view.apply(self.db, batch)
        if erased:
            self._leave_no_trace()
        return entries

    def _append(self, events: Sequence[Event]) -> list[Event]:
        self.db.execute("update counters set value = value + :n where name = 'seq'", {"n": len(events)})
        last = int(self.db.query("select value from counters where name = 'seq'")[0][0])
        known = self._known(events)
        erased = self._erased({event.about for event in events if event.verb in FOLDING})
        fresh, rows = [], []
        for seq, event in enumerate(events, start=last - len(events) + 1):
            if event.id in known:
                continue
            known.add(event.id)
            kept = scrub(event) if event.verb in FOLDING and event.about in erased else event
            fresh.append(kept)
            rows.append(_event_row(seq, kept))
        self.db.many(_INSERT, rows)
        return fresh

    def _known(self, events: Sequence[Event]) -> set[str]:
        sql = "select id from events where id in (select value from json_each(:ids))"
        return {row[0] for row in self.db.query(sql, {"ids": json.dumps([event.id for event in events])})}

    def _erased(self, abouts: Iterable[str]) -> set[str]:
        """Give those of these records that were erased by somebody whose word counts here."""
        sql = f"select about, id from events where about in ({_ABOUTS}) and {_FOLDING_ONLY} and verb = 'erased'"
        said: dict[str, set[str]] = {}
        for row in self.db.query(sql, {"abouts": json.dumps(list(abouts))}):
            said.setdefault(row[0], set()).add(row[1])
        return {about for about, ids in said.items() if not set_aside(self.events_about(about)).keys() >= ids}

    def insert(self, seq: int, event: Event) -> bool:
        """Put an event into the journal under a number, and nowhere else: for saving a damaged store."""
        return bool(self.db.execute(_INSERT, _event_row(seq, event)))

    def _scrub(self, about: str) -> None:
        """Overwrite everything events said about a record; uses may quote it, so they go too."""
        for row in self.db.query(f"select seq, {_COLUMNS} from events where about = :about", {"about": about}):
            data = json.dumps(dict(scrub(_event(row)).data))
            self.db.execute("update events set data = :data where seq = :seq", {"data": data, "seq": row["seq"]})

    def _leave_no_trace(self) -> None:
        """Drop what erasure left in index segments and in the write-ahead log."""
        if isinstance(self.db, SQLite):
            words.compact(self.db)
            self.db.checkpoint()

    def rewrite(self, clean: Callable[[Event], Event]) -> list[Event]:
        """Put events in place of themselves as `clean` gives them, views included; give those that changed.

        Only for taking out what must not be here: whoever has the journal elsewhere still has it.
        """
        changed: list[Event] = []
        with self.db.transaction():
            for seq, event in self.journal():
                if (kept := clean(event)) != event:
                    self.db.execute(_REWRITE, _event_row(seq, kept))
                    changed.append(kept)
            if changed:
                self.rebuild()
        return changed

    def forget_pages(self) -> bool:
        """Drop what was rewritten from index segments, free pages and the write-ahead log; tell whether others let us."""
        if not isinstance(self.db, SQLite):
            return True
        words.compact(self.db)
        transcripts.compact(self.db)
        return self.db.compact()

    def entries(self, abouts: Iterable[str]) -> list[Entry]:
        """Give records as their events now make them, each with its number."""
        folded = self._folded_all(list(abouts))
        sql = "select id, number from entries where id in (select value from json_each(:ids))"
        numbers = {row[0]: int(row[1]) for row in self.db.query(sql, {"ids": json.dumps(list(folded))})}
        known = set(numbers)
        new: dict[str, list[str]] = {}
        for about, record in folded.items():
            if about not in known:
                new.setdefault(record.project, []).append(about)
        for project, ids in new.items():
            numbers |= self._number(ids, project)
        return [Entry(number=numbers[about], record=record, known=about in known) for about, record in folded.items()]

    def _number(self, ids: Sequence[str], project: str) -> dict[str, int]:
        """Give new records of a project their local numbers, once and for good."""
        home = self.project_number(project, make=True)
        given = {"home": home, "n": len(ids)}
        self.db.execute("update projects set records = records + :n where number = :home", given)
        last = int(self.db.query("select records from projects where number = :home", {"home": home})[0][0])
        first = (home << PROJECT_BITS) + last - len(ids) + 1
        numbers = {one: first + place for place, one in enumerate(ids)}
        self.db.many(
            "insert into entries (number, id) values (:number, :id)",
            [{"number": number, "id": one} for one, number in numbers.items()],
        )
        return numbers

    def project_number(self, name: str, *, make: bool = False) -> int:
        """Give the number of a project; -1, which holds nothing, if it was never written to."""
        if rows := self.db.query("select number from projects where name = :name", {"name": name}):
            return int(rows[0][0])
        if not make:
            return -1
        self.db.execute("update counters set value = value + 1 where name = 'projects'")
        number = int(self.db.query("select value from counters where name = 'projects'")[0][0])
        self.db.execute(
            "insert into projects (number, name, records) values (:number, :name, 0)", {"number": number, "name": name}
        )
        return number

    def projects(self) -> dict[str, int]:
        """Tell how many records each project ever had."""
        return {row[0]: row[1] for row in self.db.query("select name, records from projects order by name")}

    def size(self, projects: Iterable[int] | None) -> int:
        """Tell how many records these projects, or all, ever had."""
        if projects is None:
            return int(self.db.query("select coalesce(sum(records), 0) from projects")[0][0])
        sizes = (self.db.query("select records from projects where number = :n", {"n": n}) for n in projects)
        return sum(int(rows[0][0]) for rows in sizes if rows)

    def events_about(self, about: str) -> list[Event]:
        """Give the events that made a record, in the order of their ids."""
        sql = f"select {_COLUMNS} from events where about = :about and {_FOLDING_ONLY} order by id"
        return [_event(row) for row in self.db.query(sql, {"about": about})]

    def events_with(self, ids: Iterable[str]) -> dict[str, Event]:
        """Give the events of these ids that are here."""
        sql = f"select {_COLUMNS} from events where id in (select value from json_each(:ids))"
        return {row["id"]: _event(row) for row in self.db.query(sql, {"ids": json.dumps(list(ids))})}

    def folded(self, about: str) -> Record | None:
        """Give the record its events make, without looking at any view."""
        return fold_all(self.events_about(about))

    def _folded_all(self, abouts: Sequence[str]) -> dict[str, Record]:
        """Give the records that events make, by id and in this order, reading the journal once."""
        sql = f"select {_COLUMNS} from events where about in ({_ABOUTS}) and {_FOLDING_ONLY} order by about, id"
        told: dict[str, list[Event]] = {}
        for row in self.db.query(sql, {"abouts": json.dumps(abouts)}):
            told.setdefault(row["about"], []).append(_event(row))
        return {about: record for about in abouts if (record := fold_all(told.get(about, [])))}

    def changed_since(self, at: str) -> list[str]:
        """Give the records that something happened to after an instant."""
        sql = f"select distinct about from events where {_FOLDING_ONLY} and at > :at"
        return [row[0] for row in self.db.query(sql, {"at": at})]

    def journal(self, after: int = 0) -> Iterator[tuple[int, Event]]:
        """Give every event in order of arrival, page by page, with its number."""
        while rows := self.db.query(
            f"select seq, {_COLUMNS} from events where seq > :after order by seq limit :page",
            {"after": after, "page": PAGE},
        ):
            yield from ((row["seq"], _event(row)) for row in rows)
            after = rows[-1]["seq"]

    def before(self, seq: int, limit: int, *, session: str = "") -> list[tuple[int, Event]]:
        """Give the events that arrived before one, latest first, with their numbers; of one session if it is named."""
        own = "session = :session and " if session else ""
        rows = self.db.query(
            f"select seq, {_COLUMNS} from events where {own}seq < :seq order by seq desc limit :limit",
            {"seq": seq, "limit": limit} | ({"session": session} if session else {}),
        )
        return [(row["seq"], _event(row)) for row in rows]

    def last_seq(self) -> int:
        """Give the number of the event that arrived last."""
        return int(self.db.query("select coalesce(max(seq), 0) from events")[0][0])

    def provenance(self, ids: Iterable[str]) -> dict[str, list[Event]]:
        """Give, for each of these records of which something came from elsewhere, the events that tell from where."""
        sql = f"""
        select {_COLUMNS} from events where about in (select value from json_each(:ids)) and {_FOLDING_ONLY}
        and verb = 'arrived' order by id
        """
        found: dict[str, list[Event]] = {}
        for row in self.db.query(sql, {"ids": json.dumps(list(ids))}):
            found.setdefault(row["about"], []).append(_event(row))
        return found

    def happened(self, verbs: Sequence[str], since: str, limit: int) -> list[Event]:
        """Give the latest events of some verbs since an instant."""
        sql = f"""
        select {_COLUMNS} from events where verb in (select value from json_each(:verbs)) and at >= :since
        order by seq desc limit :limit
        """
        rows = self.db.query(sql, {"verbs": json.dumps(list(verbs)), "since": since, "limit": limit})
        return [_event(row) for row in rows]

    def in_session(self, session: str, verb: str, limit: int) -> list[Event]:
        """Give the events of one verb in a session, in order of arrival."""
        sql = f"select {_COLUMNS} from events where session = :session and verb = :verb order by seq limit :limit"
        return [_event(row) for row in self.db.query(sql, {"session": session, "verb": verb, "limit": limit})]

    def counted(self, session: str, verb: str) -> int:
        """Tell how often something happened in a session."""
        sql = "select count(*) from events where session = :session and verb = :verb"
        return int(self.db.query(sql, {"session": session, "verb": verb})[0][0])

    def last_at(self, session: str) -> str:
        """Give when something last happened in a session."""
        sql = "select at from events where session = :session order by seq desc limit 1"
        rows = self.db.query(sql, {"session": session})
        return str(rows[0][0]) if rows else ""

    def last_id(self) -> str:
        """Give the latest event id there is."""
        return str(self.db.query("select coalesce(max(id), '') from events")[0][0])

    def setting(self, name: str) -> str:
        """Give what the store notes about itself under a name."""
        rows = self.db.query("select value from settings where name = :name", {"name": name})
        return str(rows[0][0]) if rows else ""

    def note(self, name: str, value: str) -> None:
        """Note something about the store itself, such as which embedder made the vectors."""
        self.db.execute(
            "insert into settings (name, value) values (:name, :value) on conflict (name) do update set value = :value",
            {"name": name, "value": value},
        )

    def rebuild(self, chosen: Iterable[View] | None = None, progress: Progress = _silent) -> int:
        """Drop views and replay the journal into them; give how many records were replayed."""
        wanted = tuple(chosen) if chosen is not None else tuple(view for view in ALL_VIEWS if view is not vectors)
        with self.db.transaction():
            for view in wanted:
                _recreate(self.db, view)
            total = int(self.db.query("select count(*) from entries")[0][0])
            done = 0
            for batch in self._replay():
                for view in wanted:
                    view.apply(self.db, batch)
                done += len(batch.entries)
                progress(done, total)
            if words in wanted:
                words.index(self.db)
            if is_protected(self.db):
                protect(self.db)
        return done

    def _replay(self) -> Iterator[Batch]:
        last = -1
        while rows := self.db.query(
            "select number, id from entries where number > :last order by number limit :page",
            {"last": last, "page": PAGE},
        ):
            numbers = {row["id"]: row["number"] for row in rows}
            folded = self._folded_all(list(numbers))
            entries = [Entry(number=numbers[one], record=record, known=False) for one, record in folded.items()]
            yield Batch(entries=entries)
            last = rows[-1]["number"]
        seq = 0
        while rows := self.db.query(
            f"select seq, {_COLUMNS} from events where seq > :seq and not ({_FOLDING_ONLY}) order by seq limit :page",
            {"seq": seq, "page": PAGE},
        ):
            yield Batch(counted=[_event(row) for row in rows])
            seq = rows[-1]["seq"]

    def close(self) -> None:
        """Let go of the database."""
        self.db.close()


def open_store(
    db: Database, progress: Progress = _silent, *, home: Path | None = None, unfinished: bool = False
) -> Store:
    """Bring a database to this version's schema and views, and give the store in it; one half moved only if that is meant."""
    store = Store(db, home)
    if _schema_version(db) != len(_steps()) or _stale_views(store):
        with db.transaction():
            _migrate(db)
            if stale := _stale_views(store):
                store.rebuild(stale, progress)
    if not unfinished and store.setting(MOVING):
        raise StoreError(
            "Another store is being moved into this one.", hint="Run the same `holdfast migrate` again to finish it."
        )
    return store


def _steps() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted((Path(__file__).parent / "schema").glob("*.sql"))]


def _migrate(db: Database) -> None:
    """Run the schema steps this database has not seen; another process may have been faster."""
    steps = _steps()
    for step in steps[_schema_version(db) :]:
        db.script(step)
    Store(db).note("schema", str(len(steps)))


_TABLE_EXISTS = {
    "sqlite": "select 1 from sqlite_master where type = 'table' and name = 'settings'",
    "postgres": "select 1 from information_schema.tables where table_name = 'settings' and table_schema = current_schema()",
}


def _schema_version(db: Database) -> int:
    if not db.query(_TABLE_EXISTS[db.dialect]):
        return 0
    return check_schema(Store(db).setting("schema"))


def check_schema(said: str) -> int:
    """Give the schema a store says it has, unless it is a newer one."""
    version = int(said) if said.isdecimal() else 0
    if version > len(_steps()):
        raise NewerStore(
            f"This store has schema {version}; this Holdfast knows up to {len(_steps())}.",
            hint="Upgrade Holdfast. Nothing was changed.",
        )
    return version


def _stale_views(store: Store) -> list[View]:
    """Give the views whose tables were made by another version of their module."""
    known = {row[0]: row[1] for row in store.db.query("select name, version from views")}
    for view in ALL_VIEWS:
        if known.get(view.NAME, 0) > view.VERSION:
            raise NewerStore(
                hint=f"Its view {view.NAME} is newer than this Holdfast knows: upgrade. Nothing was changed."
            )
    return [view for view in ALL_VIEWS if known.get(view.NAME) != view.VERSION]


def _recreate(db: Database, view: View) -> None:
    # Policies of other tables may look at this one; they go with it, and let nothing through until they are made anew.
    cascade = " cascade" if db.dialect == "postgres" else ""
    for table in view.TABLES:
        db.script(f"drop table if exists {table}{cascade};\n")
    db.script(view.SCHEMA if isinstance(view.SCHEMA, str) else view.SCHEMA[db.dialect])
    db.execute(
        "insert into views (name, version) values (:name, :version) "
        "on conflict (name) do update set version = excluded.version",
        {"name": view.NAME, "version": view.VERSION},
    )


_INSERT = """
insert into events (seq, id, about, verb, at, actor, name, session, data)
values (:seq, :id, :about, :verb, :at, :actor, :name, :session, :data)
on conflict (id) do nothing
"""


_REWRITE = """
update events set about = :about, name = :name, session = :session, data = :data
where seq = :seq and id = :id and verb = :verb and at = :at and actor = :actor
"""


def _event_row(seq: int, event: Event) -> dict[str, object]:
    return {
        "seq": seq,
        "id": event.id,
        "about": event.about,
        "verb": event.verb,
        "at": event.at,
        "actor": event.by.kind,
        "name": event.by.name,
        "session": event.by.session,
        "data": json.dumps(dict(event.data), ensure_ascii=False, allow_nan=False),
    }


def _event(row: Row) -> Event:
    return Event(
        id=row["id"],
        about=row["about"],
        verb=row["verb"],
        at=row["at"],
        by=Actor(kind=row["actor"], name=row["name"], session=row["session"]),
        data=stored(row["data"], dict),
    )
