"""A laptop whose team's database comes and goes: nobody waits, nothing is lost, and what is shown says where it is from."""

import time as clock
from pathlib import Path

import pytest

from holdfast.compose import open_memory, refresh_copy
from holdfast.compose.settings import COPY, Settings, load_settings
from holdfast.hosts.mcp.serving import Opened
from holdfast.model.query import Query
from holdfast.surfaces.tool import Call, Client
from holdfast.verbs.search.recall import recall
from tests import engines
from tests.conftest import keep
from tests.hosts.conftest import environment_of

AWAY = "postgresql://nobody@127.0.0.1:1/holdfast"


def settings(folder: Path, database: str, **more: str) -> Settings:
    own = {"agent": "anna", "database": database, **more}
    variables = {f"HOLDFAST_{name.upper()}": value for name, value in own.items()}
    return load_settings(folder=folder, environment=environment_of(folder) | variables)


team = pytest.fixture(lambda tmp_path: engines.schema(str(tmp_path)))


def found(tmp_path: Path, database: str, text: str, **more: str) -> tuple[list[str], tuple[str, ...]]:
    with open_memory(settings(tmp_path, database, **more), folder=tmp_path) as memory:
        answer = recall(memory, Query(text=text))
        return [hit.record.body for hit in answer.hits], answer.notes


def test_what_is_kept_while_the_database_is_away_gets_there_once_it_is_back(tmp_path: Path, team: str) -> None:
    began = clock.monotonic()
    with open_memory(settings(tmp_path, AWAY), folder=tmp_path) as memory:
        assert "cannot be reached" in memory.apart
        keep(memory, "The ferry leaves from pier nine.")
    assert clock.monotonic() - began < 28  # not until the connection pool gives up
    bodies, notes = found(tmp_path, AWAY, "ferry pier")
    assert bodies == ["The ferry leaves from pier nine."]
    assert "Working on the local copy" in notes[0]
    bodies, notes = found(tmp_path, team, "ferry pier")
    assert bodies == ["The ferry leaves from pier nine."]
    assert not notes or "copy" not in notes[0]
    with open_memory(settings(tmp_path, team), folder=tmp_path) as memory:
        told = memory.store.last_seq()
    with open_memory(settings(tmp_path, team), folder=tmp_path) as memory:
        assert memory.store.last_seq() == told  # nothing is sent twice


def test_what_the_team_knows_is_there_when_its_database_is_not(tmp_path: Path, team: str) -> None:
    assert found(tmp_path, team, "ferry")[0] == []
    assert not [name for name in (COPY, "holdfast.db") if (tmp_path / "store" / name).exists()]  # as in a container
    with open_memory(settings(tmp_path, team), folder=tmp_path) as memory:
        keep(memory, "The ferry leaves from pier nine.", visibility="team")
        keep(memory, "My own ferry ticket is green.")
        assert refresh_copy(memory) == 2
        assert refresh_copy(memory) == 0
    with open_memory(settings(tmp_path, team, agent="ben"), folder=tmp_path) as memory:
        keep(memory, "A private ferry note of another.")
        keep(memory, "A ferry of another project.", project="example.org/acme/bank", visibility="team")
    with open_memory(settings(tmp_path, team), folder=tmp_path) as memory:
        assert refresh_copy(memory) == 0
    bodies, notes = found(tmp_path, AWAY, "ferry")
    assert sorted(bodies) == ["My own ferry ticket is green.", "The ferry leaves from pier nine."]
    assert "Working on the local copy" in notes[0]


def test_the_store_a_user_had_before_is_never_sent(tmp_path: Path, team: str) -> None:
    with open_memory(settings(tmp_path, ""), folder=tmp_path) as memory:
        keep(memory, "A diary from before there was a team.")
    with open_memory(settings(tmp_path, AWAY), folder=tmp_path) as memory:
        keep(memory, "The ferry leaves from pier nine.")
    assert found(tmp_path, team, "diary ferry pier")[0] == ["The ferry leaves from pier nine."]


def test_a_running_server_goes_on_with_the_copy_and_back_again(tmp_path: Path, team: str) -> None:
    places, now, client = [team], [0.0], Client("claude")
    opened = Opened(lambda: open_memory(settings(tmp_path, places[0]), folder=tmp_path), client, clock=lambda: now[0])
    call = Call(open=opened, client=client)
    before = call.memory
    keep(before, "Kept at the team's.", visibility="team")
    assert call.memory.store is before.store
    pool = before.store.db._pool  # type: ignore[attr-defined]
    pool.conninfo, places[0] = AWAY, AWAY
    pool.drain()
    now[0] = 2.0
    apart = call.memory
    assert apart.apart
    keep(apart, "Kept on the laptop.", visibility="team")
    places[0] = team
    now[0] = 3.0
    assert call.memory.store is apart.store  # not looked for yet
    now[0] = 30.0
    back = call.memory
    assert not back.apart
    assert before.actor.session == apart.actor.session == back.actor.session
    kept = {hit.record.body for hit in recall(back, Query(text="kept")).hits}
    assert kept == {"Kept at the team's.", "Kept on the laptop."}
    for memory in (before, apart, back):
        memory.close()
