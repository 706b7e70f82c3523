"""Contradictions: found by comparing what is new with its neighbours, and resolved by a person."""

from pathlib import Path

import pytest

from holdfast.adapters.checkout import GitCheckout
from holdfast.adapters.embedders.local import LocalEmbedder
from holdfast.engine.store import Store
from holdfast.model.config import Config
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.event import Actor
from holdfast.model.ids import Clock
from holdfast.model.query import Query
from holdfast.model.record import Draft, Link, Record
from holdfast.policy.admission.admit import Duplicate, PreviouslyRemoved
from holdfast.verbs.memory import Context, Memory
from holdfast.verbs.records.hot import trust_of
from holdfast.verbs.records.lifecycle import Revision, link, record_use, retire, revise
from holdfast.verbs.records.read import get, history
from holdfast.verbs.records.write import Written, write
from holdfast.verbs.search.embed import catch_up
from holdfast.verbs.search.recall import recall
from holdfast.verbs.truth.compare import compare
from holdfast.verbs.truth.consolidate import consolidate, proposal_of, proposals, split
from holdfast.verbs.truth.contradictions import conflicts, mark, open_contradictions, resolve
from holdfast.verbs.upkeep import erasing
from tests.conftest import CLASSIFIER, Time, keep, make_memory
from tests.rows import of_type, refused

OLD, NEW = "The rate limit is 100 requests per minute.", "The rate limit is 500 requests per minute."


def written(memory: Memory, body: str, **given: object) -> Written:
    outcome = write(memory, Draft(body=body, **given))  # type: ignore[arg-type]
    assert isinstance(outcome, Written), outcome
    return outcome


def two(memory: Memory, time: Time) -> tuple[Record, Record]:
    older = keep(memory, OLD)
    time.pass_days(1)
    return older, keep(memory, NEW)


def found(memory: Memory) -> list[tuple[str, str]]:
    """Compare what is new, as the worker does, and return the contradictions, older and newer."""
    compare(memory)
    return [(one.older.id, one.newer.id) for one in open_contradictions(memory).found]


def test_a_contradiction_is_linked_after_the_write_and_names_both_sentences(memory: Memory) -> None:
    older = keep(memory, "The API server listens on port 8080.")
    outcome = written(memory, "The API server listens on port 9090.")
    assert [near.record.id for near in outcome.related] == [older.id]
    assert (open_contradictions(memory).found, open_contradictions(memory).waiting) == ((), 2)
    assert found(memory) == [(older.id, outcome.record.id)]
    (dispute,) = open_contradictions(memory).found
    assert (dispute.marked_by, open_contradictions(memory).waiting) == ("comparison", 0)
    assert dispute.explain == f"The older says “{older.body}”, the newer “{outcome.record.body}”."
    assert get(memory, outcome.record.id).record.links == (Link(relation="contradicts", target=older.id),)


def test_contradictions_in_other_words_are_found_among_neighbours(memory: Memory) -> None:
    rows = (
        ("We host everything on AWS.", "Everything is hosted on Google Cloud."),
        ("Never deploy on Fridays.", "We deploy every Friday."),
        ("Die Tests dürfen die Datenbank nicht mocken.", "Die Tests dürfen die Datenbank mocken."),
    )
    pairs = [(keep(memory, older).id, keep(memory, newer).id) for older, newer in rows]
    for body in (
        "Invoices are sent out on Fridays.",
        "AWS invoices go to finance.",
        "Die Tests dauern vier Minuten.",
    ):
        keep(memory, body)
    assert sorted(found(memory)) == sorted(pairs)


def test_what_is_numbered_alike_all_holds(memory: Memory) -> None:
    for n in range(8):
        keep(memory, f"Shard number {n} of the ledger is on host db{n}0.")
    assert found(memory) == []


def test_texts_that_are_only_alike_contradict_nothing(memory: Memory) -> None:
    for body in (
        "Database migrations run before the seed script starts.",
        "Database migrations run before the seed script and take ten minutes.",
        "The staging database is Postgres 14.",
        "The production database is Postgres 15.",
    ):
        keep(memory, body)
    assert found(memory) == []


def test_the_opposite_is_no_duplicate_though_it_shares_every_word(memory: Memory) -> None:
    older = keep(memory, "The worker runs as root inside the container.")
    newer = written(memory, "The worker does not run as root inside the container.").record
    assert found(memory) == [(older.id, newer.id)]
    again = of_type(Duplicate, write(memory, Draft(body="The worker runs as root inside the container.")))
    assert [one.record.id for one in again.matches] == [older.id]


def test_the_opposite_of_what_was_retired_may_be_said(memory: Memory) -> None:
    retire(memory, keep(memory, "The worker runs as root inside the container.").id, "changed")
    written(memory, "The worker does not run as root inside the container.")
    of_type(PreviouslyRemoved, write(memory, Draft(body="The worker runs as root inside the container.")))


