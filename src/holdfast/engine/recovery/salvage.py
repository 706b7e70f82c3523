"""Recover a damaged store: every event that is still intact, and the rows of the tables outside the journal."""
# SQLite stops at a bad page and cannot reach anything below a bad inner page. So pages are read one by one (`Pages`),
# events are recognised by the shape of their rows on any page, and each one is checked.

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, cast, get_args

from holdfast.engine.database import Queries, value
from holdfast.engine.journal import checksum
from holdfast.engine.raw import transcripts
from holdfast.engine.recovery.copy_store import CHANGING, GROWING, KEYS
from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import ALL_VIEWS, Store, check_schema, open_store
from holdfast.engine.views.records import PROJECT_BITS
from holdfast.model.errors import Invalid
from holdfast.model.event import FOLDING, VERBS, Actor, ActorKind, Event, Verb
from holdfast.model.files import open_regular, read_regular
from holdfast.model.foreign_json import parse_json
from holdfast.model.ids import check_id, parse_instant
from holdfast.model.record import record_from_json, scrub
from holdfast.model.text import check_keepable

Value = int | float | str | bytes | None
Cell = tuple[int, tuple[Value, ...]]  # the rowid (0 in an index) and the columns

_SQL = Queries(__file__, bits=str(PROJECT_BITS))
PAGE = 4096  # bytes; the page size of our files, used if the header cannot be read
HEADER = b"SQLite format 3\x00"
_INDEX_INSIDE, _TABLE_INSIDE, _INDEX_LEAF, _TABLE_LEAF = 2, 5, 10, 13
_FRAME = 24
_LENGTHS = dict(enumerate((0, 1, 2, 3, 4, 6, 8, 8, 0, 0)))  # bytes of numbers, by their kind
_UNPRINTED = re.compile(r"[\x00-\x1f\x7f]")
# Copied as they are; settings and counters are merged into those of the new store, and the queue of vectors is made again.
_NOT_COPIED = ("events", "vectors", "token_vectors", "unembedded", "settings", "counters")
BESIDE_JOURNAL = tuple(table for table in (*GROWING, *CHANGING, *KEYS) if table.name not in _NOT_COPIED)
_COUNTERS = {"seq": ("events", "seq")} | {name: (name, "number") for name in "projects chunks outputs failures".split()}


