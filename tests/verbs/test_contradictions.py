"""Contradictions: found by what texts say, named when something is written, and ended by somebody."""

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
from holdfast.policy.admission.admit import Duplicate, PreviouslyRemoved, Transient, Waivers
from holdfast.verbs.memory import Context, Memory
from holdfast.verbs.records.lifecycle import link, retire
from holdfast.verbs.records.read import get, history
from holdfast.verbs.records.write import Written, WrittenPending, confirm, write
from holdfast.verbs.search.embed import catch_up
from holdfast.verbs.search.recall import recall
from holdfast.verbs.truth import contradictions
from holdfast.verbs.truth.consolidate import consolidate, proposal_of, proposals, split
from holdfast.verbs.truth.contradictions import conflicts, find_all, mark, open_contradictions, resolve
from holdfast.verbs.truth.scans import Scan
from holdfast.verbs.truth.trust import trust_of
from tests.conftest import Time, keep, make_memory

OLD, NEW = "The rate limit is 100 requests per minute.", "The rate limit is 500 requests per minute."


def written(memory: Memory, body: str, **given: object) -> Written:
    outcome = write(memory, Draft(body=body, **given))  # type: ignore[arg-type]
    assert isinstance(outcome, Written), outcome
    return outcome


def two(memory: Memory, time: Time) -> tuple[Record, Record]:
    older = keep(memory, OLD)
    time.pass_days(1)
    return older, keep(memory, NEW)


def test_a_write_names_what_it_seems_to_contradict_and_is_kept_all_the_same(memory: Memory) -> None:
    older = keep(memory, "The API server listens on port 8080.")
    outcome = written(memory, "The API server listens on port 9090.")
    assert [(one.record.id, one.found.reason, one.replaced) for one in outcome.conflicts] == [
        (older.id, "value", False)
    ]
    assert "the older text says 8080, the newer 9090" in outcome.conflicts[0].found.explain
    assert outcome.related == ()
    assert outcome.record.state == "active"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Indent with tabs in this repository.", "We use four spaces for indentation."),
        ("We host everything on AWS.", "Production runs on Google Cloud."),
        ("The API listens on port 8080 in every environment.", "The API uses port 9090 in production."),
        ("Never deploy on Fridays.", "We deploy every Friday."),
        ("Die Tests dürfen die Datenbank nicht mocken.", "Die Tests dürfen die Datenbank mocken."),
    ],
)
def test_a_contradiction_in_other_words_is_named_when_it_is_written(memory: Memory, older: str, newer: str) -> None:
    first = keep(memory, older)
    for n in range(12):
        keep(memory, f"Neighbour {n} of the memory about subject {n} has nothing to do with it.")
    outcome = written(memory, newer)
    assert [one.record.id for one in outcome.conflicts] == [first.id]
    assert outcome.conflicts[0].found.strength >= 0.75
    assert [one.older.id for one in find_all(memory).found] == [first.id]


def test_a_write_that_reports_a_change_is_known_to_replace(memory: Memory) -> None:
    older = keep(memory, "Support tickets are tracked in Zendesk.")
    outcome = written(memory, "Support tickets moved from Zendesk to Linear.")
    assert [(one.record.id, one.replaced) for one in outcome.conflicts] == [(older.id, True)]


def test_texts_that_are_only_alike_contradict_nothing(memory: Memory) -> None:
    keep(memory, "Database migrations run before the seed script starts.")
    keep(memory, "The staging database is Postgres 14.")
    for body in (
        "Database migrations run before the seed script and take ten minutes.",
        "The production database is Postgres 15.",
    ):
        assert written(memory, body).conflicts == ()
    assert find_all(memory).found == ()


def test_the_opposite_is_no_duplicate_though_it_shares_every_word(memory: Memory) -> None:
    older = keep(memory, "The worker runs as root inside the container.")
    outcome = written(memory, "The worker does not run as root inside the container.")
    assert [one.record.id for one in outcome.conflicts] == [older.id]
    again = write(memory, Draft(body="The worker runs as root inside the container."))
    assert isinstance(again, Duplicate)
    assert [one.record.id for one in again.matches] == [older.id]


def test_the_opposite_of_what_was_retired_may_be_said(memory: Memory) -> None:
    retire(memory, keep(memory, "The worker runs as root inside the container.").id, "changed")
    assert written(memory, "The worker does not run as root inside the container.").conflicts == ()
    again = write(memory, Draft(body="The worker runs as root inside the container."))
    assert isinstance(again, PreviouslyRemoved)


