"""Integer ids for surfaces that need integers: small within the current project, and the same in every session.

A record's number in the store contains its project (`project << 32 | n`). Records of the current project are called by
their `n`, global ones by GLOBAL_FROM + n, and those of other projects by the whole number, which is accepted for every
record. A surface has to use one memory throughout, because the numbers depend on its project.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from holdfast.engine.raw import imported
from holdfast.engine.views import Entry, records
from holdfast.engine.views.records import PROJECT_BITS
from holdfast.model.record import Record
from holdfast.verbs.memory import Memory

GLOBAL_FROM = 2_000_000_000
_WITHIN = (1 << PROJECT_BITS) - 1
_LARGEST = 1 << 63


def called(memory: Memory, entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return entries with the numbers that a surface shows."""
    home = memory.store.project_number(memory.project)
    return tuple(replace(entry, number=number_within(home, entry.number)) for entry in entries)


def number_within(home: int, number: int) -> int:
    """Return what a record of the store is called in a project."""
    project = number >> PROJECT_BITS
    if project == home:
        return number & _WITHIN
    return number if project else GLOBAL_FROM + number


def entries_called(
    memory: Memory, numbers: Sequence[int], system: str, *, with_imported: bool = False
) -> dict[int, list[Entry]]:
    """Return the records that integers name, best first, erased ones excluded.

    A number that no record of the project has may be one that the record had in the `system` it came from, or the
    number within the store of a global record. `with_imported` returns these as well if a record here has the number.
    """
    home = memory.store.project_number(memory.project)
    own = {number: _stored(home, number) for number in numbers if 0 < number < _LARGEST}
    read = records.by_numbers(memory.store, {*own.values(), *own})
    found: dict[int, list[Entry]] = {}
    for number, stored in own.items():
        here = [Entry(number=stored, record=read[stored])] if stored in read else []
        there = _imported(memory, number, read, system) if with_imported or not here else []
        found[number] = [entry for entry in (*here, *there) if entry.record.state != "erased"]
    return found


def _imported(memory: Memory, number: int, read: dict[int, Record], system: str) -> list[Entry]:
    foreign = imported.by_foreign_id(memory.store, str(number), whole=True, system=system)
    return [*foreign, *([Entry(number=number, record=read[number])] if number in read else [])]


def _stored(home: int, number: int) -> int:
    if number > _WITHIN:
        return number
    return number - GLOBAL_FROM if number >= GLOBAL_FROM and home else (home << PROJECT_BITS) + number
