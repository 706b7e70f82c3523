"""The store: the journal of events, `commit` to write to it, and views updated in the same transaction."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from holdfast.engine import changes, journal
from holdfast.engine.database import Database, Queries, column, insert, stored, value
from holdfast.engine.views import Batch, Entry, View
from holdfast.engine.views.labels import labels, privates
from holdfast.engine.views.links import links
from holdfast.engine.views.records import BESIDE, MEMORIES, NUMBERS, PROJECT_BITS, by_ids, homes_of, records, span
from holdfast.engine.views.sessions import rebuild_row, sessions
from holdfast.engine.views.usage import heat, touches, trusts, usage
from holdfast.engine.views.vectors import queue_all, vectors
from holdfast.engine.views.words import Span, index, words
from holdfast.model.errors import Forbidden, NewerStore, StoreError, StoreFull, StoreUnwritable
from holdfast.model.event import FOLDING, Event, by_record
from holdfast.model.kinds import KINDS
from holdfast.model.record import Record, fold_all, scrub, set_aside

T = TypeVar("T")
Progress = Callable[[int, int], None]
# Vectors are expensive to compute and can be checked one by one, so a rebuild skips them unless they are chosen.
REPLAYED = (records, labels, links, usage, touches, trusts, heat, sessions, words, privates)
ALL_VIEWS = (*REPLAYED, vectors)
MOVING = "moving"  # name of the setting while a store is being filled from another
_VIEWS = "select name, version from views"
_SEPARATE = {"beside": f"%{BESIDE}%"}
_SQL = Queries(
    __file__, folding_only=journal.FOLDING_ONLY, columns=journal.COLUMNS, memories=MEMORIES, bits=str(PROJECT_BITS)
)


@cache
def schema_steps() -> tuple[str, ...]:
    """Return the steps of the schema; a store's schema version is how many of them it has."""
    folder = Path(__file__).parent / "schema"
    return tuple(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.sql")))


def check_schema(said: str) -> int:
    """Parse a store's schema version, 0 if there is none; raise NewerStore if this version does not know it."""
    version = int(said) if said.isdecimal() else 0
    if version > len(schema_steps()):
        raise NewerStore(f"This store has schema {version}; this Holdfast knows up to {len(schema_steps())}.")
    return version


def stale_views(known: Iterable[Any]) -> list[View]:
    """Return the views that are missing or of an older version; raise NewerStore if one is of a newer version."""
    versions = {name: int(version) for name, version in known}
    for view in ALL_VIEWS:
        if versions.get(view.name, 0) > view.version:
            raise NewerStore(f"The view {view.name} of this store is newer than this Holdfast knows.")
    return [view for view in ALL_VIEWS if versions.get(view.name) != view.version]


@dataclass(frozen=True, slots=True)
class Store(journal.Journal):
    """An open store: read from the views, write through `commit`."""

    home: Path | None = None

    @property
    def path(self) -> Path | None:
        """The database file; None for a database on a server."""
        return self.db.path

    @property
    def is_embedded(self) -> bool:
        """True if the store is a file on this machine, not a database on a server."""
        return self.path is not None

    @property
    def is_guarded(self) -> bool:
        """True if row-level security is on: a query returns only rows that the user may see."""
        return self.db.guarded

    @property
    def folder(self) -> Path | None:
        """The folder for the store's other files on this machine: that of the database file, else `home`."""
        return self.path.parent if self.path else self.home

    def transaction(self) -> AbstractContextManager[None]:
        """Run several reads and commits in one transaction: all or nothing, with no other writer in between."""
        return self.db.transaction()

    def commit(self, events: Sequence[Event]) -> list[Entry]:
        """Store events and update every view in one transaction; return the records that changed."""
        # Idempotent: an event that is already stored changes nothing. Events may arrive in any order. Raises NewerStore
        # if a newer Holdfast upgraded the store after this one opened it.
        with self.db.transaction():
            fresh = self._append(events)
            erased = self._erased({event.about for event in fresh if event.verb in ("erased", "accepted")})
            for seq, event in (pair for about in erased for pair in self.numbered("about = :about", {"about": about})):
                self.db.execute(_SQL["scrub"], journal.event_row(seq, scrub(event)))  # uses too may quote its text
            abouts = dict.fromkeys(event.about for event in fresh if event.verb in FOLDING)
            if any(event.verb == "revised" and "project" in event.data for event in fresh):
                entries = self.moved(abouts)
            else:
                entries = self.entries(abouts)
                self._apply(Batch(entries=entries, counted=[event for event in fresh if event.verb not in FOLDING]))
        if erased:
            self.forget_deleted()
        return entries

    def moved(self, abouts: Iterable[str]) -> list[Entry]:
        """Return records that moved with a number in their new project, and rebuild the views: numbers begin with the project."""
        before = self.entries(abouts)
        homes = ((one.number, homes_of((one.record.project,), (one.record.kind,))[0]) for one in before)
        gone = [{"number": n} for n, home in homes if n >> PROJECT_BITS != self.project_number(home, make=True)]
        for table in ("entries", *vectors.tables):
            self.db.many(f"delete from {table} where number = :number", gone)
        after = self.entries(entry.record.id for entry in before)
        self.rebuild()
        vectors.apply(self.db, Batch(entries=after))
        changes.note_anything(self.folder)
        return after

    def _append(self, events: Sequence[Event]) -> list[Event]:
        """Insert the events that are not stored yet, scrubbed if their record is erased, and return them."""
        ids, abouts = [event.id for event in events], {event.about for event in events}
        given = {"n": len(events), "ids": ids, "abouts": abouts}
        rows = self.db.query(_SQL["counted"], given)
        if not rows:  # row security lets a key to read count nothing
            raise Forbidden(hint="Ask for a key of the role write.")
        last, stored_ids, erased_abouts, *versions = rows[0]
        _check_versions(*versions)
        known, erased = stored(stored_ids, set), self._erased(stored(erased_abouts, set))
        fresh: dict[str, tuple[int, Event]] = {}
        for seq, event in enumerate(events, start=int(last) - len(events) + 1):
            if event.id not in known:
                fresh.setdefault(event.id, (seq, scrub(event) if event.about in erased else event))
        self.insert(fresh.values())
        return [event for _, event in fresh.values()]

    def _erased(self, abouts: Collection[str]) -> set[str]:
        """Return which of these records are erased; an erasure that is quarantined or rejected does not count."""
        said: dict[str, set[str]] = {}
        for about, key in self.db.query(_SQL["erased"], {"abouts": list(abouts)}) if abouts else ():
            said.setdefault(about, set()).add(key)
        return {about for about, ids in said.items() if not set_aside(self.events_about(about)).keys() >= ids}

    def rewrite(self, clean: Callable[[Event], Event]) -> list[Event]:
        """Replace each event with what `clean` returns for it, rebuild the views, and return the changed events."""
        # Only for removing text that must not be stored, such as secrets. Copies of the journal elsewhere keep it.
        changed: list[Event] = []
        with self._writing():
            for seq, event in self.journal():
                if (kept := clean(event)) != event:
                    self.db.execute(_SQL["rewrite"], journal.event_row(seq, kept))
                    changed.append(kept)
            if changed:
                self.rebuild()
                changes.note_anything(self.folder)
        return changed

    def put_again(self, changed: Sequence[tuple[int, Event]]) -> None:
        """Overwrite a few stored events, given with their sequence numbers, and update their records and sessions."""
        with self._writing():
            for seq, event in changed:
                self.db.execute(_SQL["rewrite"], journal.event_row(seq, event))
            abouts = dict.fromkeys(event.about for _, event in changed if event.verb in FOLDING)
            self._apply(Batch(entries=self.entries(abouts)))
            for about in dict.fromkeys(event.about for _, event in changed if event.verb in ("started", "closed")):
                rebuild_row(self.db, about, self.all_about(about))

    def _apply(self, batch: Batch) -> None:
        for view in ALL_VIEWS:
            if view.concerns(batch):
                view.apply(self.db, batch)
        heated = [event.about for event in batch.counted if event.verb == "heated"]
        changes.note(self.folder, [*batch.entries, *(by_ids(self, heated) if heated else {}).values()])

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Run a transaction, unless a newer Holdfast upgraded the store after this one opened it."""
        with self.db.transaction():
            _check_versions(*self.db.query(f"select {_SQL['versions']}")[0])
            yield

    def forget_deleted(self, *, free_pages: bool = False) -> bool:
        """Remove deleted text from index segments, the write-ahead log and, if asked, free pages; False if the log is in use."""
        return self.db.forget_deleted(free_pages=free_pages)

    def entries(self, abouts: Iterable[str]) -> list[Entry]:
        """Fold records from their events and return them with their numbers; new records are assigned one."""
        folded = self._folded_all(list(abouts))
        if not folded:
            return []
        numbers = {row[0]: int(row[1]) for row in self.db.query(_SQL["entries"], {"ids": list(folded)})}
        known = set(numbers)
        new: dict[str, list[str]] = {}
        for about, record in folded.items():
            if about not in known:
                new.setdefault(homes_of((record.project,), (record.kind,))[0], []).append(about)
        for name, ids in new.items():
            ((home, last),) = self.sizes([name]).items()
            home = home if home >= 0 else self.project_number(name, make=True)
            given = {"home": home, "n": len(ids)}
            self.db.execute("update projects set records = records + :n where number = :home", given)
            fresh = {one: number for number, one in enumerate(ids, start=(home << PROJECT_BITS) + last + 1)}
            insert(self.db, "entries", [{"number": number, "id": one} for one, number in fresh.items()])
            numbers |= fresh
        return [Entry(number=numbers[about], record=record, known=about in known) for about, record in folded.items()]

    def project_number(self, name: str, *, make: bool = False) -> int:
        """Return the number of a project; a new project is created with `make`, else -1, which has no records."""
        number = int(value(self.db, "select number from projects where name = :name", {"name": name}, -1))
        if number < 0 and make:
            number = journal.counted_up(self.db, "projects")
            insert(self.db, "projects", [{"number": number, "name": name, "records": 0}])
        return number

    def sizes(self, names: Iterable[str]) -> dict[int, int]:
        """Return how many records each project ever had, by its number; -1 for a project never written to."""
        wanted = list(dict.fromkeys(names))
        found = {row[0]: (int(row[1]), int(row[2])) for row in self.db.query(_SQL["sizes"], {"names": wanted})}
        return dict(found.get(name, (-1, 0)) for name in wanted)

    def homes(self, project: str) -> tuple[int, ...]:
        """Return the numbers of everything a project has: its memories, and its records of separate kinds."""
        return tuple(self.sizes(homes_of((project,), KINDS)))

    def everywhere(self) -> list[Span]:
        """Return the spans of the memories of all projects, without the records of separate kinds between them."""
        spans = [span(number) for number in column(self.db, _SQL["everywhere"], _SEPARATE)]
        return list(zip([0, *(high + 1 for _, high in spans)], [*(low - 1 for low, _ in spans), 2**62], strict=True))

    def projects(self) -> dict[str, int]:
        """Return how many memories each project ever had, by name."""
        return {row[0]: row[1] for row in self.db.query(_SQL["projects"], _SEPARATE)}

    def size(self, projects: Iterable[int] | None) -> int:
        """Return how many records these projects ever had together; None means all projects."""
        where = "1 = 1" if projects is None else f"number in ({NUMBERS})"
        sql = f"select coalesce(sum(records), 0) from projects where {where}"
        return int(value(self.db, sql, {"numbers": list(projects or ())}))

    def folded(self, about: str) -> Record | None:
        """Return the record folded from its events, without reading any view; None if there are none."""
        return fold_all(self.events_about(about))

    def _folded_all(self, abouts: Sequence[str]) -> dict[str, Record]:
        given = {"abouts": abouts}
        events = by_record(map(journal.event_of, self.db.query(_SQL["folding"], given) if abouts else ()))
        return {about: record for about in abouts if (record := fold_all(events.get(about, [])))}

    def setting(self, name: str) -> str:
        """Return a setting of the store itself, empty if it is not set."""
        return str(value(self.db, "select value from settings where name = :name", {"name": name}, ""))

    def kept(self, name: str, default: T) -> T:
        """Return the lists or mappings that `note` stored as a setting; the default if there are none."""
        text = self.setting(name)
        found: T = stored(text, lambda value: value) if text else default
        return found if isinstance(found, type(default)) else default

    def note(self, name: str, value: str | Mapping[str, Any] | Sequence[Any]) -> None:
        """Store a setting of the store itself, such as which embedder made the vectors; anything but a text as JSON."""
        text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        insert(self.db, "settings", [{"name": name, "value": text}], replacing="name")

    def schema_version(self) -> int:
        """Return how many steps of the schema the store has; raise NewerStore if this version does not know all of them."""
        return check_schema(self.setting("schema")) if self.db.has_table("settings") else 0

    def rebuild(self, chosen: Iterable[View] | None = None, progress: Progress = lambda *_: None) -> int:
        """Drop views (default: all but vectors) and replay the journal into them; return the number of records."""
        wanted = REPLAYED if chosen is None else tuple(chosen)
        with self._writing():
            for view in wanted:
                for table in view.tables:
                    self.db.drop_table(table)
                self.db.script(view.schema)
                insert(self.db, "views", [{"name": view.name, "version": view.version}], replacing="name")
            total = int(value(self.db, "select count(*) from entries"))
            done, replayed = 0, [view for view in wanted if view is not vectors]
            for batch in self._replay() if replayed else ():
                for view in replayed:
                    view.apply(self.db, batch)
                done += len(batch.entries)
                progress(done, total)
            if vectors in wanted:
                queue_all(self)
            if words in wanted:
                index(self.db)
            self.db.restore_policies()
        return done

    def _replay(self) -> Iterator[Batch]:
        for rows in journal.pages(self.db, "select number, id from entries where number > :after", -1):
            numbers = {row["id"]: row["number"] for row in rows}
            folded = self._folded_all(list(numbers))
            entries = [Entry(number=numbers[one], record=record, known=False) for one, record in folded.items()]
            yield Batch(entries=entries)
        uncounted = f"select seq, {journal.COLUMNS} from events where seq > :after and not ({journal.FOLDING_ONLY})"
        for rows in journal.pages(self.db, uncounted):
            yield Batch(counted=[journal.event_of(row) for row in rows])

    def close(self) -> None:
        """Close the database."""
        self.db.close()


def open_store(
    db: Database, progress: Progress = lambda *_: None, *, home: Path | None = None, unfinished: bool = False
) -> Store:
    """Bring a database to this version's schema and views, and return the store in it."""
    # Raises StoreError for a store that an interrupted `migrate` left incomplete, unless `unfinished` is set.
    store = Store(db, home)
    if (version := store.schema_version()) != len(schema_steps()) or stale_views(db.query(_VIEWS)):
        try:
            _bring_up_to_date(store, progress)
        except (StoreFull, StoreUnwritable) as problem:
            if not version:
                raise
            with db.in_memory(problem):  # so that an older store on a full or read-only disk can still be read
                _bring_up_to_date(store, progress)
    if not unfinished and store.setting(MOVING):
        hint = "Run the same `holdfast store migrate` again to finish it."
        raise StoreError("Another store is being moved into this one.", hint=hint)
    return store


def _bring_up_to_date(store: Store, progress: Progress) -> None:
    with store.db.transaction():
        for step in schema_steps()[store.schema_version() :]:  # another process may have run them first
            store.db.script(step)
        store.note("schema", str(len(schema_steps())))
        journal.fill_checksums(store.db)
        if stale := stale_views(store.db.query(_VIEWS)):
            if words in stale:  # transcripts have the same words
                from holdfast.engine.raw.transcripts import index_chunks  # noqa: PLC0415  rarely needed

                index_chunks(store.db)
            store.rebuild(stale, progress)
            # Records of separate kinds that an earlier version numbered among their project's memories.
            if misplaced := column(store.db, _SQL["misplaced"], _SEPARATE):
                store.moved(misplaced)


def _check_versions(schema: str | None, views: str) -> None:
    """Raise NewerStore if a newer version wrote these; a store that is being upgraded has older ones."""
    check_schema(schema or "")
    stale_views(stored(views, lambda given: [one.split() for one in given]))
