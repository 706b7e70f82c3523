"""Two servers on one database under load, one killed, every connection to the database cut: what was acknowledged is there."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from http.client import HTTPException
from pathlib import Path

import pytest

from holdfast.engine.postgres.database import Postgres
from tests import engines
from tests.hosts.conftest import environment_of
from tests.hosts.running import answer, runner
from tests.hosts.served import Served

SHOP = "example.org/acme/shop"
SERVE = ("-m", "holdfast", "server", "run", "--port", "0", "--rate", "1000", "--burst", "1000")
WRITERS, EACH = 4, 8
pytestmark = [pytest.mark.whole, pytest.mark.xdist_group("serve")]


class Team:
    """Servers by place, each of which may be replaced while others use it."""

    def __init__(self, stack: ExitStack, folder: Path, url: str, serve: tuple[str, ...] = SERVE) -> None:
        self.environment = {**environment_of(folder), "HOLDFAST_DATABASE": url}
        own = {name: value for name, value in self.environment.items() if name.startswith("HOLDFAST_")}
        run = runner(folder, folder)
        assert run("server", "user", "add", "anna", **own).returncode == 0
        self.key = str(answer(run("server", "key", "add", "anna", "--project", SHOP, "--json", **own))["key"])
        self._stack, self._folder, self._serve = stack, folder, serve
        self.servers = [self.start(), self.start()]

    def start(self) -> Served:
        return self._stack.enter_context(Served(self.environment, self._folder, self._serve, self.key))


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    with ExitStack() as stack:
        yield Team(stack, tmp_path, engines.schema(str(tmp_path)))


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


def kept_in(url: str) -> list[str]:
    """Return every text that was recorded."""
    admin = Postgres(url)
    rows = admin.query("select cast(cast(data as json) ->> 'body' as text) from events where verb = 'recorded'")
    admin.close()
    return [str(row[0]) for row in rows]


def test_nothing_acknowledged_is_lost_when_a_server_is_killed_and_the_database_lets_go(team: Team) -> None:
    url = team.environment["HOLDFAST_DATABASE"]
    with under_load(team) as told:
        team.servers[0].process.kill()
        admin = Postgres(url)
        others = "pid <> pg_backend_pid() and usename = current_user"
        admin.query(f"select pg_terminate_backend(pid) from pg_stat_activity where {others}")
        admin.close()
        team.servers[0] = team.start()
    assert set(told) <= set(kept_in(url))
    assert len(told) == len(set(told))
