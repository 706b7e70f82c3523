"""Derived tables: each module here owns its tables, fills them from a batch, and can be rebuilt from the journal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from holdfast.engine.database import Database, Dialect
from holdfast.model.event import Event
from holdfast.model.record import Entry as Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What one commit changed: records as they now are, and the events that only count."""

    entries: Sequence[Entry] = ()
    counted: Sequence[Event] = field(default=())


class View(Protocol):
    """A module with these names is a view. `apply` makes rows agree with the records, however often it runs."""

    @property
    def NAME(self) -> str:  # noqa: N802  constants of a module
        """What the store calls it."""

    @property
    def VERSION(self) -> int:  # noqa: N802
        """Raised when its tables mean something else: they are then rebuilt."""

    @property
    def TABLES(self) -> tuple[str, ...]:  # noqa: N802
        """The tables it owns."""

    @property
    def SCHEMA(self) -> str | Mapping[Dialect, str]:  # noqa: N802
        """The statements that make them; for each engine, where they differ by more than types."""

    def apply(self, db: Database, batch: Batch, /) -> None:
        """Bring the view's rows up to date with a batch."""


def recreate(db: Database, view: View) -> None:
    """Drop a view's tables and create them again, empty."""
    for table in view.TABLES:
        db.drop_table(table)
    db.script(view.SCHEMA)
    db.execute(
        "insert into views (name, version) values (:name, :version) "
        "on conflict (name) do update set version = excluded.version",
        {"name": view.NAME, "version": view.VERSION},
    )
