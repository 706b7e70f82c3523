"""Taking the place of another memory system: what it left is found, taken out, and put back byte by byte."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.hosts.setup.apply import apply, planned, read_manifest
from holdfast.hosts.setup.clients import BY_NAME, Choices, wanted
from holdfast.hosts.setup.others import others
from tests.conftest import new_file
from tests.hosts.running import Run, ended
from tests.hosts.setup.conftest import Place
from tests.replicas.seats import git
from tests.rows import rows

# A file, its content, and what is found in it: the system and the noun of each entry.
ROWS: list[tuple[str, Any, list[list[str]]]] = rows("what_another_system_left")


def written(place: Place, template: str, content: Any) -> Path:
    return new_file(place.path(template), content if isinstance(content, str) else json.dumps(content, indent=2) + "\n")


def replaced(place: Place) -> None:
    """Set clients up and take out everything that other systems have."""
    choices = Choices(clients=(BY_NAME["claude-code"], BY_NAME["codex"]))
    out = [want for found in others(place.machine) for want in found.entries]
    wants = [*out, *wanted(choices, place.machine, place.made)]
    manifest = read_manifest(place.store)
    apply(planned(wants, choices, manifest, place.machine.project), manifest, place.store)


@pytest.mark.parametrize(("template", "content", "expected"), ROWS)
def test_what_another_system_left_is_found_taken_out_and_put_back(
    place: Place, template: str, content: Any, expected: list[list[str]]
) -> None:
    path = written(place, template, content)
    before = path.read_bytes()
    wants = [(found.system, want.edit.noun) for found in others(place.machine) for want in found.entries]
    assert sorted([it.name, noun.removeprefix(f"{it.title} ")] for it, noun in wants) == sorted(expected)
    replaced(place)
    assert not any(found.entries for found in others(place.machine))
    for word in ("gitmem-mcp", ".gitmem", "bettermemory", "hot-memory", "claude-mem", "session_start first"):
        assert word not in path.read_text(encoding="utf-8")
    place.uninstall()
    assert path.read_bytes() == before


def test_in_a_file_that_changed_since_entries_come_back_beside_what_is_new(place: Place) -> None:
    paths = [written(place, template, content) for template, content, expected in ROWS if expected]
    before = [want for found in others(place.machine) for want in found.entries]
    replaced(place)
    mcp = json.loads(paths[0].read_text(encoding="utf-8"))
    mcp["mcpServers"]["later"] = {"command": "later"}
    new_file(paths[0], json.dumps(mcp))
    for path, more in ((paths[4], "\n[later]\nx = 1\n"), (paths[5], "And spaces.")):
        new_file(path, path.read_text(encoding="utf-8") + more)
    place.uninstall()
    assert [want for found in others(place.machine) for want in found.entries] == before
    assert json.loads(paths[0].read_text(encoding="utf-8"))["mcpServers"].keys() == {"github", "later", "gitmem"}
    assert "And spaces.\n<!-- gitmem:start -->" in paths[5].read_text(encoding="utf-8")


def test_data_is_found_where_each_system_keeps_it(place: Place) -> None:
    assert list(others(place.machine)) == []
    kept = {"gitmem": "{project}/.gitmem", "memory-mcp": "{home}/.memory-mcp/memory.db"}
    kept |= {"claude-mem": "{home}/.claude-mem/claude-mem.db", "bettermemory": "{home}/.claude-memory"}
    for template in kept.values():
        written(place, template if template.endswith(".db") else f"{template}/x", "")
    for words in ("init -q", "commit -qm x --allow-empty", "notes --ref=mem/decisions add -m x", "pack-refs --all"):
        git(place.machine.project, *words.split())
    there = {name: place.path(template) for name, template in kept.items()} | {"git-notes": place.machine.project}
    assert {one.system.name: one.data for one in others(place.machine) if one.data} == there


def test_the_doctor_names_a_second_memory(place: Place) -> None:
    written(place, *ROWS[0][:2])
    place.init("claude-code")
    assert place.checks()["other memory"].fix == "holdfast switch gitmem"


def test_one_command_replaces_a_system_and_imports_its_data(
    run: Run, own_home: Path, place: Place, tmp_path: Path
) -> None:
    """As a person types it, in the project of GitMem's own set-up; `init` only points at it when nothing may be asked."""
    project = tmp_path / "work"
    (own_home / ".claude").mkdir()
    here = replace(place, machine=replace(place.machine, home=own_home, project=project))
    for template, content, _ in (ROWS[0], ROWS[1], ROWS[5]):
        written(here, template, content)
    lesson = {"id": "a1", "learning_type": "scar", "title": "Never skip migrations", "severity": "high"}
    more = {"description": "It broke checkout.", "created_at": "2026-01-02T03:04:05Z"}
    written(here, "{project}/.gitmem/learnings.json", [{**lesson, **more, "counter_arguments": ["one", "two"]}])
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    promised = run("switch", "--dry-run").stdout
    assert "GitMem: 1 server, 1 permission, 1 note for agents, 2 hooks, its data in" in promised
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before
    ended(run("switch", "gitmem", "--yes"), 0, "1 imported (1 scar)")
    assert "--surface" in (project / ".mcp.json").read_text(encoding="utf-8")
    assert "It broke checkout." in run("recall", "skipped migrations").stdout
    after = (project / ".mcp.json").read_bytes()
    assert ("0 imported" in run("switch", "gitmem", "--yes").stdout, (project / ".mcp.json").read_bytes()) == (
        True,
        after,
    )
    assert "Nothing of claude-mem" in run("switch", "claude-mem", "--yes").stdout
    assert "put back" in run("uninstall", "--yes").stdout
    assert {path: path.read_bytes() for path in before} == before
    assert "`holdfast switch` replaces it" in run("init", "--yes").stdout
    servers = {name: {"command": name} for name in ("gitmem-mcp", "hot-memory-mcp", "bettermemory")}
    written(here, "{project}/.mcp.json", {"mcpServers": servers})
    assert "does not get those of memory-mcp" in run("switch", "--yes").stdout.replace("\n", " ")
    assert '"bettermemory"' in (project / ".mcp.json").read_text(encoding="utf-8")
