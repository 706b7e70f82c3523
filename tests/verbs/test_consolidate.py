"""Consolidation: near-duplicates are proposed with what would become of them, merged on request, and taken apart again."""

from pathlib import Path

from holdfast.adapters.embedders.local import LocalEmbedder
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.query import Query
from holdfast.model.record import Draft, Link, Record
from holdfast.policy.admission.admit import Waivers
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.lifecycle import Revision, restore, revise
from holdfast.verbs.records.read import get, history
from holdfast.verbs.records.write import Written, write
from holdfast.verbs.search.embed import catch_up
from holdfast.verbs.search.recall import recall
from holdfast.verbs.truth import consolidate as merging
from holdfast.verbs.truth.compare import compare
from holdfast.verbs.truth.consolidate import Proposals, consolidate, proposal_of, split
from holdfast.verbs.truth.contradictions import resolve
from tests.conftest import Time, keep, make_memory
from tests.rows import refused

FIRST = "Access tokens expire after 15 minutes and are signed with RS256 by the gateway. Ask Noor for the key."
SECOND = "Access tokens are signed with RS256 by the gateway and expire after 15 minutes. Refresh tokens live in Redis."


def forced(memory: Memory, body: str, **given: object) -> Record:
    outcome = write(memory, Draft(body=body, **given), waivers=Waivers(duplicate=True))  # type: ignore[arg-type]
    assert isinstance(outcome, Written), outcome
    return outcome.record


def proposals(memory: Memory, *, limit: int = 20) -> Proposals:
    """Compare what is new, as the worker does, and return the proposals."""
    compare(memory)
    return merging.proposals(memory, limit=limit)


def two(memory: Memory, time: Time, **given: object) -> tuple[Record, Record]:
    first = forced(memory, FIRST, tags=("auth",), scopes=("api",), **given)
    time.pass_days(3)
    return first, forced(memory, SECOND, tags=("jwt",), scopes=("api", "security"), **given)


def test_a_proposal_says_what_would_become_of_every_sentence_and_changes_nothing(memory: Memory, time: Time) -> None:
    first, second = two(memory, time)
    keep(memory, "Deploys take ten minutes on a good day.")
    compare(memory)
    before = sum(1 for _ in memory.store.journal())
    found = proposals(memory)
    (one,) = found.found
    assert [source.id for source in one.sources] == [first.id, second.id]
    assert (one.text, one.base) == (f"{SECOND} Ask Noor for the key.", second.id)
    assert [(part.id, part.sentence) for part in one.added] == [(first.id, "Ask Noor for the key.")]
    assert (found.more, found.waiting) == (0, 0)
    assert sum(1 for _ in memory.store.journal()) == before


def test_a_plain_contradiction_is_no_duplicate(memory: Memory) -> None:
    forced(memory, "The public rate limit is 100 requests per minute.")
    forced(memory, "The public rate limit is 500 requests per minute.")
    forced(memory, "The staging rate limit is 900 requests per minute.")
    assert proposals(memory).found == ()


def test_things_with_other_names_are_not_the_same(memory: Memory) -> None:
    forced(memory, "The module src/api/client.ts retries failed requests.")
    forced(memory, "The module src/api/upload.ts retries failed requests.")
    assert proposals(memory).found == ()


def test_rewordings_are_found_by_meaning(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time, embedder=LocalEmbedder()) as memory:
        one = keep(memory, "The staging db is wiped every night.")
        other = keep(memory, "Each night staging gets emptied.")
        keep(memory, "Tax is calculated in Avalara.")
        keep(memory, "Shipping costs are calculated in EasyPost.")
        catch_up(memory)
        assert [{source.id for source in found.sources} for found in proposals(memory).found] == [{one.id, other.id}]


def test_merging_keeps_everything_and_recall_gives_one(memory: Memory, time: Time) -> None:
    first, second = two(memory, time)
    old = keep(memory, "Tokens were opaque strings once upon a time.")
    resolve(memory, first.id, old.id, "supersede", keep=first.id)
    (one,) = proposals(memory).found
    merged = consolidate(memory, one)
    assert merged.body == one.text
    expected = ({"auth", "jwt"}, {"api", "security"}, first.project)
    assert (set(merged.tags), set(merged.scopes), merged.project) == expected
    assert {link.target for link in merged.links if link.relation == "supersedes"} == {first.id, second.id, old.id}
    for source in (first, second):
        kept = get(memory, source.id).record
        assert (kept.state, kept.reason, kept.body) == ("retired", f"merged into {merged.id}", source.body)
    assert [hit.record.id for hit in recall(memory, Query(text="access tokens expire")).hits] == [merged.id]
    assert get(memory, old.id).superseded_by == merged.id
    assert proposals(memory).found == ()


