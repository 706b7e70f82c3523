"""Rows and values as PostgreSQL's driver reads and writes them: like SQLite's, so that callers see no difference."""

from array import array
from collections.abc import Iterator, Sequence
from struct import pack
from typing import Any

import psycopg
from psycopg.adapt import AdaptersMap, Buffer, Dumper, Loader
from psycopg.pq import Format
from psycopg.rows import RowMaker
from psycopg.types.numeric import NumericBinaryLoader

from holdfast.engine.database import Bits, Halves

_BIT_VARYING = 1562


def register_types(adapters: AdaptersMap) -> None:
    """Read numbers as Python's own and sign bits as bytes."""
    for loader in (_TextNumber, _BinaryNumber):
        adapters.register_loader("numeric", loader)
    adapters.register_loader(_BIT_VARYING, _BitsLoader)
    adapters.register_dumper(Bits, _BitsDumper)


def register_vectors(adapters: AdaptersMap, oid: int) -> None:
    """Read and write vectors as bytes; `oid` is the number this server gave their type."""
    adapters.register_loader(oid, _HalvesLoader)
    adapters.register_dumper(Halves, type("_Halves", (_HalvesDumper,), {"oid": oid}))


class Row:
    """A row whose columns are found by name or by position, as SQLite's are."""

    __slots__ = ("_names", "_values")

    def __init__(self, names: dict[str, int], values: Sequence[Any]) -> None:
        self._names = names
        self._values = values

    def __getitem__(self, key: str | int, /) -> Any:
        return self._values[self._names[key] if isinstance(key, str) else key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)


def make_rows(cursor: psycopg.Cursor[Any]) -> RowMaker[Row]:
    """Return a function that makes rows of a cursor's values."""
    names = {column.name: place for place, column in enumerate(cursor.description or ())}
    return lambda values: Row(names, values)


class _TextNumber(Loader):
    """Sums come as decimals; ours are whole, or good enough as floats."""

    def load(self, data: Buffer) -> int | float:
        """Give a plain number."""
        said = bytes(data)
        return float(said) if b"." in said else int(said)


class _BinaryNumber(NumericBinaryLoader):
    """The same, as it comes from `query`."""

    def load(self, data: Buffer) -> Any:
        """Give a plain number."""
        number = super().load(data)
        return int(number) if number == int(number) else float(number)


class _BitsLoader(Loader):
    """Sign bits come with their count before them."""

    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        """Give the bits as bytes."""
        return bytes(data[4:])


class _BitsDumper(Dumper):
    format = Format.BINARY
    oid = _BIT_VARYING

    def dump(self, obj: Any) -> bytes:
        """Give bytes as so many bits."""
        return pack(">i", 8 * len(obj)) + bytes(obj)


class _HalvesLoader(Loader):
    """Vectors come with their size before them, and the high byte of each value first."""

    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        """Give the values as SQLite keeps them."""
        return _swapped(bytes(data[4:]))


class _HalvesDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Any) -> bytes:
        """Give float16 values as a vector."""
        return pack(">HH", len(obj) // 2, 0) + _swapped(obj)


def _swapped(values: bytes) -> bytes:
    turned = array("H", values)
    turned.byteswap()
    return turned.tobytes()
