"""Views: derived tables. Each module owns its tables, fills them from a batch, and can be rebuilt from the journal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from holdfast.engine.database import Database, Dialect
from holdfast.model.event import Event
from holdfast.model.record import Entry as Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The changes of one commit: the new state of records, and the events that are only counted."""

    entries: Sequence[Entry] = ()
    counted: Sequence[Event] = field(default=())


class View(Protocol):
    """A module with these names is a view. `apply` may run again for the same records and gives the same rows."""

    @property
    def NAME(self) -> str:  # noqa: N802  constants of a module
        """The name of the view in the table `views`."""

    @property
    def VERSION(self) -> int:  # noqa: N802
        """The version of the tables. A higher version makes the store rebuild them."""

    @property
    def TABLES(self) -> tuple[str, ...]:  # noqa: N802
        """The tables it owns."""

    @property
    def SCHEMA(self) -> str | Mapping[Dialect, str]:  # noqa: N802
        """The statements that create the tables; one per engine where they differ by more than types."""

    def apply(self, db: Database, batch: Batch, /) -> None:
        """Update the rows of the view from a batch."""


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
