"""`holdfast store migrate`: when it is killed at any of its writes the source stays as it was, and the same command finishes the move.

So it does after an upgrade that was killed, and after writes in between.
"""

import gzip
import os
import subprocess
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from holdfast.compose import database_at
from holdfast.engine.recovery.copy_store import journal_hash
from holdfast.engine.store import ALL_VIEWS, open_store
from holdfast.model.errors import StoreError
from holdfast.model.ids import Clock
from tests import engines
from tests.conftest import contents, recorded
from tests.engine.test_moving import filled, shared
from tests.engine.test_old_stores import STORES
from tests.hosts.running import Run, answer, ended, killed_at, preloaded
from tests.rows import WHOLE

MIGRATE = ("store", "migrate", "--to")
POINTS = 8 if WHOLE else 2  # and the last two
CHANGES = ("execute", "many", "script")  # of either database


def ran(place: str, *command: str, until: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a command on a store, which may be killed at one of its writes."""
    own = {"HOLDFAST_DATABASE": place} if "://" in place else {"HOLDFAST_HOME": place, "HOLDFAST_DATABASE": ""}
    environment = {**os.environ, "HOLDFAST_EMBEDDER": "none", **own}
    program = killed_at(until, CHANGES, "from holdfast.engine.recovery import copy_store as it; it.PAGE = 7")
    return preloaded(command, Path.cwd(), environment, program=program)


def address(engine: str, folder: Path) -> str:
    return engines.schema(str(folder)) if engine == "postgres" else str(folder)


MOVES = [("sqlite", "postgres"), ("sqlite", "sqlite"), pytest.param("postgres", "sqlite", marks=pytest.mark.whole)]


@pytest.mark.parametrize(("former", "engine"), MOVES)
def test_the_same_command_finishes_a_move_that_was_killed_anywhere(former: str, engine: str, tmp_path: Path) -> None:
    place = address(former, tmp_path / "source")
    with closing(filled(database_at(place))) as here:
        before, wanted = journal_hash(here.db), shared(here)
    whole = ran(place, *MIGRATE, address(engine, tmp_path / "whole"))
    assert whole.returncode == 0, whole.stderr
    changes = int(whole.stdout.split()[-1])
    assert changes > POINTS
    for point in sorted({1 + changes * nth // POINTS for nth in range(POINTS)} | {changes - 1, changes}):
        target = address(engine, tmp_path / f"target-{point}")
        assert ran(place, *MIGRATE, target, until=point).returncode == -9, point
        with closing(database_at(place)) as untouched:
            assert journal_hash(untouched) == before
        assert _is_honest(target, before), point
        with closing(open_store(database_at(place))) as here:
            here.commit([recorded(Clock(partial(float, 1_800_000_000 + point)), "written in between")])
            after, then = journal_hash(here.db), shared(here)
        again = ran(place, *MIGRATE, target)
        if again.returncode == 0:
            before, wanted = after, then
        else:  # it was killed when all was done
            ended(again, 4, "was moved to", "already")
        with closing(open_store(database_at(target))) as there:
            assert (journal_hash(there.db), shared(there) == wanted) == (before, True), point
        before, wanted = after, then


def _is_honest(target: str, before: str) -> bool:
    """Return whether a target is empty, whole, or refuses to be used and says what to do."""
    with closing(database_at(target)) as db:
        try:
            return open_store(db).last_seq() == 0 or journal_hash(db) == before
        except StoreError as problem:
            return "Run the same `holdfast store migrate` again" in str(problem)


def unpacked(folder: Path) -> str:
    (packed,) = (path for path in STORES if path.name.startswith("0001"))
    (folder / "store").mkdir()
    (folder / "store" / "holdfast.db").write_bytes(gzip.decompress(packed.read_bytes()))
    return str(folder / "store")


def with_older_views(place: str) -> str:
    with closing(filled(database_at(place))) as store:
        store.db.execute("update views set version = 0")
    return place


# What a command has to do to open a store that an older version left.
UPGRADES: dict[str, Callable[[Path], str]] = {
    "the first schema": unpacked,
    "older views": lambda folder: with_older_views(str(folder / "store")),
    "older views in PostgreSQL": lambda folder: with_older_views(address("postgres", folder / "store")),
}


@pytest.mark.parametrize("made", UPGRADES.values(), ids=UPGRADES)
def test_an_upgrade_that_was_killed_anywhere_is_done_by_the_next_command(
    made: Callable[[Path], str], tmp_path: Path
) -> None:
    place = made(tmp_path)
    with closing(database_at(place)) as db:
        before = journal_hash(db)
    kills = 0
    for point in (1, 2, 5, 11, 23, 38, 60, 80)[:: 1 if WHOLE else 2]:
        kills += ran(place, "status", until=point).returncode == -9
        with closing(database_at(place)) as db:
            assert journal_hash(db) == before
    assert kills > (5 if WHOLE else 2)
    with closing(open_store(database_at(place))) as store:
        upgraded = contents(store)
        store.rebuild(ALL_VIEWS)
        assert (journal_hash(store.db), contents(store) == upgraded) == (before, True)


def test_a_store_moves_to_a_server_and_back_into_a_file_or_is_taken_in_from_one_and_a_move_needs_one_end(
    run: Run, tmp_path: Path
) -> None:
    file, server = str(tmp_path / "file"), engines.schema(str(tmp_path / "server"))
    own = {"HOLDFAST_HOME": file, "HOLDFAST_DATABASE": ""}
    record = answer(run("remember", "--json", "The staging database is reset every night.", **own))["record"]["id"]
    moved = answer(run(*MIGRATE, server, "--json", **own))
    there = {"HOLDFAST_HOME": str(tmp_path / "elsewhere"), "HOLDFAST_DATABASE": server}
    assert [hit["record"]["id"] for hit in answer(run("recall", "staging", "--json", **there))["hits"]] == [record]
    assert "PostgreSQL" in run("status", **there).stdout
    assert "pgvector" in run("doctor", **there).stdout
    back = str(tmp_path / "back")
    ended(run(*MIGRATE, back, **there), 0, "1 memory", moved["hash"][:16])
    ended(run(*MIGRATE, server, **own), 4, "was moved to")
    home = {"HOLDFAST_HOME": back, "HOLDFAST_DATABASE": ""}
    assert [hit["record"]["id"] for hit in answer(run("recall", "staging", "--json", **home))["hits"]] == [record]
    there = {"HOLDFAST_HOME": str(tmp_path / "t"), "HOLDFAST_DATABASE": engines.schema(str(tmp_path / "t"))}
    assert answer(run("store", "migrate", "--from", back, "--json", **there))["records"] == 1
    for ends in ((), ("--to", "/tmp/a", "--from", "/tmp/b")):
        assert run("store", "migrate", *ends).returncode == 64
