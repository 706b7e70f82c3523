"""Threads: opened, touched, resolved, and fading by themselves; scars: answered one by one or all at once."""

from collections import Counter

import pytest

from holdfast.engine.views import usage
from holdfast.model.errors import Ambiguous, Invalid, NotFound
from holdfast.model.query import Query
from holdfast.model.record import Record
from holdfast.surfaces.gitmem.tools import note_use, reflect, scar_called
from holdfast.verbs.memory import Memory
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.scars import Answer, answer
from tests.conftest import keep
from tests.rows import refused
from tests.verbs.scripts import scripts_in

globals().update(scripts_in(__file__))
FIELDS = {"severity": "high", "counter_arguments": ["It is only a column.", "There is a backup."]}
EVIDENCE = "Ran the migration on a copy of production and compared the row counts."


def scar(memory: Memory, title: str, body: str = "Nobody knew.") -> Record:
    return keep(memory, f"{title}. {body}", kind="scar", title=title, fields=FIELDS)


@pytest.fixture
def shown(memory: Memory) -> list[Record]:
    """Two scars that this session was shown."""
    scars = [
        scar(memory, "Migrations need a rehearsal", "Production differs, as a column of orders was wider there."),
        scar(memory, "Rollbacks of migrations need a rehearsal too", "Ours had never run; production differs."),
    ]
    recall(memory, Query(text="rehearsal of migrations"))
    return scars


def outcomes(memory: Memory, record: Record) -> Counter[str]:
    return Counter(use.outcome for use in usage.uses(memory.store, [record.id]))


def test_a_reflection_says_how_it_went_and_answers_what_nobody_answered(memory: Memory, shown: list[Record]) -> None:
    answer(memory, [Answer(scar=shown[0].id, decision="APPLYING", evidence=EVIDENCE)])
    told = reflect(memory, [Answer(scar=one.id, decision="OBEYED", evidence="Rehearsed it twice.") for one in shown])
    assert (len(told.taken), told.problems, told.waiting) == (2, (), ())
    assert outcomes(memory, shown[0]) == {"applied": 1, "succeeded": 1}
    assert outcomes(memory, shown[1]) == {"applied": 1, "succeeded": 1}


def test_a_reflection_needs_evidence_and_a_scar_that_was_shown(memory: Memory, shown: list[Record]) -> None:
    unseen = scar(memory, "Caches go stale over night")
    given = [
        Answer(scar=shown[0].id, decision="OBEYED", evidence="Did it."),
        Answer(scar=shown[0].id, decision="GREAT", evidence=EVIDENCE),
        Answer(scar=unseen.id, decision="REFUTED", evidence=EVIDENCE),
        Answer(scar=shown[1].id, decision="REFUTED", evidence=EVIDENCE),
    ]
    told = reflect(memory, given)
    assert [record.id for record, _ in told.taken] == [shown[1].id]
    says = ["15 are needed", "'GREAT' is not an outcome", "was not shown in this session"]
    assert [said in problem for said, problem in zip(says, told.problems, strict=True)] == [True, True, True]
    assert told.waiting == (shown[0],)
    assert outcomes(memory, shown[1]) == {"refuted": 1}


def test_a_use_is_counted_once_however_often_it_is_told(memory: Memory, shown: list[Record]) -> None:
    answer(memory, [Answer(scar=shown[0].id, decision="APPLYING", evidence=EVIDENCE)])
    use = {
        "scar_id": shown[0].id,
        "reference_type": "explicit",
        "reference_context": "Rehearsed.",
        "issue_id": "SHOP-1",
    }
    first = note_use(memory, **use, execution_successful=True)
    assert note_use(memory, **use, execution_successful=True) == first
    assert outcomes(memory, shown[0]) == {"applied": 1, "succeeded": 1}
    note_use(memory, scar_identifier=shown[1].title, reference_type="none")
    assert outcomes(memory, shown[1]) == {"ignored": 1}
    other = {"scar_id": shown[1].id, "reference_type": "loosely"}
    refused(Invalid, note_use, memory, **other, says="not a reference_type")


def test_a_scar_is_meant_by_id_title_or_words_of_its_own(memory: Memory, shown: list[Record]) -> None:
    for name in (shown[0].id[:10], "migrations need a rehearsal"):
        assert scar_called(memory, name).id == shown[0].id
    assert scar_called(memory, "rollbacks of").id == shown[1].id
    refused(Ambiguous, scar_called, memory, "production differs", says="2 scars match")
    refused(NotFound, scar_called, memory, "unheard of", says="No scar matches")
