"""Export and import: nothing is lost, nothing comes twice, nothing bad gets in."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.model.errors import Invalid
from holdfast.model.event import event_to_json
from holdfast.verbs.exchange.jsonl import export, import_lines
from holdfast.verbs.memory import Memory
from tests.conftest import Time, keep, make_memory
from tests.engine.test_store import everything, some_history

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
    with pytest.raises(Invalid, match="Line 3"):
        import_lines(other, [*lines[:2], lines[2][:40]])
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
    with pytest.raises(Invalid, match="Line 2"):
        import_lines(memory, [HEADER, line])
    assert list(memory.store.journal()) == []
