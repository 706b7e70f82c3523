"""`holdfast server run` as a real process on a real PostgreSQL: keys, limits, health, logs, metrics, its viewer, a clean end."""

import asyncio
import json
import os
import re
import signal
from collections.abc import Iterator
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urljoin

import httpx2
import psycopg
import pytest
from playwright.sync_api import expect

from holdfast.engine.postgres.database import Postgres
from holdfast.engine.postgres.row_security import VISIBLE
from holdfast.hosts.server.app import Buckets, Metrics
from tests import engines
from tests.hosts.conftest import environment_of
from tests.hosts.running import ROOT, Run, answer, ended, module, runner, wait_for
from tests.hosts.served import Served
from tests.hosts.test_mcp import INITIALIZE
from tests.rows import missing, opened, rows, some
from tests.web.running import CHROMIUM, chromium, stream

SHOP, BANK = "example.org/acme/shop", "example.org/acme/bank"
SERVE = ("-m", "holdfast", "server", "run", "--port", "0", "--rate", "500", "--burst", "500", "--largest", "100000")
pytestmark = pytest.mark.xdist_group("serve")
KEYS = dict.fromkeys(("anna", "ben"), (SHOP, "write"))
KEYS |= {"carla": (BANK, "write"), "rita": (SHOP, "read"), "root": ("*", "admin")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("team")


@pytest.fixture(scope="module")
def environment(folder: Path) -> dict[str, str]:
    return {**environment_of(folder), "HOLDFAST_DATABASE": engines.schema(str(folder))}


@pytest.fixture(scope="module")
def cli(folder: Path, environment: dict[str, str]) -> Run:
    return runner(folder, folder, **{name: environment[name] for name in environment if name.startswith("HOLDFAST_")})


@pytest.fixture(scope="module")
def keys(cli: Run) -> dict[str, str]:
    made = {}
    for user, (project, role) in KEYS.items():
        assert cli("server", "user", "add", user).returncode == 0
        made[user] = answer(cli("server", "key", "add", user, "--project", project, "--role", role, "--json"))["key"]
    return made


served = opened(lambda folder, environment, keys: Served(environment, folder, SERVE, keys["anna"]), scope="module")


def get(served: Served, path: str, key: str = "") -> httpx2.Response:
    return httpx2.get(urljoin(served.url, path), headers={"authorization": f"Bearer {key}"} if key else {}, timeout=120)


def call(served: Served, key: str, name: str, headers: dict[str, str] | None = None, **arguments: Any) -> str:
    more = {"authorization": f"Bearer {key}", **(headers or {})}
    reply = served.ask("tools/call", {"name": name, "arguments": arguments}, **more)
    assert reply.status == 200, reply
    return str(reply.json["result"]["content"][0]["text"])


def test_every_request_needs_a_key(served: Served, keys: dict[str, str]) -> None:
    anna = keys["anna"]
    changed = anna[:-1] + ("A" if anna[-1] != "A" else "B")
    wrong = [f"Bearer {key}" for key in ("", "wrong", changed, anna.upper(), f"{anna} {anna}", "*", "é")]
    for shown in (None, "", anna, f"Basic {anna}", *wrong):
        assert served.ask("tools/list", authorization=shown).status == 401, shown
    for path in ("/metrics", "/", "/mcp", "/anything"):
        assert get(served, path).status_code == 401, path
    assert served.ask("tools/list").status == 200
    assert [get(served, path).status_code for path in ("/healthz", "/readyz")] == [200, 200]


def test_a_team_shares_a_project_and_what_is_private_stays_with_its_user(served: Served, keys: dict[str, str]) -> None:
    call(served, keys["anna"], "remember", text="The kiosk firmware needs a cold reboot after flashing.")
    alone = {"holdfast_visibility": "private"}
    call(served, keys["anna"], "remember", alone, text="My kiosk firmware password manager is called Larch.")
    here = {"root": {"holdfast_project": SHOP}}
    query = "kiosk firmware reboot Larch"
    said = {user: call(served, keys[user], "recall", here.get(user), query=query) for user in KEYS}
    shared = {user: ("cold reboot" in text, "Larch" in text) for user, text in said.items()}
    team = (True, False)
    assert shared == {"anna": (True, True), "ben": team, "rita": team, "carla": (False, False), "root": team}
    kept = some(re.search(r"^[0-9A-Z]{8,26}", said["ben"], re.MULTILINE))
    assert "anna" in call(served, keys["ben"], "read", ids=[kept[0]])


def test_a_project_must_be_one_the_key_opens(served: Served, keys: dict[str, str]) -> None:
    assert served.ask("tools/list", holdfast_project=BANK).status == 403
    assert served.ask("tools/list", holdfast_project=SHOP).status == 200
    assert served.ask("tools/list", authorization=f"Bearer {keys['root']}").status == 400


def test_keys_are_rotated_and_revoked_while_it_runs(served: Served, cli: Run) -> None:
    assert cli("server", "user", "add", "dora").returncode == 0
    made = answer(cli("server", "key", "add", "dora", "--project", SHOP, "--days", "30", "--json"))
    assert served.ask("tools/list", authorization=f"Bearer {made['key']}").status == 200
    turned = answer(cli("server", "key", "rotate", made["id"], "--json"))
    assert served.ask("tools/list", authorization=f"Bearer {made['key']}").status == 401
    assert served.ask("tools/list", authorization=f"Bearer {turned['key']}").status == 200
    listed = {one["id"]: one for one in answer(cli("server", "key", "list", "dora", "--json"))}
    assert (listed[made["id"]]["state"], listed[turned["id"]]["state"]) == ("revoked", "works")
    assert listed[turned["id"]]["used_at"]
    assert "hash" not in listed[turned["id"]]
    assert cli("server", "key", "revoke", turned["id"]).returncode == 0
    assert served.ask("tools/list", authorization=f"Bearer {turned['key']}").status == 401
    again = answer(cli("server", "key", "add", "dora", "--project", SHOP, "--json"))
    assert cli("server", "user", "remove", "dora").returncode == 0
    assert served.ask("tools/list", authorization=f"Bearer {again['key']}").status == 401


def test_only_hashes_of_keys_are_kept(environment: dict[str, str], keys: dict[str, str]) -> None:
    with closing(Postgres(environment["HOLDFAST_DATABASE"])) as db:
        tables = [row[0] for row in db.query("select tablename from pg_tables where schemaname = current_schema()")]
        rows = [row[0] for table in tables for row in db.query(f"select cast(one as text) from {table} as one")]
    kept = "\n".join(rows)
    assert "anna" in kept
    assert all(key not in kept and key.split("_", 2)[2] not in kept for key in keys.values())


def test_sessions_belong_to_their_user_in_the_older_era(served: Served, keys: dict[str, str]) -> None:
    async def session() -> str:
        async with served.client("legacy") as client:
            await client.call_tool("remember", {"text": "Legacy sessions keep their notes in lavender folders."})
            found: Any = await client.call_tool("recall", {"query": "lavender folders"})
            return str(found.content[0].text)

    assert "lavender" in asyncio.run(session())
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
    begun = served.post(message, mcp_protocol_version="2025-11-25")
    taken = {"authorization": f"Bearer {keys['ben']}", "mcp_session_id": begun.headers["mcp-session-id"]}
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}
    assert served.post(listing, mcp_protocol_version="2025-11-25", **taken).status == 404


