"""Keeping things: what is admitted, pending, refused, and what follows; their projects and their names."""

from dataclasses import replace
from typing import Any

from holdfast.model.errors import Invalid, NotFound
from holdfast.model.ids import short
from holdfast.verbs.memory import Memory, find
from tests.conftest import keep
from tests.rows import refused
from tests.verbs.scripts import scripts_in


def recorded(memory: Memory, id_: str, text: str) -> None:
    event: Any = memory.event("recorded", id_, data={"kind": "fact", "body": text, "title": text})
    memory.commit([replace(event, id=id_)])


globals().update(scripts_in(__file__, recorded))


def test_every_record_of_a_busy_moment_is_found_by_the_id_that_is_shown(memory: Memory) -> None:
    kept = [keep(memory, f"Queue {number} is drained at night.") for number in range(30)]
    assert len({short(record.id) for record in kept}) == len(kept)
    for record in kept:
        for reference in (short(record.id), short(record.id).lower(), record.id[-6:], record.id, record.id[:24]):
            assert find(memory, reference).record == record
    refused(NotFound, find, memory, "0000ABCD")
    refused(Invalid, find, memory, "not an id!")
