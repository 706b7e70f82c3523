"""Copy a whole store into an empty one, on the same engine or another, and compare the journals by hash."""
# Rows are copied in the order of their keys, one page per transaction, so an interrupted move resumes where it stopped.
# Views are rebuilt from the journal; vectors are copied, because they are expensive to compute.

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from holdfast.engine.database import Bits, Database, Halves, Row, insert, value
from holdfast.engine.journal import Journal, fill_checksums
from holdfast.engine.raw.transcripts import index_chunks
from holdfast.engine.store import MOVING, REPLAYED, Store
from holdfast.engine.views import vectors
from holdfast.model.errors import Conflict, StoreError
from holdfast.model.patterns import tables

Progress = Callable[[str, int, int], None]
PAGE = 2_000
MOVED = "moved from"  # setting of a filled store: the id of the first event of its source


@dataclass(frozen=True, slots=True)
class Table:
    """A table to copy: its key, which orders the rows, and all its columns, those of the key first."""

    name: str
    key: tuple[str, ...]
    columns: tuple[str, ...]


def _tables(section: str) -> tuple[Table, ...]:
    rows = [(name, *columns.split(";")) for name, columns in _ROWS[section]]
    return tuple(Table(name, tuple(key.split()), tuple(f"{key}{others}".split())) for name, key, others in rows)


_ROWS = tables(__file__)
GROWING, RAW, KEYS = _tables("growing"), _tables("raw"), _tables("keys")
CHANGING = (*RAW, *_tables("changing"))
EVENTS = replace(GROWING[0], columns=GROWING[0].columns[:-1])  # without checksums, which older stores lack
_KEPT_SETTINGS = ("schema", MOVING)  # kept as they are in the target


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """How much was moved, and the hash that both journals have."""

    events: int
    records: int
    vectors: int
    hash: str


