"""bettermemory's document, tried literally."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.compatible.conftest import Place, Tools, git, original
from tests.compatible.scripts import scripts_in
from tests.hosts.test_mcp import INITIALIZE, Peer

promise = pytest.mark.promise
globals().update(scripts_in(__file__))
TOOLS = """memory_search memory_show memory_write memory_update memory_verify memory_list memory_remove memory_restore
memory_list_tombstones memory_rename_scope memory_record_use memory_health memory_scope_overview memory_scope_disable
memory_scope_enable memory_write_confirm memory_write_cancel""".split()
TUTORIAL = 'When I ask for a "zero to hero" tutorial, I want a hands-on walkthrough with code I can run, not a tour of the IDE.'


@promise("install: the model has all 17 tools and the policy in the system prompt, under 1.8 KB")
def test_seventeen_tools_and_a_policy(ask: Tools) -> None:
    assert ask.names == set(TOOLS)
    policy = ask.greeting["instructions"]
    assert len(policy.encode()) < 1_800
    assert {"memory_verify", "memory_update", "memory_remove", "memory_record_use"} <= set(
        policy.replace(",", " ").replace(".", " ").split()
    )


@promise("bettermemory without arguments is the server over stdio")
def test_the_server_without_arguments(place: Place) -> None:
    peer = Peer(place.environment, place.folder, ("-m", "holdfast", "compat", "bettermemory"))
    try:
        assert peer.ask("initialize", INITIALIZE)["result"]["capabilities"]["tools"] is not None
        assert {tool["name"] for tool in peer.ask("tools/list")["result"]["tools"]} == set(TOOLS)
    finally:
        peer.close()


@promise("bettermemory doctor: 0 when all is well, 1 with a warning, 2 when it is broken")
def test_doctor_codes(place: Place) -> None:
    ask = place.tools("bettermemory")
    ask("memory_write", content="Ruff is the linter.", scopes=["tools"])
    ask.close()
    assert place.run("compat bettermemory --version").stdout
    done = place.run("compat bettermemory doctor --json", code=None)
    broken = [check["name"] for check in json.loads(done.stdout) if check["fix"]]
    assert done.returncode == (1 if broken else 0)
    (Path(place.environment["HOLDFAST_HOME"]) / "holdfast.db").write_bytes(b"no database" * 1_000)
    assert place.run("compat bettermemory doctor", code=None).returncode == 2


INIT = ["init", *(f"init --client {name}" for name in ("claude-code", "claude-desktop", "cursor", "continue", "cline"))]


@promise("bettermemory init, for each client it names; running it again changes nothing")
@pytest.mark.parametrize("line", [*INIT, "init --client cursor --print-only", "init --json", "init --with-addendum"])
def test_init_lines(place: Place, line: str) -> None:
    first = place.run(f"compat bettermemory {line}").stdout
    written = [file.read_text() for file in place.home.rglob("*") if file.suffix in (".json", ".yaml", ".md")]
    assert any("bettermemory" in text for text in [first, *written])
    if "--client" not in line or "--print-only" in line:
        assert written == []
    if "--json" in line:
        assert json.loads(first)["snippet"]["mcpServers"]["bettermemory"]["command"]
    if line == "init":
        assert "[ ] cursor: " in first
    if line in INIT[1:]:
        assert "everything is set up" in place.run(f"compat bettermemory {line}").stdout


@promise("round trip: bettermemory 1.4.1 writes, Holdfast imports and exports, bettermemory reads the same")
@pytest.mark.xdist_group("bettermemory itself")
def test_the_original_reads_what_it_wrote(place: Place, tmp_path: Path) -> None:
    git(place.folder, "commit", "-q", "--allow-empty", "-m", "first")
    program = [original("bettermemory") / "bin" / "bettermemory"]
    there = place.original("bettermemory", program, BETTERMEMORY_DIR=tmp_path / "before")
    kept = there("memory_write", content=TUTORIAL, scopes=["learning-style"], confidence="high")
    checked = there("memory_write", content="The scheduler retries failed jobs three times.", scopes=["projects:foo"])
    there("memory_verify", id=checked["id"], verified_commits=["4d79987"], verified_versions=["celery 5.4"])
    gone = there("memory_write", content="Deploys go out on Tuesdays.", scopes=["infrastructure"])
    there("memory_remove", id=gone["id"], reason="They go out daily.")
    shown = {one["id"]: there("memory_show", id=one["id"]) for one in (kept, checked)}
    [removed] = there("memory_list_tombstones")
    newer = next((tmp_path / "before").glob("*zero.md")).read_text().replace("schema_version: 1", "schema_version: 2")
    (tmp_path / "before" / "newer.md").write_text(newer)
    assert (
        "newer bettermemory" in place.run(f"store import --from bettermemory {tmp_path / 'before'}", code=None).stdout
    )
    here = place.tools("bettermemory")
    assert here("memory_list_tombstones")[0]["removed_session"] == removed["removed_session"]
    assert here("memory_show", id=kept["id"])["origin"]["cwd"] == shown[kept["id"]]["origin"]["cwd"]
    place.run(f"store export --as bettermemory {tmp_path / 'after'}")
    back = place.original("bettermemory", program, BETTERMEMORY_DIR=tmp_path / "after")
    rows = {row["body"]: row for row in back("memory_list", with_bodies=True, auto_scope=False)}
    assert set(rows) == {one["body"] for one in shown.values()}
    same = "scopes confidence source category created last_verified_at verified_commits verified_versions".split()
    for one in shown.values():
        after = back("memory_show", id=rows[one["body"]]["id"])
        assert {name: _at_second(after.get(name)) for name in same} == {
            name: _at_second(one.get(name)) for name in same
        }
        assert after["origin"]["repo"] == one["origin"]["repo"]
    [tombstone] = back("memory_list_tombstones")
    assert tombstone["removed_reason"] == "They go out daily."
    assert [hit["relevance"] for hit in back("memory_search", query="zero to hero tutorial")] == ["high"]


def _at_second(value: Any) -> Any:
    return value[:19] if isinstance(value, str) and value[:2] == "20" else value
