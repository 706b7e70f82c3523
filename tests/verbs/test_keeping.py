"""Knowledge that keeps itself: trust, the hot set, prediction, modes of recall, health and maintenance."""

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.engine.raw import counters
from holdfast.model.errors import Conflict, Invalid
from holdfast.model.query import Query
from holdfast.model.record import Draft
from holdfast.policy.admission.admit import Transient, Waivers
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.hot import (
    admit_used,
    change_trust,
    cool,
    demote,
    heat_counts,
    hot_set,
    pin,
    promote,
    suggested,
    trust_of,
    unpin,
)
from holdfast.verbs.records.lifecycle import link, record_use, rename_scope, restore, retire
from holdfast.verbs.records.read import note_reading
from holdfast.verbs.records.write import write
from holdfast.verbs.search.predict import predict, warm
from holdfast.verbs.search.recall import recall, recall_with_fallback
from holdfast.verbs.sessions.session import start
from holdfast.verbs.truth.verify import verify
from holdfast.verbs.upkeep.doctor import audit, maintain
from holdfast.verbs.upkeep.erasing import erase
from holdfast.verbs.upkeep.health import Typo, health, metrics, quality, typos_in
from tests.conftest import Time, keep, make_memory
from tests.rows import refused

MEMORY = {"config": {"starters": False, "hot_capacity": 3}}


def names(memory: Memory) -> list[str]:
    return [one.record.title for one in hot_set(memory)]


def test_trust_is_changed_for_reasons_and_remembers_them(memory: Memory, time: Time) -> None:
    record = keep(memory, "The limit is 60 a minute.", confidence="high")
    assert (trust_of(memory, record.id).value, trust_of(memory, record.id).history) == (1.0, ())
    change_trust(memory, record.id, "partially_incorrect", raises=False, note="burst of 10 is allowed")
    found = change_trust(memory, record.id, "explicitly_confirmed")
    assert found.value == pytest.approx(1.0)
    assert [(step.reason, step.delta, round(step.value, 2), step.by, step.note) for step in found.history] == [
        ("partially_incorrect", -0.15, 0.85, "claude", "burst of 10 is allowed"),
        ("explicitly_confirmed", 0.15, 1.0, "claude", ""),
    ]
    time.pass_days(180)
    assert trust_of(memory, record.id).now == pytest.approx(0.5)
    verify(memory, record.id)
    assert trust_of(memory, record.id).now == pytest.approx(1.0)


def test_a_penalty_never_raises_trust(memory: Memory) -> None:
    record = keep(memory, "The limit is 60 a minute.")
    assert change_trust(memory, record.id, raises=False, delta=0.2).value == pytest.approx(0.7)
    refused(Invalid, change_trust, memory, record.id, "cross_validated", raises=False, says="raises trust")
    refused(Invalid, change_trust, memory, record.id, "mood", says="is not a reason")
    refused(Invalid, change_trust, memory, record.id, delta=3, says="at most 1")


def test_less_trusted_memories_rank_lower(memory: Memory) -> None:
    first, second = keep(memory, "Deploys run on Monday."), keep(memory, "Deploys run from main.")
    change_trust(memory, first.id, "factually_wrong", raises=False)
    change_trust(memory, first.id, "factually_wrong", raises=False)
    assert [hit.record.id for hit in recall(memory, Query(text="deploys run")).hits] == [second.id, first.id]


def test_an_erased_memory_leaves_no_note_of_trust(memory: Memory) -> None:
    record = keep(memory, "The limit is 60 a minute.")
    change_trust(memory, record.id, "outdated", raises=False, note="burst of ten")
    erase(memory, record.id)
    assert "burst of ten" not in str([dict(event.data) for _, event in memory.store.journal()])


def test_use_lets_a_memory_into_the_hot_set_and_recall_alone_does_not(memory: Memory) -> None:
    record = keep(memory, "The API listens on port 8080.")
    for _ in range(5):
        recall(memory, Query(text="API port"))
    assert hot_set(memory) == []
    for _ in range(4):
        record_use(memory, [record.id], "applied")
    assert [(one.record.id, one.why, one.uses, one.pinned) for one in hot_set(memory)] == [
        (record.id, "used", 4, False)
    ]
    assert heat_counts(memory)["promotions"] == 1


