"""Everything that was kept, seen as observations and lessons: filters, numbers that round-trip, and time."""

import pytest

from holdfast.model.record import Record
from holdfast.policy.activity.claude_mem_types import TYPES, concepts_of, facts_of, files_read, touches, type_of
from holdfast.verbs.memory import Memory
from holdfast.verbs.search import observations
from holdfast.verbs.search.observations import Wanted, search_observations
from tests.conftest import keep
from tests.verbs.scripts import scripts_in

globals().update(scripts_in(__file__))


def test_a_record_of_any_kind_has_a_type_concepts_facts_and_files() -> None:
    scar = Record(id="x", kind="scar", anchors=("db/migrate.py:12",))
    fields = {
        "type": "feature",
        "facts": ["Tokens last 24 hours"],
        "concepts": ["pattern"],
        "files_modified": ["src/middleware/auth.ts"],
    }
    seen = Record(id="y", kind="observation", fields=fields)
    decision = Record(id="z", kind="decision", fields={"rationale": "Stateless."})
    assert [type_of(one) for one in (scar, seen, decision)] == ["bugfix", "feature", "decision"]
    assert (concepts_of(scar), concepts_of(seen)) == (["gotcha", "problem-solution"], ["pattern"])
    assert (facts_of(seen), facts_of(decision)) == (["Tokens last 24 hours"], ["rationale: Stateless."])
    assert files_read(scar) == ["db/migrate.py"]
    paths = ("auth.ts", "src/middleware", "middleware/auth.ts", "auth", "uth.ts")
    assert [touches(seen, path) for path in paths] == [True, True, True, True, False]
    assert {type_of(Record(id="x", kind=kind)) for kind in ("fact", "preference", "observation")} <= set(TYPES)


def test_totals_count_up_to_what_is_scanned(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observations, "MOST_SCANNED", 2)
    for name in ("first", "second", "third"):
        keep(memory, f"The {name} gateway forwards requests.")
    assert search_observations(memory, Wanted(limit=1)).total == 2
