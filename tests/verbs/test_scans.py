"""Comparing a whole project is done once; after that only what changed is compared again."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from holdfast.adapters.embedders.local import LocalEmbedder
from holdfast.engine.database import Database
from holdfast.engine.search import near_duplicates
from holdfast.engine.views import words
from holdfast.model.record import Draft, Record
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.lifecycle import Revision, restore, retire, revise
from holdfast.verbs.records.write import Written, draft_event, write
from holdfast.verbs.search.embed import catch_up
from holdfast.verbs.truth import consolidate, contradictions
from holdfast.verbs.truth.consolidate import proposals
from holdfast.verbs.truth.contradictions import open_contradictions, resolve
from tests.conftest import Time, keep, make_memory


@pytest.fixture
def once(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """Return a memory that was compared, and that refuses to be compared as a whole again."""
    keep(memory, "Deploys take ten minutes on a good day.")
    assert open_contradictions(memory).found == ()
    assert proposals(memory).found == ()
    for module in (contradictions, consolidate):
        monkeypatch.setattr(module, "_compared", None)
    return memory


def unmarked(memory: Memory, body: str) -> Record:
    """Save a memory without the check of a write, which would mark what it contradicts."""
    return memory.commit([draft_event(memory, Draft(body=body, project=memory.project))])[0].record


def pairs(memory: Memory) -> list[tuple[str, str]]:
    return [(one.older.body, one.newer.body) for one in open_contradictions(memory).found]


def test_a_new_contradiction_is_found_without_comparing_everything_again(once: Memory) -> None:
    older, newer = (unmarked(once, f"The rate limit is {limit} requests per minute.") for limit in (100, 500))
    both = (older.body, newer.body)
    assert pairs(once) == [both]
    assert open_contradictions(once).looked_at == 3
    retire(once, older.id, "outdated")
    assert pairs(once) == []
    restore(once, older.id)
    assert pairs(once) == [both]
    revise(once, newer.id, Revision(body="The rate limit is 100 requests per minute for each key."))
    assert pairs(once) == []
    revise(once, newer.id, Revision(body=newer.body))
    resolve(once, older.id, newer.id, "both")
    assert pairs(once) == []


def test_new_near_duplicates_are_found_without_comparing_everything_again(once: Memory, time: Time) -> None:
    first = keep(once, "Access tokens are signed with RS256 and expire after fifteen minutes.")
    time.pass_days(1)
    draft = Draft(body="Access tokens are signed with RS256, and they expire after fifteen minutes.")
    second = write(once, draft, waivers=Waivers(duplicate=True))
    assert isinstance(second, Written)
    (group,) = proposals(once).found
    assert {source.id for source in group.sources} == {first.id, second.record.id}
    retire(once, first.id, "said twice")
    assert proposals(once).found == ()


def test_a_memory_is_compared_again_once_it_has_a_vector(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time, embedder=LocalEmbedder()) as memory:
        keep(memory, "The staging db is wiped every night.")
        catch_up(memory)
        proposals(memory)
        waived = Waivers(duplicate=True)
        other = write(memory, Draft(body="Each night staging gets emptied."), waivers=waived)
        assert isinstance(other, Written)
        before = [{one.id for one in group.sources} for group in proposals(memory).found]
        catch_up(memory)
        after = [{one.id for one in group.sources} for group in proposals(memory).found]
        assert before == []
        assert [other.record.id in group for group in after] == [True]


@pytest.mark.parametrize("comparing", [open_contradictions, proposals])
def test_a_scan_sees_one_state_of_the_store_while_another_process_removes_memories(
    tmp_path: Path, time: Time, monkeypatch: pytest.MonkeyPatch, comparing: Callable[[Memory], Any]
) -> None:
    monkeypatch.setattr(near_duplicates, "NEWEST", 1)
    with make_memory(tmp_path, time) as memory, make_memory(tmp_path, time) as other:
        older = unmarked(memory, "The rate limit is 100 requests per minute for each of the keys.")
        newer = unmarked(memory, "The rate limit is 500 requests per minute for each of the keys.")
        bodies = words.bodies

        def bodies_after_a_write(db: Database, numbers: Iterable[int]) -> dict[int, str]:
            retire(other, older.id, "outdated")
            return bodies(db, numbers)

        monkeypatch.setattr(words, "bodies", bodies_after_a_write)
        assert comparing(memory).looked_at == 1
        monkeypatch.undo()
        assert comparing(memory).found == ()  # it was removed after that state: the next scan knows
        assert find(memory, newer.id).record.state == "active"
