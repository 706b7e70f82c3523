"""Everything that was kept, seen as observations and lessons: filters, numbers that round-trip, and time."""

from tests.verbs.scripts import scripts_in

scripts_in(globals())