def test_what_is_used_but_kept_out_is_suggested_with_the_reason(memory: Memory) -> None:
    record = keep(memory, "Carts expire after a day.")
    seen = keep(memory, "Saw a slow query.", kind="observation")
    record_use(memory, [record.id, seen.id], "applied")
    assert {(one.record.id, one.why_not) for one in suggested(memory)} == {(record.id, "threshold"), (seen.id, "kind")}
    promote(memory, record.id)
    assert [one.record.id for one in suggested(memory)] == [seen.id]


def test_a_full_hot_set_lets_the_coldest_go(memory: Memory) -> None:
    records = [keep(memory, f"Fact about {word}.") for word in ("redis", "kafka", "nginx", "vault")]
    record_use(memory, [records[1].id], "applied")
    for record in records[:3]:
        promote(memory, record.id)
    pin(memory, records[0].id)
    promote(memory, records[3].id)
    assert set(names(memory)) == {"Fact about redis.", "Fact about kafka.", "Fact about vault."}
    assert names(memory)[0] == "Fact about redis."
    counts = heat_counts(memory)
    assert [counts[name] for name in ("promotions", "demotions", "evictions")] == [4, 0, 1]


def test_a_set_full_of_pins_takes_nobody(memory: Memory) -> None:
    records = [keep(memory, f"Fact about {word}.") for word in ("redis", "kafka", "nginx", "vault")]
    for record in records[:3]:
        pin(memory, record.id)
    refused(Conflict, promote, memory, records[3].id, says="every memory in it is pinned")
    unpin(memory, records[0].id)
    promote(memory, records[3].id)
    demote(memory, records[3].id)
    refused(Conflict, demote, memory, records[3].id, says="not in the hot set")


def test_idleness_takes_memories_out_but_not_pinned_ones(memory: Memory, time: Time) -> None:
    fields = {"severity": "low", "counter_arguments": ["a", "b"]}
    fact, scar = keep(memory, "Fact about redis."), keep(memory, "Scar about failover.", kind="scar", fields=fields)
    held = keep(memory, "Fact about kafka partitions.")
    promote(memory, fact.id)
    promote(memory, scar.id)
    pin(memory, held.id)
    time.pass_days(15)
    assert [record.id for record in cool(memory)] == [fact.id]
    time.pass_days(15)
    memory, _ = start(memory)
    assert names(memory) == ["Fact about kafka partitions."]
    assert heat_counts(memory)["demotions"] == 2


def test_another_projects_memories_are_never_hot_here(memory: Memory, tmp_path: Path, time: Time) -> None:
    record = keep(memory, "Fact about redis.")
    pin(memory, record.id)
    with make_memory(tmp_path, time) as other:
        other = replace(other, config=other.config.__class__(project="example.org/acme/other"))
        assert hot_set(other) == []
        assert admit_used(other, [record.id]) == []


def test_hits_and_misses_of_the_hot_set_are_counted(memory: Memory) -> None:
    hot, cold = keep(memory, "Redis holds sessions."), keep(memory, "Redis holds carts.")
    promote(memory, hot.id)
    recall(memory, Query(text="redis holds"))
    assert (heat_counts(memory)["hits"], heat_counts(memory)["misses"]) == (1, 1)
    assert cold.id not in [one.record.id for one in hot_set(memory)]


def test_a_retired_memory_is_not_hot(memory: Memory) -> None:
    record = keep(memory, "Redis holds sessions.")
    promote(memory, record.id)
    retire(memory, record.id, "gone")
    assert hot_set(memory) == []
    refused(Conflict, promote, memory, record.id, says="only an active memory")
    restore(memory, record.id)
    assert len(hot_set(memory)) == 1


