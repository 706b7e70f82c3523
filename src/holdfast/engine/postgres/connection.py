"""Open connections to PostgreSQL with the settings, role and types that the store needs."""

from array import array
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from struct import pack
from time import monotonic
from typing import Any, TypeVar

import psycopg
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.pq import Format
from psycopg.rows import RowMaker
from psycopg.sql import SQL, Identifier
from psycopg.types.numeric import NumericBinaryLoader

from holdfast.engine.database import Bits, Halves
from holdfast.model.access import Access

CONNECT_SECONDS = 5  # the longest time to connect, unless the address gives a connect_timeout
DOUBT_SECONDS = 10.0  # without an answer before we check whether the server accepts connections
ANSWER_SECONDS = 45.0  # the longest time for an answer where a person waits; longer than the timeout for locks
HUNG = "the database server does not answer"

T = TypeVar("T")


LOCK_SECONDS = 30
_SETTINGS = f"""
set timezone = 'UTC'; set lock_timeout = '{LOCK_SECONDS}s'; set jit = off;
set hnsw.iterative_scan = 'relaxed_order'; set hnsw.ef_search = 1000; set hnsw.max_scan_tuples = 60000
"""
_BIT_VARYING = 1562
Failures = deque[tuple[float, psycopg.Error]]  # the last failure to connect, and when: the pool does not report it


class Session(psycopg.Connection[Any]):
    """A connection with our settings, role and types, which gives up on a server that hangs.

    A frozen server or a network that drops packets closes no connection, and the timeouts of the system take hours. So
    a long wait checks whether the server still accepts connections. Where a person waits, the time for an answer is
    limited to `most` seconds (0: no limit).
    """

    url = ""
    most = 0.0
    access: Access | None = None  # the user whose access the row policies currently apply
    has_vectors = False

    @classmethod
    def connect(  # type: ignore[override]  # made for this store only
        cls, conninfo: str = "", *, role: str, patience: float, failures: Failures, **_: Any
    ) -> "Session":
        """Open a connection and set it up; a failure is added to `failures`, since the pool does not report it."""
        connection = None
        try:
            options = {"connect_timeout": CONNECT_SECONDS, **psycopg.conninfo.conninfo_to_dict(conninfo)}
            url = psycopg.conninfo.make_conninfo("", **options)
            connection = super().connect(url, autocommit=True, row_factory=make_rows)
            connection.url, connection.most = url, patience
            connection.execute(_SETTINGS)
            if role:
                connection.execute(SQL("set role {}").format(Identifier(role)))
            # Sums arrive as decimals, but ours are integers or may be floats.
            as_text = _loader(lambda text: float(text) if b"." in text else int(text), Format.TEXT)
            for loader in (as_text, _BinaryNumber):
                connection.adapters.register_loader("numeric", loader)
            # A bit string begins with its count of bits.
            connection.adapters.register_loader(_BIT_VARYING, _loader(lambda data: data[4:]))
            write = _dumper(lambda bits: pack(">i", 8 * len(bits)) + bytes(bits), _BIT_VARYING)
            connection.adapters.register_dumper(Bits, write)
            connection.register_vectors()
        except BaseException as problem:
            if connection:
                connection.close()
            if isinstance(problem, psycopg.Error):
                failures.append((monotonic(), problem))
            raise
        return connection

    def register_vectors(self) -> None:
        """Read and write vectors as bytes, if pgvector is installed; the id of their type differs between servers."""
        if not self.has_vectors:
            rows = self.execute("select cast(oid as bigint) from pg_type where typname = 'halfvec'").fetchall()
            for (oid,) in rows:
                # A vector begins with its count of values and two bytes that are 0.
                self.adapters.register_loader(oid, _loader(lambda data: _swapped(data[4:])))
                write = _dumper(lambda halves: pack(">HH", len(halves) // 2, 0) + _swapped(halves), oid)
                self.adapters.register_dumper(Halves, write)
                self.has_vectors = True

    def wait(self, gen: Generator[Any, Any, T], *given: Any, **named: Any) -> T:
        """Run a generator of the driver to its end; on a timeout close the connection and raise OperationalError."""
        return super().wait(self._bounded(gen), *given, **named)

    def _bounded(self, gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        began = looked = monotonic()
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted  # the driver also resumes us at intervals, with nothing ready
                now = monotonic()
                if not ready and ((self.most and now - began > self.most) or self._hangs(now - looked)):
                    self.pgconn.finish()
                    raise psycopg.OperationalError(HUNG)
                looked = monotonic() if now - looked > DOUBT_SECONDS else looked
                wanted = gen.send(ready)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]

    def _hangs(self, seconds: float) -> bool:
        """True if `seconds` exceed DOUBT_SECONDS and a test connection to the server times out."""
        if not self.url or seconds <= DOUBT_SECONDS:
            return False
        try:
            psycopg.connect(self.url).close()
        except psycopg.errors.ConnectionTimeout:
            return True
        except psycopg.OperationalError:
            return False  # it responds, if only to refuse (full or starting); our own connection reports the rest
        return False


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


class _BinaryNumber(NumericBinaryLoader):
    """Reads decimals in binary format, which `Postgres.query` uses."""

    def load(self, data: Buffer) -> Any:
        """Return an int if the number is whole, else a float."""
        number = super().load(data)
        return int(number) if number == int(number) else float(number)


def _loader(read: Callable[[bytes], Any], form: Format = Format.BINARY) -> type[Loader]:
    """Return the class that psycopg wants for a function that reads values."""
    return type("_Loader", (Loader,), {"format": form, "load": lambda _, data: read(bytes(data))})


def _dumper(write: Callable[[Any], bytes], oid: int) -> type[Dumper]:
    """Return the class that psycopg wants for a function that writes values of a type."""
    return type("_Dumper", (Dumper,), {"format": Format.BINARY, "oid": oid, "dump": lambda _, obj: write(obj)})


def _swapped(values: bytes) -> bytes:
    """Return float16 values with their bytes swapped: a server's are big-endian, ours are little-endian."""
    turned = array("H", values)
    turned.byteswap()
    return turned.tobytes()
