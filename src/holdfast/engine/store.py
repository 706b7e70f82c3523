"""The store: the journal, the one door for writes, and views that follow it in the same transaction."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from holdfast.engine.database import stored
from holdfast.engine.journal import ABOUTS, COLUMNS, FOLDING_ONLY, INSERT, PAGE, Journal, event_of, event_row
from holdfast.engine.views import (
    Batch,
    Entry,
    View,
    heat,
    labels,
    links,
    privates,
    records,
    recreate,
    sessions,
    steps,
    touches,
    trusts,
    usage,
    vectors,
    words,
)
from holdfast.engine.views.records import PROJECT_BITS
from holdfast.model.event import FOLDING, Event
from holdfast.model.fold import fold_all, scrub, set_aside
from holdfast.model.record import Record

Progress = Callable[[int, int], None]
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
MOVING = "moving"  # the setting of a store that is being filled from another


def silent(_done: int, _all: int) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class Store(Journal):
    """An open store. Reading goes through the views; every write is `commit`."""

    home: Path | None = None

    @property
    def is_embedded(self) -> bool:
        """True if the store is a file on this machine, not a database on a server."""
        return self.db.path is not None

    @property
    def folder(self) -> Path | None:
        """The folder of the store's other files on this machine: that of the database file, else `home`."""
        return self.db.path.parent if self.db.path else self.home

    def transaction(self) -> AbstractContextManager[None]:
        """Make several reads and commits one step: all or nothing, and no other writer in between."""
        return self.db.transaction()

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
            self.forget_words()
        return entries

    def _append(self, events: Sequence[Event]) -> list[Event]:
        self.db.execute("update counters set value = value + :n where name = 'seq'", {"n": len(events)})
        last, known, erased = self._before(events)
        fresh, rows = [], []
        for seq, event in enumerate(events, start=last - len(events) + 1):
            if event.id in known:
                continue
            known.add(event.id)
            kept = scrub(event) if event.about in erased else event
            fresh.append(kept)
            rows.append(event_row(seq, kept))
        self.db.many(INSERT, rows)
        return fresh

    def _before(self, events: Sequence[Event]) -> tuple[int, set[str], set[str]]:
        """Return the last number taken, which of these events are here already, and which of their records are erased."""
        ids, abouts = [event.id for event in events], list({event.about for event in events})
        last, known, erased = self.db.query(_BEFORE, {"ids": json.dumps(ids), "abouts": json.dumps(abouts)})[0]
        return int(last), stored(known, set), self._erased(stored(erased, set))

    def _erased(self, abouts: Collection[str]) -> set[str]:
        """Give those of these records that were erased by somebody whose word counts here."""
        if not abouts:
            return set()
        sql = f"select about, id from events where about in ({ABOUTS}) and {FOLDING_ONLY} and verb = 'erased'"
        said: dict[str, set[str]] = {}
        for row in self.db.query(sql, {"abouts": json.dumps(list(abouts))}):
            said.setdefault(row[0], set()).add(row[1])
        return {about for about, ids in said.items() if not set_aside(self.events_about(about)).keys() >= ids}

    def _scrub(self, about: str) -> None:
        """Overwrite everything events said about a record; uses may quote it, so they go too."""
        for row in self.db.query(f"select seq, {COLUMNS} from events where about = :about", {"about": about}):
            self.db.execute(_SCRUB, event_row(row["seq"], scrub(event_of(row))))

    def rewrite(self, clean: Callable[[Event], Event]) -> list[Event]:
        """Put events in place of themselves as `clean` gives them, views included; give those that changed.

        Only for taking out what must not be here: whoever has the journal elsewhere still has it.
        """
        changed: list[Event] = []
        with self.db.transaction():
            for seq, event in self.journal():
                if (kept := clean(event)) != event:
                    self.db.execute(_REWRITE, event_row(seq, kept))
                    changed.append(kept)
            if changed:
                self.rebuild()
        return changed

    def put_again(self, changed: Sequence[tuple[int, Event]]) -> None:
        """Put a few events in place of themselves, with what the views say of them: records and sessions."""
        with self.db.transaction():
            for seq, event in changed:
                self.db.execute(_REWRITE, event_row(seq, event))
            abouts = dict.fromkeys(event.about for _, event in changed if event.verb in FOLDING)
            batch = Batch(entries=self.entries(abouts))
            for view in ALL_VIEWS:
                view.apply(self.db, batch)
            for about in dict.fromkeys(event.about for _, event in changed if event.verb in ("started", "closed")):
                sessions.tell_again(self.db, about, self.all_about(about))

    def forget_words(self) -> bool:
        """Remove deleted text from index segments and the write-ahead log; False if another process reads the log."""
        return self.db.forget_deleted()

    def forget_pages(self) -> bool:
        """Remove deleted text from free pages as well; False if another process reads the log."""
        return self.db.forget_deleted(free_pages=True)

    def entries(self, abouts: Iterable[str]) -> list[Entry]:
        """Give records as their events now make them, each with its number."""
        folded = self._folded_all(list(abouts))
        if not folded:
            return []
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

    def sizes(self, names: Iterable[str]) -> dict[int, int]:
        """Return the number of each project and how many records it ever had; -1, which holds nothing, for one never written to."""
        wanted = list(dict.fromkeys(names))
        sql = "select name, number, records from projects where name in (select value from json_each(:names))"
        found = {row[0]: (int(row[1]), int(row[2])) for row in self.db.query(sql, {"names": json.dumps(wanted)})}
        return dict(found.get(name, (-1, 0)) for name in wanted)

    def projects(self) -> dict[str, int]:
        """Tell how many records each project ever had."""
        return {row[0]: row[1] for row in self.db.query("select name, records from projects order by name")}

    def size(self, projects: Iterable[int] | None) -> int:
        """Tell how many records these projects, or all, ever had."""
        if projects is None:
            return int(self.db.query("select coalesce(sum(records), 0) from projects")[0][0])
        sizes = (self.db.query("select records from projects where number = :n", {"n": n}) for n in projects)
        return sum(int(rows[0][0]) for rows in sizes if rows)

    def folded(self, about: str) -> Record | None:
        """Give the record its events make, without looking at any view."""
        return fold_all(self.events_about(about))

    def _folded_all(self, abouts: Sequence[str]) -> dict[str, Record]:
        """Give the records that events make, by id and in this order, reading the journal once."""
        if not abouts:
            return {}
        sql = f"select {COLUMNS} from events where about in ({ABOUTS}) and {FOLDING_ONLY} order by about, id"
        told: dict[str, list[Event]] = {}
        for row in self.db.query(sql, {"abouts": json.dumps(abouts)}):
            told.setdefault(row["about"], []).append(event_of(row))
        return {about: record for about in abouts if (record := fold_all(told.get(about, [])))}

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

    def rebuild(self, chosen: Iterable[View] | None = None, progress: Progress = silent) -> int:
        """Drop views and replay the journal into them; give how many records were replayed."""
        wanted = tuple(chosen) if chosen is not None else tuple(view for view in ALL_VIEWS if view is not vectors)
        with self.db.transaction():
            for view in wanted:
                recreate(self.db, view)
            total = int(self.db.query("select count(*) from entries")[0][0])
            done = 0
            for batch in self._replay():
                for view in wanted:
                    view.apply(self.db, batch)
                done += len(batch.entries)
                progress(done, total)
            if words in wanted:
                words.index(self.db)
            self.db.restore_policies()
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
            f"select seq, {COLUMNS} from events where seq > :seq and not ({FOLDING_ONLY}) order by seq limit :page",
            {"seq": seq, "page": PAGE},
        ):
            yield Batch(counted=[event_of(row) for row in rows])
            seq = rows[-1]["seq"]

    def close(self) -> None:
        """Let go of the database."""
        self.db.close()


# Members of a team server may change these two columns, of erased records, and no other.
_SCRUB = "update events set data = :data, checksum = :checksum where seq = :seq and id = :id"
_BEFORE = f"""
select value, (select json_group_array(id) from events where id in (select value from json_each(:ids))),
    (select json_group_array(about) from events where about in ({ABOUTS}) and {FOLDING_ONLY} and verb = 'erased')
from counters where name = 'seq'
"""
_REWRITE = """
update events set about = :about, name = :name, session = :session, data = :data, checksum = :checksum
where seq = :seq and id = :id and verb = :verb and at = :at and actor = :actor
"""
