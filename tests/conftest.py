"""What every test stands on: real stores in temporary folders, a clock that is told the time, a home of its own."""

import gc
import itertools
import os
import resource
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import settings

from holdfast.adapters import git
from holdfast.adapters.checkout import GitCheckout
from holdfast.adapters.embedders import local
from holdfast.engine.database import Database
from holdfast.engine.sqlite import SQLite
from holdfast.engine.store import ALL_VIEWS, Store, open_store
from holdfast.model.config import Config
from holdfast.model.event import Actor, Event
from holdfast.model.ids import Clock, instant
from holdfast.model.record import Draft, Record
from holdfast.verbs.memory import Context, Memory
from holdfast.verbs.records.write import Written, write
from holdfast.verbs.upkeep import erasing
from tests import engines
from tests.rows import WHOLE

gc.disable()  # while tests are collected: nothing of that goes away
CLASSIFIER = local.LocalClassifier()  # loads at its first use

for asking in (git.run_git, git.git, git.git_text):
    (asking.__kwdefaults__ or {})["seconds"] = git.SLOW_SECONDS  # on a busy machine
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a job started with &: children would ignore Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

START = 1_790_000_000.0  # 2026-09-21: any fixed moment will do


# Time limits per example fail on a busy machine, not on a bug.
settings.register_profile("holdfast", deadline=None, max_examples=100 if WHOLE else 25)
settings.load_profile("holdfast")


class Time:
    """A clock hand that tests move."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now

    def pass_days(self, days: float) -> None:
        self.now += days * 86_400


@pytest.fixture
def tmp_path(tmp_path: Path) -> Path:
    engines.folders.append(tmp_path)
    return tmp_path


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    engines.forget()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests that share a fixture in one process; leave out what this run is not for."""
    left_out = {"embedded": engines.DEFAULT == "postgres", "whole": not WHOLE}
    marked = [(item, {mark.name for mark in item.iter_markers()}) for item in items]
    kept = [(item, marks) for item, marks in marked if not any(map(left_out.get, marks))]
    items[:] = [item for item, _ in kept]
    for item, marks in kept:
        if not isinstance(item, pytest.Function) or "xdist_group" in marks:
            continue
        if "demo_store" in item.fixturenames:
            item.add_marker(pytest.mark.xdist_group("demo"))
        elif any(found[-1].scope == "module" for found in item._fixtureinfo.name2fixturedefs.values()):
            item.add_marker(pytest.mark.xdist_group(item.module.__name__))  # else each worker would make them


def pytest_collection_finish() -> None:
    """Look for garbage from here on, and not among what was imported and collected, which stays."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the paths of homes, none twice; `mktemp` would look at all earlier ones to find the next."""
    return (tmp_path_factory.mktemp("homes") / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def own_home(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep every test away from the real home directory and from the caller's settings."""
    home = next(homes)
    home.mkdir(mode=0o700)
    for name in [name for name in os.environ if name.startswith(("HOLDFAST_", "XDG_", "GIT_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return home


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def clock(time: Time) -> Clock:
    return Clock(time)


@pytest.fixture(autouse=True)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """Keep the memories of a test on one engine: the one asked for, or each in turn (see `engines`)."""
    chosen: str = getattr(request, "param", engines.DEFAULT)
    with engines.use(chosen):
        yield chosen


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what is most likely to differ on both engines: a slice of its tests, and all with TEST_WHOLE."""
    number = crc32(metafunc.function.__name__.encode())
    if "database" in metafunc.fixturenames:
        is_port = metafunc.module.__name__ == "tests.engine.test_databases"
        names = ["sqlite", "postgres"] if WHOLE or is_port or number % 3 == 0 else ["sqlite"]
        metafunc.parametrize("database", names, indirect=True)
    elif metafunc.module.__name__ in engines.ON_BOTH and engines.DEFAULT == "sqlite" and (WHOLE or number % 8 == 0):
        metafunc.parametrize("engine", ["sqlite", "postgres"], indirect=True)


def pytest_sessionfinish() -> None:
    engines.stop()


@pytest.fixture
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Database]]:
    """Give a function that opens the same empty database again and again, on each engine."""
    with ExitStack() as opened:
        if request.param == "sqlite":
            yield lambda: opened.enter_context(closing(SQLite(tmp_path / "store" / "holdfast.db")))
        else:
            from holdfast.engine.postgres.database import Postgres

            own = engines.schema(str(tmp_path))
            yield lambda: opened.enter_context(closing(Postgres(own)))


@pytest.fixture
def store(database: Callable[[], Database]) -> Store:
    return open_store(database())


@pytest.fixture
def memory(request: pytest.FixtureRequest, tmp_path: Path, time: Time) -> Iterator[Memory]:
    """Give an open memory on a real database, without an embedder; `MEMORY` of a module is what differs there."""
    with make_memory(tmp_path, time, **getattr(request.module, "MEMORY", {})) as opened:
        yield opened


@pytest.fixture(scope="session")
def demo_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the demo store, which ends at START; copy it before writing to it."""
    from demo.build import open_demo
    from holdfast.verbs.exchange.demo import load_demo

    folder = tmp_path_factory.mktemp("demo") / "store"
    with open_demo(folder, lambda: START) as memory:
        load_demo(memory, instant(START))
    return folder


def make_memory(folder: Path, time: Time, **changed: Any) -> Memory:
    return Memory(
        store=open_store(engines.database(folder / "store"), home=folder / "store"),
        config=Config(project="example.org/acme/shop", **changed.pop("config", {})),
        checkout=GitCheckout(folder),
        context=Context(actor=changed.pop("actor", Actor(kind="agent", name="claude", session="s1"))),
        on_erased=erasing.commit,
        embedder=changed.pop("embedder", None),
        classifier=changed.pop("classifier", CLASSIFIER),
        clock=Clock(time),
    )


def keep(memory: Memory, body: str, **given: Any) -> Record:
    """Write something that must be admitted, and give the record."""
    outcome = write(memory, Draft(body=body, **given))
    assert isinstance(outcome, Written), outcome
    return outcome.record


def ran(
    command: Sequence[str], folder: Path | None = None, *, check: bool = False, **options: Any
) -> "subprocess.CompletedProcess[str]":
    """Run a program, which may fail unless `check` is set; return what it printed."""
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=check, **options)


def new_folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def new_file(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def at_once(work: Callable[..., object], calls: Iterable[tuple[Any, ...]]) -> None:
    """Run work in one thread for the arguments of each call, all at the same time."""
    threads = [threading.Thread(target=work, args=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@contextmanager
def no_growth(room: int = 0) -> Iterator[None]:
    """Let no file of this process grow beyond some bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def recorded(clock: Clock, body: str = "a thing", **data: Any) -> Event:
    event_id = clock.tick()
    told = {"body": body, "title": body, **data}
    return Event(id=event_id, about=event_id, verb="recorded", at=clock.now(), data=told)


def contents(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of every view but words and vectors."""
    tables = [table for view in ALL_VIEWS for table in view.tables if table not in ("words", "vectors")]
    return {table: sorted(map(tuple, store.db.query(f"select * from {table}")), key=repr) for table in tables}
