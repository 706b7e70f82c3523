"""Keeping things: what is admitted, pending, refused, and what follows; their projects and their names."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.model.errors import Invalid, NotFound
from holdfast.model.ids import short
from holdfast.model.record import Draft
from holdfast.policy.admission.admit import Duplicate
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.write import Outcome, Written, write
from tests.conftest import Time, at_once, keep, make_memory
from tests.rows import refused
from tests.verbs.scripts import scripts_in


def recorded(memory: Memory, id_: str, text: str) -> None:
    event: Any = memory.event("recorded", id_, data={"kind": "fact", "body": text, "title": text})
    memory.commit([replace(event, id=id_)])


scripts_in(globals(), recorded)


def test_every_record_of_a_busy_moment_is_found_by_the_id_that_is_shown(memory: Memory) -> None:
    kept = [keep(memory, f"Queue {number} is drained at night.") for number in range(30)]
    assert len({short(record.id) for record in kept}) == len(kept)
    for record in kept:
        for reference in (short(record.id), short(record.id).lower(), record.id[-6:], record.id, record.id[:24]):
            assert find(memory, reference).record == record
    refused(NotFound, find, memory, "0000ABCD")
    refused(Invalid, find, memory, "not an id!")


def test_of_two_who_save_the_same_text_at_once_the_second_gets_the_first(tmp_path: Path, time: Time) -> None:
    made = list[Outcome]()
    with make_memory(tmp_path, time) as memory, make_memory(tmp_path, time) as other:
        for turn in range(40):
            draft = Draft(body=f"Crate {turn} of pier {turn * 7} is opened by the customs officer.")
            at_once(lambda writer, draft: made.append(write(writer, draft)), [(memory, draft), (other, draft)])
    saved = {outcome.record.id for outcome in made if isinstance(outcome, Written)}
    assert saved == {outcome.matches[0].record.id for outcome in made if isinstance(outcome, Duplicate)}
    assert len(saved) == 40