def test_other_refusals_stand(memory: Memory) -> None:
    keep(memory, "The rate limit is 100 requests per minute.")
    assert isinstance(write(memory, Draft(body="For now the rate limit is 500 requests per minute.")), Transient)


def test_a_yes_names_what_it_contradicts(memory: Memory) -> None:
    held = write(memory, Draft(body="Use pnpm for installs.", kind="preference", source="inferred"))
    assert isinstance(held, WrittenPending)
    other = keep(memory, "Use npm for installs.", kind="preference")
    told = confirm(memory, held.record.id)
    assert isinstance(told, Written)
    assert [one.record.id for one in told.conflicts] == [other.id]


def test_what_a_draft_says_it_replaces_is_not_asked_about(memory: Memory) -> None:
    older = keep(memory, OLD)
    outcome = written(memory, NEW, links=(Link(relation="supersedes", target=older.id),))
    assert outcome.conflicts == ()


def test_what_was_replaced_already_is_not_asked_about(memory: Memory) -> None:
    older = keep(memory, OLD)
    newer = written(memory, NEW).record
    resolve(memory, older.id, newer.id, "supersede")
    third = written(memory, "The rate limit is 900 requests per minute.")
    assert [one.record.id for one in third.conflicts] == [newer.id]


def test_moments_and_lasting_claims_are_not_held_against_each_other(memory: Memory) -> None:
    keep(memory, "The cleanup job runs on the blue cluster.", kind="observation")
    assert written(memory, "The cleanup job does not run on the blue cluster.", kind="observation").conflicts == ()
    assert find_all(memory).found == ()


def test_arguments_against_a_scar_do_not_contradict_it(memory: Memory) -> None:
    fields = {"severity": "high", "counter_arguments": ["Deploys do not need a dry run.", "There is a backup."]}
    keep(memory, "Deploys need a dry run of the migrations.", kind="scar", fields=fields)
    assert written(memory, "Deploys of the shop take ten minutes.").conflicts == ()
    assert find_all(memory).found == ()


def test_conflicts_of_one_record_are_found_by_words_and_by_meaning(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time, embedder=LocalEmbedder()) as memory:
        older, newer = two(memory, time)
        keep(memory, "The kitchen is closed on Sundays.")
        catch_up(memory)
        assert [one.record.id for one in conflicts(memory, newer.id)] == [older.id]
        (told,) = conflicts(memory, older.id)
        assert (told.record.id, told.found.older, told.found.newer) == (
            newer.id,
            "100",
            "500",
        )


def test_other_projects_are_never_looked_at_but_what_holds_everywhere_is(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time) as memory:
        elsewhere = keep(memory, OLD, project="example.org/acme/other")
        here = keep(memory, NEW)
        assert conflicts(memory, here.id) == []
        assert conflicts(memory, elsewhere.id) == []
        assert find_all(memory).found == ()
        with pytest.raises(Invalid, match="different projects"):
            mark(memory, here.id, elsewhere.id)
        with pytest.raises(Invalid, match="different projects"):
            resolve(memory, here.id, elsewhere.id, "remove")
        time.pass_days(1)
        everywhere = keep(memory, "The rate limit is 900 requests per minute.", project="")
        assert [one.record.id for one in conflicts(memory, here.id)] == [everywhere.id]
        assert [(one.older.id, one.newer.id) for one in find_all(memory).found] == [(here.id, everywhere.id)]


