"""A server whose login owns nothing: it serves, and by itself its login sees nothing at all."""

import os
import re
import time
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import psycopg
import pytest

from holdfast.engine.postgres.database import Postgres
from holdfast.engine.postgres.row_security import VISIBLE
from tests import engines
from tests.hosts.conftest import environment_of
from tests.hosts.running import Run, answer, runner
from tests.hosts.served import Served
from tests.rows import rows

SHOP = "example.org/acme/shop"
SERVE = ("-m", "holdfast", "server", "run", "--port", "0")
pytestmark = pytest.mark.xdist_group("serve")


class Place:
    """A team's store, its owner's command line, and a login that owns nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.url = folder, engines.schema(str(folder))
        self.login = "hf" + blake2b(f"{os.getpid()} {folder}".encode(), digest_size=6).hexdigest()
        self.owner = Postgres(self.url)
        self.owner.execute(f"create role {self.login} login")
        self.serving = re.sub(r"//[^/@]*@", f"//{self.login}@", self.url)
        assert self.serving != self.url
        self.environment = {**environment_of(folder), "HOLDFAST_DATABASE": self.url, "HOLDFAST_EMBEDDER": "local"}
        own = {name: value for name, value in self.environment.items() if name.startswith("HOLDFAST_")}
        run = runner(folder, folder)
        self.cli: Run = lambda *arguments, **more: run(*arguments, **{**own, **more})

    def close(self) -> None:
        self.owner.script(f"drop owned by {self.login};\ndrop role {self.login};\n")
        self.owner.close()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    made = Place(tmp_path_factory.mktemp("nobody"))
    assert made.cli("server", "user", "add", "anna").returncode == 0
    assert made.cli("remember", "The ledger is append-only.").returncode == 0
    granted = made.cli("store", "migrate", "--grant", made.login)
    assert granted.returncode == 0, granted.stderr
    yield made
    made.close()


def test_it_serves_and_makes_vectors(place: Place) -> None:
    key = answer(place.cli("server", "key", "add", "anna", "--project", SHOP, "--json"))["key"]
    environment = {**place.environment, "HOLDFAST_DATABASE": place.serving}
    with Served(environment, place.folder, SERVE, key) as served:
        assert "Saved" in served.call("remember", text="The kiosk firmware needs a cold reboot after flashing.")
        until = time.monotonic() + 300
        while not place.owner.query("select 1 from vectors") and time.monotonic() < until:
            time.sleep(0.2)
        assert place.owner.query("select 1 from vectors")
        assert "cold reboot" in served.call("recall", query="restart the device once it is flashed")
        assert served.ask("tools/list", authorization="Bearer wrong").status == 401


# Ways to be more than one is: another role, another login, a policy or function of one's own, files of the server.
BECOMING: list[str] = rows("statements_to_become_more")


def _owner_of(place: Place) -> str:
    return str(place.owner.query("select tableowner from pg_tables where tablename = 'events' limit 1")[0][0])


def test_its_own_queries_find_nothing(place: Place) -> None:
    assert place.owner.query("select 1 from records")
    with psycopg.connect(place.serving, autocommit=True) as bare:
        for table in (*VISIBLE, "keys", "users", "settings"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                bare.execute(f"select * from {table}".encode())
        for becoming in BECOMING:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                bare.execute(becoming.format(owner=_owner_of(place)).encode())
        bare.execute("set role holdfast_member")
        for becoming in BECOMING:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                bare.execute(becoming.format(owner=_owner_of(place)).encode())
        for table in VISIBLE:
            assert table == "counters" or bare.execute(f"select * from {table}".encode()).fetchall() == [], table
        for forbidden in ("select * from keys", "drop table records", "alter table records disable row level security"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                bare.execute(forbidden.encode())
        bare.execute("set role holdfast_keeper")
        for forbidden in ("select data from events", "select * from transcripts", "delete from records"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                bare.execute(forbidden.encode())


def test_roles_that_could_pass_by_the_policies_are_not_let_serve(place: Place) -> None:
    mighty = f"{place.login}_mighty"
    place.owner.execute(f"create role {mighty} login bypassrls")
    try:
        told = place.cli("store", "migrate", "--grant", mighty)
        assert told.returncode != 0
        assert "pass by every policy" in told.stderr
        assert "There is no role nobody_here" in place.cli("store", "migrate", "--grant", "nobody_here").stderr
    finally:
        place.owner.execute(f"drop role {mighty}")


def test_it_does_not_start_behind_policies_of_another_version(place: Place) -> None:
    place.owner.execute("update settings set value = 'old' where name = 'protected'")
    told = place.cli("server", "run", "--port", "0", HOLDFAST_DATABASE=place.serving)
    assert told.returncode != 0
    assert "migrate --grant" in told.stderr
    assert place.cli("store", "migrate", "--grant", place.login).returncode == 0
