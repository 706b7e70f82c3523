"""`holdfast init`, `holdfast uninstall` and the doctor, as a person runs them."""

import json
import os
from pathlib import Path

import pytest

from tests.hosts.running import Run, answer, kept


def everything_under(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def claude(own_home: Path) -> Path:
    """Let Claude Code be found, and nothing else."""
    (own_home / ".claude").mkdir()
    settings = own_home / ".claude.json"
    settings.write_text('{\n  "numStartups": 3\n}\n')
    return settings


def test_init_and_uninstall_leave_no_trace(run: Run, own_home: Path, claude: Path) -> None:
    before = everything_under(own_home)
    done = run("init", "--yes")
    assert (done.returncode, "~/.claude.json (" in done.stdout) == (0, True)
    entry = json.loads(claude.read_text())["mcpServers"]["holdfast"]
    assert Path(entry["command"]).is_absolute()
    assert entry["args"] == ["-P", "-m", "holdfast", "mcp"]
    again = everything_under(own_home)
    assert "Nothing to change" in run("init", "--yes").stdout
    assert everything_under(own_home) == again
    assert run("uninstall", "--yes").returncode == 0
    assert everything_under(own_home) == before
    assert "No client is set up" in run("uninstall", "--yes").stdout


@pytest.mark.embedded
def test_a_dry_run_shows_everything_and_writes_nothing(run: Run, own_home: Path, claude: Path) -> None:
    before = everything_under(own_home)
    done = run("init", "--dry-run", "--instructions")
    assert "Claude Code     ~/.claude" in done.stdout
    assert "+++ " not in done.stdout
    assert "+++ " in run("init", "--dry-run", "--diff").stdout
    assert "CLAUDE.md" in done.stdout
    assert "nothing was written" in done.stdout
    assert everything_under(own_home) == before
    assert "nothing was written" in run("init", "--dry-run", "--yes").stdout  # who says both means the first
    assert everything_under(own_home) == before
    run("init", "--yes")
    before = everything_under(own_home)
    assert answer(run("uninstall", "--all", "--dry-run", "--json"))["done"] is False
    assert everything_under(own_home) == before
    assert claude.exists()


@pytest.mark.usefixtures("claude")
def test_it_asks_and_takes_an_answer(run: Run, own_home: Path) -> None:
    before = everything_under(own_home)
    done = run("init", stdin="all\nn\nn\n")
    assert "Found Claude Code (claude-code)." in done.stdout
    assert everything_under(own_home) == before
    asked = run("init", stdin="claude-code\ny\nd\ny\n")  # d shows the changes
    assert (asked.returncode, "+++ " in asked.stdout) == (0, True)
    assert "Next: start a new session in Claude Code" in asked.stdout
    assert "holdfast:start" in (own_home / ".claude" / "CLAUDE.md").read_text()
    assert len((own_home / ".claude" / "CLAUDE.md").read_text()) < 900


def test_an_unknown_client_gets_the_snippet(run: Run, own_home: Path) -> None:
    done = run("init", "--client", "emacs", "--yes")
    assert done.returncode == 0
    assert '"mcpServers"' in done.stdout
    assert "Known clients: claude-code, codex" in done.stdout
    assert "No known AI client was found here" in run("init", "--yes").stdout
    assert not everything_under(own_home)


def test_a_broken_file_is_said_and_the_others_are_done(run: Run, own_home: Path, claude: Path) -> None:
    claude.write_text("{ broken")
    done = run("init", "--client", "claude-code", "--yes")
    assert done.returncode == 4
    assert f"{claude} is left alone. It is not valid JSON: line 1" in done.stdout
    assert "To add by hand" in done.stdout
    assert claude.read_text() == "{ broken"
    assert "hooks" in json.loads((own_home / ".claude" / "settings.json").read_text())


def test_what_a_project_gets_is_its_own(run: Run, own_home: Path, tmp_path: Path) -> None:
    project = tmp_path / "a project"
    (project / ".git").mkdir(parents=True)
    (project / "deep").mkdir()
    given = ("init", "--project", "--client", "cursor", "--client", "windsurf", "--gitignore", "--yes")
    done = run(*given, cwd=project / "deep")
    assert "Windsurf: has no file for a project" in done.stdout
    assert (project / ".cursor" / "mcp.json").exists()
    assert "/.cursor/mcp.json" in (project / ".gitignore").read_text()
    assert not (own_home / ".cursor").exists()
    run("uninstall", "--yes")
    assert sorted(path.name for path in project.iterdir()) == [".git", "deep"]


def test_a_store_elsewhere_is_told_to_server_and_hooks(run: Run, own_home: Path, tmp_path: Path) -> None:
    store = tmp_path / "my store"
    run("init", "--client", "cursor", "--yes", HOLDFAST_HOME=str(store))
    entry = json.loads((own_home / ".cursor" / "mcp.json").read_text())["mcpServers"]["holdfast"]
    assert entry["env"] == {"HOLDFAST_HOME": str(store)}
    hook = json.loads((own_home / ".cursor" / "hooks.json").read_text())["hooks"]["stop"][0]
    assert hook["command"].endswith(f"--home '{store}'")
    assert (store / "setup.json").stat().st_mode & 0o777 == 0o600


def test_surfaces_are_remembered_for_the_next_time(run: Run, own_home: Path) -> None:
    run("init", "--client", "cursor", "--surface", "gitmem", "--yes")
    run("init", "--client", "cursor", "--yes")
    entry = json.loads((own_home / ".cursor" / "mcp.json").read_text())["mcpServers"]["holdfast"]
    assert entry["args"][-2:] == ["--surface", "gitmem"]


@pytest.mark.embedded
def test_leaving_altogether_deletes_memories_after_a_backup(
    run: Run, own_home: Path, claude: Path, tmp_path: Path
) -> None:
    store = {"HOLDFAST_HOME": str(tmp_path / "h")}
    answer(run("remember", "--json", "The staging database is reset every night.", **store))
    (tmp_path / "h" / "mine.txt").write_text("not yours")
    run("init", "--yes", **store)
    assert run("uninstall", "--all", stdin="y\nn\n", **store).returncode == 0
    assert (tmp_path / "h" / "holdfast.db").exists()
    done = answer(run("uninstall", "--all", "--yes", "--json", **store))
    assert sorted(path.name for path in (tmp_path / "h").iterdir()) == ["mine.txt"]
    assert Path(done["backup"]).parent == own_home
    assert Path(done["backup"]).stat().st_mode & 0o777 == 0o600
    assert answer(run("store", "restore", done["backup"], "--yes", "--json", **store))["events"] >= 1
    assert len(answer(run("list", "--json", **store))["records"]) == 1
    assert claude.read_text() == '{\n  "numStartups": 3\n}\n'
    assert run("uninstall", "--all", "--client", "codex").returncode == 64
    assert run("uninstall", "--json").returncode == 64


def test_the_started_server_is_the_one_that_was_written(run: Run, own_home: Path, claude: Path) -> None:
    """What stands in the file really lists tools, whatever lies in the folder it is started in."""
    import subprocess

    run("init", "--yes")
    entry = json.loads(claude.read_text())["mcpServers"]["holdfast"]
    trap = own_home / "trap"
    trap.mkdir()
    (trap / "holdfast.py").write_text("raise SystemExit('a module of the project')")
    asked = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
    }
    done = subprocess.run(
        [entry["command"], *entry["args"]],
        input=json.dumps(asked) + "\n",
        cwd=trap,
        env={**os.environ, "HOME": str(own_home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "holdfast"


def test_the_doctor_looks_at_clients_too(run: Run, own_home: Path, claude: Path) -> None:
    kept(run, "The staging database is reset every night.")
    run("init", "--client", "claude-code", "--no-hooks", "--yes")
    checks = {check["name"]: check for check in answer(run("doctor", "--json"))}
    assert checks["clients"]["found"] == "set up: Claude Code"
    assert checks["claude-code"] == {"name": "claude-code", "found": "Claude Code starts it", "fix": ""}
    (own_home / ".claude" / "settings.json").write_text("{}")
    claude.write_text(
        claude.read_text().replace(json.loads(claude.read_text())["mcpServers"]["holdfast"]["command"], "/gone/python")
    )
    done = run("doctor")
    assert done.returncode == 5
    assert "permissions.allow (mcp__holdfast__*) is gone" in done.stdout
    assert "(and 1 more)" in done.stdout
    assert "→ holdfast init --client claude-code" in done.stdout
    run("init", "--client", "claude-code", "--no-hooks", "--yes")
    assert run("doctor").returncode == 0
    claude.write_text("{ broken")
    done = run("doctor")
    assert (done.returncode, f"{claude}: It is not valid JSON" in done.stdout) == (5, True)
