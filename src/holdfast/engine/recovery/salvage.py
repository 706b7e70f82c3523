"""Recover a damaged store: every event that is still intact, and the rows of the tables outside the journal.

SQLite stops at a bad page and cannot reach anything below a bad inner page. So pages are read one by one
(`engine/recovery/pages`), events are recognised by the shape of their rows on any page, and each one is checked.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

from holdfast.engine.journal import checksum
from holdfast.engine.opening import open_store
from holdfast.engine.raw import transcripts
from holdfast.engine.recovery.pages import Cell, Pages, Value, read_pages
from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import ALL_VIEWS, Store, check_schema
from holdfast.engine.views.records import PROJECT_BITS
from holdfast.model.errors import Invalid
from holdfast.model.event import FOLDING, VERBS, Actor, ActorKind, Event, Verb
from holdfast.model.fold import scrub
from holdfast.model.foreign_json import parse_json
from holdfast.model.ids import check_id, parse_instant
from holdfast.model.record import record_from_json
from holdfast.model.text import check_keepable

_WIDTHS = (9, 10)  # columns of an event without and with a checksum
_UNPRINTED = re.compile(r"[\x00-\x1f\x7f]")
# Recreated in the new store, or merged into it.
_NOT_COPIED = frozenset({"events", "counters", "settings", "views"})
_COUNTERS = {"seq": "events.seq", "projects": "projects.number", "chunks": "chunks.number"} | {
    name: f"{name}.number" for name in ("outputs", "failures")
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """How much was recovered, and what is known to be lost."""

    events: int
    memories: int
    lost: int  # events whose ids are still in an index; more may be lost if indexes are damaged too
    hurt: tuple[str, ...]  # memories that lost events
    refused: tuple[str, ...]  # ids of events that fail their checksum or do not match the indexes
    doubtful: tuple[str, ...]  # memories whose events fold to something else than the damaged store had
    beside: Mapping[str, int]  # rows of the tables outside the journal
    bad_pages: int
    schema_read: bool


@dataclass(slots=True)
class _Found:
    """What was read from the pages of a damaged file."""

    pages: Pages
    roots: dict[str, int] = field(default_factory=dict)
    events: dict[str, tuple[int, Event]] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)

    def rows(self, table: str) -> Iterator[Cell]:
        """Return the readable rows of a table or entries of an index."""
        return self.pages.rows(self.roots[table]) if table in self.roots else iter(())


def salvage(damaged: Path, target: Path) -> Saved:
    """Create a new store at `target` from what can be read of a damaged one, which is not changed."""
    found = _Found(read_pages(damaged))
    found.roots = _roots(found.pages)
    settings = {values[0]: values[1] for _, values in found.rows("settings") if len(values) == 2}
    check_schema(str(settings.get("schema", "")))
    _gather(found)
    with closing(open_store(SQLite(target))) as store:
        with store.db.transaction():
            beside = _copy_tables(store, found)
            _insert(store, found.events.values())
            _settle(store, found, settings)
        store.rebuild(ALL_VIEWS)
        transcripts.index_chunks(store.db)
        lost = _lost(found)
        memories = int(store.db.query("select count(*) from records")[0][0])
        return Saved(
            events=len(found.events),
            memories=memories,
            lost=len(lost),
            hurt=tuple(sorted({about for about in lost.values() if about})),
            refused=tuple(sorted(found.refused - found.events.keys())),
            doubtful=tuple(_doubtful(store, found, set(lost.values()))),
            beside=beside,
            bad_pages=len(found.pages.bad),
            schema_read="events" in found.roots,
        )


def _roots(pages: Pages) -> dict[str, int]:
    """Return the root page of each table and index that the schema page still lists."""
    rows = (values for _, values in pages.rows(1) if len(values) == 5)
    return {name: root for _, name, _, root, _ in rows if isinstance(name, str) and isinstance(root, int) and root > 0}


def _gather(found: _Found) -> None:
    known = _known_ids(found)
    for seq, values in found.pages.loose():
        event = _event(values)
        if not event or seq <= 0:
            continue
        if _is_as_written(values, known.get(seq)):
            found.events.setdefault(event.id, (seq, event))
        else:
            found.refused.add(event.id)
    erased = {event.about for _, event in found.events.values() if event.verb == "erased"}
    for key, (seq, event) in found.events.items():
        if event.about in erased:
            found.events[key] = (seq, scrub(event))


def _known_ids(found: _Found) -> dict[int, set[str]]:
    """Return the event ids that the indexes have for each row number."""
    known: dict[int, set[str]] = {}
    for index, place in (("sqlite_autoindex_events_1", 0), ("events_folding", 1)):
        for _, values in found.rows(index):
            key, seq = values[place] if len(values) == place + 2 else None, values[-1]
            if isinstance(key, str) and isinstance(seq, int):
                known.setdefault(seq, set()).add(key)
    return known


def _is_as_written(values: Sequence[Value], known: set[str] | None) -> bool:
    """True if a row matches its checksum; a row without one counts unless the indexes have only other ids for it."""
    written = values[9] if len(values) == 10 else None
    if written is not None:
        return written == checksum(values[1:9])
    return known is None or str(values[1]) in known


def _event(values: Sequence[Value]) -> Event | None:
    """Return the event in a row, None if the row is no event or a part of it is invalid."""
    if len(values) not in _WIDTHS or values[0] is not None or not all(isinstance(value, str) for value in values[1:9]):
        return None
    key, about, verb, at, actor, name, session, data = (str(value) for value in values[1:9])
    if verb not in VERBS or actor not in get_args(ActorKind) or _UNPRINTED.search(about + name + session):
        return None
    try:
        check_id(key)
        if verb in FOLDING:
            check_id(about)
        said = parse_json(data)
        check_keepable(said)
        sound = isinstance(said, dict) and parse_instant(at) == at
    except (Invalid, ValueError):
        return None
    by = Actor(kind=cast("ActorKind", actor), name=name, session=session)
    return Event(id=key, about=about, verb=cast("Verb", verb), at=at, by=by, data=said) if sound else None


def _insert(store: Store, events: Iterable[tuple[int, Event]]) -> None:
    """Insert events under their old sequence numbers: replicas remember by number how far they are synced."""
    taken: set[int] = set()
    homeless: list[Event] = []
    for seq, event in sorted(events, key=lambda one: (one[0], one[1].id)):
        if seq in taken:
            homeless.append(event)
            continue
        taken.add(seq)
        store.insert(seq, event)
    last = max(taken, default=0)
    for seq, event in enumerate(homeless, start=last + 1):
        store.insert(seq, event)


def _copy_tables(store: Store, found: _Found) -> dict[str, int]:
    """Copy the tables outside the journal row by row; return the number of rows by table."""
    own = {table for view in ALL_VIEWS for table in view.TABLES}
    rows = store.db.query("select name, sql from sqlite_master where type = 'table' and name not like 'sqlite_%'")
    names = [row[0] for row in rows if not any(row[0] == table or row[0].startswith(f"{table}_") for table in own)]
    return {name: _copy(store, found, name) for name in names if name not in _NOT_COPIED and name in found.roots}


def _copy(store: Store, found: _Found, table: str) -> int:
    columns = list(store.db.query(f"pragma table_info({table})"))
    number = next((place for place, one in enumerate(columns) if one["pk"] and one["type"].lower() == "integer"), None)
    count = 0
    for rowid, values in found.rows(table):
        row = list(values)
        if len(row) > len(columns):
            continue
        if number is not None and row[number : number + 1] == [None]:
            row[number] = rowid
        names = [one["name"] for one in columns[: len(row)]]
        places = ", ".join(f":{name}" for name in names)
        sql = f"insert or replace into {table} ({', '.join(names)}) values ({places})"
        count += store.db.execute(sql, dict(zip(names, row, strict=True)))
    return count


def _settle(store: Store, found: _Found, settings: Mapping[Any, Any]) -> None:
    """Restore settings, raise counters to what the recovered rows use, and assign a number to every memory."""
    for name, value in settings.items():
        if name != "schema" and isinstance(name, str) and isinstance(value, str):
            store.note(name, value)
    counters = {values[0]: values[1] for _, values in found.rows("counters") if len(values) == 2}
    for name, value in counters.items():
        if isinstance(name, str) and isinstance(value, int):
            _raise(store, name, value)
    for name, place in _COUNTERS.items():
        table, column = place.split(".")
        _raise(store, name, int(store.db.query(f"select coalesce(max({column}), 0) from {table}")[0][0]))
    store.db.execute(
        "update projects set records = max(records, coalesce((select max(number) from entries "
        f"where number >> {PROJECT_BITS} = projects.number), 0) & {(1 << PROJECT_BITS) - 1})"
    )
    _drop_strays(store)
    store.entries(sorted({event.about for _, event in found.events.values() if event.verb in FOLDING}))


def _drop_strays(store: Store) -> None:
    """Delete numbers that belong to no known project; their memories are assigned new ones."""
    store.db.execute(f"delete from entries where number >> {PROJECT_BITS} not in (select number from projects)")


def _raise(store: Store, name: str, value: int) -> None:
    sql = "update counters set value = max(value, :value) where name = :name"
    store.db.execute(sql, {"name": name, "value": value})


def _lost(found: _Found) -> dict[str, str]:
    """Return the ids of events that are in an index but on no page, each with its record id, empty if unknown."""
    lost = {key: "" for _, (key, *_) in _keys(found, "sqlite_autoindex_events_1", 2) if key not in found.events}
    for _, (about, key, *_) in _keys(found, "events_folding", 3):
        if key not in found.events:
            lost[key] = about
    return lost


def _keys(found: _Found, index: str, width: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    for rowid, values in found.rows(index):
        texts = tuple(value for value in values[:-1] if isinstance(value, str))
        if len(values) != width or len(texts) != width - 1:
            continue
        try:
            yield rowid, tuple(check_id(text) for text in texts)
        except Invalid:
            continue  # other bytes that look like an index entry


def _doubtful(store: Store, found: _Found, hurt: set[str]) -> Iterator[str]:
    """Yield the memories whose stored record differs from its events, with none known lost: one side is damaged."""
    for _, values in found.rows("records"):
        try:
            former = record_from_json(parse_json(str(values[-1])))
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, Invalid):
            continue
        now = store.folded(former.id)
        if now and now != former and former.id not in hurt:
            yield former.id