def test_a_project_is_looked_through_and_says_how_far(
    memory: Memory, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, newer = two(memory, time)
    keep(memory, "Deploys take ten minutes on a good day.")
    found = find_all(memory)
    assert [(one.older.id, one.newer.id) for one in found.found] == [(older.id, newer.id)]
    assert (found.looked_at, found.not_looked_at, found.not_compared) == (3, 0, 0)
    monkeypatch.setattr("holdfast.engine.search.near_duplicates.NEWEST", 1)
    found = find_all(memory)
    assert (found.found, found.looked_at, found.not_looked_at) == ((), 1, 2)
    monkeypatch.setattr("holdfast.engine.search.near_duplicates.NEWEST", 2)
    assert len(find_all(memory).found) == 1
    monkeypatch.setattr("holdfast.verbs.truth.contradictions.MOST_CHARACTERS", 50)
    found = find_all(memory)
    assert (found.found, found.not_compared) == ((), 1)


def test_open_contradictions_tell_how_they_came_about(memory: Memory, time: Time) -> None:
    older, newer = two(memory, time)
    time.pass_days(1)
    tabs = keep(memory, "Indent with tabs.")
    spaces = keep(memory, "Four blanks are how we indent.")
    mark(memory, tabs.id, spaces.id, note="both cannot be right")
    marked, found = open_contradictions(memory).found
    assert (marked.older.id, marked.newer.id, marked.marked_by) == (tabs.id, spaces.id, "claude")
    assert [(moment.record, moment.verb) for moment in marked.timeline] == [
        (tabs.id, "recorded"),
        (spaces.id, "recorded"),
        (spaces.id, "linked"),
    ]
    assert (found.older.id, found.newer.id) == (older.id, newer.id)
    assert found.marked_at  # when it was written
    assert [moment.verb for moment in found.timeline] == ["recorded", "recorded", "linked"]
    assert history(memory, spaces.id)[-1].data["note"] == "both cannot be right"


def test_marking_twice_marks_once(memory: Memory, time: Time) -> None:
    older, newer = two(memory, time)
    first = mark(memory, older.id, newer.id)
    again = mark(memory, newer.id, older.id)
    assert (first.newer.id, again.marked_at) == (newer.id, first.marked_at)
    assert get(memory, newer.id).record.links == (Link(relation="contradicts", target=older.id),)
    assert len(open_contradictions(memory).found) == 1
    with pytest.raises(Invalid, match="itself"):
        mark(memory, older.id, older.id)


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
    with pytest.raises(Conflict, match="only active memories"):
        resolve(memory, older.id, newer.id, "supersede")


def test_both_may_hold_after_all(memory: Memory, time: Time) -> None:
    older, newer = two(memory, time)
    resolve(memory, older.id, newer.id, "both", note="one is per key")
    assert open_contradictions(memory).found == ()
    assert len(recall(memory, Query(text="rate limit")).hits) == 2


def test_a_link_that_says_how_two_go_together_settles_them(memory: Memory, time: Time) -> None:
    older, newer = two(memory, time)
    link(memory, newer.id, "refines", older.id)
    assert find_all(memory).found == ()
    assert conflicts(memory, newer.id) == []


def test_a_resolution_is_all_or_nothing(memory: Memory, time: Time) -> None:
    older, newer = two(memory, time)
    mark(memory, older.id, newer.id)
    with pytest.raises(Invalid, match="reason has"):
        resolve(memory, older.id, newer.id, "remove", note="x" * 2_000)
    assert get(memory, newer.id).record.links == (Link(relation="contradicts", target=older.id),)
    with pytest.raises(Invalid, match="is not a resolution"):
        resolve(memory, older.id, newer.id, "fight")
    with pytest.raises(Invalid, match="neither of the two"):
        resolve(memory, older.id, newer.id, "remove", keep=keep(memory, "Something else entirely.").id)


def test_an_imported_older_text_is_read_as_the_older_word(memory: Memory) -> None:
    newer = keep(memory, "Support tickets moved from Zendesk to Linear.")
    outcome = write(
        memory,
        Draft(body="Support tickets are tracked in Zendesk.", at="2020-01-01"),
        waivers=Waivers(duplicate=True),
    )
    assert isinstance(outcome, Written)
    assert [(one.record.id, one.found.newer) for one in outcome.conflicts] == [
        (newer.id, "Support tickets moved from Zendesk to Linear")
    ]


def test_contradictions_are_found_marked_and_resolved_on_either_engine(store: Store, time: Time) -> None:
    here = Config(project="example.org/acme/shop")
    actor = Actor(kind="agent", name="claude")
    memory = Memory(
        store=store,
        config=here,
        checkout=GitCheckout(Path()),
        embedder=None,
        context=Context(actor=actor),
        clock=Clock(time),
    )
    older, newer = two(memory, time)
    found = find_all(memory)
    assert (len(found.found), found.looked_at, found.not_looked_at) == (1, 2, 0)
    mark(memory, older.id, newer.id)
    assert len(open_contradictions(memory).found) == 1
    assert proposals(memory).found == ()
    merged = consolidate(memory, proposal_of(memory, [older.id, newer.id]))
    assert len(split(memory, merged.id)) == 2
    resolve(memory, older.id, newer.id, "supersede")
    assert open_contradictions(memory).found == ()


def test_all_texts_are_compared_once_and_again_with_another_encoder(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(memory, "The API allows 60 requests a minute.")
    compared, runs = contradictions._compared, list[int]()

    def counting(memory: Memory, seq: int) -> Scan:
        runs.append(seq)
        return compared(memory, seq)

    monkeypatch.setattr(contradictions, "_compared", counting)
    open_contradictions(memory)
    keep(memory, "The API allows 120 requests a minute.")
    assert (len(open_contradictions(memory).found), len(runs)) == (1, 1)
    memory.store.note("embedder", "another/8")
    assert (len(open_contradictions(memory).found), len(runs)) == (1, 2)