def test_a_merge_can_be_taken_apart(memory: Memory, time: Time) -> None:
    first, second = two(memory, time)
    merged = consolidate(memory, proposals(memory).found[0])
    assert {record.id for record in split(memory, merged.id)} == {first.id, second.id}
    assert get(memory, merged.id).record.state == "retired"
    found = {hit.record.id for hit in recall(memory, Query(text="access tokens expire")).hits}
    assert found == {first.id, second.id}
    refused(Conflict, split, memory, merged.id, says="not an active merged memory")
    refused(Conflict, split, memory, first.id, says="not an active merged memory")


def test_one_of_the_sources_can_be_restored_alone(memory: Memory, time: Time) -> None:
    first, _ = two(memory, time)
    consolidate(memory, proposals(memory).found[0])
    assert restore(memory, first.id).state == "active"


def test_never_across_projects_kinds_or_states(memory: Memory, time: Time) -> None:
    here, other = forced(memory, FIRST), forced(memory, FIRST, project="example.org/acme/other")
    decision = forced(memory, FIRST, kind="decision")
    everywhere = forced(memory, FIRST, project="")
    seen = forced(memory, FIRST, kind="observation")
    again = forced(memory, FIRST, kind="observation")
    assert proposals(memory).found == ()
    for one in (other, decision, everywhere, seen):
        refused(Invalid, proposal_of, memory, [here.id, one.id], says="different projects or kinds")
    refused(Invalid, proposal_of, memory, [seen.id, again.id], says="different projects or kinds")
    refused(Invalid, proposal_of, memory, [here.id, here.id], says="at least two")
    first, second = two(memory, time)
    consolidate(memory, proposal_of(memory, [first.id, second.id]))
    refused(Conflict, proposal_of, memory, [first.id, here.id], says="only active memories")


def test_a_proposal_that_is_out_of_date_is_not_carried_out(memory: Memory, time: Time) -> None:
    first, _ = two(memory, time)
    (one,) = proposals(memory).found
    revise(memory, first.id, Revision(tags=("changed",)))
    before = sum(1 for _ in memory.store.journal())
    refused(Conflict, consolidate, memory, one, says="has changed since")
    assert sum(1 for _ in memory.store.journal()) == before


def test_somebody_may_write_the_merged_text(memory: Memory, time: Time) -> None:
    two(memory, time)
    merged = consolidate(memory, proposals(memory).found[0], text="Access tokens: RS256, 15 minutes.")
    assert (merged.body, merged.title) == ("Access tokens: RS256, 15 minutes.", "Access tokens: RS256, 15 minutes.")
    assert [event.verb for event in history(memory, merged.id)] == ["recorded"]


def test_lessons_keep_the_worst_severity_and_all_arguments(memory: Memory, time: Time) -> None:
    body = "Never run the order migration without a way back."
    first = forced(memory, body, kind="scar", fields={"severity": "critical", "counter_arguments": ["a", "b"]})
    time.pass_days(1)
    second = forced(memory, body, kind="anti_pattern", fields={"severity": "low", "why": "an hour of downtime"})
    third = forced(memory, body, kind="scar", fields={"severity": "high", "counter_arguments": ["b", "c"]})
    merged = consolidate(memory, proposal_of(memory, [first.id, second.id, third.id]))
    assert (merged.kind, merged.fields["severity"]) == ("scar", "critical")
    assert set(merged.fields["counter_arguments"]) == {"a", "b", "c"}
    assert merged.fields["why"] == "an hour of downtime"


def test_what_was_private_stays_private(memory: Memory, time: Time) -> None:
    first = forced(memory, FIRST, visibility="team")
    time.pass_days(1)
    second = forced(memory, SECOND, visibility="private")
    assert consolidate(memory, proposal_of(memory, [first.id, second.id])).visibility == "private"


def test_two_that_were_connected_are_not_proposed_again(memory: Memory, time: Time) -> None:
    first, second = two(memory, time)
    resolve(memory, first.id, second.id, "both")
    assert proposals(memory).found == ()
    assert get(memory, second.id).record.links == (Link(relation="relates_to", target=first.id),)


def test_each_of_a_group_says_the_same_as_each_other(memory: Memory) -> None:
    for body in (
        "Staging is wiped every night.",
        "Every night staging is wiped.",
        "Each night the staging system gets wiped.",
        "The nightly backup of staging is kept for a week.",
    ):
        forced(memory, body)
    assert [len(found.sources) for found in proposals(memory).found] == [3]


def test_only_the_best_are_worked_out_and_the_rest_counted(memory: Memory) -> None:
    for thing in ("apple orchard", "bridge", "candle factory"):
        for _ in range(2):
            forced(memory, f"The {thing} has a caretaker who opens it at dawn.")
    found = proposals(memory, limit=1)
    assert (len(found.found), found.more) == (1, 2)
