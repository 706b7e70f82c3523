"""Derived tables: each module here owns its tables, fills them from a batch, and can be rebuilt from the journal."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from holdfast.engine.database import Database
from holdfast.model.event import Event
from holdfast.model.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A record with its place in this store."""

    number: int
    record: Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What one commit changed: records as they now are, and the events that only count."""

    entries: Sequence[Entry] = ()
    counted: Sequence[Event] = field(default=())


class View(Protocol):
    """A module with these names is a view. `apply` makes rows agree with the records, however often it runs."""

    NAME: str
    VERSION: int
    TABLES: tuple[str, ...]
    SCHEMA: str

    def apply(self, db: Database, batch: Batch, /) -> None:
        """Bring the view's rows up to date with a batch."""
