"""Sessions from their beginning to their close, on a real store."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.model.event import Actor
from holdfast.model.query import Query
from holdfast.model.session import Host
from holdfast.verbs.exchange.jsonl import export
from holdfast.verbs.memory import Memory
from holdfast.verbs.search.recall import recall
from holdfast.verbs.sessions.close import close, payload_file
from holdfast.verbs.sessions.scars import Answer, answer, effects
from holdfast.verbs.sessions.session import start
from tests.conftest import Time, keep, make_memory, new_file
from tests.rows import some
from tests.scripts import Step
from tests.verbs.scripts import scripts_in

EVIDENCE = "Ran the migration on a copy of production and compared the row counts."
SCAR = {"severity": "high", "counter_arguments": ["It is only a column.", "There is a backup."]}
ANSWERS = {
    "what_broke": "the seed",
    "what_took_longer": "finding out",
    "do_differently": "migrate first",
    "what_worked": "small steps",
    "wrong_assumption": "seed migrates",
}

Open = Callable[..., Memory]


@pytest.fixture
def process(tmp_path: Path, time: Time) -> Open:
    """Give a function that opens the store as another process would; processes in `alive` still run."""
    alive: set[int] = set()

    def open_as(pid: int, *, parent: int = 1, name: str = "claude", starters: bool = False, **given: Any) -> Memory:
        config = {"starters": starters, **given}
        memory = make_memory(tmp_path, time, actor=Actor(kind="agent", name=name), config=config)
        alive.add(pid)
        return replace(memory, host=Host(name="laptop", pid=pid, parent=parent, is_alive=alive.__contains__))

    return open_as


@pytest.fixture
def memory(process: Open) -> Memory:
    """Give a memory that acts in a session it started."""
    return start(process(10))[0]


def die(memory: Memory) -> None:
    memory.host.is_alive.__self__.discard(memory.host.pid)  # type: ignore[attr-defined]
    memory.close()


def payload(memory: Memory, text: str) -> None:
    new_file(some(payload_file(memory, memory.actor.session)), text)


STEPS: dict[str, Step] = {
    "process": lambda script, given: script.go_on(script.request.getfixturevalue("process")(**given)),
    "die": lambda script, _: die(script.memory),
    "export": lambda script, _: "\n".join(export(script.memory)),
    "payload": lambda script, given: payload(script.memory, **given),
}
globals().update(scripts_in(__file__, **STEPS))


def test_a_scar_nobody_heeds_sinks_and_is_called_a_blind_spot(process: Open) -> None:
    memory = process(10)
    ignored = keep(memory, "Deploys on Friday need a second pair of eyes.", kind="scar", fields=SCAR)
    heeded = keep(memory, "Deploys need the release notes and a second pair of eyes.", kind="scar", fields=SCAR)
    for _ in range(4):
        memory, _ = start(memory, force=True)
        recall(memory, Query(text="deploy on Friday second pair of eyes"))
        answer(memory, [Answer(scar=heeded.id, decision="APPLYING", evidence=EVIDENCE)])
        close(memory, close_type="quick")
    found = {one.scar.id: one for one in effects(memory)}
    assert (found[ignored.id].shown, found[ignored.id].outcomes) == (4, {"ignored": 4})
    assert found[ignored.id].is_blind_spot
    assert found[ignored.id].wants_review
    assert found[ignored.id].multiplier == pytest.approx(0.2)
    assert (found[heeded.id].heeded, found[heeded.id].is_blind_spot) == (1.0, False)
    hits = recall(memory, Query(text="deploy on Friday second pair of eyes")).hits
    assert [hit.record.id for hit in hits] == [heeded.id, ignored.id]
    assert hits[1].why["decay"] == pytest.approx(0.2)
    insight = some(start(memory)[1].insight)
    assert (insight.sessions, insight.shown, some(insight.blind_spot).id) == (5, 8, ignored.id)
