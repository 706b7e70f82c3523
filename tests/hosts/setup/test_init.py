"""`holdfast init`, `holdfast uninstall` and the doctor, as a person runs them."""

import json
import os
from pathlib import Path

import pytest

from tests.conftest import new_file, new_folder, ran
from tests.hosts.running import Run, answer
from tests.hosts.scripts import everything_under, scripts_in
from tests.hosts.test_mcp import messages
from tests.rows import rows

scripts_in(globals())


@pytest.fixture
def claude(own_home: Path) -> Path:
    """Let Claude Code be found, and nothing else."""
    (own_home / ".claude").mkdir()
    settings = own_home / ".claude.json"
    settings.write_text('{\n  "numStartups": 3\n}\n')
    return settings


def test_approvals_are_asked_for_apart_and_can_be_taken_back(run: Run, own_home: Path, claude: Path) -> None:
    codex, gemini = own_home / ".codex" / "config.toml", own_home / ".gemini" / "settings.json"
    for file, text in ((codex, 'model = "x"\n'), (gemini, '{"theme": "dark"}')):
        new_file(file, text)
    before = everything_under(own_home)
    settings = own_home / ".claude" / "settings.json"

    def approved() -> list[str]:
        marks = {settings: "mcp__holdfast__*", codex: 'default_tools_approval_mode = "approve"', gemini: '"trust"'}
        return [file.parent.name for file, mark in marks.items() if mark in file.read_text()]

    for options, standing, new in rows("options_of_init_and_who_is_then_approved_and_newly"):
        told = answer(run("init", *options, "--yes", "--json"))["entries"]
        added = [one["client"] for one in told if (one["entry"], one["how"]) == ("permission", "added")]
        assert (options, approved(), added) == (options, standing, new)
    assert json.loads(gemini.read_text())["mcpServers"]["holdfast"]["command"]
    assert run("doctor").returncode == 0
    run("uninstall", "--yes")
    assert everything_under(own_home) == before
    done = run("init", "--yes")
    assert approved() == [".claude", ".codex", ".gemini"]
    assert "Holdfast's tools run without asking in Claude Code, Codex, Gemini CLI;" in done.stdout
    claude.write_text(claude.read_text().replace("3", "4"))
    settings.write_text(settings.read_text().replace('"mcp__holdfast__*"', ""))  # taken back by hand
    run("init", "--yes")
    assert (approved(), run("doctor").returncode) == ([".codex", ".gemini"], 0)
    run("uninstall", "--yes")
    assert {name: text.replace(b"4", b"3") for name, text in everything_under(own_home).items()} == before


def test_an_approval_of_an_earlier_version_can_be_taken_back(run: Run, own_home: Path, claude: Path) -> None:
    gemini = new_folder(own_home / ".gemini") / "settings.json"
    run("init", "--client", "claude-code", "--client", "gemini", "--yes")
    manifest = next(own_home.rglob("setup.json"))
    noted = json.loads(manifest.read_text())
    for touched in noted["files"].values():  # a rule was an element, a key part of the server's entry
        touched["placed"] = [one for one in touched["placed"] if one["kind"] != "approval" or one["form"] == "rule"]
        for one in (one for one in touched["placed"] if one["kind"] == "approval"):
            one["kind"] = "element"
            del one["form"], one["given"]
    manifest.write_text(json.dumps(noted))
    run("init", "--no-approve", "--yes")
    settings = json.loads((own_home / ".claude" / "settings.json").read_text())
    assert (settings["permissions"], "trust" in gemini.read_text()) == ({"allow": []}, False)
    assert run("doctor").returncode == 0
    run("uninstall", "--yes")
    assert set(everything_under(own_home)) == {str(claude)}


def test_the_started_server_is_the_one_that_was_written(run: Run, own_home: Path, claude: Path) -> None:
    """What stands in the file really starts our server, whatever lies in the folder it is started in."""
    run("init", "--yes")
    entry = json.loads(claude.read_text())["mcpServers"]["holdfast"]
    trap = new_file(own_home / "trap" / "holdfast.py", "raise SystemExit('a module of the project')").parent
    done = ran([entry["command"], *entry["args"]], trap, input=messages(), env={**os.environ, "HOME": str(own_home)})
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "holdfast"
