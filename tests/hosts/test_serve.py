"""`holdfast server run` as a real process on a real PostgreSQL: keys, limits, health, logs, metrics, and a clean end."""

import asyncio
import json
import re
import signal
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from holdfast.hosts.server.app import Buckets, Metrics
from tests import engines
from tests.hosts.conftest import environment_of
from tests.hosts.running import Run, answer, runner
from tests.hosts.served import Reply, Served
from tests.rows import missing

SHOP, BANK = "example.org/acme/shop", "example.org/acme/bank"
SERVE = ("-m", "holdfast", "server", "run", "--port", "0", "--rate", "500", "--burst", "500", "--largest", "100000")
pytestmark = pytest.mark.xdist_group("serve")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("team")


@pytest.fixture(scope="module")
def environment(folder: Path) -> dict[str, str]:
    return {**environment_of(folder), "HOLDFAST_DATABASE": engines.schema(str(folder))}


@pytest.fixture(scope="module")
def cli(folder: Path, environment: dict[str, str]) -> Run:
    run = runner(folder, folder)
    own = {name: value for name, value in environment.items() if name.startswith("HOLDFAST_")}
    return lambda *arguments, **more: run(*arguments, **{**own, **more})


@pytest.fixture(scope="module")
def keys(cli: Run) -> dict[str, str]:
    made = {}
    for user, project, role in (
        ("anna", SHOP, "write"),
        ("ben", SHOP, "write"),
        ("carla", BANK, "write"),
        ("rita", SHOP, "read"),
        ("root", "*", "admin"),
    ):
        assert cli("server", "user", "add", user).returncode == 0
        made[user] = answer(cli("server", "key", "add", user, "--project", project, "--role", role, "--json"))["key"]
    return made


@pytest.fixture(scope="module")
def served(folder: Path, environment: dict[str, str], keys: dict[str, str]) -> Iterator[Served]:
    with Served(environment, folder, SERVE, keys["anna"]) as one:
        yield one


def bearer(key: str) -> str:
    return f"Bearer {key}"


def get(served: Served, path: str, key: str = "") -> Reply:
    connection = HTTPConnection(served.url.split("/")[2], timeout=120)
    try:
        connection.request("GET", path, headers={"authorization": bearer(key)} if key else {})
        reply = connection.getresponse()
        return Reply(reply.status, reply.read().decode(), dict(reply.getheaders()))
    finally:
        connection.close()


def call(served: Served, key: str, name: str, headers: dict[str, str] | None = None, **arguments: Any) -> str:
    reply = served.ask(
        "tools/call", {"name": name, "arguments": arguments}, authorization=bearer(key), **(headers or {})
    )
    assert reply.status == 200, reply
    return str(reply.json["result"]["content"][0]["text"])


def test_every_request_needs_a_key(served: Served, keys: dict[str, str]) -> None:
    changed = keys["anna"][:-1] + ("A" if keys["anna"][-1] != "A" else "B")
    for shown in (
        None,
        "",
        "Bearer ",
        "Bearer wrong",
        keys["anna"],
        f"Basic {keys['anna']}",
        bearer(changed),
        bearer(keys["anna"].upper()),
        bearer(f"{keys['anna']} {keys['anna']}"),
        "Bearer *",
        "Bearer é",
    ):
        assert served.ask("tools/list", authorization=shown).status == 401, shown
    for path in ("/metrics", "/", "/mcp", "/anything"):
        assert get(served, path).status == 401, path
    assert served.ask("tools/list").status == 200
    assert [get(served, path).status for path in ("/healthz", "/readyz")] == [200, 200]


def test_a_team_shares_a_project_and_nobody_else_sees_it(served: Served, keys: dict[str, str]) -> None:
    call(served, keys["anna"], "remember", text="The kiosk firmware needs a cold reboot after flashing.")
    question: dict[str, Any] = {"query": "kiosk firmware reboot"}
    assert "cold reboot" in call(served, keys["ben"], "recall", **question)
    assert "cold reboot" in call(served, keys["rita"], "recall", **question)
    assert "cold reboot" not in call(served, keys["carla"], "recall", **question)
    kept = re.search(r"^[0-9A-Z]{8,26}", call(served, keys["ben"], "recall", **question), re.MULTILINE)
    assert kept
    assert "anna" in call(served, keys["ben"], "read", ids=[kept[0]])


def test_what_is_private_stays_with_its_user(served: Served, keys: dict[str, str]) -> None:
    alone = {"holdfast_visibility": "private"}
    call(served, keys["anna"], "remember", alone, text="My sandbox password manager is called Larch.")
    assert "Larch" in call(served, keys["anna"], "recall", query="sandbox password manager")
    for other in ("ben", "rita"):
        assert "Larch" not in call(served, keys[other], "recall", query="sandbox password manager Larch")


def test_a_project_must_be_one_the_key_opens(served: Served, keys: dict[str, str]) -> None:
    assert served.ask("tools/list", holdfast_project=BANK).status == 403
    assert served.ask("tools/list", holdfast_project=SHOP).status == 200
    assert served.ask("tools/list", authorization=bearer(keys["root"])).status == 400
    call(served, keys["anna"], "remember", text="The kiosk firmware update needs a cold reboot afterwards.")
    told = call(served, keys["root"], "recall", {"holdfast_project": SHOP}, query="kiosk firmware reboot")
    assert "cold reboot" in told


