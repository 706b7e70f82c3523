"""Read a damaged SQLite file page by page without SQLite, so that a bad page loses only the rows on it.

The layout is described at https://sqlite.org/fileformat2.html. Nothing here writes to the file. Reading rows does not
raise on bad bytes: what cannot be parsed is skipped.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from mmap import ACCESS_READ, mmap
from pathlib import Path

from holdfast.model.files import open_regular, read_regular

Value = int | float | str | bytes | None
Cell = tuple[int, tuple[Value, ...]]  # the rowid (0 in an index) and the columns

PAGE = 4096  # bytes; the page size of our files, used if the header cannot be read
HEADER = b"SQLite format 3\x00"
_INDEX_INSIDE, _TABLE_INSIDE, _INDEX_LEAF, _TABLE_LEAF = 2, 5, 10, 13
_FRAME = 24
_INTEGERS = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}
DEEPEST = 40


class _Bad(Exception):
    """Bytes that do not follow the file format."""


@dataclass(slots=True)
class Pages:
    """The pages of a file, replaced by newer ones from its log; `bad` collects the numbers of unreadable pages."""

    size: int
    body: bytes | mmap
    log: dict[int, bytes] = field(default_factory=dict)
    bad: set[int] = field(default_factory=set)

    @property
    def count(self) -> int:
        """The number of pages, those only in the log included."""
        return max(len(self.body) // self.size, max(self.log, default=0))

    def page(self, number: int) -> bytes:
        """Return one page; numbers start at 1. Raises `_Bad` if there is no such page."""
        if number in self.log:
            return self.log[number]
        start = (number - 1) * self.size
        if number < 1 or start + self.size > len(self.body):
            raise _Bad
        return self.body[start : start + self.size]

    def rows(self, root: int) -> Iterator[Cell]:
        """Yield the rows of a table or the entries of an index, from its root page down; bad pages are skipped."""
        yield from self._walk(root, set(), 0)

    def loose(self) -> Iterator[Cell]:
        """Yield the rows of every page that looks like a leaf of a table, whichever table that is."""
        for number in range(1, self.count + 1):
            page = self._page_or_none(number)
            if page and page[_start(number)] == _TABLE_LEAF:
                yield from self._cells(number, page)

    def _walk(self, number: int, seen: set[int], depth: int) -> Iterator[Cell]:
        page = self._page_or_none(number)
        if page is None or number in seen or depth > DEEPEST:
            self.bad.add(number)
            return
        seen.add(number)
        kind = page[_start(number)]
        if kind in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INSIDE):
            yield from self._cells(number, page)
        elif kind != _TABLE_INSIDE:
            self.bad.add(number)
        if kind in (_TABLE_INSIDE, _INDEX_INSIDE):
            for child in self._children(number, page):
                yield from self._walk(child, seen, depth + 1)

    def _page_or_none(self, number: int) -> bytes | None:
        try:
            return self.page(number)
        except _Bad:
            return None

    def _children(self, number: int, page: bytes) -> Iterator[int]:
        for at in self._pointers(number, page):
            yield int.from_bytes(page[at : at + 4], "big")
        start = _start(number)
        yield int.from_bytes(page[start + 8 : start + 12], "big")

    def _pointers(self, number: int, page: bytes) -> Iterator[int]:
        start = _start(number)
        inside = page[start] in (_TABLE_INSIDE, _INDEX_INSIDE)
        first = start + (12 if inside else 8)
        count = int.from_bytes(page[start + 3 : start + 5], "big")
        if first + 2 * count > len(page):
            self.bad.add(number)
            return
        for place in range(count):
            at = int.from_bytes(page[first + 2 * place : first + 2 * place + 2], "big")
            if first + 2 * count <= at < len(page) - 3:
                yield at
            else:
                self.bad.add(number)

    def _cells(self, number: int, page: bytes) -> Iterator[Cell]:
        kind = page[_start(number)]
        for at in self._pointers(number, page):
            try:
                yield self._cell(kind, page, at)
            except (_Bad, IndexError, struct.error):
                self.bad.add(number)

    def _cell(self, kind: int, page: bytes, at: int) -> Cell:
        at += 4 if kind == _INDEX_INSIDE else 0
        length, at = _varint(page, at)
        rowid = 0
        if kind == _TABLE_LEAF:
            rowid, at = _varint(page, at)
        return rowid, _columns(self._payload(kind, page, at, length))

    def _payload(self, kind: int, page: bytes, at: int, length: int) -> bytes:
        """Return the bytes of a row, including those on overflow pages."""
        most = self.size - 35 if kind == _TABLE_LEAF else (self.size - 12) * 64 // 255 - 23
        if length > len(self.body) + self.size * len(self.log):
            raise _Bad
        if length <= most:
            return page[at : at + length]
        least = (self.size - 12) * 32 // 255 - 23
        here = least + (length - least) % (self.size - 4)
        here = here if here <= most else least
        parts, left = [page[at : at + here]], length - here
        following = int.from_bytes(page[at + here : at + here + 4], "big")
        while left > 0:
            more = self.page(following)
            following = int.from_bytes(more[:4], "big")
            parts.append(more[4 : 4 + min(left, self.size - 4)])
            left -= self.size - 4
        return b"".join(parts)


def read_pages(path: Path) -> Pages:
    """Return the pages of a file and its write-ahead log."""
    with open_regular(path) as file:
        body = mmap(file.fileno(), 0, access=ACCESS_READ) if path.stat().st_size else b""
    wal = path.with_name(path.name + "-wal")
    logged, log = _log(read_regular(wal) if wal.exists() else b"")
    declared = int.from_bytes(body[16:18], "big") if body[:16] == HEADER else 0
    declared = 65536 if declared == 1 else declared
    size = declared if 512 <= declared <= 65536 and not declared & (declared - 1) else logged
    return Pages(size=size, body=body, log=log if size == logged else {})


def _log(wal: bytes) -> tuple[int, dict[int, bytes]]:
    """Return the page size and the newest committed version of each page in a write-ahead log."""
    if len(wal) < 32 or int.from_bytes(wal[:4], "big") & ~1 != 0x377F0682:
        return PAGE, {}
    size, order = int.from_bytes(wal[8:12], "big"), ">" if wal[3] & 1 else "<"
    sums = _sums(wal[:24], (0, 0), order)
    if size < 512 or sums != struct.unpack(">II", wal[24:32]):
        return PAGE, {}
    kept: dict[int, bytes] = {}
    waiting: dict[int, bytes] = {}
    for at in range(32, len(wal) - _FRAME - size + 1, _FRAME + size):
        head, page = wal[at : at + _FRAME], wal[at + _FRAME : at + _FRAME + size]
        sums = _sums(page, _sums(head[:8], sums, order), order)
        if head[8:16] != wal[16:24] or sums != struct.unpack(">II", head[16:24]):
            break
        number, commit = struct.unpack(">II", head[:8])
        waiting[number] = page
        if commit:
            kept |= waiting
            waiting = {}
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
    """Return the columns of a row; raise `_Bad` unless they use up the payload exactly."""
    end, at = _varint(payload, 0)
    kinds = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    values, at = [], end
    for kind in kinds:
        value, at = _value(payload, at, kind)
        values.append(value)
    if at != len(payload):
        raise _Bad
    return tuple(values)


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind in _INTEGERS:
        length = _INTEGERS[kind]
        part = payload[at : at + length]
        if len(part) < length:
            raise _Bad
        if kind in (0, 8, 9):
            return {0: None, 8: 0, 9: 1}[kind], at
        if kind == 7:
            return float(struct.unpack(">d", part)[0]), at + length
        return int.from_bytes(part, "big", signed=True), at + length
    if kind < 12:
        raise _Bad
    length = (kind - 12) // 2
    part = payload[at : at + length]
    if len(part) < length:
        raise _Bad
    try:
        return (part.decode() if kind % 2 else part), at + length
    except UnicodeDecodeError as problem:
        raise _Bad from problem
