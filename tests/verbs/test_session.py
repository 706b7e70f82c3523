"""Sessions from their beginning to their close, on a real store."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.model.event import Actor
from holdfast.model.session import Host
from holdfast.verbs.exchange.jsonl import export
from holdfast.verbs.memory import Memory
from holdfast.verbs.sessions.close import payload_file
from holdfast.verbs.sessions.session import start
from tests.conftest import Time, make_memory, new_file
from tests.rows import some
from tests.verbs.scripts import scripts_in

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


def date(script: Any, path: str, seconds: float) -> None:
    os.utime(script.folder / path, (script.time.now + seconds,) * 2)


scripts_in(
    globals(),
    die,
    date,
    payload,
    process=lambda script, **given: script.go_on(script.request.getfixturevalue("process")(**given)),
    export=lambda memory: "\n".join(export(memory)),
)