def test_keys_are_rotated_and_revoked_while_it_runs(served: Served, cli: Run) -> None:
    assert cli("server", "user", "add", "dora").returncode == 0
    made = answer(cli("server", "key", "add", "dora", "--project", SHOP, "--days", "30", "--json"))
    assert served.ask("tools/list", authorization=bearer(made["key"])).status == 200
    turned = answer(cli("server", "key", "rotate", made["id"], "--json"))
    assert served.ask("tools/list", authorization=bearer(made["key"])).status == 401
    assert served.ask("tools/list", authorization=bearer(turned["key"])).status == 200
    listed = {one["id"]: one for one in answer(cli("server", "key", "list", "dora", "--json"))}
    assert (listed[made["id"]]["state"], listed[turned["id"]]["state"]) == ("revoked", "works")
    assert listed[turned["id"]]["used_at"]
    assert "hash" not in listed[turned["id"]]
    assert cli("server", "key", "revoke", turned["id"]).returncode == 0
    assert served.ask("tools/list", authorization=bearer(turned["key"])).status == 401
    again = answer(cli("server", "key", "add", "dora", "--project", SHOP, "--json"))
    assert cli("server", "user", "remove", "dora").returncode == 0
    assert served.ask("tools/list", authorization=bearer(again["key"])).status == 401


def test_only_hashes_of_keys_are_kept(environment: dict[str, str], keys: dict[str, str]) -> None:
    from holdfast.engine.postgres.database import Postgres

    db = Postgres(environment["HOLDFAST_DATABASE"])
    tables = [row[0] for row in db.query("select tablename from pg_tables where schemaname = current_schema()")]
    kept = "\n".join(
        str(row[0]) for table in tables for row in db.query(f"select cast(one as text) from {table} as one")
    )
    db.close()
    assert "anna" in kept
    assert all(key not in kept and key.split("_", 2)[2] not in kept for key in keys.values())


def test_sessions_belong_to_their_user_in_the_older_era(served: Served, keys: dict[str, str]) -> None:
    async def session() -> str:
        async with served.client("legacy") as client:
            await client.call_tool("remember", {"text": "Legacy sessions keep their notes in lavender folders."})
            found: Any = await client.call_tool("recall", {"query": "lavender folders"})
            return str(found.content[0].text)

    assert "lavender" in asyncio.run(session())
    begun = served.post(_INITIALIZE, mcp_protocol_version="2025-11-25")
    named = begun.headers["mcp-session-id"]
    stolen = served.post(
        _LIST, authorization=bearer(keys["ben"]), mcp_session_id=named, mcp_protocol_version="2025-11-25"
    )
    assert stolen.status == 404


_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
_LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}


def test_a_request_that_is_too_large_is_refused(served: Served) -> None:
    assert served.post(b"x" * 100_001).status == 413
    assert sent_in_parts(served.url, "/login", 100_001) == 413  # whoever asks, and however much they say it is
    assert served.ask("tools/list").status == 200


def test_metrics_are_for_admins_and_tell_no_text(served: Served, keys: dict[str, str]) -> None:
    assert served.ask("tools/list", authorization=bearer("nobody")).status == 401
    assert get(served, "/metrics", keys["anna"]).status == 403
    told = get(served, "/metrics", keys["root"])
    assert told.status == 200
    assert 'holdfast_requests_total{path="/mcp",status="200"}' in told.body
    assert missing(told.body, 'holdfast_tools_total{tool="remember"}', 'holdfast_refused_total{reason="key"}') == []
    assert "kiosk" not in told.body


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
    text = metrics.text({})
    assert 'holdfast_request_seconds_bucket{le="0.005"} 1' in text
    assert missing(text, 'holdfast_request_seconds_bucket{le="+Inf"} 3', "holdfast_request_seconds_count 3") == []


def sent_in_parts(url: str, path: str, size: int) -> int:
    """Send a body that does not say how long it is."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=120)
    parts = (b"x" * 1000 for _ in range(size // 1000 + 1))
    connection.request("POST", path, body=parts, headers={"origin": url.removesuffix("/mcp")}, encode_chunked=True)
    status = connection.getresponse().status
    connection.close()
    return status


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
    logged = [json.loads(line) for line in lines]
    requests = [line for line in logged if line["event"] == "request"]
    assert [line["status"] for line in requests] == [200, 200, 200, 429, 429, 200]
    assert (requests[-1]["user"], requests[-1]["project"], requests[-1]["did"]) == ("anna", SHOP, "tools/call remember")
    assert logged[-1]["event"] == "stopped"
    assert all("Otters" not in line and key not in line for line in lines for key in keys.values())


def test_a_public_address_needs_a_key_first(tmp_path: Path) -> None:
    command = ("server", "run", "--host", "0.0.0.0", "--port", "0")
    done = runner(tmp_path, tmp_path)(*command, HOLDFAST_DATABASE=engines.schema(str(tmp_path)))
    assert done.returncode == 64
    assert "there is no key yet" in done.stderr


def test_sqlite_is_not_served_to_many(tmp_path: Path, run: Run) -> None:
    done = run("server", "run", HOLDFAST_HOME=str(tmp_path), HOLDFAST_DATABASE="")
    assert done.returncode == 64
    assert "needs PostgreSQL" in done.stderr


@pytest.mark.whole
def test_many_sessions_at_once_find_what_they_kept(served: Served, bench: Run, keys: dict[str, str]) -> None:
    done = bench("sessions", served.url, "--project", SHOP, "--sessions", "30", HOLDFAST_KEY=keys["ben"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "30 of 30 sessions" in done.stdout
