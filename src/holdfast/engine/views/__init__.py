"""Views: tables derived from the journal. A module owns its tables, fills them from a batch and answers queries on them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.engine.database import Database, Dialect, statements
from holdfast.model.event import Event
from holdfast.model.record import Entry as Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The changes of one commit: the new state of records, and the events that are only counted."""

    entries: Sequence[Entry] = ()
    counted: Sequence[Event] = ()

    @property
    def known(self) -> list[Entry]:
        """The records that may have rows already."""
        return [entry for entry in self.entries if entry.known]

    @property
    def erased(self) -> list[Entry]:
        """The records that are erased."""
        return [entry for entry in self.entries if entry.record.state == "erased"]

    def verbs(self, *verbs: str) -> list[Event]:
        """Return the counted events of some verbs; the store passes each event once."""
        return [event for event in self.counted if event.verb in verbs]


@dataclass(slots=True, eq=False)
class View:
    """Tables and the function that fills them; applied again for the same records it leaves the same rows."""

    # The file `name.sql` beside its module creates the tables. A higher version makes the store rebuild them.

    name: str
    version: int
    apply: Callable[[Database, Batch], None]
    is_counted: bool = False  # filled from counted events, not from records

    def concerns(self, batch: Batch) -> bool:
        """True if a batch may change the tables; erased records concern every view."""
        return bool(batch.counted or batch.erased) if self.is_counted else bool(batch.entries)

    @property
    def schema(self) -> Mapping[Dialect, str]:
        """The statements that create its tables, by engine."""
        return statements(Path(__file__).with_name(f"{self.name}.sql"))

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables it owns."""
        return tuple(re.findall(r"create (?:virtual )?table (\w+)", self.schema["sqlite"]))


def view_of(version: int, *, counted: bool = False) -> Callable[[Callable[[Database, Batch], None]], View]:
    """Declare the function that fills some tables: a decorator that makes it a view of the same name."""
    return lambda apply: View(apply.__name__, version, apply, counted)