def test_metrics_are_for_admins_and_tell_no_text(served: Served, keys: dict[str, str]) -> None:
    assert served.ask("tools/list", authorization="Bearer nobody").status == 401
    call(served, keys["anna"], "remember", text="The printer of the kiosk eats blue paper.")
    assert get(served, "/metrics", keys["anna"]).status_code == 403
    told = get(served, "/metrics", keys["root"])
    labels = ('requests_total{path="/mcp",status="200"}', 'tools_total{tool="remember"}', 'refused_total{reason="key"}')
    assert (told.status_code, missing(told.text, *(f"holdfast_{name}" for name in labels))) == (200, [])
    assert "kiosk" not in told.text


def test_a_bucket_empties_and_fills_again() -> None:
    buckets = Buckets(rate=2, burst=3)
    assert [buckets.wait("a", 0.0) for _ in range(4)] == [0, 0, 0, 0.5]
    assert buckets.wait("b", 0.0) == 0
    assert buckets.wait("a", 0.25) == pytest.approx(0.25)
    assert buckets.wait("a", 0.5) == 0
    assert [buckets.wait("a", 100.0) for _ in range(4)] == [0, 0, 0, 0.5]


def test_the_histogram_adds_up() -> None:
    metrics = Metrics()
    for seconds in (0.001, 0.02, 99.0):
        metrics.took(seconds)
    wanted = ('bucket{le="0.005"} 1', 'bucket{le="+Inf"} 3', "count 3")
    assert missing(metrics.text({}), *(f"holdfast_request_seconds_{one}" for one in wanted)) == []


