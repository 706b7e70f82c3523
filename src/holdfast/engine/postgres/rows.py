"""Make psycopg read and write rows and values as SQLite does, so that callers see no difference."""

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
    """Read decimals as int or float, and read and write sign bits as bytes."""
    for loader in (_TextNumber, _BinaryNumber):
        adapters.register_loader("numeric", loader)
    adapters.register_loader(_BIT_VARYING, _BitsLoader)
    adapters.register_dumper(Bits, _BitsDumper)


def register_vectors(adapters: AdaptersMap, oid: int) -> None:
    """Read and write vectors as bytes; `oid` is the id of their type on this server."""
    adapters.register_loader(oid, _HalvesLoader)
    adapters.register_dumper(Halves, type("_Halves", (_HalvesDumper,), {"oid": oid}))


class Row:
    """A row whose columns are accessed by name or by position, like those of sqlite3.Row."""

    __slots__ = ("_names", "_values")

    def __init__(self, names: dict[str, int], values: Sequence[Any]) -> None:
        self._names = names
        self._values = values

    def __getitem__(self, key: str | int, /) -> Any:
        return self._values[self._names[key] if isinstance(key, str) else key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)


def make_rows(cursor: psycopg.Cursor[Any]) -> RowMaker[Row]:
    """Return a function that turns the values of a cursor into a row."""
    names = {column.name: place for place, column in enumerate(cursor.description or ())}
    return lambda values: Row(names, values)


class _TextNumber(Loader):
    """Reads decimals in text format: sums arrive as decimals, but ours are integers or may be floats."""

    def load(self, data: Buffer) -> int | float:
        """Return an int, or a float if there is a decimal point."""
        said = bytes(data)
        return float(said) if b"." in said else int(said)


class _BinaryNumber(NumericBinaryLoader):
    """Reads decimals in binary format, which `Postgres.query` uses."""

    def load(self, data: Buffer) -> Any:
        """Return an int if the number is whole, else a float."""
        number = super().load(data)
        return int(number) if number == int(number) else float(number)


class _BitsLoader(Loader):
    """Reads bit strings, which start with a four-byte count of bits."""

    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        """Return the bits as bytes."""
        return bytes(data[4:])


class _BitsDumper(Dumper):
    format = Format.BINARY
    oid = _BIT_VARYING

    def dump(self, obj: Any) -> bytes:
        """Return bytes as a bit string with its count of bits."""
        return pack(">i", 8 * len(obj)) + bytes(obj)


class _HalvesLoader(Loader):
    """Reads vectors of float16, which start with a four-byte header and are big-endian."""

    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        """Return the values in little-endian order, as they are stored in SQLite."""
        return _swapped(bytes(data[4:]))


class _HalvesDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Any) -> bytes:
        """Return little-endian float16 values as a vector."""
        return pack(">HH", len(obj) // 2, 0) + _swapped(obj)


def _swapped(values: bytes) -> bytes:
    turned = array("H", values)
    turned.byteswap()
    return turned.tobytes()
