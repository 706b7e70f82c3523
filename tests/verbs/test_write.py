"""Keeping things: what is admitted, pending, refused, and what follows; most of it is in `test_write.txt`."""

import re
from dataclasses import replace

import pytest

from holdfast.model.errors import Ambiguous, Invalid, NotFound
from holdfast.model.ids import short
from holdfast.model.record import Draft
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.write import write
from tests.conftest import keep
from tests.rows import refused
from tests.verbs.scripts import scripts_in

globals().update(scripts_in(__file__))


def test_every_record_of_a_busy_moment_is_found_by_the_id_that_is_shown(memory: Memory) -> None:
    kept = [keep(memory, f"Queue {number} is drained at night.") for number in range(30)]
    assert len({short(record.id) for record in kept}) == len(kept)
    for record in kept:
        for reference in (short(record.id), short(record.id).lower(), record.id[-6:], record.id, record.id[:24]):
            assert find(memory, reference).record == record
    refused(NotFound, find, memory, "0000ABCD")
    refused(Invalid, find, memory, "not an id!")


def test_ids_that_end_alike_are_listed_with_their_titles_and_longer_forms(memory: Memory) -> None:
    first, second = (f"01M3{middle}ABCD2345EF7H" for middle in ("0000000001", "0000000002"))
    for id_, text in ((first, "Apples are red."), (second, "Oranges are not.")):
        memory.commit(
            [replace(memory.event("recorded", id_, data={"kind": "fact", "body": text, "title": text}), id=id_)]
        )
    with pytest.raises(Ambiguous) as caught:
        find(memory, short(first))
    assert "2 memories" in str(caught.value)
    listed = re.findall(r"([0-9A-Z]{9,}) (\w+)", str(caught.value))
    expected = [(first, "Apples"), (second, "Oranges")]
    assert [(find(memory, shown).record.id, title) for shown, title in listed] == expected


def test_a_text_that_is_too_long_is_refused(memory: Memory) -> None:
    refused(Invalid, write, memory, Draft(body="x" * 100_001))
    assert list(memory.store.journal()) == []