def test_who_asks_too_often_waits_and_leaving_is_clean(
    folder: Path, environment: dict[str, str], keys: dict[str, str]
) -> None:
    slow = (*SERVE[:6], "--rate", "0.5", "--burst", "3")
    with Served(environment, folder, slow, keys["ben"]) as one:
        replies = [one.ask("tools/list") for _ in range(5)]
        assert [reply.status for reply in replies] == [200, 200, 200, 429, 429]
        assert int(replies[-1].headers["retry-after"]) >= 1
        call(one, keys["anna"], "remember", text="Otters sleep holding hands in the harbour.")
        one.process.send_signal(signal.SIGTERM)
        assert one.process.wait(timeout=120) == 0
        lines = [line for line in one.stderr.read().splitlines() if line.startswith("{")]
    *logged, last = map(json.loads, lines)
    requests = [line for line in logged if line["event"] == "request"]
    assert [line["status"] for line in requests] == [200, 200, 200, 429, 429, 200]
    assert (requests[-1]["user"], requests[-1]["project"], requests[-1]["did"]) == ("anna", SHOP, "tools/call remember")
    assert last["event"] == "stopped"
    assert all("Otters" not in line and key not in line for line in lines for key in keys.values())


def test_a_public_address_needs_a_key_first(tmp_path: Path) -> None:
    run = runner(tmp_path, tmp_path, HOLDFAST_DATABASE=engines.schema(str(tmp_path)))
    ended(run("server", "run", "--host", "0.0.0.0", "--port", "0"), 64, "there is no key yet")


def test_sqlite_is_not_served_to_many(tmp_path: Path, run: Run) -> None:
    ended(run("server", "run", HOLDFAST_HOME=str(tmp_path), HOLDFAST_DATABASE=""), 64, "needs PostgreSQL")


@pytest.mark.whole
def test_many_sessions_at_once_find_what_they_kept(served: Served, own_home: Path, keys: dict[str, str]) -> None:
    bench = runner(ROOT, own_home, HOLDFAST_KEY=keys["ben"])
    command = ("sessions", served.url, "--project", SHOP, "--sessions", "30")
    ended(bench(*command, program=module("bench")), 0, "30 of 30 sessions")


@pytest.mark.whole
@pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="needs Debian's chromium")
def test_a_person_logs_in_searches_opens_a_memory_and_logs_out(served: Served, keys: dict[str, str]) -> None:
    base = served.url.removesuffix("/mcp")
    text = "The kiosk firmware needs a cold reboot after flashing."
    assert "Saved" in call(served, keys["ben"], "remember", text=text, force=True)
    with chromium() as browser:
        context = browser.new_context()
        expect.set_options(timeout=180_000)
        page = context.new_page()
        page.goto(f"{base}/memories?q=kiosk+firmware")
        page.get_by_label("Your key").fill(keys["anna"])
        page.get_by_role("button", name="Log in").click()
        expect(page).to_have_url(f"{base}/memories?q=kiosk+firmware")
        expect(page.get_by_title("What this key may do: write")).to_have_text("anna")
        page.get_by_role("link", name=re.compile("kiosk firmware")).first.click()
        expect(page.locator("#pane h1")).to_contain_text("kiosk firmware")
        page.get_by_role("button", name="Log out").click()
        expect(page).to_have_url(f"{base}/login")
        page.goto(f"{base}/memories")
        expect(page.get_by_label("Your key")).to_be_visible()
        assert [cookie["name"] for cookie in context.cookies() if "pass" in cookie.get("name", "")] == []


