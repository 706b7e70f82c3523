"""What the doctor says about clients."""

from pathlib import Path

from holdfast.hosts.setup.apply import read_manifest
from holdfast.hosts.setup.checks import client_checks
from holdfast.hosts.setup.clients import CLIENTS
from holdfast.verbs.upkeep.doctor import Check
from tests.conftest import new_file
from tests.hosts.setup.conftest import Place


def checks_of(place: Place) -> dict[str, Check]:
    return {check.name: check for check in client_checks(place.machine, read_manifest(place.store))}


def test_what_is_started_and_is_not_there_is_said(place: Place) -> None:
    names = {client.name for client in CLIENTS}
    place.init(*names)
    checks = checks_of(place)
    assert set(checks) == {"clients", *names}
    assert [check for check in checks.values() if check.fix] == []
    assert checks["claude-code"].found == "Claude Code starts it, 10 hooks are in place"
    assert checks["continue"].found == "Continue starts it"
    Path(place.made.hook).unlink()
    checks = checks_of(place)
    for name in ("gemini", "opencode"):
        assert checks[name].found.endswith(f"run {place.made.hook}, which is not there")
    assert checks["zed"].fix == ""
    Path(place.made.python).unlink()
    checks = checks_of(place)
    assert {name for name, check in checks.items() if check.fix} == names
    assert f"starts {place.made.python}, which is not there" in checks["continue"].found
    assert checks["zed"].fix == "holdfast init --client zed"


def test_an_entry_nobody_noted_is_looked_at_too(place: Place) -> None:
    entry = '{"mcpServers": {"holdfast": {"command": "/gone/holdfast", "args": ["mcp"]}}}'
    new_file(place.path("{home}/.cursor/mcp.json"), entry)
    assert checks_of(place)["cursor"].fix == "holdfast init --client cursor"


def test_what_was_found_and_is_not_set_up_is_mentioned(place: Place) -> None:
    place.path("{codex}").mkdir()
    assert checks_of(place)["clients"] == Check(name="clients", found="not set up yet: Codex (holdfast init)")


def test_hooks_that_fire_twice_are_found(place: Place) -> None:
    place.init("copilot")
    assert "hooks" not in checks_of(place)
    place.init("claude-code", level="project")
    assert checks_of(place)["hooks"].fix == "holdfast uninstall --client copilot"
    place.uninstall()
    place.init("claude-code")
    settings = place.path("{claude}/settings.json")
    settings.write_text(settings.read_text().replace("{", '{"enabledPlugins": {"holdfast@holdfast": true},', 1))
    assert "both our plugin and our hooks" in checks_of(place)["hooks"].found
