"""Everything that was kept, seen as observations and lessons: filters, numbers that round-trip, and time."""

import pytest

from holdfast.engine.views import usage
from holdfast.model.errors import NotFound
from holdfast.model.record import Record
from holdfast.policy.activity.claude_mem_types import TYPES, concepts_of, facts_of, files_read, touches, type_of
from holdfast.surfaces.gitmem.tools import search_lessons
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.read import called, get, recent_lessons
from holdfast.verbs.search import observations
from holdfast.verbs.search.observations import Wanted, fetched, numbered, observation, search_observations
from holdfast.verbs.upkeep.erasing import erase
from tests.conftest import Time, keep
from tests.rows import refused
from tests.verbs.scripts import scripts_in

globals().update(scripts_in(__file__))

SCAR = {"severity": "high", "counter_arguments": ["It is only a column.", "There is a backup."]}
SEEN = {
    "type": "feature",
    "facts": ["Tokens last 24 hours"],
    "narrative": "Validation was added.",
    "concepts": ["pattern"],
    "files_modified": ["src/middleware/auth.ts"],
}


@pytest.fixture
def kept(memory: Memory, time: Time) -> list[Record]:
    """A scar, a day later an observation, a day later a decision and a summary."""
    scar = keep(memory, "Rehearse migrations.", kind="scar", fields=SCAR, anchors=("db/migrate.py:12",))
    time.pass_days(1)
    seen = keep(memory, "Added JWT validation.", kind="observation", fields=SEEN, source="observed")
    time.pass_days(1)
    decision = keep(memory, "Use JWT.", kind="decision", fields={"rationale": "Stateless.", "documents": ["docs/a.md"]})
    summary = keep(memory, "Auth done", kind="summary", fields={"completed": "login"})
    keep(memory, "Rotate the keys", kind="thread")
    return [scar, seen, decision, summary]


def test_a_record_of_any_kind_has_a_type_concepts_facts_and_files(kept: list[Record]) -> None:
    scar, seen, decision, _ = kept
    assert [type_of(one) for one in (scar, seen, decision)] == ["bugfix", "feature", "decision"]
    assert (concepts_of(scar), concepts_of(seen)) == (["gotcha", "problem-solution"], ["pattern"])
    assert (facts_of(seen), facts_of(decision)) == (["Tokens last 24 hours"], ["rationale: Stateless."])
    assert files_read(scar) == ["db/migrate.py"]
    expected = [True, True, True, True]
    assert [touches(seen, path) for path in ("auth.ts", "src/middleware", "middleware/auth.ts", "auth")] == expected
    assert not touches(seen, "uth.ts")
    assert {type_of(Record(id="x", kind=kind)) for kind in ("fact", "preference", "observation")} <= set(TYPES)


def test_a_number_means_the_same_record_always(memory: Memory, kept: list[Record]) -> None:
    numbers = [get(memory, one.id).number for one in kept]
    assert [entry.record.id for entry in numbered(memory, numbers[::-1])] == [one.id for one in kept[::-1]]
    assert [entry.number for entry in fetched(memory, numbers, order="date_asc", limit=2)] == numbers[:2]
    for name in (str(numbers[0]), f"#{numbers[0]}", kept[0].id):
        assert observation(memory, name).record.id == kept[0].id
    assert observation(memory, f"#S{numbers[3]}").record.id == kept[3].id
    erase(memory, kept[0].id)
    for wanted in ([numbers[0]], [17]):
        refused(NotFound, fetched, memory, wanted)


def test_numbers_are_small_in_their_project_and_unambiguous_in_every_other(memory: Memory) -> None:
    here = [keep(memory, f"Port {port} is taken.") for port in (80, 443)]
    elsewhere = memory.acting_on("example.org/acme/other")
    there = [keep(elsewhere, f"Queue {name} is drained.") for name in ("orders", "mails")]
    for asking, own, others in ((memory, here, there), (elsewhere, there, here)):
        shown = called(asking, [find(memory, record.id) for record in (*own, *others)])
        assert [entry.number for entry in shown[:2]] == [1, 2]
        assert all(entry.number > 2**32 for entry in shown[2:])
        assert [entry.record for entry in numbered(asking, [entry.number for entry in shown])] == [*own, *others]
        assert numbered(asking, [find(memory, own[0].id).number])[0].record == own[0]  # the whole number still works


def test_totals_count_up_to_what_is_scanned(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    assert observations.MOST_SCANNED == 5_000
    monkeypatch.setattr(observations, "MOST_SCANNED", 2)
    for name in ("first", "second", "third"):
        keep(memory, f"The {name} gateway forwards requests.")
    assert search_observations(memory, Wanted(limit=1)).total == 2


def test_lessons_are_found_by_kind_and_severity_or_by_id(memory: Memory) -> None:
    scar = keep(memory, "Rehearse migrations on a copy.", kind="scar", fields=SCAR)
    win = keep(memory, "Small migrations are easy to rehearse.", kind="win")
    keep(memory, "Saw migrations run.", kind="observation")
    assert {hit.record.id for hit in search_lessons(memory, "rehearse migrations").hits} == {scar.id, win.id}
    assert [hit.record.id for hit in search_lessons(memory, "migrations", kinds=("win",)).hits] == [win.id]
    assert [hit.record.id for hit in search_lessons(memory, "migrations", severity="high").hits] == [scar.id]
    assert [hit.record.id for hit in search_lessons(memory, scar.id[:10]).hits] == [scar.id]
    assert usage.shown(memory.store, memory.actor.session) == []


def test_what_was_learned_lately_is_listed_latest_first(memory: Memory, time: Time) -> None:
    old = keep(memory, "Rehearse migrations on a copy.", kind="scar", fields=SCAR)
    time.pass_days(10)
    new = keep(memory, "JWT for the API.", kind="decision")
    assert recent_lessons(memory) == [new, old]
    assert recent_lessons(memory, days=7) == [new]
    assert recent_lessons(memory, severity="high") == [old]
    assert recent_lessons(memory, limit=1, kinds=("scar",)) == [old]
