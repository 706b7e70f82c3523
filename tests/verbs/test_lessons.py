"""Lessons searched and listed by kind and severity, without a trace."""

from holdfast.engine.views import usage
from holdfast.surfaces.gitmem.verbs import recent_lessons, search_lessons
from holdfast.verbs.memory import Memory
from tests.conftest import Time, keep

SCAR = {"severity": "high", "counter_arguments": ["It is only a column.", "There is a backup."]}


def test_lessons_are_found_by_kind_and_severity_or_by_id(memory: Memory) -> None:
    scar = keep(memory, "Rehearse migrations on a copy.", kind="scar", fields=SCAR)
    win = keep(memory, "Small migrations are easy to rehearse.", kind="win")
    keep(memory, "Saw migrations run.", kind="observation")
    assert {hit.record.id for hit in search_lessons(memory, "rehearse migrations").hits} == {scar.id, win.id}
    assert [hit.record.id for hit in search_lessons(memory, "migrations", kinds=("win",)).hits] == [win.id]
    assert [hit.record.id for hit in search_lessons(memory, "migrations", severity="high").hits] == [scar.id]
    assert [hit.record.id for hit in search_lessons(memory, scar.id[:10]).hits] == [scar.id]
    assert usage.shown_in(memory.store, memory.actor.session) == []


def test_what_was_learned_lately_is_listed_latest_first(memory: Memory, time: Time) -> None:
    old = keep(memory, "Rehearse migrations on a copy.", kind="scar", fields=SCAR)
    time.pass_days(10)
    new = keep(memory, "JWT for the API.", kind="decision")
    assert recent_lessons(memory) == [new, old]
    assert recent_lessons(memory, days=7) == [new]
    assert recent_lessons(memory, severity="high") == [old]
    assert recent_lessons(memory, limit=1, kinds=("scar",)) == [old]