@dataclass(slots=True)
class Pages:
    """The pages of a file, replaced by newer ones from its log; `bad` collects the numbers of unreadable pages."""

    size: int
    body: bytes | mmap
    log: dict[int, bytes] = field(default_factory=dict)
    bad: set[int] = field(default_factory=set)
    roots: dict[str, int] = field(default_factory=dict)  # of the tables and indexes, by name

    def page(self, number: int) -> bytes:
        """Return one page, empty if there is none; numbers start at 1."""
        if number in self.log:
            return self.log[number]
        start, end = (number - 1) * self.size, number * self.size
        return self.body[start:end] if 0 < end <= len(self.body) else b""

    def rows(self, name: str, seen: set[int] | None = None) -> Iterator[Cell]:
        """Yield the readable rows of a table or entries of an index, from its root page down; bad pages are skipped."""
        seen, waiting = set[int]() if seen is None else seen, [self.roots[name]] if name in self.roots else []
        while waiting:
            number = waiting.pop()
            page = self.page(number)
            if not page or number in seen:
                self.bad.add(number)
                continue
            seen.add(number)
            start = _start(number)
            kind = page[start]
            if kind in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INSIDE):
                yield from self._cells(number, page)
            elif kind != _TABLE_INSIDE:
                self.bad.add(number)
            if kind in (_TABLE_INSIDE, _INDEX_INSIDE):  # the last child is named in the page's header
                below = [int.from_bytes(page[at : at + 4]) for at in (*self._pointers(number, page), start + 8)]
                waiting += reversed(below)

    def loose(self) -> Iterator[Cell]:
        """Yield the rows of every page that looks like a leaf of a table, whichever table that is."""
        for number in range(1, max(len(self.body) // self.size, *self.log, 0) + 1):
            page = self.page(number)
            if page and page[_start(number)] == _TABLE_LEAF:
                yield from self._cells(number, page)

    def _pointers(self, number: int, page: bytes) -> Iterator[int]:
        start = _start(number)
        first = start + (12 if page[start] in (_TABLE_INSIDE, _INDEX_INSIDE) else 8)
        count = int.from_bytes(page[start + 3 : start + 5])
        if first + 2 * count > len(page):
            self.bad.add(number)
            return
        for at in struct.unpack_from(f">{count}H", page, first):
            if first + 2 * count <= at < len(page) - 3:
                yield at
            else:
                self.bad.add(number)

    def _cells(self, number: int, page: bytes) -> Iterator[Cell]:
        kind = page[_start(number)]
        for start in self._pointers(number, page):
            try:
                length, at = _varint(page, start + (4 if kind == _INDEX_INSIDE else 0))
                rowid, at = _varint(page, at) if kind == _TABLE_LEAF else (0, at)
                yield rowid, _columns(self._payload(kind, page, at, length))
            except (ValueError, LookupError):
                self.bad.add(number)

    def _payload(self, kind: int, page: bytes, at: int, length: int) -> bytes:
        most = self.size - 35 if kind == _TABLE_LEAF else (self.size - 12) * 64 // 255 - 23
        if length > len(self.body) + self.size * len(self.log):
            raise ValueError
        if length <= most:
            return page[at : at + length]
        least = (self.size - 12) * 32 // 255 - 23
        here = least + (length - least) % (self.size - 4)
        here = here if here <= most else least
        parts, left, more = [page[at : at + here]], length - here, page[at + here :]
        while left > 0:
            more = self.page(int.from_bytes(more[:4]))
            if not more:
                raise ValueError
            parts.append(more[4 : 4 + min(left, self.size - 4)])
            left -= self.size - 4
        return b"".join(parts)


def read_pages(path: Path) -> Pages:
    """Return the pages of a file and its write-ahead log."""
    with open_regular(path) as file:
        body = mmap(file.fileno(), 0, access=ACCESS_READ) if path.stat().st_size else b""
    wal = path.with_name(path.name + "-wal")
    logged, log = _log(read_regular(wal) if wal.exists() else b"")
    declared = int.from_bytes(body[16:18]) if body[:16] == HEADER else 0
    declared = 65536 if declared == 1 else declared
    size = declared if 512 <= declared <= 65536 and not declared & (declared - 1) else logged
    pages = Pages(size=size, body=body, log=log if size == logged else {}, roots={"sqlite_master": 1})
    for _, values in pages.rows("sqlite_master"):
        match values:
            case (_, str(name), _, int(root), _) if root > 0:
                pages.roots[name] = root
    return pages


def _log(wal: bytes) -> tuple[int, dict[int, bytes]]:
    """Return the page size and the newest committed version of each page in a write-ahead log."""
    if len(wal) < 32 or int.from_bytes(wal[:4]) & ~1 != 0x377F0682:
        return PAGE, {}
    size, order = int.from_bytes(wal[8:12]), ">" if wal[3] & 1 else "<"
    sums = _sums(wal[:24], (0, 0), order)
    if size < 512 or sums != struct.unpack(">II", wal[24:32]):
        return PAGE, {}
    kept, waiting = dict[int, bytes](), dict[int, bytes]()
    for at in range(32, len(wal) - _FRAME - size + 1, _FRAME + size):
        head, page = wal[at : at + _FRAME], wal[at + _FRAME : at + _FRAME + size]
        sums = _sums(page, _sums(head[:8], sums, order), order)
        if head[8:16] != wal[16:24] or sums != struct.unpack(">II", head[16:24]):
            break
        number, commit = struct.unpack(">II", head[:8])
        waiting[number] = page
        if commit:
            kept, waiting = kept | waiting, {}
    return size, kept


def _sums(some: bytes, before: tuple[int, int], order: str) -> tuple[int, int]:
    one, two = before
    for left, right in struct.iter_unpack(order + "II", some):
        one = (one + left + two) & 0xFFFFFFFF
        two = (two + right + one) & 0xFFFFFFFF
    return one, two


def _start(number: int) -> int:
    return 100 if number == 1 else 0


def _varint(page: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(8):
        byte = page[at + place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    value = value << 8 | page[at + 8]
    return (value - (1 << 64) if value >> 63 else value), at + 9


def _columns(payload: bytes) -> tuple[Value, ...]:
    """Return the columns of a row; raise ValueError unless they use up the payload exactly."""
    end, at = _varint(payload, 0)
    values, place = list[Value](), end
    while at < end:
        kind, at = _varint(payload, at)
        length = (kind - 12) // 2 if kind >= 12 else _LENGTHS[kind]
        part = payload[place : place + length]
        place += length
        if len(part) < length:
            raise ValueError
        match kind:
            case 0:
                values.append(None)
            case 8 | 9:
                values.append(kind - 8)
            case 7:
                values.append(float(struct.unpack(">d", part)[0]))
            case _ if kind < 12:
                values.append(int.from_bytes(part, signed=True))
            case _:
                values.append(part.decode() if kind % 2 else part)
    if place != len(payload):
        raise ValueError
    return tuple(values)


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


def salvage(damaged: Path, target: Path) -> Saved:
    """Create a new store at `target` from what can be read of a damaged one, which is not changed."""
    pages = read_pages(damaged)
    settings = {values[0]: values[1] for _, values in pages.rows("settings") if len(values) == 2}
    check_schema(str(settings.get("schema", "")))
    events, refused = _gather(pages)
    with closing(open_store(SQLite(target))) as store:
        with store.db.transaction():
            beside = _copy_tables(store, pages)
            # Under their old sequence numbers: replicas remember by number how far they are synced.
            taken, homeless = dict[int, Event](), list[Event]()
            for seq, event in sorted(events.values(), key=lambda one: (one[0], one[1].id)):
                if taken.setdefault(seq, event) is not event:
                    homeless.append(event)
            store.insert([*taken.items(), *enumerate(homeless, start=max(taken, default=0) + 1)])
            _settle(store, pages, events, settings)
        store.rebuild(ALL_VIEWS)
        transcripts.index_chunks(store.db)
        # Events that are in an index but on no page.
        lost = {key: about for _, key, about in _indexed(pages) if key not in events}
        return Saved(
            events=len(events),
            memories=int(value(store.db, "select count(*) from records")),
            lost=len(lost),
            hurt=tuple(sorted({about for about in lost.values() if about})),
            refused=tuple(sorted(refused - events.keys())),
            doubtful=tuple(_doubtful(store, pages, set(lost.values()))),
            beside=beside,
            bad_pages=len(pages.bad),
            schema_read="events" in pages.roots,
        )


def _gather(pages: Pages) -> tuple[dict[str, tuple[int, Event]], set[str]]:
    """Return the intact events on any page, by id and with their numbers, and the ids of those that are not."""
    events, refused = dict[str, tuple[int, Event]](), set[str]()
    known: dict[int, set[str]] = {}
    for seq, key, _ in _indexed(pages):
        known.setdefault(seq, set()).add(key)
    for seq, values in pages.loose():
        event = _event(values)
        if not event or seq <= 0:
            continue
        # A row without a checksum counts unless the indexes have only other ids for it.
        written = values[9] if len(values) == 10 else None
        if written == checksum(values[1:9]) if written is not None else event.id in known.get(seq, {event.id}):
            events.setdefault(event.id, (seq, event))
        else:
            refused.add(event.id)
    erased = {event.about for _, event in events.values() if event.verb == "erased"}
    scrubbed = {key: (seq, scrub(event)) for key, (seq, event) in events.items() if event.about in erased}
    return events | scrubbed, refused


def _indexed(pages: Pages) -> Iterator[tuple[int, str, str]]:
    """Yield the number and id of each event that an index has, and the id of its record, empty if the index lacks it."""
    for index, width in (("sqlite_autoindex_events_1", 2), ("events_folding", 3)):
        for _, values in pages.rows(index):
            if len(values) == width and isinstance(seq := values[-1], int):
                with suppress(Invalid, TypeError):  # other bytes that look like an index entry
                    *about, key = [check_id(cast("str", value)) for value in values[:-1]]
                    yield seq, key, "".join(about)


def _event(values: Sequence[Value]) -> Event | None:
    texts = [value for value in values[1:9] if isinstance(value, str)]
    if len(values) not in (9, 10) or values[0] is not None or len(texts) < 8:  # the last column is the checksum
        return None
    key, about, verb, at, actor, name, session, data = texts
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


def _copy_tables(store: Store, pages: Pages) -> dict[str, int]:
    counts: dict[str, int] = {}
    for table in (table for table in BESIDE_JOURNAL if table.name in pages.roots):
        counts[table.name] = 0
        for rowid, values in pages.rows(table.name):
            row = (rowid, *values[1:]) if values[:1] == (None,) else values  # an integer key is only the row's number
            if row and len(row) <= len(table.columns):
                names = table.columns[: len(row)]
                places = ", ".join(f":{name}" for name in names)
                sql = f"insert or replace into {table.name} ({', '.join(names)}) values ({places})"
                counts[table.name] += store.db.execute(sql, dict(zip(names, row, strict=True)))
    return counts


def _settle(store: Store, pages: Pages, events: Mapping[str, tuple[int, Event]], settings: Mapping[Any, Any]) -> None:
    """Restore settings, raise counters to what the recovered rows use, and assign a number to every memory."""
    for name, text in settings.items():
        if name != "schema" and isinstance(name, str) and isinstance(text, str):
            store.note(name, text)
    for _, values in pages.rows("counters"):
        match values:
            case (str(name), int(least)):
                store.db.execute(_SQL["raise_counter"], {"name": name, "least": least})
    for name, (table, column) in _COUNTERS.items():
        least = int(value(store.db, f"select coalesce(max({column}), 0) from {table}"))
        store.db.execute(_SQL["raise_counter"], {"name": name, "least": least})
    store.db.execute(_SQL["count_records"])
    # Numbers that belong to no known project go; their memories are assigned new ones.
    store.db.execute(_SQL["drop_homeless"])
    store.entries(sorted({event.about for _, event in events.values() if event.verb in FOLDING}))


def _doubtful(store: Store, pages: Pages, hurt: set[str]) -> Iterator[str]:
    for _, values in pages.rows("records"):
        try:
            former = record_from_json(parse_json(str(values[-1])))
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, Invalid):
            continue
        now = store.folded(former.id)
        if now and now != former and former.id not in hurt:
            yield former.id
