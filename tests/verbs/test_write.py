"""Keeping things: what is admitted, held, refused, and what becomes of it."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.model.errors import Ambiguous, Conflict, Invalid, NotFound
from holdfast.model.event import Actor
from holdfast.model.ids import short
from holdfast.model.query import Query
from holdfast.model.record import Draft, Link
from holdfast.policy.admission.admit import Duplicate, PreviouslyRemoved, ScopeMismatch, SecretFound, Transient, Waivers
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.lifecycle import Revision, link, record_use, rename_scope, restore, retire, revise, unlink
from holdfast.verbs.records.read import get, history, list_records, list_scopes
from holdfast.verbs.records.write import Written, WrittenPending, cancel, confirm, write
from holdfast.verbs.search.observations import timeline
from holdfast.verbs.truth.verify import verify
from holdfast.verbs.upkeep.erasing import erase
from tests.conftest import Time, keep, make_memory
from tests.engines import kept_bytes
from tests.rows import each, of_type, refused

TOKEN = "ghp_" + "a1B2" * 9


def test_a_record_is_kept_with_everything_around_it(memory: Memory) -> None:
    given: dict[str, Any] = {"kind": "learning", "scopes": ("tools",), "tags": ("db",), "fields": {"why": "order"}}
    record = keep(memory, "Run the migrations first. Then seed.", **given)
    assert record == get(memory, record.id).record
    expected = ("Run the migrations first.", "learning", "example.org/acme/shop")
    assert (record.title, record.kind, record.project) == expected
    assert record.by == Actor(kind="agent", name="claude", session="s1")
    assert record.fields == {"why": "order"}
    assert [event.verb for event in history(memory, record.id)] == ["recorded"]


def test_every_record_of_a_busy_moment_is_found_by_the_id_that_is_shown(memory: Memory) -> None:
    kept = [keep(memory, f"Queue {number} is drained at night.") for number in range(30)]
    assert len({short(record.id) for record in kept}) == len(kept)
    for record in kept:
        for reference in (short(record.id), short(record.id).lower(), record.id[-6:], record.id, record.id[:24]):
            assert find(memory, reference).record == record


def test_ids_that_end_alike_are_listed_with_their_titles_and_longer_forms(memory: Memory) -> None:
    first, second = (f"01M3{middle}ABCD2345EF7H" for middle in ("0000000001", "0000000002"))
    for id_, text in ((first, "Apples are red."), (second, "Oranges are not.")):
        memory.commit(
            [replace(memory.event("recorded", id_, data={"kind": "fact", "body": text, "title": text}), id=id_)]
        )
    with pytest.raises(Ambiguous) as caught:
        find(memory, short(first))
    listed = re.findall(r"([0-9A-Z]{9,}) (\w+)", str(caught.value))
    expected = [(first, "Apples"), (second, "Oranges")]
    assert [(find(memory, shown).record.id, title) for shown, title in listed] == expected


def test_an_id_prefix_works_where_it_is_unambiguous(memory: Memory, time: Time) -> None:
    first = keep(memory, "The first thing about apples.")
    time.now += 0.001
    keep(memory, "Another thing about oranges.")
    assert find(memory, first.id[:14].lower()).record == first
    refused(Ambiguous, find, memory, first.id[:8], says=r"matches 2 memories: .* The first thing about apples")
    refused(NotFound, find, memory, "0000ABCD")
    refused(Invalid, find, memory, "not an id!")


def test_saying_the_same_again_is_refused_with_the_record_that_says_it(memory: Memory) -> None:
    first = keep(memory, "The API rate limit is 60 requests per minute.")
    outcome = of_type(Duplicate, write(memory, Draft(body="the api rate limit is 60 requests per minute")))
    assert outcome.matches[0].record == first
    assert isinstance(write(memory, Draft(body=first.body), waivers=Waivers(duplicate=True)), Written)


def test_the_same_in_another_project_is_no_duplicate(memory: Memory) -> None:
    first = keep(memory, "The API rate limit is 60 requests per minute.")
    assert keep(memory, first.body, project="elsewhere").project == "elsewhere"


def test_related_records_are_named(memory: Memory) -> None:
    first = keep(memory, "Database migrations run before the seed script starts.")
    outcome = write(memory, Draft(body="Database migrations run before the seed script and take ten minutes."))
    assert isinstance(outcome, Written)
    assert [near.record for near in outcome.related] == [first]


def test_what_was_retired_is_not_kept_again_without_a_word(memory: Memory) -> None:
    first = keep(memory, "The staging server runs Debian.")
    retire(memory, first.id, "it was shut down")
    outcome = of_type(PreviouslyRemoved, write(memory, Draft(body="The staging server runs Debian.")))
    assert outcome.matches[0].record.reason == "it was shut down"


def test_other_refusals_say_what_stands_in_the_way(memory: Memory) -> None:
    assert write(memory, Draft(body="For now we use redis.")) == Transient(markers=("for now",))
    assert write(memory, Draft(body=f"The token is {TOKEN}.")) == SecretFound(names=("GitHub token",))
    keep(memory, "Payments are in euros.", scopes=("projects:checkout",))
    assert write(memory, Draft(body="The checkout is slow.")) == ScopeMismatch(suggested=("projects:checkout",))
    assert list_records(memory, Query(text="")).total == 1


@each("where", ["title", "fields", "tags", "extra"])
def test_a_secret_is_found_wherever_it_hides(memory: Memory, where: str) -> None:
    hidden = {"title": TOKEN, "fields": {"why": TOKEN}, "tags": (TOKEN,), "extra": {"note": [TOKEN]}}[where]
    draft = replace(Draft(body="Harmless text.", kind="learning"), **{where: hidden})  # type: ignore[arg-type]
    assert write(memory, draft) == SecretFound(names=("GitHub token",))


def test_secrets_can_be_masked_and_private_spans_never_get_in(memory: Memory, tmp_path: Path) -> None:
    outcome = write(memory, Draft(body=f"Use {TOKEN} here <private>my diary</private> always."), redact=True)
    assert isinstance(outcome, Written)
    assert outcome.record.body == "Use [redacted GitHub token] here  always."
    memory.close()
    on_disk = kept_bytes(tmp_path / "store")
    assert TOKEN.encode() not in on_disk
    assert b"diary" not in on_disk


def test_an_inferred_preference_is_held_until_somebody_says_yes(memory: Memory) -> None:
    outcome = write(memory, Draft(body="Prefers tabs to spaces.", kind="preference", source="inferred"))
    assert isinstance(outcome, WrittenPending)
    assert list_records(memory, Query(text="")).total == 0
    assert list_records(memory, Query(text=""), states=("pending",)).records == (outcome.record,)
    kept = of_type(Written, confirm(memory, outcome.record.id))
    assert kept.record.state == "active"
    refused(Conflict, confirm, memory, outcome.record.id)


def test_a_yes_is_judged_anew(memory: Memory) -> None:
    held = write(memory, Draft(body="Prefers tabs to spaces.", kind="preference", source="inferred"))
    assert isinstance(held, WrittenPending)
    keep(memory, "Prefers tabs to spaces.", kind="preference")
    assert isinstance(confirm(memory, held.record.id), Duplicate)


def test_a_no_takes_a_held_record_away_and_waiting_has_an_end(memory: Memory, time: Time) -> None:
    first = write(memory, Draft(body="Prefers tabs to spaces.", kind="preference", source="inferred"))
    second = write(memory, Draft(body="Writes mails in the morning hours.", kind="preference", source="inferred"))
    assert isinstance(first, WrittenPending)
    assert isinstance(second, WrittenPending)
    assert cancel(memory, first.record.id).state == "retired"
    time.pass_days(8)
    refused(Conflict, confirm, memory, second.record.id, says="waited longer than 7 days")
    assert list_records(memory, Query(text=""), states=("pending",)).records == ()


def test_every_write_can_be_made_to_wait(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time, config={"confirm_writes": True}) as memory:
        assert isinstance(write(memory, Draft(body="Anything at all.")), WrittenPending)


def test_only_allowed_scopes_can_be_written(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time, config={"allowed_scopes": ("tools",)}) as memory:
        keep(memory, "A thing about make.", scopes=("tools:make",))
        refused(Invalid, write, memory, Draft(body="Another.", scopes=("other",)), says="not allowed")


@pytest.mark.parametrize(
    "draft",
    [
        Draft(body=""),
        Draft(body="  "),
        Draft(body="x" * 100_001),
        Draft(body="a\0b"),
        Draft(body="\ud800"),
        Draft(body="x", kind="nonsense"),
        Draft(body="x", scopes=("Bad Scope",)),
        Draft(body="x", kind="scar"),
        Draft(body="x", fields={"nope": 1}),
        Draft(body="x", confidence="sure"),  # type: ignore[arg-type]
        Draft(body="x", visibility="public"),  # type: ignore[arg-type]
        Draft(body="x", source="heard"),  # type: ignore[arg-type]
        Draft(body="x", links=(Link(relation="loves", target="01ARZ3NDEKTSV4RRFFQ69G5FAV"),)),
        Draft(body="x", extra={"a": "\0"}),
        Draft(body="x", at="soon"),
    ],
)
def test_what_cannot_be_kept_is_refused_and_leaves_no_trace(memory: Memory, draft: Draft) -> None:
    refused(Invalid, write, memory, draft)
    assert list(memory.store.journal()) == []


def test_revising_keeps_the_history_and_the_title_follows_the_text(memory: Memory) -> None:
    record = keep(memory, "The port is 8080.", tags=("net",))
    revised = revise(memory, record.id, Revision(body="The port is 9090."))
    assert not isinstance(revised, SecretFound)
    expected = ("The port is 9090.", "The port is 9090.", ("net",), 2)
    assert (revised.title, revised.body, revised.tags, revised.revision) == expected
    assert [event.verb for event in history(memory, record.id)] == ["recorded", "revised"]
    assert revise(memory, record.id, Revision(body="The port is 9090.")) == revised
    assert isinstance(revise(memory, record.id, Revision(body=f"The token is {TOKEN}")), SecretFound)
    refused(Invalid, revise, memory, record.id, Revision(), says="Nothing to revise")


def test_a_given_title_stays_when_the_text_changes(memory: Memory) -> None:
    record = keep(memory, "It is 8080.", title="The port")
    revised = revise(memory, record.id, Revision(body="It is 9090."))
    assert not isinstance(revised, SecretFound)
    assert revised.title == "The port"


def test_a_fact_can_become_a_scar_with_what_a_scar_needs(memory: Memory) -> None:
    record = keep(memory, "Never force-push the main branch.")
    refused(Invalid, revise, memory, record.id, Revision(kind="scar"), says="severity is required")
    fields = {"severity": "high", "counter_arguments": ["a", "b"]}
    revised = revise(memory, record.id, Revision(kind="scar", fields=fields))
    assert not isinstance(revised, SecretFound)
    assert (revised.kind, revised.fields) == ("scar", fields)


def test_retiring_and_restoring(memory: Memory) -> None:
    record = keep(memory, "The port is 8080.")
    assert retire(memory, record.id, "moved").reason == "moved"
    refused(Conflict, retire, memory, record.id, "again")
    refused(Conflict, verify, memory, record.id)
    refused(Conflict, revise, memory, record.id, Revision(title="x"))
    assert restore(memory, record.id).state == "active"
    refused(Conflict, restore, memory, record.id)


def test_verifying_is_remembered_until_the_text_changes(memory: Memory, time: Time) -> None:
    record = keep(memory, "The port is 8080.")
    time.pass_days(1)
    assert verify(memory, record.id, note="looked").verified_at == memory.clock.now()
    revised = revise(memory, record.id, Revision(body="The port is 8081."))
    assert not isinstance(revised, SecretFound)
    assert revised.verified_at == ""


def test_erasing_leaves_not_one_byte_of_the_text(memory: Memory, tmp_path: Path) -> None:
    record = keep(memory, "The zebrafish protocol is confidential.", tags=("xylophone",))
    revise(memory, record.id, Revision(body="The zebrafish protocol is very confidential."))
    record_use(memory, [record.id], "applied", note="zebrafish helped")
    keep(memory, "Something unrelated stays here.")
    assert erase(memory, record.id).ids == (record.id,)
    refused(NotFound, find, memory, record.id)
    on_disk = kept_bytes(tmp_path / "store").lower()
    assert b"zebrafish" not in on_disk
    assert b"xylophon" not in on_disk
    assert b"unrelated" in on_disk


def test_links_connect_records_and_can_be_taken_away(memory: Memory) -> None:
    old, new = keep(memory, "Deploys are on Tuesday."), keep(memory, "The release manager announces a deploy.")
    assert link(memory, new.id, "supersedes", old.id).links == (Link(relation="supersedes", target=old.id),)
    assert get(memory, old.id).superseded_by == new.id
    assert link(memory, new.id, "supersedes", old.id).revision == 2
    refused(Invalid, link, memory, new.id, "supersedes", new.id)
    assert unlink(memory, new.id, "supersedes", old.id).links == ()
    refused(NotFound, unlink, memory, new.id, "supersedes", old.id)


def test_a_scope_is_renamed_everywhere_at_once(memory: Memory) -> None:
    one = keep(memory, "About apples.", scopes=("fruit", "shop"))
    two = keep(memory, "About sour pears.", scopes=("fruit:pear",))
    retire(memory, two.id, "eaten")
    assert len(rename_scope(memory, "fruit", "food:fruit")) == 2
    assert get(memory, one.id).record.scopes == ("food:fruit", "shop")
    assert get(memory, two.id).record.scopes == ("food:fruit:pear",)
    assert list_scopes(memory) == {"food:fruit": 1, "shop": 1}
    refused(NotFound, rename_scope, memory, "fruit", "food")
    refused(Invalid, rename_scope, memory, "shop", "shop")


def test_what_became_of_a_record_is_counted(memory: Memory) -> None:
    record = keep(memory, "The port is 8080.")
    record_use(memory, [record.id[:12]], "applied", note="saved an hour")
    record_use(memory, [record.id], "contradicted")
    usage = get(memory, record.id).usage
    assert (usage.applied, usage.contradicted, usage.last_used_at) == (1, 1, memory.clock.now())
    refused(Invalid, record_use, memory, [record.id], "loved")
    refused(Invalid, record_use, memory, [], "applied")


def test_as_of_reads_show_a_record_as_it_stood(memory: Memory, time: Time) -> None:
    record = keep(memory, "The port is 8080.")
    before = memory.clock.now()
    time.pass_days(1)
    revise(memory, record.id, Revision(body="The port is 9090."))
    assert get(memory, record.id, at=before).record.body == "The port is 8080."
    refused(NotFound, get, memory, record.id, at="2020-01-01")


def test_a_timeline_shows_what_was_kept_around_a_record(memory: Memory, time: Time) -> None:
    kept = []
    for word in ("apple", "banana", "cherry", "damson", "elder"):
        time.pass_days(1)
        kept.append(keep(memory, f"Something about the {word}."))
    keep(memory, "Something about quinces.", project="elsewhere")
    assert timeline(memory, kept[2].id, before=1, after=1) == kept[1:4]
    assert timeline(memory, kept[0].id, before=5, after=0) == kept[:1]
    assert timeline(memory, kept[2].id) == kept
    assert timeline(memory, "the cherry", before=1, after=0) == kept[1:3]
    refused(NotFound, timeline, memory, "submarines", says="Nothing fits")


def test_lists_keep_to_the_project_unless_told_otherwise(memory: Memory) -> None:
    here = keep(memory, "Here we use make.")
    everywhere = keep(memory, "Be polite to people.", project="")
    elsewhere = keep(memory, "There they use cmake.", project="elsewhere")
    assert list_records(memory, Query(text="")).records == (here, everywhere)
    assert list_records(memory, Query(text="", project="elsewhere")).records == (elsewhere, everywhere)
    assert list_records(memory, Query(text="", everywhere=True)).total == 3
    refused(Invalid, lambda: list_records(memory, Query(text="", limit=0)))
