"""Import from other systems, and from an export: nothing twice, nothing lost, nothing of what was changed here undone."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.engine.database import Database
from holdfast.engine.raw import transcripts
from holdfast.engine.store import open_store
from holdfast.engine.views import sessions, usage
from holdfast.model.errors import Invalid
from holdfast.model.event import Actor, event_to_json
from holdfast.model.foreign import Foreign, ForeignEvent, ForeignLink, ForeignSession, ForeignTranscript, Item, Remark
from holdfast.model.record import Draft, Link
from holdfast.model.text import LONGEST_BODY
from holdfast.verbs.exchange import import_foreign as module
from holdfast.verbs.exchange.import_foreign import Report, import_items
from holdfast.verbs.exchange.jsonl import export, import_lines
from holdfast.verbs.memory import Memory, find
from holdfast.verbs.records.lifecycle import Revision, restore, retire, revise, unlink
from holdfast.verbs.sessions.transcript import save_transcript
from holdfast.verbs.upkeep.erasing import erase
from tests.conftest import Time, keep, make_memory
from tests.engine.test_store import everything, some_history
from tests.importing import FIXTURES, SECRET, SHOP, all_records, brought, items, journal_size
from tests.rows import refused

AT = "2026-01-10T09:15:30.250Z"


def foreign(key: str, body: str, **given: Any) -> Foreign:
    draft = {name: given.pop(name) for name in list(given) if name in Draft.__dataclass_fields__ and name != "links"}
    return Foreign(key=key, where=f"list {key}", draft=Draft(body=body, **{"at": AT, **draft}), **given)


def take(memory: Memory, *given: Item, **options: Any) -> Report:
    return import_items(memory, "elsewhere", given, **options)


@pytest.mark.parametrize("name", FIXTURES)
def test_a_rehearsal_writes_nothing_and_a_second_import_changes_nothing(
    memory: Memory, tmp_path: Path, name: str
) -> None:
    rehearsed = brought(memory, name, tmp_path, dry_run=True)
    assert (journal_size(memory), memory.store.projects()) == (0, {"": 0})
    first = brought(memory, name, tmp_path)
    assert first == rehearsed
    kept, views = list(export(memory)), everything(memory.store)
    again = brought(memory, name, tmp_path)
    assert (list(export(memory)), everything(memory.store)) == (kept, views)
    assert (again.taken, again.revised, again.merged, again.events) == ([], [], [], {})
    assert (again.known, again.skipped) == (len(first.taken) + len(first.merged), first.skipped)
    for secret in (SECRET, "my own words", "ask Ben"):
        assert secret not in "\n".join(kept)
    assert bool(first.masked) == ("[redacted password or key]" in "\n".join(kept))
    found = all_records(memory)
    assert found
    for record in found.values():
        origin = (record.source, record.extra["imported"]["system"], bool(record.created_at))
        assert origin == ("imported", FIXTURES[name][0], True)
        assert record == memory.store.folded(record.id)


@pytest.mark.parametrize("name", FIXTURES)
def test_an_import_that_was_interrupted_goes_on(
    memory: Memory, tmp_path: Path, time: Time, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 2)

    def cut_off() -> Iterator[Item]:
        for place, item in enumerate(items(name, tmp_path)):
            if place == 5:
                raise Invalid("The power went out.")
            yield item

    whole = make_memory(tmp_path / "whole", time)
    brought(whole, name, tmp_path)
    try:
        import_items(memory, FIXTURES[name][0], cut_off())
    except Invalid:
        brought(memory, name, tmp_path)
    assert sorted(export(memory)) == sorted(export(whole))
    assert all_records(memory) == all_records(whole)
    whole.close()


def test_what_changed_there_is_revised_here_once(memory: Memory) -> None:
    take(memory, foreign("a", "The port is 8000.", tags=("net",), updated_at="2026-01-11T00:00:00.000Z"))
    changed = foreign("a", "The port is 9000.", tags=("net",), updated_at="2026-02-01T00:00:00.000Z")
    assert [one.key for one in take(memory, changed).revised] == ["a"]
    record = all_records(memory)["a"]
    assert (record.body, record.created_at, record.updated_at) == ("The port is 9000.", AT, "2026-02-01T00:00:00.000Z")
    size = journal_size(memory)
    assert take(memory, changed).known == 1
    assert journal_size(memory) == size


def test_what_was_changed_here_is_left_alone_when_only_the_rest_changed_there(memory: Memory) -> None:
    take(memory, foreign("a", "The port is 8000.", tags=("net",)))
    record_id = all_records(memory)["a"].id
    revise(memory, record_id, Revision(tags=("net", "mine")))
    assert take(memory, foreign("a", "The port is 8000.", tags=("net",))).known == 1
    take(memory, foreign("a", "The port is 9000.", tags=("net",)))
    record = find(memory, record_id).record
    assert (record.body, record.tags) == ("The port is 9000.", ("net", "mine"))


def test_figures_that_move_with_use_are_kept_but_are_no_change(memory: Memory) -> None:
    take(memory, foreign("a", "Hot.", counts={"access_count": 3}))
    assert all_records(memory)["a"].extra["counts"] == {"access_count": 3}
    assert take(memory, foreign("a", "Hot.", counts={"access_count": 4})).known == 1


def test_what_was_erased_here_does_not_come_back(memory: Memory) -> None:
    secret = foreign("a", "Something regrettable.")
    take(memory, secret)
    erase(memory, all_records(memory)["a"].id)
    report = take(memory, secret, ForeignEvent(key="u", verb="used", of=("a",), at=AT, data={"note": "regrettable"}))
    assert [remark.why for remark in report.skipped] == ["it was erased here", "it is about a, which is not there"]
    assert "regrettable" not in "\n".join(export(memory)).replace("which", "")


def test_what_was_retired_here_stays_retired(memory: Memory) -> None:
    take(memory, foreign("a", "Old news."))
    record_id = all_records(memory)["a"].id
    retire(memory, record_id, "outdated")
    take(memory, foreign("a", "Old news."))
    assert find(memory, record_id).record.state == "retired"


def test_a_tombstone_retires_and_a_restoration_there_restores(memory: Memory, time: Time) -> None:
    alive = foreign("a", "The host is up.")
    gone = replace(alive, state="retired", reason="it is gone", retired_at="2026-02-01T00:00:00.000Z")
    take(memory, alive)
    take(memory, gone)
    record = all_records(memory)["a"]
    assert (record.state, record.reason, record.updated_at) == ("retired", "it is gone", "2026-02-01T00:00:00.000Z")
    take(memory, alive)
    assert all_records(memory)["a"].state == "active"
    time.pass_days(1)
    restore_then_again(memory, gone)


def restore_then_again(memory: Memory, gone: Foreign) -> None:
    """A record restored here is not retired again by the same tombstone."""
    take(memory, replace(gone, retired_at="2026-03-01T00:00:00.000Z"))
    restore(memory, all_records(memory)["a"].id)
    take(memory, replace(gone, retired_at="2026-03-01T00:00:00.000Z"))
    assert all_records(memory)["a"].state == "active"


def test_a_memory_that_is_new_and_gone_is_kept_with_its_reason(memory: Memory) -> None:
    take(memory, foreign("a", "Gone.", state="retired", reason=f"token = '{SECRET}'"))
    record = all_records(memory)["a"]
    assert (record.state, record.reason) == ("retired", "token = '[redacted password or key]'")


def test_when_something_was_checked_is_kept(memory: Memory) -> None:
    take(memory, foreign("a", "True.", verified_at="2026-01-20T00:00:00.000Z"))
    assert all_records(memory)["a"].verified_at == "2026-01-20T00:00:00.000Z"
    take(memory, foreign("a", "True.", verified_at="2026-01-25T00:00:00.000Z"))
    assert all_records(memory)["a"].verified_at == "2026-01-25T00:00:00.000Z"


def test_what_is_said_here_already_is_credited_not_repeated(memory: Memory) -> None:
    own = keep(memory, "Deploys go out on Tuesdays.", tags=("mine",))
    report = take(memory, foreign("a", "deploys go out on TUESDAYS.", tags=("theirs",)))
    assert [(one.key, one.id) for one in report.merged] == [("a", own.id)]
    record = find(memory, own.id).record
    assert (record.tags, record.extra["also"][0]["id"]) == (("mine", "theirs"), "a")
    assert (record.body, record.source, record.updated_at) == (own.body, "explicit", own.updated_at)
    revise(memory, own.id, Revision(body="Deploys go out on Mondays."))
    assert take(memory, foreign("a", "deploys go out on TUESDAYS.", tags=("theirs",))).known == 1


def test_what_one_source_says_twice_becomes_one_record(memory: Memory) -> None:
    twice = [foreign(key, "Said twice.", by=Actor(kind="agent", session=key)) for key in ("a", "b", "c")]
    report = take(memory, *twice, foreign("d", "Something else.", links=(ForeignLink(relation="refines", key="c"),)))
    assert (len(report.taken), len(report.merged)) == (2, 2)
    found = all_records(memory)
    assert [one["id"] for one in found["a"].extra["also"]] == ["b", "c"]
    assert found["d"].links == (Link(relation="refines", target=found["a"].id),)


def test_a_text_said_a_hundred_times_is_credited_a_hundred_times_but_shown_a_few(memory: Memory) -> None:
    said = [foreign(str(place), "Continue.", extra={"nth": place}, tags=("prompt",)) for place in range(100)]
    report = take(memory, *said)
    assert (len(report.taken), len(report.merged)) == (1, 99)
    kept = "\n".join(export(memory))
    assert all(f'"nth": {place}' in kept for place in range(100))
    assert len(all_records(memory)["0"].extra["also"]) == 20
    assert take(memory, *said).known == 100


def test_a_new_text_that_was_checked_there_counts_as_checked(memory: Memory) -> None:
    take(memory, foreign("a", "The port is 8000.", verified_at="2026-01-20T00:00:00.000Z"))
    newer = {"updated_at": "2026-02-01T00:00:00.000Z", "verified_at": "2026-02-01T00:00:00.000Z"}
    take(memory, foreign("a", "The port is 9000.", **newer))
    record = all_records(memory)["a"]
    assert (record.body, record.verified_at) == ("The port is 9000.", "2026-02-01T00:00:00.000Z")
    size = journal_size(memory)
    take(memory, foreign("a", "The port is 9000.", **newer))
    assert journal_size(memory) == size


def test_what_was_credited_and_then_changed_there_becomes_a_record_of_its_own(memory: Memory) -> None:
    own = keep(memory, "Deploys go out on Tuesdays.")
    take(memory, foreign("a", "Deploys go out on Tuesdays."))
    report = take(memory, foreign("a", "Deploys go out on Fridays."))
    assert [one.key for one in report.taken] == ["a"]
    assert find(memory, own.id).record.body == "Deploys go out on Tuesdays."


def test_what_was_credited_to_an_erased_record_stays_gone(memory: Memory) -> None:
    own = keep(memory, "Something regrettable.")
    take(memory, foreign("a", "Something regrettable."))
    erase(memory, own.id)
    assert [remark.why for remark in take(memory, foreign("a", "Something regrettable.")).skipped] == [
        "it was erased here"
    ]
    assert "regrettable" not in "\n".join(export(memory))


@pytest.mark.parametrize("name", ["gitmem", "claude-mem"])
def test_a_team_database_takes_it_in_too(database: Callable[[], Database], tmp_path: Path, name: str) -> None:
    shared = make_memory(tmp_path, Time())
    shared.store.close()
    shared = replace(shared, store=open_store(database()))
    report = brought(shared, name, tmp_path)
    size = journal_size(shared)
    assert len(all_records(shared)) == len(report.taken)
    assert brought(shared, name, tmp_path).known == len(report.taken)
    assert journal_size(shared) == size


def test_the_same_words_in_another_project_are_another_memory(memory: Memory) -> None:
    take(memory, foreign("a", "Tests run in CI.", project="billing"), foreign("b", "Tests run in CI."))
    expected = {"a": "billing", "b": "example.org/acme/shop"}
    assert {key: record.project for key, record in all_records(memory).items()} == expected


@pytest.mark.parametrize(
    ("there", "chosen", "here"),
    [
        (None, "", "example.org/acme/shop"),
        ("shop", "", "example.org/acme/shop"),
        ("Shop/feature-x", "", "example.org/acme/shop"),
        ("", "", ""),
        ("", SHOP, SHOP),
        ("shop", SHOP, SHOP),
        ("blog", SHOP, "blog"),
        ("other.org/acme/shop", "", "other.org/acme/shop"),
        ("/home/ada/shop", "", "/home/ada/shop"),
    ],
)
def test_a_project_is_known_by_its_remote_or_by_its_name(
    memory: Memory, there: str | None, chosen: str, here: str
) -> None:
    take(memory, foreign("a", "Somewhere.", project=there), project=chosen)
    assert all_records(memory)["a"].project == here


def test_a_text_too_long_for_one_record_becomes_several_that_hang_together(memory: Memory) -> None:
    lines = [f"line {place} of a very long log that somebody kept" for place in range(5_000)]
    take(memory, foreign("a", "\n".join(lines), title="The log"))
    found = all_records(memory)
    parts = [found[key] for key in ("a", "a#2", "a#3")]
    assert len(found) == 3
    assert [part.title for part in parts] == ["The log (1/3)", "The log (2/3)", "The log (3/3)"]
    assert "\n".join(part.body for part in parts).split("\n") == lines
    assert all(len(part.body) <= LONGEST_BODY for part in parts)
    assert parts[2].links == (Link(relation="elaborates", target=parts[0].id),)


def test_what_fits_nowhere_is_kept_beside_the_record_and_said(memory: Memory) -> None:
    fields = {"severity": "URGENT", "why": "x" * 3_000, "keywords": "one", "mood": "calm"}
    labels = {"tags": ("t" * 200,), "scopes": ("Not A Scope", "ok:nested")}
    report = take(memory, foreign("a", "A scar without severity.", kind="scar", fields=fields, **labels))
    record = all_records(memory)["a"]
    assert record.fields == {"keywords": ["one"]}
    assert record.extra["fields"] == {"severity": "URGENT", "why": "x" * 3_000, "mood": "calm"}
    assert (record.scopes, record.tags, record.extra["labels"]) == (("ok:nested",), ("Not A Scope",), ["t" * 200])
    expected = ["its severity does not fit", "its why does not fit", f"the label {'t' * 40!r} does not fit"]
    assert sorted(remark.why for remark in report.asides) == expected


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("  ", "it is empty"),
        ("<private>all of it</private>", "it contains only private text"),
        ("a\0b", "The text contains NUL bytes."),
        ("\udcff", "The text is not valid UTF-8."),
    ],
)
def test_what_cannot_be_kept_is_skipped_with_its_reason(memory: Memory, body: str, why: str) -> None:
    report = take(memory, foreign("a", body), foreign("b", "Fine."))
    assert report.skipped == [Remark(where="list a", why=why)]
    assert list(all_records(memory)) == ["b"]


def test_more_metadata_than_an_event_holds_is_refused(memory: Memory) -> None:
    report = take(memory, foreign("a", "Small text.", extra={"dump": "x" * 2_100_000}))
    assert "characters besides its text" in report.skipped[0].why


def test_links_wait_for_their_other_end(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH", 1)
    link = ForeignLink(relation="builds-upon", key="b", at="2026-01-12T00:00:00.000Z")
    lost = ForeignLink(relation="mentions", key="nowhere")
    report = take(memory, foreign("a", "First.", links=(link, lost)), foreign("b", "Second."))
    found = all_records(memory)
    assert found["a"].links == (Link(relation="relates_to", target=found["b"].id),)
    assert report.events == {"linked": 1}
    assert [remark.why for remark in report.skipped] == ["it points at nowhere (mentions), which is not there"]


def test_a_link_taken_away_here_stays_away(memory: Memory) -> None:
    pair = (foreign("a", "First.", links=(ForeignLink(relation="refines", key="b"),)), foreign("b", "Second."))
    take(memory, *pair)
    found = all_records(memory)
    unlink(memory, found["a"].id, "refines", found["b"].id)
    take(memory, *pair)
    assert all_records(memory)["a"].links == ()


def test_uses_and_showings_are_counted_once_for_the_record_that_says_it(memory: Memory) -> None:
    by = Actor(kind="agent", name="cli", session="s-1")
    told = (
        foreign("a", "Counted."),
        ForeignEvent(key="1", verb="surfaced", of=("a", "lost"), at=AT, by=by),
        ForeignEvent(key="2", verb="used", of=("a",), at=AT, by=by, data={"outcome": "applied"}),
        ForeignEvent(key="3", verb="used", of=("a",), at=AT, by=by, data={"outcome": "applied"}),
    )
    for _ in range(2):
        take(memory, *told)
    record_id = all_records(memory)["a"].id
    counts = usage.of(memory.store, [record_id])[record_id]
    assert (counts.surfaced, counts.applied, counts.last_used_at) == (1, 2, AT)


def test_a_session_is_kept_with_what_it_left(memory: Memory) -> None:
    summary = foreign("sum", "We did it.", kind="summary", by=Actor(kind="agent", session="host-1"))
    session = ForeignSession(
        id="host-1",
        at=AT,
        title="A title",
        by=Actor(kind="agent", name="cli"),
        closed_at="2026-01-10T10:00:00.000Z",
        close={"type": "standard"},
        left={"summary": "sum", "retrospective": "none"},
        extra={"branch": "main"},
    )
    take(memory, summary, session)
    found = sessions.of(memory.store, "host-1")
    assert found
    assert (found.title, found.agent, found.started_at, found.is_open) == ("A title", "cli", AT, False)
    assert found.close == {"type": "standard", "summary": all_records(memory)["sum"].id}


def test_what_was_asked_becomes_a_transcript_unless_there_is_one(memory: Memory) -> None:
    session = ForeignSession(id="host-1", at=AT)
    first = ForeignTranscript(session="host-1", turns=({"role": "user", "content": "Add a test"},), where="prompts")
    more = replace(first, turns=(*first.turns, {"role": "user", "content": "And another"}))
    assert take(memory, session, first).transcripts == 1
    assert take(memory, session, first).transcripts == 0
    assert take(memory, session, more).transcripts == 1
    kept = transcripts.get(memory.store, "host-1")
    assert kept
    assert "And another" in kept.body
    save_transcript(memory, "Our own.", session="host-1")
    assert take(memory, session, more).skipped[0].why == "the session has a transcript of its own"


def test_ids_are_told_apart_by_their_first_characters(memory: Memory) -> None:
    at = "2026-01-10T09:15:30.000Z"
    take(memory, *(foreign(str(place), f"Number {place}.", at=at) for place in range(20)))
    assert len({record.id[:10] for record in all_records(memory).values()}) > 15


def test_a_memory_without_a_lasting_time_keeps_its_identity_when_its_file_is_touched(memory: Memory) -> None:
    section = foreign("CLAUDE.md › Tests", "Run make check.", dated=False)
    take(memory, section)
    touched = replace(section, draft=replace(section.draft, at="2026-05-01T00:00:00.000Z"))
    assert take(memory, touched).known == 1
    edited = replace(touched, draft=replace(touched.draft, body="Run make test."))
    assert len(take(memory, edited).revised) == 1
    record = all_records(memory)["CLAUDE.md › Tests"]
    assert (record.body, record.created_at) == ("Run make test.", AT)


HEADER = '{"holdfast": "export", "format": 1}'


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10_000), size=st.integers(1, 40))
def test_a_round_trip_is_lossless_and_idempotent(
    tmp_path_factory: pytest.TempPathFactory, seed: int, size: int
) -> None:
    here, there = (make_memory(tmp_path_factory.mktemp(name), Time()) for name in ("here", "there"))
    here.store.commit(some_history(seed, size))
    lines = list(export(here))
    for _ in range(2):
        import_lines(there, lines)
        assert list(export(there)) == lines
        assert everything(there.store) == everything(here.store)
    here.close()
    there.close()


def test_an_import_cut_short_can_be_repeated(memory: Memory, tmp_path: Path, time: Time) -> None:
    for word in ("apple", "banana", "cherry"):
        keep(memory, f"Something about the {word}.")
    lines = list(export(memory))
    other = make_memory(tmp_path / "other", time)
    refused(Invalid, import_lines, other, [*lines[:2], lines[2][:40]], says="Line 3")
    assert import_lines(other, lines).events == 3
    assert list(export(other)) == lines
    other.close()


def test_ids_go_on_from_what_was_imported(memory: Memory, tmp_path: Path, time: Time) -> None:
    time.now += 3600
    ahead = keep(memory, "From a clock an hour ahead.")
    lines = list(export(memory))
    time.now -= 3600
    other = make_memory(tmp_path / "other", time)
    import_lines(other, lines)
    assert keep(other, "Written after the import.").id > ahead.id
    other.close()


def test_secrets_in_an_export_are_masked_on_the_way_in(memory: Memory) -> None:
    token = "npm_" + "aB1" * 12
    event = event_to_json(some_history(1, 1)[0])
    event["data"] = {"title": "t", "body": f"uses {token}", "project": ""}
    import_lines(memory, [HEADER, json.dumps(event)])
    assert token not in "\n".join(export(memory))
    assert "[redacted npm token]" in "\n".join(export(memory))


@pytest.mark.parametrize("line", ['{"id"', "5", '{"id": "x"}', '"\\ud800"', "NaN"])
def test_a_bad_line_is_named(memory: Memory, line: str) -> None:
    refused(Invalid, import_lines, memory, [HEADER, line], says="Line 2")
    assert list(memory.store.journal()) == []
