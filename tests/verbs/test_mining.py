"""Mining: output is logged masked, each line counts once, what comes back is offered, and a no is final."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from holdfast.engine.raw import outputs
from holdfast.verbs.capture import mining
from holdfast.verbs.capture.mining import log_output, mine_outputs
from holdfast.verbs.memory import Memory, Report
from tests.conftest import Time, make_memory
from tests.rows import refused
from tests.verbs.scripts import scripts_in

PLAIN = "We decided to use Postgres instead of MySQL because of the JSON columns."  # confidence 0.9
RECURRING = "The orders service talks to the billing service over gRPC."  # confidence 0.7
on_both = pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)


def said(memory: Memory, text: str, sessions: Iterable[str] = ("s1",)) -> None:
    for session in sessions:
        log_output(memory, text, session)


def mine(memory: Memory, text: str, sessions: Iterable[str] = ("s1",)) -> Report:
    said(memory, text, sessions)
    return mine_outputs(memory)


def occurrences(memory: Memory) -> dict[str, int]:
    return {row[0]: row[1] for row in memory.store.db.query("select body, occurrences from patterns order by body")}


scripts_in(globals(), said, mine, occurrences, close=lambda script, _: script.memory.close())


@on_both
def test_a_run_that_dies_midway_counts_nothing_twice_and_loses_nothing(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(memory, f"{RECURRING}\n\n{PLAIN}", ("s1", "s2"))
    real, calls = outputs.see, list[str]()

    def dying(*given: object) -> int:
        calls.append("see")
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(outputs, "see", dying)
    refused(KeyboardInterrupt, mine_outputs, memory)
    assert set(occurrences(memory).values()) == {1}
    monkeypatch.setattr(outputs, "see", real)
    # And it dies again, before it offers anything.
    monkeypatch.setattr(outputs, "due", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    refused(KeyboardInterrupt, mine_outputs, memory)
    assert set(occurrences(memory).values()) == {2}
    monkeypatch.undo()
    run = mine_outputs(memory)
    assert (run["outputs"], [record.body for record in run["offered"]]) == (0, [PLAIN])


@on_both
def test_two_processes_mining_at_once_count_once(
    memory: Memory, tmp_path: Path, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(memory, RECURRING)
    other, real = make_memory(tmp_path, time), mining._patterns

    def overtaken(memory: Memory, output: outputs.Output) -> list[outputs.Pattern]:
        monkeypatch.setattr(mining, "_patterns", real)
        mine_outputs(other)  # another process is faster
        return real(memory, output)

    monkeypatch.setattr(mining, "_patterns", overtaken)
    assert mine_outputs(memory)["outputs"] == 0
    assert occurrences(memory) == {RECURRING: 1}


def test_a_log_is_kept_within_its_length_from_its_end(memory: Memory) -> None:
    assert log_output(memory, " \0 ") == 0
    kept = log_output(memory, f"ghp_{'a1B2' * 9}\n" + "one line of many lines\n" * 6_000 + "the end")
    assert 99_000 < kept <= 100_000
    body = memory.store.db.query("select body from outputs")[0][0]
    assert (body.startswith("one line of many"), body.endswith("the end"), len(body)) == (True, True, kept)
    hidden = "<private>" + "a secret thought " * 80_000 + "</private>and then a public end of it all"
    assert log_output(memory, hidden) == len("and then a public end of it all")
