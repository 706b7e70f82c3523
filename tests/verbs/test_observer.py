"""A model that reads the trail: within its allowance, once for each drain, and left alone after it failed."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.adapters.observers import AnthropicObserver, load_mode
from holdfast.engine.raw import counters
from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import open_store
from holdfast.model.errors import InvalidConfig
from holdfast.model.ports import Observer, Observing, Rejected
from holdfast.model.session import HookEvent
from holdfast.verbs.capture.derive import Derived, NotAsked, Observed, derive, observer_status, summarise
from holdfast.verbs.memory import Memory
from tests.adapters.stub import Stub, stub_server
from tests.conftest import Time, at_once, make_memory
from tests.policy.trails import events_of
from tests.rows import of_type, opened
from tests.verbs.scripts import scripts_in

ANSWER = "<observation><type>bugfix</type><title>Months were compared in UTC</title><narrative>Late sales went missing.</narrative></observation>"
DAY = 100_000


@pytest.fixture
def stub() -> Iterator[Stub]:
    with stub_server() as running:
        running.text = ANSWER
        yield running


def watched(tmp_path: Path, time: Time, observer: Observer, daily: int = DAY) -> Memory:
    memory = make_memory(tmp_path, time, config={"observer": observer.name, "observer_daily_tokens": daily})
    return replace(memory, observing=lambda: Observing(observer=observer, mode=load_mode("code", None)))


memory = opened(lambda tmp_path, time, stub: watched(tmp_path, time, AnthropicObserver(stub.url, "", "k", seconds=0.5)))


def work(name: str = "s1") -> list[HookEvent]:
    edit = {"tool": "Edit", "file_path": "/repo/a.py", "old_string": "", "new_string": ""}
    return events_of(["fix it", edit, "Fixed the sum."], name=name)


def stub_of(script: Any, **given: Any) -> Stub:
    stub = of_type(Stub, script.request.getfixturevalue("stub"))
    vars(stub).update(given)
    return stub


def watch(script: Any, daily: int) -> None:
    script.memory.close()
    observer = AnthropicObserver(stub_of(script).url, "", "k")
    script.go_on(watched(script.folder, script.time, observer, daily))
    script.request.addfinalizer(script.memory.close)


def derived(memory: Memory, since: str = "", include_open: bool = False, **trail: Any) -> Derived:
    return derive(memory, events_of(**trail), since=since, include_open=include_open)


scripts_in(
    globals(),
    watch,
    stub=stub_of,
    derive=derived,
    summarise=lambda memory, trail, more, **given: summarise(memory, events_of(trail, more), **given),
    wait=lambda script, seconds, less=0: script.time.pass_days((seconds - less) / 86_400),
)


def test_the_allowance_of_a_day_is_never_exceeded_and_comes_back_the_next_day(
    tmp_path: Path, time: Time, stub: Stub
) -> None:
    with watched(tmp_path, time, AnthropicObserver(stub.url, "", "k"), daily=5_000) as memory:
        asked = 0
        for place in range(10):
            found = derive(memory, work(f"s{place}"))
            asked += isinstance(found.observer, Observed)
            assert observer_status(memory)["spent"] <= 5_000
            assert len(found.observations) == 1
        assert found.observer == NotAsked(why="over budget")
        assert 0 < asked < 10
        assert len(stub.asked) == asked
        assert observer_status(memory)["spent"] == 400 * asked
        time.pass_days(1)
        assert isinstance(derive(memory, work("later")).observer, Observed)


def test_two_at_once_cannot_take_more_than_there_is(tmp_path: Path) -> None:
    taken: list[bool] = []

    def take() -> None:
        with closing(open_store(SQLite(tmp_path / "holdfast.db"))) as store:
            taken.extend(counters.reserve(store, "t", "2026-03-02", 10, 100) for _ in range(10))

    take()
    at_once(take, [()] * 4)
    assert sum(taken) == 10


def test_the_wait_doubles_with_each_failure_survives_a_restart_and_ends_somewhere(
    tmp_path: Path, time: Time, stub: Stub
) -> None:
    stub.status = 500
    pauses = []
    for place in range(10):
        with watched(tmp_path, time, AnthropicObserver(stub.url, "", "k")) as memory:
            began = time.now
            derive(memory, work(f"s{place}"))
            until = observer_status(memory)["waiting_until"]
            assert derive(memory, work(f"t{place}")).observer == NotAsked(why="waiting")
            while observer_status(memory)["waiting_until"] == until:
                time.now += 60
            pauses.append(time.now - began)
    assert pauses[:4] == [60, 120, 240, 480]
    assert max(pauses) == 6 * 3600
    assert len(stub.asked) == 10


def test_an_observer_that_is_set_up_wrongly_keeps_nobody_from_their_memory(memory: Memory) -> None:
    def wrong() -> Observing:
        raise InvalidConfig("There is no mode nope.")

    memory = replace(memory, observing=wrong)
    found, said = derive(memory, work()), f"There is no mode nope. {InvalidConfig.remedy}"
    assert (found.observer, len(found.observations)) == (Rejected(said=said), 1)
    assert observer_status(memory)["problem"] == said
