"""The four compatible surfaces on a real team server over HTTP: keys that are missing, forged, for reading, or of another project."""

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.hosts.mcp.serving import SURFACES, surface_named
from holdfast.surfaces.tool import Tool
from tests import engines
from tests.hostile.texts import NASTY, TIMES
from tests.hosts.conftest import environment_of
from tests.hosts.running import answer, runner
from tests.hosts.served import Served
from tests.hosts.team import BANK, SHOP, at_work, furnish, team, visit
from tests.hosts.test_isolation import calls_of
from tests.rows import sampled

WORD, UNSAID = "zanzibar", "qxz7431vault"
SERVE = ("-m", "holdfast", "server", "run", "--port", "0", "--rate", "100000", "--burst", "100000", "--surface")
MOST = 4 * TIMES  # calls of a tool; `test_isolation.py` makes all of them, without a network
pytestmark = pytest.mark.xdist_group("surfaces over http")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("team")


@pytest.fixture(scope="module")
def ids(folder: Path) -> dict[str, str]:
    """Fill the bank's project; the keys below are for the shop."""
    with team(folder) as members, at_work(members, visit("carla", BANK)) as memory:
        return furnish(memory, WORD, UNSAID)


@pytest.fixture(scope="module")
def keys(folder: Path) -> dict[str, str]:
    run, own = runner(folder, folder), {"HOLDFAST_DATABASE": engines.schema(str(folder)), "HOLDFAST_HOME": str(folder)}
    made = {}
    for user, role in (("anna", "write"), ("rita", "read"), ("gone", "write")):
        assert run("server", "user", "add", user, **own).returncode == 0
        given = answer(run("server", "key", "add", user, "--project", SHOP, "--role", role, "--json", **own))
        made[user] = given["key"]
    assert run("server", "user", "remove", "gone", **own).returncode == 0
    return made


@pytest.fixture(scope="module", params=sampled([name for name in SURFACES if name != "core"], 4))
def served(request: pytest.FixtureRequest, folder: Path, keys: dict[str, str]) -> Iterator[tuple[str, Served]]:
    environment = environment_of(folder) | {
        "HOLDFAST_DATABASE": engines.schema(str(folder)),
        "HOLDFAST_HOME": str(folder),
    }
    with Served(environment, folder, (*SERVE, request.param), keys["anna"]) as server:
        logs = threading.Thread(target=server.stderr.read)  # it logs every request, and would wait for a reader
        logs.start()
        yield request.param, server
        server.process.terminate()
        logs.join()


def rows(folder: Path) -> list[str]:
    """Return every event there is, without when keys were used."""
    with team(folder) as members:
        return [
            str(row[0]) for row in members.owner.store.db.query("select cast(events as text) from events order by seq")
        ]


def some(tool: Tool, texts: list[str]) -> list[dict[str, Any]]:
    calls = {json.dumps(call, sort_keys=True): call for text in texts for call in calls_of(tool, text)}
    return list(calls.values())[:: max(1, len(calls) // MOST)]


def test_no_tool_answers_without_a_key_that_is_valid(
    served: tuple[str, Served], keys: dict[str, str], folder: Path
) -> None:
    name, server = served
    tools = list(surface_named(name).tools.values())
    before, first = rows(folder), keys["anna"]
    forged = [
        None,
        "",
        "Bearer",
        f"Bearer {first[:-1]}",
        f"Bearer {first}x",
        f"Bearer {keys['gone']}",
        f"Bearer {first.upper()}",
        "Bearer *",
        f"Bearer {first} {first}",
    ]
    statuses = {
        (tool.name, shown): server.ask(
            "tools/call", {"name": tool.name, "arguments": some(tool, [WORD])[0]}, authorization=shown
        ).status
        for place, tool in enumerate(tools)
        for shown in (forged if place < 2 else forged[place % len(forged) :: len(forged)])
    }
    assert {call: status for call, status in statuses.items() if status != 401} == {}
    assert rows(folder) == before


def test_no_tool_gives_away_another_project_whatever_is_asked(
    served: tuple[str, Served], ids: dict[str, str], folder: Path
) -> None:
    name, server = served
    before = [row for row in rows(folder) if UNSAID in row]
    failures = {}
    for tool in surface_named(name).tools.values():
        for arguments in some(tool, [BANK, WORD, *ids.values()]):
            for headers in ({}, {"holdfast_project": BANK}):
                reply = server.ask("tools/call", {"name": tool.name, "arguments": arguments}, **headers)
                if UNSAID in reply.body or reply.status not in ((403,) if headers else (200, 202)):
                    failures[tool.name] = (arguments, headers, reply.status, reply.body[:200])
    assert failures == {}
    assert [row for row in rows(folder) if UNSAID in row] == before


def test_hostile_arguments_get_an_answer_and_a_reading_key_changes_nothing(
    served: tuple[str, Served], keys: dict[str, str], folder: Path
) -> None:
    name, server = served
    before, failures = rows(folder), {}
    for place, tool in enumerate(surface_named(name).tools.values()):
        for nth, text in enumerate(text for text in NASTY if len(text) < 4_000):
            if TIMES == 1 and (nth + place) % 8:
                continue
            arguments = next(calls_of(tool, text))
            reply = server.ask(
                "tools/call", {"name": tool.name, "arguments": arguments}, authorization=f"Bearer {keys['rita']}"
            )
            if reply.status >= 500 or re.search(r"Internal error|Traceback|psycopg|-32603", reply.body):
                failures[f"{tool.name} {text[:20]!a}"] = (reply.status, reply.body[:300])
    assert failures == {}
    assert rows(folder) == before