def test_what_sessions_turn_to_next_is_predicted(memory: Memory, time: Time) -> None:
    login, token, billing = (
        keep(memory, text) for text in ("Login uses OAuth.", "Tokens expire hourly.", "Billing runs nightly.")
    )
    for number in range(4):
        there = memory.acting_in(f"s{number}")
        recall(there, Query(text="login OAuth"))
        note_reading(there, [token.id if number < 3 else billing.id])
    found = predict(memory, login.id, least=0.0)
    expected = [(token.id, 3, 0.75), (billing.id, 1, 0.25)]
    assert [(one.record.id, one.times, round(one.probability, 2)) for one in found] == expected
    assert [one.record.id for one in predict(memory, login.id)] == [token.id]
    assert [one.why for one in warm(memory, login.id)] == ["predicted"]
    time.pass_days(60)
    there = memory.acting_in("s9")
    recall(there, Query(text="login OAuth"))
    note_reading(there, [billing.id])
    assert predict(memory, login.id)[0].record.id == billing.id


def test_reading_counts_no_second_showing(memory: Memory) -> None:
    record = keep(memory, "Login uses OAuth.")
    recall(memory, Query(text="login"))
    note_reading(memory, [record.id])
    assert quality(memory).shown == 1
    assert quality(memory).recalls == 1


def test_steps_and_heat_are_the_same_after_a_rebuild(memory: Memory) -> None:
    one, two = keep(memory, "Login uses OAuth."), keep(memory, "Tokens expire hourly.")
    recall(memory, Query(text="login OAuth"))
    recall(memory, Query(text="tokens expire"))
    promote(memory, two.id)
    change_trust(memory, one.id)
    before = (predict(memory, one.id), hot_set(memory), heat_counts(memory), trust_of(memory, one.id))
    memory.store.rebuild()
    assert (predict(memory, one.id), hot_set(memory), heat_counts(memory), trust_of(memory, one.id)) == before


def test_modes_move_the_threshold_and_say_how_sure_they_are(memory: Memory) -> None:
    keep(memory, "The nightly import reads CSV files from the bucket.")
    strict = recall(memory, Query(text="import of parquet tables overnight from snowflake", mode="precision"))
    loose = recall(memory, Query(text="import of parquet tables overnight from snowflake", mode="exploratory"))
    assert (len(strict.hits), strict.confidence, len(loose.hits)) == (0, "low", 1)
    assert recall(memory, Query(text="nightly import CSV")).confidence == "high"
    with pytest.raises(Invalid, match="no mode"):
        recall(memory, Query(text="x", mode="wild"))  # type: ignore[arg-type]


def test_related_memories_come_along_but_not_what_was_replaced(memory: Memory) -> None:
    old = keep(memory, "Imports used to run at two o'clock.")
    new = keep(memory, "The nightly import reads CSV files.")
    detail = keep(memory, "Delimiters are semicolons.")
    link(memory, new.id, "supersedes", old.id)
    link(memory, detail.id, "elaborates", new.id)
    found = recall(memory, Query(text="nightly import CSV", related=True))
    assert [(one.record.id, one.relation) for one in found.related] == [(detail.id, "elaborates")]


def test_a_fallback_asks_for_other_kinds_when_the_first_have_no_answer(memory: Memory) -> None:
    keep(memory, "The nightly import reads CSV files.", kind="fact")
    found = recall_with_fallback(memory, Query(text="nightly import"), [("pattern",), ("decision",), ()])
    assert [hit.record.kind for hit in found.hits] == ["fact"]
    assert recall_with_fallback(memory, Query(text="kubernetes"), [("pattern",), ()]).hits == ()


def test_health_finds_what_needs_care_and_says_what_to_do(memory: Memory, time: Time) -> None:
    wrong = keep(memory, "The queue is RabbitMQ.", scopes=("backend",))
    dead = keep(memory, "Carts live in Redis.", scopes=("backend",))
    cold = keep(memory, "Nobody ever asks about fonts.", scopes=("backnd",))
    used = keep(memory, "Deploys run from main.", scopes=("backend",))
    keep(memory, "Seen once.", kind="observation")
    recall(memory, Query(text="queue RabbitMQ"))
    recall(memory, Query(text="carts Redis"))
    for _ in range(3):
        record_use(memory, [used.id], "applied")
    time.pass_days(31)
    record_use(memory, [wrong.id], "contradicted")
    verify(memory, used.id)
    keep(memory, "Fresh and fine.")
    other = keep(memory, "Likes tabs.", kind="preference")
    link(memory, other.id, "contradicts", dead.id)
    found = health(memory)
    assert [record.id for record in found.contradicted.records] == [wrong.id]
    assert {record.id for record in found.dead.records} == {wrong.id, dead.id}
    assert [record.id for record in found.cold.records] == [cold.id]
    assert {record.id for record in found.unverified.records} == {wrong.id, dead.id, cold.id}
    assert [(record.id, times) for record, times in found.heavy] == [(used.id, 3)]
    assert found.typos == (Typo(scope="backnd", meant="backend"),)
    assert found.conflicts == ((other.id, dead.id),)
    assert [chore.what for chore in found.queue[:2]] == ["fix or retire", "decide"]
    assert found.score < 60
    time.pass_days(31)
    assert [record.id for record in health(memory).stale.records] == [used.id]