def test_only_what_changed_is_compared_again(memory: Memory, time: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    older, newer = two(memory, time)
    assert found(memory) == [(older.id, newer.id)]
    monkeypatch.setattr("holdfast.verbs.truth.compare.judged", None)
    assert compare(memory) == 0
    monkeypatch.undo()
    revise(memory, newer.id, Revision(body="The rate limit is 100 requests per minute."))
    assert found(memory) == []
    revise(memory, newer.id, Revision(body=NEW))
    assert found(memory) == [(older.id, newer.id)]
    record_use(memory, [older.id], "applied")
    assert compare(memory) == 0
    revise(memory, older.id, Revision(body=NEW))
    assert found(memory) == []


def test_a_link_of_a_person_stays_whatever_the_texts_say(memory: Memory) -> None:
    first, second = keep(memory, "Deploys take ten minutes."), keep(memory, "The office is in Lisbon.")
    mark(memory, first.id, second.id)
    revise(memory, second.id, Revision(body="The office is in Porto."))
    assert found(memory) == [(first.id, second.id)]


def test_what_was_settled_is_not_asked_about_again(memory: Memory, time: Time) -> None:
    older = keep(memory, OLD)
    newer = written(memory, NEW, links=(Link(relation="supersedes", target=older.id),)).record
    assert found(memory) == []
    time.pass_days(1)
    third = keep(memory, "The rate limit is 900 requests per minute.")
    assert found(memory) == [(newer.id, third.id)]
    resolve(memory, newer.id, third.id, "both")
    revise(memory, third.id, Revision(tags=("api",)))
    assert found(memory) == []


def test_moments_arguments_and_parts_of_documents_are_not_compared(memory: Memory) -> None:
    fields = {"severity": "high", "counter_arguments": ["Deploys do not need a dry run.", "There is a backup."]}
    keep(memory, "Deploys need a dry run of the migrations.", kind="scar", fields=fields)
    keep(memory, "The cleanup job runs on the blue cluster.", kind="observation")
    keep(memory, "The cleanup job does not run on the blue cluster.", kind="observation")
    for body, name in ((OLD, "README.md"), (NEW, "docs/api.md")):
        keep(memory, body, extra={"document": name})
    assert found(memory) == []


def test_without_a_classifier_nothing_is_compared_and_nothing_fails(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time, classifier=None) as memory:
        two(memory, time)
        assert (compare(memory), found(memory), open_contradictions(memory).waiting) == (0, [], 0)


def test_on_a_server_only_what_all_members_see_is_compared(memory: Memory) -> None:
    keep(memory, OLD)
    newer = keep(memory, NEW, visibility="team")
    third = keep(memory, "The rate limit is 900 requests per minute.", visibility="team")
    compare(memory, team=True)
    assert [(one.older.id, one.newer.id) for one in open_contradictions(memory).found] == [(newer.id, third.id)]


def test_conflicts_of_one_record_are_found_by_words_and_by_meaning(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time, embedder=LocalEmbedder()) as memory:
        older, newer = two(memory, time)
        keep(memory, "The kitchen is closed on Sundays.")
        catch_up(memory)
        assert [one.record.id for one in conflicts(memory, newer.id)] == [older.id]
        (clash,) = conflicts(memory, older.id)
        assert (clash.record.id, clash.explain) == (newer.id, f"The older says “{OLD}”, the newer “{NEW}”.")


def test_other_projects_are_never_looked_at_but_what_holds_everywhere_is(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time) as memory:
        elsewhere = keep(memory, OLD, project="example.org/acme/other")
        here = keep(memory, NEW)
        assert (found(memory), conflicts(memory, here.id), conflicts(memory, elsewhere.id)) == ([], [], [])
        refused(Invalid, mark, memory, here.id, elsewhere.id, says="different projects")
        refused(Invalid, resolve, memory, here.id, elsewhere.id, "remove", says="different projects")
        time.pass_days(1)
        everywhere = keep(memory, "The rate limit is 900 requests per minute.", project="")
        assert (here.id, everywhere.id) in found(memory)


def test_open_contradictions_tell_how_they_came_about(memory: Memory, time: Time) -> None:
    older, newer = two(memory, time)
    time.pass_days(1)
    tabs = keep(memory, "Indent with tabs.")
    spaces = keep(memory, "Four blanks are how we indent.")
    mark(memory, tabs.id, spaces.id, note="both cannot be right")
    compare(memory)
    marked, by_comparison = open_contradictions(memory).found
    assert (marked.older.id, marked.newer.id, marked.marked_by) == (tabs.id, spaces.id, "claude")
    expected = [(tabs.id, "recorded"), (spaces.id, "recorded"), (spaces.id, "linked")]
    assert [(moment.record, moment.verb) for moment in marked.timeline] == expected
    assert (by_comparison.older.id, by_comparison.newer.id, by_comparison.marked_by) == (
        older.id,
        newer.id,
        "comparison",
    )
    assert [moment.verb for moment in by_comparison.timeline] == ["recorded", "recorded", "linked"]
    assert history(memory, spaces.id)[-1].data["note"] == "both cannot be right"


def test_marking_twice_marks_once(memory: Memory, time: Time) -> None:
    older, newer = two(memory, time)
    first = mark(memory, older.id, newer.id)
    again = mark(memory, newer.id, older.id)
    assert (first.newer.id, again.marked_at) == (newer.id, first.marked_at)
    assert get(memory, newer.id).record.links == (Link(relation="contradicts", target=older.id),)
    assert len(open_contradictions(memory).found) == 1
    refused(Invalid, mark, memory, older.id, older.id, says="itself")


def test_superseding_ends_it_and_recall_gives_the_kept_one(memory: Memory, time: Time) -> None:
    older, newer = two(memory, time)
    mark(memory, older.id, newer.id)
    done = resolve(memory, older.id, newer.id, "supersede", keep=older.id, note="the new plan was dropped")
    assert (done.kept.id, done.other.id) == (older.id, newer.id)
    assert done.kept.links == (Link(relation="supersedes", target=newer.id),)
    assert done.other.links == ()
    assert [hit.record.id for hit in recall(memory, Query(text="rate limit")).hits] == [older.id]
    assert open_contradictions(memory).found == ()


def test_weakening_lowers_confidence_and_is_noted(memory: Memory, time: Time) -> None:
    older, newer = two(memory, time)
    done = resolve(memory, older.id, newer.id, "weaken", note="measured 500")
    steps = [(step.reason, step.note) for step in trust_of(memory, older.id).history]
    assert steps == [("contradiction_resolved", "measured 500")]
    assert (done.other.id, done.other.confidence, done.other.state) == (older.id, "low", "active")
    assert get(memory, older.id).usage.contradicted == 1
    assert open_contradictions(memory).found == ()
    low = resolve(memory, older.id, newer.id, "weaken")
    assert low.other.confidence == "low"


def test_removing_retires_with_a_reason_and_can_be_undone(memory: Memory, time: Time) -> None:
    older, newer = two(memory, time)
    done = resolve(memory, older.id, newer.id, "remove", note="see the gateway")
    assert (done.other.state, done.other.reason) == ("retired", f"contradicted by {newer.id}: see the gateway")
    assert open_contradictions(memory).found == ()
    refused(Conflict, resolve, memory, older.id, newer.id, "supersede", says="only active memories")


def test_both_may_hold_after_all(memory: Memory, time: Time) -> None:
    older, newer = two(memory, time)
    resolve(memory, older.id, newer.id, "both", note="one is per key")
    assert open_contradictions(memory).found == ()
    assert len(recall(memory, Query(text="rate limit")).hits) == 2


def test_a_link_that_says_how_two_go_together_settles_them(memory: Memory, time: Time) -> None:
    older, newer = two(memory, time)
    link(memory, newer.id, "refines", older.id)
    assert found(memory) == []
    assert conflicts(memory, newer.id) == []


def test_a_resolution_is_all_or_nothing(memory: Memory, time: Time) -> None:
    older, newer = two(memory, time)
    mark(memory, older.id, newer.id)
    refused(Invalid, resolve, memory, older.id, newer.id, "remove", note="x" * 2_000, says="reason has")
    assert get(memory, newer.id).record.links == (Link(relation="contradicts", target=older.id),)
    refused(Invalid, resolve, memory, older.id, newer.id, "fight", says="is not a resolution")
    with pytest.raises(Invalid, match="neither of the two"):
        resolve(memory, older.id, newer.id, "remove", keep=keep(memory, "Something else entirely.").id)


def test_an_imported_older_text_is_read_as_the_older_word(memory: Memory) -> None:
    newer = keep(memory, NEW)
    older = keep(memory, OLD, at="2020-01-01")
    assert found(memory) == [(older.id, newer.id)]


def test_contradictions_are_found_marked_and_resolved_on_either_engine(store: Store, time: Time) -> None:
    here = Config(project="example.org/acme/shop")
    actor = Actor(kind="agent", name="claude")
    memory = Memory(
        store=store,
        config=here,
        checkout=GitCheckout(Path()),
        embedder=None,
        context=Context(actor=actor),
        on_erased=erasing.commit,
        classifier=CLASSIFIER,
        clock=Clock(time),
    )
    older, newer = two(memory, time)
    assert found(memory) == [(older.id, newer.id)]
    mark(memory, older.id, newer.id)
    assert len(open_contradictions(memory).found) == 1
    assert proposals(memory).found == ()
    merged = consolidate(memory, proposal_of(memory, [older.id, newer.id]))
    assert len(split(memory, merged.id)) == 2
    resolve(memory, older.id, newer.id, "supersede")
    assert open_contradictions(memory).found == ()
