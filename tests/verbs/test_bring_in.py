"""Import from other systems, from documents and from an export: nothing twice, nothing lost, nothing of what was changed here undone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.model.errors import Invalid
from holdfast.model.record import Draft, Link
from holdfast.model.replica import Foreign, ForeignEvent, ForeignSession, ForeignTranscript, Item
from holdfast.model.text import LONGEST_BODY
from holdfast.verbs.exchange import import_foreign as module
from holdfast.verbs.exchange.import_foreign import Report, import_items
from holdfast.verbs.exchange.jsonl import export, import_lines
from holdfast.verbs.memory import Memory
from tests.calls import made
from tests.conftest import Time, make_memory
from tests.engine.test_store import everything, some_history
from tests.engines import DEFAULT
from tests.importing import FIXTURES, SECRET, all_records, brought, items, journal_size
from tests.rows import WHOLE, of_type, sampled
from tests.verbs.scripts import scripts_in

AT = "2026-01-10T09:15:30.250Z"


def item(key: str, given: dict[str, Any]) -> Item:
    """Return what another system has under a key: an event, a session, a transcript, or a memory by its fields."""
    if "verb" in given:
        return of_type(ForeignEvent, made(ForeignEvent, {"key": key, "at": AT, **given}))
    if "turns" in given:
        return of_type(ForeignTranscript, made(ForeignTranscript, given))
    if "id" in given:
        return of_type(ForeignSession, made(ForeignSession, {"at": AT, **given}))
    draft = {name: given[name] for name in given if name in Draft.__dataclass_fields__ and name != "links"}
    other = {name: given[name] for name in given if name not in draft}
    return of_type(Foreign, made(Foreign, {"key": key, "where": f"list {key}", "draft": {"at": AT, **draft}, **other}))


def foreign(key: str, body: str, **given: Any) -> Item:
    return item(key, {"body": body, **given})


def take(memory: Memory, *given: Item, **options: Any) -> Report:
    return import_items(memory, "elsewhere", given, **options)


def taken(memory: Memory, options: dict[str, Any] | None = None, **given: Any) -> Report:
    return take(memory, *(item(key, given[key]) for key in given), **options or {})


scripts_in(globals(), take=taken, records=all_records)


ON_ENGINES = [("claude-mem", "postgres"), *((name, DEFAULT) for name in FIXTURES)]


@pytest.mark.parametrize(("name", "engine"), ON_ENGINES, indirect=["engine"])
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


@pytest.mark.parametrize("name", sampled(FIXTURES, 3))
@patch.object(module, "BATCH", 2)
def test_an_import_that_was_interrupted_goes_on(memory: Memory, tmp_path: Path, time: Time, name: str) -> None:
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


def test_a_text_said_a_hundred_times_is_credited_a_hundred_times_but_shown_a_few(memory: Memory) -> None:
    said = [foreign(str(place), "Continue.", extra={"nth": place}, tags=("prompt",)) for place in range(100)]
    report = take(memory, *said)
    kept = "\n".join(export(memory))
    assert (len(report.taken), len(report.merged), take(memory, *said).known) == (1, 99, 100)
    assert (all(f'"nth": {n}' in kept for n in range(100)), len(all_records(memory)["0"].extra["also"])) == (True, 20)


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


@settings(max_examples=15 if WHOLE else 5, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