def test_the_live_stream_tells_what_is_ones_own_and_ends_with_the_key(
    served: Served, cli: Run, keys: dict[str, str]
) -> None:
    made = answer(cli("server", "key", "add", "anna", "--project", SHOP, "--json"))
    with stream(served.url, made["key"], "project=*") as live:
        call(served, keys["carla"], "remember", text="The bank's lift stops at the third floor.")
        call(served, keys["ben"], "remember", text="The shop's lift stops at the second floor.")
        told = next(line for line in live if line.startswith(b"data:") and b"floor" in line)
        assert (b"second floor" in told, b"third floor" in told) == (True, False)
        assert cli("server", "key", "revoke", made["id"]).returncode == 0
        call(served, keys["ben"], "remember", text="The shop's stairs creak at night.")
        assert b"stairs" not in live.read()


# A server whose login owns nothing: it serves, and by itself its login sees nothing at all.


class Nobody(NamedTuple):
    """A login that owns nothing and may serve, its address, and the database as its owner sees it."""

    login: str
    address: str
    owner: Postgres


@pytest.fixture(scope="module")
def nobody(folder: Path, environment: dict[str, str], cli: Run) -> Iterator[Nobody]:
    login = "hf" + blake2b(f"{os.getpid()} {folder}".encode(), digest_size=6).hexdigest()
    url = environment["HOLDFAST_DATABASE"]
    with closing(Postgres(url)) as owner:
        owner.execute(f"create role {login} login")
        assert cli("remember", "The ledger is append-only.").returncode == 0
        granted = cli("store", "migrate", "--grant", login, HOLDFAST_EMBEDDER="local")  # it may not make the index
        assert granted.returncode == 0, granted.stderr
        yield Nobody(login, re.sub(r"//[^/@]*@", f"//{login}@", url), owner)
        owner.script(f"drop owned by {login};\ndrop role {login};\n")


def test_it_serves_and_makes_vectors(
    nobody: Nobody, folder: Path, environment: dict[str, str], keys: dict[str, str]
) -> None:
    own = {**environment, "HOLDFAST_DATABASE": nobody.address, "HOLDFAST_EMBEDDER": "local"}
    with Served(own, folder, SERVE, keys["anna"]) as served:
        assert "Saved" in served.call("remember", text="The terminal firmware needs a cold restart after flashing.")
        wait_for(lambda: not nobody.owner.query("select 1 from unembedded"))
        assert nobody.owner.query("select 1 from vectors")
        assert "cold restart" in served.call("recall", query="rebooting the terminal once it is flashed")
        assert served.ask("tools/list", authorization="Bearer wrong").status == 401


# Ways to be more than one is: another role, another login, a policy or function of one's own, files of the server.
BECOMING: list[str] = rows("statements_to_become_more")


def test_its_own_queries_find_nothing(nobody: Nobody) -> None:
    (owner,) = nobody.owner.query("select tableowner from pg_tables where tablename = 'events' limit 1")[0]
    becoming = [statement.format(owner=owner) for statement in BECOMING]
    assert nobody.owner.query("select 1 from records")
    with psycopg.connect(nobody.address, autocommit=True) as bare:

        def refused(*statements: str) -> None:
            for statement in statements:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    bare.execute(statement.encode())

        refused(*(f"select * from {table}" for table in (*VISIBLE, "keys", "users", "settings")), *becoming)
        bare.execute("set role holdfast_member")
        refused(*becoming, "select * from keys", "drop table records", "alter table records disable row level security")
        for table in VISIBLE:
            assert table == "counters" or bare.execute(f"select * from {table}".encode()).fetchall() == [], table
        bare.execute("set role holdfast_keeper")
        refused("select data from events", "select * from transcripts", "delete from records")


def test_roles_that_could_pass_by_the_policies_are_not_let_serve(nobody: Nobody, cli: Run) -> None:
    mighty = f"{nobody.login}_mighty"
    nobody.owner.execute(f"create role {mighty} login bypassrls")
    try:
        ended(cli("store", "migrate", "--grant", mighty), 64, "pass by every policy")
        ended(cli("store", "migrate", "--grant", "nobody_here"), 64, "There is no role nobody_here")
    finally:
        nobody.owner.execute(f"drop role {mighty}")


def test_it_does_not_start_behind_policies_of_another_version(nobody: Nobody, cli: Run) -> None:
    nobody.owner.execute("update settings set value = 'old' where name = 'protected'")
    ended(cli("server", "run", "--port", "0", HOLDFAST_DATABASE=nobody.address), 5, "migrate --grant")
    assert cli("store", "migrate", "--grant", nobody.login).returncode == 0