def test_a_mended_memory_is_no_longer_called_wrong(memory: Memory) -> None:
    record = keep(memory, "The queue is RabbitMQ.")
    record_use(memory, [record.id], "contradicted")
    assert health(memory).contradicted.total == 1
    memory.clock._now.pass_days(1)  # type: ignore[attr-defined]
    verify(memory, record.id)
    assert health(memory).contradicted.total == 0


def test_scopes_that_differ_by_a_letter_are_suspected_only_when_rare() -> None:
    assert typos_in({"backend": 5, "backnd": 1, "frontend": 3}) == [Typo(scope="backnd", meant="backend")]
    assert typos_in({"backend": 5, "backnd": 4}) == []
    assert typos_in({"api": 5, "app": 1}) == []


def test_refused_wordings_are_counted_so_that_the_list_can_be_judged(memory: Memory) -> None:
    assert isinstance(write(memory, Draft(body="We use redis for now.")), Transient)
    write(memory, Draft(body="We use redis for now."), waivers=Waivers(transient=True))
    assert health(memory).markers == {"for now": (1, 1)}


def test_maintenance_retires_what_served_its_time_and_tells_first(memory: Memory, time: Time) -> None:
    old = keep(memory, "Saw a slow query.", kind="observation")
    fact = keep(memory, "The queue is RabbitMQ.")
    time.pass_days(200)
    planned = maintain(memory, dry_run=True)
    assert [record.id for record in planned.retired] == [old.id]
    assert recall(memory, Query(text="slow query")).hits
    done = maintain(memory)
    assert [record.id for record in done.retired] == [old.id]
    assert not recall(memory, Query(text="slow query")).hits
    assert recall(memory, Query(text="queue RabbitMQ")).hits[0].record.id == fact.id
    assert [(event.verb, event.data["reason"]) for event in audit(memory)] == [("retired", "kept 180 days without use")]
    assert restore(memory, old.id).state == "active"


def test_quality_keeps_declared_and_observed_uses_apart(memory: Memory) -> None:
    record = keep(memory, "The queue is RabbitMQ.")
    recall(memory, Query(text="queue"))
    recall(memory, Query(text="kubernetes"))
    record_use(memory, [record.id], "applied")
    event = memory.event("used", record.id, data={"outcome": "ignored", "observed": "at close"})
    memory.commit([event])
    found = quality(memory)
    assert (found.recalls, found.empty, found.shown, found.helped) == (2, 1, 1, 1.0)
    assert (found.declared, found.observed) == ({"applied": 1}, {"ignored": 1})
    assert found.tokens > 0


def test_failures_in_the_background_are_kept_and_bounded(memory: Memory) -> None:
    for number in range(60):
        counters.fail(memory.store, "vectors", memory.clock.now(), f"problem {number}")
    found = metrics(memory)
    assert (found.failures[0].said, found.tallies) == ("problem 59", {"vectors.failed": 60})
    assert len(counters.failures(memory.store, 100)) == 50


def test_renaming_a_typo_mends_the_score(memory: Memory) -> None:
    for number in range(3):
        keep(memory, f"Fact {number} about topic {'xyz'[number] * 5}.", scopes=("backend",))
    keep(memory, "Fonts are served from the edge.", scopes=("backnd",))
    before = health(memory).score
    rename_scope(memory, "backnd", "backend")
    assert health(memory).score > before
