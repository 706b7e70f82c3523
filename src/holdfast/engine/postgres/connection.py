"""Open connections to PostgreSQL with the settings, role and types that the store needs."""

from collections import deque
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from holdfast.engine.postgres.rows import make_rows, register_types, register_vectors
from holdfast.engine.postgres.timeouts import CONNECT_SECONDS, TimedConnection
from holdfast.model.access import Access

LOCK_SECONDS = 30
_SETTINGS = f"""
set timezone = 'UTC'; set lock_timeout = '{LOCK_SECONDS}s'; set jit = off;
set hnsw.iterative_scan = 'relaxed_order'; set hnsw.ef_search = 1000; set hnsw.max_scan_tuples = 60000
"""


@dataclass(frozen=True, slots=True)
class Failures:
    """The last failure to connect; connecting happens in a thread of the pool, which does not report it."""

    last: deque[tuple[float, psycopg.Error]] = field(default_factory=lambda: deque(maxlen=1))

    def note(self, problem: psycopg.Error) -> None:
        """Remember a failure to connect."""
        self.last.append((monotonic(), problem))

    def check(self, since: float) -> None:
        """Raise the last failure if it happened at or after `since` (monotonic seconds)."""
        for at, problem in tuple(self.last):
            if at >= since:
                raise type(problem)(str(problem)) from problem


class Session(TimedConnection):
    """A connection with our settings, role and types."""

    access: Access | None = None  # the user whose access the row policies currently apply
    has_vectors = False

    @classmethod
    def connect(  # type: ignore[override]  # made for this store only
        cls, conninfo: str = "", *, role: str, patience: float, failures: Failures, **_: Any
    ) -> "Session":
        """Open a connection and set it up; a failure is added to `failures`, since the pool does not report it."""
        try:
            return cls._set_up(conninfo, role, patience)
        except psycopg.Error as problem:
            failures.note(problem)
            raise

    @classmethod
    def _set_up(cls, conninfo: str, role: str, patience: float) -> "Session":
        options = {"connect_timeout": CONNECT_SECONDS, **psycopg.conninfo.conninfo_to_dict(conninfo)}
        url = psycopg.conninfo.make_conninfo("", **options)
        connection = super().connect(url, autocommit=True, row_factory=make_rows)
        try:
            connection.url, connection.most = url, patience
            connection.execute(_SETTINGS)
            if role:
                connection.execute(SQL("set role {}").format(Identifier(role)))
            register_types(connection.adapters)
            connection.register_vectors()
        except BaseException:
            connection.close()
            raise
        return connection

    def register_vectors(self) -> None:
        """Register the types of pgvector, if the extension is installed."""
        if self.has_vectors:
            return
        rows = self.execute("select cast(oid as bigint) from pg_type where typname = 'halfvec'").fetchall()
        if rows:
            register_vectors(self.adapters, int(rows[0][0]))
            self.has_vectors = True