def move(source: Store, target: Store, progress: Progress = lambda *_: None) -> Moved:
    """Copy everything, compare the journals and rebuild the views; raise Conflict if the target has other content."""
    identity = _claim(source, target)
    vectors.drop_graph(target.db)
    for table in GROWING:
        _copy(source.db, target.db, table, progress)
    digest, records = fill(source, target, progress)
    progress("graph of vectors", 0, 1)
    if vector := value(target.db, "select vector from vectors limit 1", default=b""):
        vectors.make_graph(target.db, len(vector) // 2)
    with target.db.transaction():
        target.note(MOVING, "")
        target.note(MOVED, identity)
    return Moved(events=_count(target.db, "events"), records=records, vectors=_count(target.db, "vectors"), hash=digest)


def fill(source: Store, target: Store, progress: Progress = lambda *_: None) -> tuple[str, int]:
    """Copy the rows that are missing, compare the journals and rebuild the views; return the hash and the number of records."""
    # Only rows are copied, into tables that this version made: no trigger, view or index of the source comes along.
    with source.db.transaction():  # from here on no other process can write to the source
        for table in GROWING:
            _copy(source.db, target.db, table, progress)
        wanted = _hashes(source.db, "hash of the source", progress)
        if _hashes(target.db, "hash of the target", progress) != wanted:
            # Rows that had been copied were changed since: by an erasure, or by another embedder.
            for table in GROWING:
                target.db.execute(f"delete from {table.name}")
                _copy(source.db, target.db, table, progress)
            if _hashes(target.db, "hash of the target", progress) != wanted:
                hint = "Another program writes to the target: stop it and move again. The source is as it was."
                raise StoreError("The two stores are not the same.", hint=hint)
        for table in CHANGING:
            where = f"where name not in {_KEPT_SETTINGS}" if table.name == "settings" else ""
            with target.db.transaction():
                target.db.execute(f"delete from {table.name} {where}")
                _copy(source.db, target.db, table, progress, whole=True)
    records = target.rebuild(REPLAYED, lambda done, total: progress("views", done, total))
    index_chunks(target.db)
    with target.db.transaction():
        fill_checksums(target.db)
    return wanted["events"], records


def put_raw_rows(store: Journal, given: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    """Insert rows of transcripts and logged output, each with the name of its table, and index the transcripts."""
    rows = list(given)
    with store.db.transaction():
        for table in RAW:
            _put(store.db, table, [row for name, row in rows if name == table.name])
        for name in ("chunks", "outputs"):
            sql = f"update counters set value = (select coalesce(max(number), 0) from {name}) where name = :name"
            store.db.execute(sql, {"name": name})
        index_chunks(store.db)


def journal_hash(db: Database, table: Table = EVENTS) -> str:
    """Return one SHA-256 over every column of every event in order of arrival, or of the rows of another table."""
    digest = sha256()
    for rows in _pages(db, table, None):
        for row in rows:
            digest.update(json.dumps(list(row), ensure_ascii=False, default=bytes.hex).encode())
    return digest.hexdigest()


def _hashes(db: Database, what: str, progress: Progress) -> dict[str, str]:
    found = {}
    for done, table in enumerate((EVENTS, *GROWING[1:]), start=1):
        found[table.name] = journal_hash(db, table)
        progress(what, done, len(GROWING))
    return found


def _claim(source: Store, target: Store) -> str:
    """Mark the target as being filled from this source and return the source's identity, the id of its first event."""
    # Raises Conflict if the target has content other than from an interrupted move of the same source.
    if source.db.place == target.db.place:
        raise Conflict("A store cannot be moved into itself.")
    identity = str(value(source.db, "select id from events order by seq limit 1", default=""))
    if not identity:
        raise Conflict("There is nothing to move.", hint="The store is empty.")
    with target.db.transaction():
        under_way = target.setting(MOVING)
        if not under_way and target.setting(MOVED) == identity:
            hint = "Nothing was changed. Set `database` to use it."
            raise Conflict(f"This store was moved to {target.db.place} already.", hint=hint)
        if under_way != identity and (under_way or _count(target.db, "events")):
            hint = "Give an empty one. Nothing was changed."
            raise Conflict(f"{target.db.place} already holds another store.", hint=hint)
        target.note(MOVING, identity)
    return identity


def _copy(source: Database, target: Database, table: Table, progress: Progress, *, whole: bool = False) -> None:
    """Copy the rows after the last key in the target, or all of them but the settings in `_KEPT_SETTINGS`."""
    total, done = _count(source, table.name), 0 if whole else _count(target, table.name)
    order = ", ".join(f"{column} desc" for column in table.key)
    last = [] if whole else target.query(f"select {', '.join(table.key)} from {table.name} order by {order} limit 1")
    for rows in _pages(source, table, tuple(last[0]) if last else None):
        _put(target, table, [row for row in rows if table.name != "settings" or row[0] not in _KEPT_SETTINGS])
        done += len(rows)
        progress(table.name, done, total)


def _pages(db: Database, table: Table, after: tuple[object, ...] | None) -> Iterator[list[Row]]:
    key, names = ", ".join(table.key), ", ".join(table.columns)
    behind = f"where ({key}) > ({', '.join(f':after{place}' for place in range(len(table.key)))})"
    while True:
        given = {f"after{place}": value for place, value in enumerate(after or ())}
        sql = f"select {names} from {table.name} {behind if after else ''} order by {key} limit {PAGE}"
        if not (rows := list(db.query(sql, given))):
            return
        yield rows
        after = tuple(rows[-1][place] for place in range(len(table.key)))


def _put(target: Database, table: Table, rows: Sequence[Row | Mapping[str, Any]]) -> None:
    wrap = {"code": Bits, "vector": Halves}
    wrapped = [{name: wrap[name](row[name]) if name in wrap else row[name] for name in table.columns} for row in rows]
    with target.transaction():
        insert(target, table.name, wrapped)


def _count(db: Database, table: str) -> int:
    return int(value(db, f"select count(*) from {table}"))
