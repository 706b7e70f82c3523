"""A server answers nothing from the files of its own machine, through no tool and no page, and keeps nothing of them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.hosts.mcp.protocol import ProtocolError, server_of
from holdfast.hosts.mcp.serving import SURFACES, surface_named
from holdfast.hosts.server.members import Members
from holdfast.model.access import asking
from holdfast.surfaces.tool import Tool
from tests.hosts.team import SHOP, at_work, team, visit
from tests.hosts.test_isolation import calls_of
from tests.rows import each, sampled

SECRET = "qxz8816lantern"
TOOLS = [(name, tool) for name in SURFACES for tool in surface_named(name).tools.values()]
READING = {"bootstrap_project": "root_path", "seed_from_file": "file_path"}
ANNA = visit("anna", SHOP)
pytestmark = pytest.mark.xdist_group("isolation")


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("machine")
    for name in ("README.md", "notes.md", "CLAUDE.md"):
        text = f"# Notes\n\n- Always rehearse {SECRET} migrations on a copy of the data first.\n"
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Members]:
    with team(tmp_path_factory.mktemp("files")) as opened:
        yield opened


def ask(members: Members, name: str, tool: Tool, arguments: dict[str, Any]) -> str:
    with asking(ANNA.access):
        try:
            server = server_of([surface_named(name)], members.call_of(ANNA))
            return json.dumps(server.answer("tools/call", {"name": tool.name, "arguments": arguments}))
        except ProtocolError as problem:
            return json.dumps(problem.to_json())


@each(("name", "tool"), TOOLS)
def test_no_tool_reads_files_of_the_server(
    members: Members, machine: Path, name: str, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(machine)
    for said in (str(machine / "notes.md"), str(machine), "notes.md", "."):
        for arguments in sampled(calls_of(tool, said, whole=False), 4):
            assert SECRET not in ask(members, name, tool, arguments), arguments
    with at_work(members, ANNA):
        kept = members.owner.store.db.query("select data from events union all select doc from records")
    assert not any(SECRET in str(row[0]) for row in kept)


@each("wanted", sorted(READING))
def test_tools_that_would_read_files_say_that_a_server_does_not(members: Members, machine: Path, wanted: str) -> None:
    name, tool = next((name, tool) for name, tool in TOOLS if tool.name == wanted)
    for said in (str(machine), str(machine / "notes.md")):
        told = ask(members, name, tool, {READING[wanted]: said})
        assert "server" in told.lower(), told
        assert "Always rehearse" not in told
