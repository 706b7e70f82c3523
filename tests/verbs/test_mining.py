"""Mining: output is logged masked, each line counts once, what comes back is offered, and a no is final."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.adapters.checkout import GitCheckout
from holdfast.engine.database import Database
from holdfast.engine.raw import outputs
from holdfast.engine.store import Store, open_store
from holdfast.model.config import Config
from holdfast.model.errors import Conflict
from holdfast.model.event import Actor
from holdfast.model.ids import Clock
from holdfast.model.query import Query
from holdfast.policy.admission.admit import Duplicate
from holdfast.verbs.capture import mining
from holdfast.verbs.capture.mining import approve, drop_outputs, log_output, mine_outputs, mined, output_status, reject
from holdfast.verbs.exchange.jsonl import export, import_lines
from holdfast.verbs.memory import Context, Memory
from holdfast.verbs.records.lifecycle import retire
from holdfast.verbs.records.read import get, history, waiting_records
from holdfast.verbs.records.write import Written
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.scars import Answer, judge
from holdfast.verbs.upkeep import erasing
from holdfast.verbs.upkeep.erasing import erase
from tests.conftest import Time, keep, make_memory
from tests.engines import kept_bytes
from tests.rows import each, of_type, refused

PLAIN = "We decided to use Postgres instead of MySQL because of the JSON columns."  # confidence 0.9
RECURRING = "The orders service talks to the billing service over gRPC."  # confidence 0.7
KINDS = (
    PLAIN,
    "The root cause was that the connection pool in the worker was never closed after a timeout.",
    "Run the integration tests with `pytest -m integration --maxfail=1`.",
    "`GET /v1/orders/{id}` returns the order with its lines.",
    "The DB_POOL_SIZE setting is set to 20 in production.",
)
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def anywhere(store: Store, time: Time, tmp_path: Path) -> Memory:
    """Give a memory on each engine."""
    return Memory(
        store=store,
        config=Config(project="example.org/acme/shop"),
        checkout=GitCheckout(tmp_path),
        embedder=None,
        context=Context(actor=Actor(kind="agent", name="claude", session="s1")),
        on_erased=erasing.commit,
        clock=Clock(time),
    )


def said(memory: Memory, text: str, *sessions: str) -> None:
    for session in sessions or ("s1",):
        log_output(memory, text, session)


def occurrences(memory: Memory) -> dict[str, int]:
    rows = memory.store.db.query("select body, occurrences from patterns order by body")
    return {row[0]: row[1] for row in rows}


def test_what_is_said_plainly_is_offered_at_once(anywhere: Memory) -> None:
    said(anywhere, f"Looked around.\n{PLAIN}\nDone.")
    run = mine_outputs(anywhere)
    assert (run.outputs, run.found, run.counted, run.approved) == (1, 1, 1, ())
    (record,) = run.offered
    assert (record.state, record.kind, record.source, record.body) == ("pending", "decision", "mined", PLAIN)
    assert record.by == Actor(kind="rule", name="mining", session="s1")
    seen = record.extra["pattern"]
    expected = {"kind": "decision", "occurrences": 1, "sessions": 1, "confidence": 0.9}
    assert {name: seen[name] for name in ("kind", "occurrences", "sessions", "confidence")} == expected
    assert [one.record.id for one in mined(anywhere)] == [record.id]


def test_the_rest_has_to_come_back_three_times(anywhere: Memory) -> None:
    said(anywhere, RECURRING, "s1", "s2")
    assert mine_outputs(anywhere).offered == ()
    assert occurrences(anywhere) == {RECURRING: 2}
    said(anywhere, RECURRING, "s3")
    (record,) = mine_outputs(anywhere).offered
    assert record.fields == {"category": record.extra["pattern"]["kind"]}
    (one,) = mined(anywhere)
    assert (one.occurrences, one.sessions) == (3, 3)
    assert 0 < one.score < 0.3


def test_each_line_of_a_session_is_counted_once_however_often_it_is_logged_and_mined(
    anywhere: Memory, time: Time
) -> None:
    said(anywhere, RECURRING)
    for _ in range(5):
        mine_outputs(anywhere)
    assert occurrences(anywhere) == {RECURRING: 1}
    assert mine_outputs(anywhere).outputs == 0
    time.pass_days(0.1)
    said(anywhere, f"Earlier I wrote this.\n{RECURRING}\nAnd now more.")  # in the same session: the same line
    mine_outputs(anywhere)
    assert occurrences(anywhere) == {RECURRING: 1}


def test_without_a_session_a_day_is_one(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time, actor=Actor(kind="user", name="ann")) as memory:
        for _ in range(3):
            log_output(memory, RECURRING)
            mine_outputs(memory)
        assert occurrences(memory) == {RECURRING: 1}
        time.pass_days(1)
        log_output(memory, RECURRING)
        mine_outputs(memory)
        assert occurrences(memory) == {RECURRING: 2}


def test_a_run_that_dies_midway_counts_nothing_twice_and_loses_nothing(
    anywhere: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(anywhere, f"{RECURRING}\n\n{PLAIN}", "s1", "s2")
    real, calls = outputs.see, list[str]()

    def dying(*given: object) -> bool:
        calls.append("see")
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(outputs, "see", dying)
    refused(KeyboardInterrupt, mine_outputs, anywhere)
    assert set(occurrences(anywhere).values()) == {1}
    monkeypatch.setattr(outputs, "see", real)
    run = mine_outputs(anywhere)
    assert run.outputs == 1
    assert set(occurrences(anywhere).values()) == {2}
    assert [record.body for record in run.offered] == [PLAIN]


def test_an_offer_that_was_not_made_before_a_crash_is_made_later(
    anywhere: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(anywhere, PLAIN)
    monkeypatch.setattr(outputs, "due", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    refused(KeyboardInterrupt, mine_outputs, anywhere)
    monkeypatch.undo()
    run = mine_outputs(anywhere)
    assert (run.outputs, [record.body for record in run.offered]) == (0, [PLAIN])


def test_two_processes_mining_at_once_count_once(
    database: Callable[[], Database], anywhere: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(anywhere, RECURRING)
    other = replace(anywhere, store=open_store(database()))
    real = mining._patterns

    def overtaken(memory: Memory, output: outputs.Output) -> list[outputs.Pattern]:
        monkeypatch.setattr(mining, "_patterns", real)
        mine_outputs(other)  # another process is faster
        return real(memory, output)

    monkeypatch.setattr(mining, "_patterns", overtaken)
    assert mine_outputs(anywhere).outputs == 0
    assert occurrences(anywhere) == {RECURRING: 1}


def test_more_occurrences_are_told_to_the_one_record(anywhere: Memory, time: Time) -> None:
    said(anywhere, PLAIN)
    (first,) = mine_outputs(anywhere).offered
    time.pass_days(2)
    said(anywhere, PLAIN, "s2", "s3")
    (again,) = mine_outputs(anywhere).offered
    assert again.id == first.id
    assert [event.verb for event in history(anywhere, again.id)] == ["recorded", "revised"]
    assert (again.extra["pattern"]["occurrences"], again.extra["pattern"]["sessions"]) == (3, 3)
    assert len(mined(anywhere)) == 1


def test_a_yes_makes_it_a_memory_and_ends_the_counting(memory: Memory) -> None:
    said(memory, PLAIN)
    mine_outputs(memory)
    assert recall(memory, Query(text="Postgres instead of MySQL")).hits == ()
    outcome = of_type(Written, approve(memory, mined(memory)[0].record.id))
    assert recall(memory, Query(text="Postgres instead of MySQL")).hits[0].record.id == outcome.record.id
    said(memory, PLAIN, "s2", "s3", "s4")
    run = mine_outputs(memory)
    assert (run.outputs, run.counted, run.offered) == (3, 0, ())
    assert (occurrences(memory), mined(memory)) == ({}, [])


def test_a_no_is_final_even_when_it_is_seen_again(anywhere: Memory, time: Time) -> None:
    said(anywhere, f"{PLAIN}\n\n{RECURRING}", "s1", "s2", "s3")
    mine_outputs(anywhere)
    gone = reject(anywhere, [one.record.id for one in mined(anywhere)], reason="known to everybody")
    assert [record.state for record in gone] == ["retired", "retired"]
    assert gone[0].reason == "mined, and not worth keeping: known to everybody"
    for session in ("s4", "s5", "s6", "s7"):
        time.pass_days(20)
        said(anywhere, f"{PLAIN}\n\n{RECURRING}", session)
        run = mine_outputs(anywhere)
        assert (run.counted, run.offered) == (0, ())
    assert mined(anywhere) == []


def test_a_no_holds_in_other_words_order_and_after_erasing(memory: Memory) -> None:
    said(memory, PLAIN)
    (record,) = mine_outputs(memory).offered
    reject(memory, [record.id])
    erase(memory, record.id)
    said(memory, "Because of the JSON columns we decided to use Postgres instead of MySQL.", "s2")
    said(memory, PLAIN, "s3")
    assert mine_outputs(memory).offered == ()


def test_a_no_travels_with_an_export(memory: Memory, tmp_path: Path, time: Time) -> None:
    said(memory, PLAIN)
    reject(memory, [record.id for record in mine_outputs(memory).offered])
    with make_memory(tmp_path / "other", time) as other:
        import_lines(other, list(export(memory)))
        said(other, PLAIN)
        assert mine_outputs(other).offered == ()


def test_rejecting_is_all_or_nothing(memory: Memory) -> None:
    said(memory, PLAIN)
    mine_outputs(memory)
    (one,) = mined(memory)
    refused(Conflict, reject, memory, [one.record.id, keep(memory, "Not mined at all.").id], says="not a pending mined")
    assert len(mined(memory)) == 1


def test_judging_a_held_memory_decides_on_what_was_mined(memory: Memory) -> None:
    other = "We chose FastAPI over Flask because of the type checks."
    said(memory, f"{PLAIN}\n\n{other}")
    ids = {record.body: record.id for record in mine_outputs(memory).offered}
    assert {record.id for record in waiting_records(memory)} == set(ids.values())
    told = judge(memory, [Answer(scar=ids[PLAIN], decision="confirmed"), Answer(scar=ids[other], decision="cancelled")])
    assert told.problems == ()
    said(memory, f"{PLAIN}\n\n{other}", "s2", "s3")
    assert mine_outputs(memory).offered == ()
    assert (get(memory, ids[PLAIN]).record.state, get(memory, ids[other]).record.state) == ("active", "retired")


def test_what_nobody_saw_for_a_month_is_no_longer_offered(anywhere: Memory, time: Time) -> None:
    said(anywhere, PLAIN)
    (record,) = mine_outputs(anywhere).offered
    time.pass_days(20)
    assert [one.record.id for one in mined(anywhere)] == [record.id]
    time.pass_days(11)
    assert mined(anywhere) == []
    refused(Conflict, approve, anywhere, record.id, says="waited longer than 30 days")
    mine_outputs(anywhere)
    assert occurrences(anywhere) == {}
    said(anywhere, PLAIN, "s9")
    (again,) = mine_outputs(anywhere).offered
    assert (again.id, again.extra["pattern"]["occurrences"]) == (record.id, 1)
    assert [one.record.id for one in mined(anywhere)] == [record.id]


def test_what_is_known_or_was_retired_is_not_offered(memory: Memory) -> None:
    known = keep(memory, PLAIN, kind="decision")
    said(memory, PLAIN)
    run = mine_outputs(memory)
    assert (run.counted, run.offered) == (1, ())
    retire(memory, known.id, "we went back to MySQL")
    said(memory, PLAIN, "s2")
    assert mine_outputs(memory).offered == ()


def test_a_yes_is_judged_anew(memory: Memory) -> None:
    said(memory, PLAIN)
    (record,) = mine_outputs(memory).offered
    keep(memory, PLAIN, kind="decision")
    assert isinstance(approve(memory, record.id), Duplicate)
    assert [one.record.id for one in mined(memory)] == [record.id]


def test_nothing_is_kept_without_a_yes_unless_the_settings_say_so(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time, config={"mined_confidence": 0.85, "mined_occurrences": 2}) as memory:
        said(memory, PLAIN)
        assert mine_outputs(memory).approved == ()
        said(memory, f"{PLAIN}\n\n{RECURRING}", "s2", "s3", "s4")
        run = mine_outputs(memory)
        assert [record.body for record in run.approved] == [PLAIN]
        assert [record.body for record in run.offered] == [RECURRING]
        assert history(memory, run.approved[0].id)[-1].by.kind == "rule"


@each(
    "config",
    [
        {"mined_confidence": 0.1},  # one threshold alone approves nothing
        {"mined_confidence": 0.5, "mined_occurrences": 1, "confirm_writes": True},  # where every write waits
    ],
)
def test_what_the_settings_do_not_allow_waits(tmp_path: Path, time: Time, config: dict[str, object]) -> None:
    with make_memory(tmp_path / str(len(config)), time, config=config) as memory:
        said(memory, PLAIN, "s1", "s2", "s3")
        run = mine_outputs(memory)
        assert (run.approved, len(run.offered)) == ((), 1)


def test_projects_are_mined_apart(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time) as memory:
        said(memory, RECURRING, "s1", "s2")
        mine_outputs(memory)
    with make_memory(tmp_path, time) as other:
        other = replace(other, config=replace(other.config, project="example.org/acme/other"))
        assert mine_outputs(other).outputs == 0
        said(other, f"{RECURRING}\n\n{PLAIN}", "s3")
        (record,) = mine_outputs(other).offered
        assert (record.project, record.body) == ("example.org/acme/other", PLAIN)
        assert output_status(other).held.outputs == 1
    with make_memory(tmp_path, time) as memory:
        assert mined(memory) == []
        refused(Conflict, approve, memory, record.id, says=r"was mined in example\.org/acme/other")
        said(memory, PLAIN)
        (own,) = mine_outputs(memory).offered
        assert (own.project, own.id == record.id) == ("example.org/acme/shop", False)


def test_a_secret_is_neither_logged_nor_mined(memory: Memory, tmp_path: Path) -> None:
    said(memory, f"We decided to use {TOKEN} instead of a password because it is short. <private>my diary</private>")
    mine_outputs(memory)
    assert (mined(memory), occurrences(memory)) == ([], {})
    memory.close()
    on_disk = kept_bytes(tmp_path / "store")
    assert TOKEN.encode() not in on_disk
    assert b"diary" not in on_disk


def test_what_was_recalled_is_not_mined_as_news(memory: Memory) -> None:
    said(memory, f'<memory id="x">\n{PLAIN}\n</memory>\n\nUSER: {PLAIN}\n\nASSISTANT: Fine.')
    assert mine_outputs(memory).found == 0


def test_a_log_is_kept_within_its_length_from_its_end(memory: Memory) -> None:
    assert log_output(memory, " \0 ") == 0
    kept = log_output(memory, f"{TOKEN}\n" + "one line of many lines\n" * 6_000 + "the end")
    assert 99_000 < kept <= 100_000
    body = memory.store.db.query("select body from outputs")[0][0]
    assert (body.startswith("one line of many"), body.endswith("the end"), len(body)) == (True, True, kept)
    hidden = "<private>" + "a secret thought " * 80_000 + "</private>and then a public end of it all"
    assert log_output(memory, hidden) == len("and then a public end of it all")


def test_output_is_let_go_by_age_and_by_size_and_that_can_be_seen(tmp_path: Path, time: Time) -> None:
    with make_memory(tmp_path, time, config={"output_days": 3, "output_characters": 150}) as memory:
        said(memory, RECURRING)
        time.pass_days(4)
        for number in range(4):
            said(memory, f"{'x' * 49}{number}")
        status = output_status(memory)
        assert (status.held.outputs, status.held.characters, status.held.unmined) == (3, 150, 3)
        assert (status.most_days, status.most_characters, status.held.ran_at) == (3, 150, "")
        mine_outputs(memory)
        status = output_status(memory)
        assert (status.held.unmined, status.held.ran_at, status.waiting) == (0, memory.clock.now(), 0)
        assert drop_outputs(memory, session="nobody") == 0
        assert drop_outputs(memory) == 3
        assert output_status(memory).held.outputs == 0


def test_kinds_found_become_kinds_of_memories(memory: Memory) -> None:
    said(memory, "\n\n".join(KINDS))
    found = {record.extra["pattern"]["kind"]: record.kind for record in mine_outputs(memory).offered}
    assert found == {
        "decision": "decision",
        "insight": "learning",
        "command": "reference",
        "api_endpoint": "reference",
        "configuration": "fact",
    }


def test_ids_of_what_was_mined_are_told_apart_by_their_first_characters(memory: Memory) -> None:
    names = ("Postgres", "Redis", "Kafka", "Celery", "Django", "Flask", "Vue", "Svelte")
    said(memory, "\n\n".join(f"We decided to use {name} instead of Perl because it is known." for name in names))
    offered = mine_outputs(memory).offered
    assert len({record.id[:10] for record in offered}) == len(offered) == len(names)
